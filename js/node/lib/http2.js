'use strict';

// Replaces Node's http2. It has the constants and the default settings, so packages that offer
// HTTP/2 in addition to HTTP/1.1 can be loaded. Functions that would begin a connection throw an
// error: there is no HTTP/2, because the host makes the requests to the outside, and the session's
// own servers speak HTTP/1.1.

const { host } = internalBinding('host');
const { codes: { ERR_FEATURE_UNAVAILABLE_ON_PLATFORM } } = require('internal/errors');
const { constants, settings } = host.tables.$http2;

// Returns a function with the given number of parameters that fails when it is called.
function refused(name, length) {
  const made = { [name]() { throw new ERR_FEATURE_UNAVAILABLE_ON_PLATFORM(`http2.${name}()`); } }[name];
  Object.defineProperty(made, 'length', { __proto__: null, value: length, configurable: true });
  return made;
}

class Http2ServerRequest extends require('stream').Readable {
  constructor() {
    super();
    refused('Http2ServerRequest')();
  }
}

class Http2ServerResponse extends require('stream') {
  constructor() {
    super();
    refused('Http2ServerResponse')();
  }
}

module.exports = {
  connect: refused('connect', 3),
  constants,
  createServer: refused('createServer', 2),
  createSecureServer: refused('createSecureServer', 2),
  getDefaultSettings: () => ({ __proto__: null, ...settings }),
  getPackedSettings: refused('getPackedSettings', 1),
  getUnpackedSettings: refused('getUnpackedSettings', 1),
  performServerHandshake: refused('performServerHandshake', 1),
  sensitiveHeaders: Symbol('sensitiveHeaders'),
  Http2ServerRequest,
  Http2ServerResponse,
};
