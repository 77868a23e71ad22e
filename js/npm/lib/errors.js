'use strict';

// An error that the user can cause, with npm's code for it. Any other error is a bug of this
// program.
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
