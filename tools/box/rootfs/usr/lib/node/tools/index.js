'use strict';
// Host tools: functions that the host offers to this session.
//
//   const { weather } = require('tools');
//   await weather({ city: 'Bern' });
//
// A tool takes one object of arguments, and returns a promise for its result. Calls exchange
// messages with the node /.box/tools (tools/abi/src/tools.rs). A call blocks the program until it
// has ended, so calls run one after another.

const fs = require('node:fs');

const NODE = '/.box/tools';
const LIST = 1;
const CALL = 2;
const MORE = 3;
const FAILED = 3;
const MOST_NAME = 128;
const MOST_ARGUMENTS = 1 << 20;
const CODES = ['', 'ERR_TOOL_NOT_FOUND', 'ERR_TOOL_ARGUMENTS', 'ERR_TOOL_FAILED', 'ERR_TOOL_DENIED', 'ERR_TOOL_LIMIT',
  'ERR_TOOL_CANCELLED', 'ERR_TOOL_REQUEST'];

// The error of a call that has failed. `code` is one of CODES.
class ToolError extends Error {
  constructor(message, code = 'ERR_TOOL_FAILED') {
    super(message);
    this.name = 'ToolError';
    this.code = code;
  }
}

function open() {
  try {
    return fs.openSync(NODE, 'r+');
  } catch (error) {
    if (error.code !== 'ENOENT') throw error;
    throw new ToolError("this session's host has no tools", CODES[1]);
  }
}

function ask(fd, message) {
  for (let at = 0; at < message.length;) at += fs.writeSync(fd, message, at);
  const pieces = [];
  const piece = Buffer.allocUnsafe(1 << 16);
  try {
    for (let n; (n = fs.readSync(fd, piece, 0, piece.length, null)) > 0;) pieces.push(Buffer.from(piece.subarray(0, n)));
  } catch (error) {
    if (error.code !== 'EIO') throw error;
    throw new ToolError("the session's host has given the call up", CODES[6]);
  }
  const answer = Buffer.concat(pieces);
  if (answer[0] === FAILED) throw new ToolError(answer.toString('utf8', 2), CODES[answer[1]]);
  return answer;
}

// Returns the descriptions of all tools by the host.
function descriptions() {
  const fd = open();
  try {
    const found = [];
    for (;;) {
      const message = Buffer.from([LIST, 0, 0, 0, 0]);
      message.writeUInt32LE(found.length, 1);
      const answer = ask(fd, message);
      const before = found.length;
      for (let at = 2; at < answer.length;) {
        const size = answer.readUInt32LE(at);
        found.push(JSON.parse(answer.toString('utf8', at + 4, at + 4 + size)));
        at += 4 + size;
      }
      if (!answer[1] || found.length === before) return found;
    }
  } finally {
    fs.closeSync(fd);
  }
}

function callSync(name, args = {}) {
  const raw = Buffer.from(name);
  if (raw.length > MOST_NAME) throw new ToolError(`there is no tool '${name.slice(0, 40)}...'`, CODES[1]);
  const body = Buffer.from(JSON.stringify(args));
  if (body.length > MOST_ARGUMENTS) {
    throw new ToolError(`the arguments have ${body.length} bytes, of ${MOST_ARGUMENTS} at most`, CODES[5]);
  }
  const head = Buffer.from([CALL, raw.length & 255, raw.length >> 8]);
  const fd = open();
  try {
    let answer = ask(fd, Buffer.concat([head, raw, body]));
    const pieces = [answer.subarray(17)];
    const size = Number(answer.readBigUInt64LE(9));
    for (let have = answer.length - 17; have < size;) {
      const more = Buffer.alloc(17, MORE);
      answer.copy(more, 1, 1, 9);
      more.writeBigUInt64LE(BigInt(have), 9);
      answer = ask(fd, more);
      if (answer.length === 17) break;
      pieces.push(answer.subarray(17));
      have += answer.length - 17;
    }
    return JSON.parse(Buffer.concat(pieces).toString());
  } finally {
    fs.closeSync(fd);
  }
}

// Calls a tool by its name. Resolves to its result.
const call = async (name, args) => callSync(name, args);

const own = { ToolError, call, callSync, descriptions };
const known = new Map();

// Returns the function for a tool. An unknown name makes it read the list of tools again, because
// the host may change its tools between two calls of the session.
function find(name) {
  if (!known.has(name)) {
    known.clear();
    if (fs.existsSync(NODE)) {
      for (const { name, description, inputSchema } of descriptions()) {
        known.set(name, Object.assign((args) => call(name, args), { toolName: name, description, schema: inputSchema }));
      }
    }
  }
  return known.get(name);
}

module.exports = new Proxy(own, {
  get: (target, name) => (typeof name === 'symbol' || Object.hasOwn(target, name) ? target[name] : find(name)),
  has: (target, name) => name in target || (typeof name === 'string' && find(name) !== undefined),
  ownKeys: (target) => {
    find('');
    return [...new Set([...Object.keys(target), ...known.keys()])];
  },
  getOwnPropertyDescriptor: (target, name) => {
    const value = module.exports[name];
    return value === undefined ? undefined : { value, enumerable: true, configurable: true, writable: true };
  },
});
