// The same for ECMAScript modules: one set of classes, however the package is loaded.

export * from "./index.cjs";
