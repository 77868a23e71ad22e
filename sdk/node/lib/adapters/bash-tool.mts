// The same for ECMAScript modules.

export * from "./bash-tool.cjs";
