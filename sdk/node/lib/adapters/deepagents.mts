// The adapter as an ECMAScript module.

export * from "./deepagents.cjs";
