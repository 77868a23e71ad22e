"use strict";

// The image of Wasibox, compressed, for the package `wasibox`, which unpacks it at its first use.

const path = require("node:path");

/** The folder with the image and its machine code. */
exports.bundle = path.join(__dirname, "wasibox_image", "data");
