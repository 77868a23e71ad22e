'use strict';

// An error with npm's code for it; anything else that is thrown is a fault of ours.
class NpmError extends Error {
  constructor(code, message, status = 1) {
    super(message);
    this.code = code;
    this.status = status;
  }
}

function warn(level, text) {
  process.stderr.write(`npm ${level} ${text}\n`);
}

module.exports = { NpmError, warn };
