'use strict';

// An error of the user's, with npm's code for it. Any other error that is thrown is a bug of ours.
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
