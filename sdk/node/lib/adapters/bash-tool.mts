// The adapter as an ECMAScript module.

export * from "./bash-tool.cjs";
