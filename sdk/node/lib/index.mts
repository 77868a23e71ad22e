// The package as an ECMAScript module. It exports the classes of the CommonJS module, so a program
// that loads both has only one set of classes.

export * from "./index.cjs";
