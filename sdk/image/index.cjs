"use strict";

// The package with the compressed image of Wasibox. The package `wasibox` unpacks it when it is
// first used.

const path = require("node:path");

/** The path of the folder with the image and its machine code. */
exports.bundle = path.join(__dirname, "wasibox_image", "data");
