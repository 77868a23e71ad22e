// Cloning of values, and ports: the binding messaging.
(function (native, host) {
'use strict';

const { types } = host;

// The end of each port. `peer` is the port's other end, or the place of that end in another process
// (`{ link, number }`, see workers.js).
const ends = new WeakMap();
host.portEnds = ends;

// The open ends that are referenced. They keep the process alive.
host.heldEnds = new Set();
function reference(end, isHeld) {
  if (end === undefined || end.closed) return;
  end.refed = isHeld;
  if (isHeld) host.heldEnds.add(end);
  else host.heldEnds.delete(end);
}

const CLOSED = () => ({ queue: [], started: false, refed: undefined, closed: true });

function refuse(message, name = 'DataCloneError') {
  const { DOMException } = host.perContext;
  throw new DOMException(message, name);
}
const uncloned = (what) => refuse(`${what} could not be cloned.`);

// Clones a value like `structuredClone` (HTML, 2.7). Functions, symbols and objects that cannot be
// cloned throw a DataCloneError. Ports that are transferred are added to `ports`.
function structuredClone(value, options, ports = []) {
  const { isView, isDataView, previewEntries, getConstructorName } = host.valueKinds;
  const { messaging_clone_symbol: cloneSymbol, messaging_transfer_symbol: transferSymbol,
          messaging_deserialize_symbol: deserialize } = host.binding('symbols');
  const seen = new Map();
  const transfer = options?.transfer ?? [];
  const move = (port) => {
    const made = moved(port);
    ports.push(made);
    return made;
  };
  const clone = (v) => {
    if (typeof v === 'symbol') uncloned(String(v));
    if (typeof v === 'function') uncloned(Function.prototype.toString.call(v));
    if (v === null || typeof v !== 'object') return v;
    if (seen.has(v)) return seen.get(v);
    const keep = (made) => { seen.set(v, made); return made; };
    if (types.isBoxedPrimitive(v)) return types.isSymbolObject(v) ? uncloned('Symbol') : keep(Object(v.valueOf()));
    if (types.isDate(v)) return keep(new Date(Date.prototype.getTime.call(v)));
    if (types.isRegExp(v)) return keep(new RegExp(v.source, v.flags));
    if (types.isSharedArrayBuffer(v)) return keep(v);
    // Buffers are taken at the end, because afterwards their views have no length, and because a value
    // that cannot be cloned takes nothing.
    if (types.isArrayBuffer(v)) return keep(copyBuffer(v));
    if (isView(v)) {
      const { buffer, byteOffset, byteLength } = v;
      if (isDataView(v)) return keep(new DataView(clone(buffer), byteOffset, byteLength));
      const Kind = globalThis[Object.getPrototypeOf(Uint8Array.prototype)[Symbol.toStringTag] ??
        Reflect.get(Object.getPrototypeOf(Uint8Array.prototype), Symbol.toStringTag, v)];
      return keep(new Kind(clone(buffer), byteOffset, v.length));
    }
    if (types.isMap(v)) {
      const made = keep(new Map());
      for (let i = 0, all = previewEntries(v); i < all.length; i += 2) made.set(clone(all[i]), clone(all[i + 1]));
      return made;
    }
    if (types.isSet(v)) {
      const made = keep(new Set());
      for (let i = 0, all = previewEntries(v); i < all.length; i++) made.add(clone(all[i]));
      return made;
    }
    if (types.isNativeError(v)) {
      const NAMES = ['EvalError', 'RangeError', 'ReferenceError', 'SyntaxError', 'TypeError', 'URIError'];
      const Kind = NAMES.includes(v.name) ? globalThis[v.name] : Error;
      const fresh = keep(new Kind());
      ['message', 'stack', 'cause'].forEach((name) => {
        const d = Object.getOwnPropertyDescriptor(v, name);
        if (d === undefined || !('value' in d)) return;
        const x = name === 'cause' ? clone(d.value) : String(d.value);
        Object.defineProperty(fresh, name, { value: x, writable: true, configurable: true, enumerable: false });
      });
      return fresh;
    }
    if (host.wasmModules.is(v)) return keep(host.wasmModules.copy(v));
    if (isUncloneable(v)) refuse('Cannot clone object of unsupported type.');
    if (types.isPromise(v) || types.isWeakMap(v) || types.isWeakSet(v) || types.isGeneratorObject(v) ||
        (types.isProxy(v) && v !== host.process.env) || v instanceof WeakRef) {
      uncloned(`#<${getConstructorName(v)}>`);
    }
    if (ends.has(v)) return transfer.includes(v) ? keep(move(v)) : unlisted();
    const isTransferred = transfer.includes(v) && typeof v[transferSymbol] === 'function';
    if (isTransferred || typeof v[cloneSymbol] === 'function') {
      const { data, deserializeInfo } = isTransferred ? transferred(v, transfer) : v[cloneSymbol]();
      const copy = clone(data);
      const made = keep(atReceiver(() => host.makeOf(deserializeInfo)));
      atReceiver(() => made[deserialize](copy));
      return made;
    }
    if (typeof v[transferSymbol] === 'function') unlisted();
    const made = keep(Array.isArray(v) ? new Array(v.length) : {});
    Object.keys(v).forEach((key) => { made[key] = clone(v[key]); });
    return made;
  };
  const made = clone(value);
  transfer.forEach((one) => {
    if (types.isArrayBuffer(one)) moveBuffer(one);
    else if (!seen.has(one) && ends.has(one)) move(one);
  });
  return made;
}

// Whether `markAsUncloneable` was called with an object. An array or a buffer can be cloned anyway.
const isUncloneable = (object) => object[host.privateSymbols.transfer_mode_private_symbol] === 0 && !Array.isArray(object);

// An error of the receiver, who gets it as the event `messageerror`.
class ReceiverError extends Error {}
function atReceiver(make) {
  try {
    return make();
  } catch (cause) {
    throw new ReceiverError('', { cause });
  }
}

function copyBuffer(buffer) {
  if (!buffer.resizable) return buffer.slice(0);
  const made = new ArrayBuffer(buffer.byteLength, { maxByteLength: buffer.maxByteLength });
  new Uint8Array(made).set(new Uint8Array(buffer));
  return made;
}

// Moves the bytes of a buffer to a new one. Those of a WebAssembly.Memory cannot be moved.
function moveBuffer(buffer) {
  try {
    return buffer.transfer();
  } catch {
    return refuse('Cannot transfer object of unsupported type.');
  }
}

// Returns what an object of Node's classes transfers of itself, and adds its ports to the list.
function transferred(object, list) {
  const { messaging_transfer_symbol: transfer, messaging_transfer_list_symbol: parts } = host.binding('symbols');
  list.push(...object[parts]?.() ?? []);
  return object[transfer]();
}
host.transferred = transferred;

// Makers of objects whose classes Node has in C++, by the names after `wasibox:`.
host.makers = { __proto__: null };
// Makes an object of the class that `module:class` names, which then reads its data.
host.makeOf = (info) => {
  const [id, name] = info.split(':');
  if (id === 'wasibox') return host.makers[name]();
  const Made = host.require(id)[name];
  const { messaging_deserialize_symbol: deserialize } = host.binding('symbols');
  if (typeof Made?.prototype?.[deserialize] !== 'function') throw new Error(`Unknown deserialize spec ${info}`);
  return new Made();
};

const unlisted = () => refuse('Object that needs transfer was found in message but not listed in transferList');
host.cloneRefusals = { refuse, uncloned, unlisted, isUncloneable };

// Makes a port for an end that has none.
function present(end) {
  const port = Reflect.construct(Object, [], MessagePort);
  end.port = port;
  ends.set(port, end);
  end.asyncId = host.emitInit('MESSAGEPORT', port);
  port[host.binding('symbols').oninit]?.();
  return port;
}

let lastEnd = 0;
// Makes a port, and returns its end.
function openPort(peer) {
  const end = { peer, queue: [], started: false, refed: false, closed: false, frame: host.frame(), number: lastEnd += 1 };
  const emit = host.perContext.emitMessage;
  end.deliver = ({ value, ports, type = 'message' }) => emit.call(end.port, value, ports, type);
  present(end);
  return end;
}
host.openPort = openPort;

// Takes the end from a port, which is of no use afterwards.
host.takeEnd = (port) => {
  const end = ends.get(port);
  reference(end, false);
  ends.set(port, CLOSED());
  end.started = false;
  return end;
};
// Closes an end once the messages that have arrived are delivered.
host.closeAfterMessages = (end) => {
  if (end.queue.length === 0) host.portClose(end);
  else end.queue.push({ isLast: true });
};
// Moves the end of a port to a new one.
const moved = (port) => present(host.takeEnd(port));

// Returns the list of an options object or array, after checks (HTML, 2.7.4).
function transferList(options, source) {
  const { messaging_transfer_symbol: transferSymbol } = host.binding('symbols');
  const { ERR_INVALID_ARG_TYPE } = host.require('internal/errors').codes;
  const iterable = (list, what) => {
    // Scripts may break the iterators of arrays.
    if (Array.isArray(list)) return list.slice();
    const iterator = typeof list?.[Symbol.iterator] === 'function' ? list[Symbol.iterator]() : undefined;
    if (typeof iterator?.next === 'function') return [...{ [Symbol.iterator]: () => iterator }];
    const error = new ERR_INVALID_ARG_TYPE(what, 'iterable', list);
    error.message = `Optional ${what} argument must be an iterable`;
    throw error;
  };
  if (options === undefined || options === null) return [];
  if (typeof options !== 'object') return iterable(undefined, 'transferList');
  const isList = typeof options[Symbol.iterator] === 'function';
  if (!isList && options.transfer === undefined) return [];
  const list = isList ? iterable(options) : iterable(options.transfer, 'options.transfer');
  list.forEach((one, i) => {
    const isBuffer = types.isArrayBuffer(one);
    if (!isBuffer && !ends.has(one) && typeof one?.[transferSymbol] !== 'function') refuse('Found invalid value in transferList.');
    if (list.indexOf(one) !== i) refuse(`Transfer list contains duplicate ${isBuffer ? 'ArrayBuffer' : 'MessagePort'}`);
    if (one === source) refuse('Transfer list contains source port');
    if (ends.get(one)?.closed) refuse('MessagePort in transfer list is already detached');
    const isMarked = one[host.privateSymbols.untransferable_object_private_symbol] === true;
    if (isMarked || (isBuffer && one.detached)) refuse('Cannot transfer object of unsupported type.');
  });
  return list;
}

function post(end, value, options) {
  const transfer = transferList(options, end.port);
  const { peer } = end;
  if (peer?.link !== undefined) {
    peer.link.post(peer.number, value, transfer);
    return;
  }
  const isLost = peer !== undefined && transfer.includes(peer.port);
  const ports = [];
  let message;
  try {
    message = { value: structuredClone(value, { transfer }, ports), ports };
  } catch (error) {
    if (!(error instanceof ReceiverError)) throw error;
    message = { value: error.cause, ports: [], type: 'messageerror' };
  }
  if (isLost) {
    host.process.emitWarning('The target port was posted to itself, and the communication channel was lost');
    host.portClose(end);
    return;
  }
  if (peer === undefined || peer.closed) return;
  peer.queue.push(message);
  host.portReady?.(peer);
}

// Errors that Node's C++ throws.
const typeError = (code, message) => Object.assign(new TypeError(message), { code });
function endOf(port) {
  const end = ends.get(port);
  if (end === undefined) throw new TypeError('Illegal invocation');
  return end;
}

// A port. Node's library replaces the prototype.
function MessagePort() { throw typeError('ERR_CONSTRUCT_CALL_INVALID', 'Constructor cannot be called'); }
const methods = {
  postMessage(value, options) {
    if (arguments.length === 0) {
      const { ERR_MISSING_ARGS } = host.require('internal/errors').codes;
      const error = new ERR_MISSING_ARGS('message');
      error.message = 'Not enough arguments to MessagePort.postMessage';
      throw error;
    }
    const end = endOf(this);
    post(end, value, options);
    return end.closed ? undefined : true;
  },
  start() {
    const end = endOf(this);
    if (end.closed) return;
    end.started = true;
    if (end.queue.length > 0) host.portReady?.(end);
  },
  close() { host.portClose(endOf(this)); },
  ref() { reference(endOf(this), true); },
  unref() { reference(endOf(this), false); },
  // A port that is closed has neither state.
  hasRef() { return endOf(this).refed; },
};
for (const name of Object.keys(methods)) {
  Object.defineProperty(MessagePort.prototype, name, { value: methods[name], writable: true, configurable: true, enumerable: false });
}

function MessageChannel() {
  if (new.target === undefined) throw typeError('ERR_CONSTRUCT_CALL_REQUIRED', 'Cannot call constructor without `new`');
  const a = openPort();
  const b = openPort(a);
  a.peer = b;
  this.port1 = a.port;
  this.port2 = b.port;
}

// --- channels by name ------------------------------------------------------------------------------

// The ends of the open channels of each name.
const channels = new Map();

// Passes a message to the channels of a name, except the one that has sent it.
host.broadcast = (name, value, except) => {
  host.valuesOf(channels.get(name) ?? new Map()).forEach((end) => {
    if (end === except || end.closed) return;
    end.queue.push({ value: structuredClone(value), ports: [] });
    host.portReady(end);
  });
};

function broadcastChannel(name) {
  const end = openPort();
  const { port } = end;
  if (!channels.has(name)) channels.set(name, new Map());
  channels.get(name).set(end, end);
  end.closing = () => { channels.get(name).delete(end); };
  Object.defineProperty(port, 'postMessage', {
    __proto__: null,
    value(value) {
      if (end.closed) return undefined;
      host.broadcast(name, structuredClone(value), end);
      host.broadcastOutside?.(name, value);
      return true;
    },
  });
  methods.start.call(port);
  port.ref();
  return port;
}

host.bindings.messaging = ({ moveMessagePortToContext: absent }) => ({
  moveMessagePortToContext(port, context) {
    if (ends.get(port)?.closed) throw Object.assign(new Error('Cannot send data on closed MessagePort'), { code: 'ERR_CLOSED_MESSAGE_PORT' });
    return absent(port, context);
  },
  MessageChannel,
  MessagePort,
  structuredClone(value, options) {
    try {
      return structuredClone(value, { transfer: transferList(options) });
    } catch (error) {
      throw error instanceof ReceiverError ? error.cause : error;
    }
  },
  DOMException: host.perContext.DOMException,
  exposeLazyDOMExceptionProperty(target) {
    Object.defineProperty(target, 'DOMException', {
      __proto__: null, configurable: true, enumerable: false, writable: true,
      value: host.perContext.DOMException,
    });
  },
  setDeserializerCreateObjectFunction() {},
  stopMessagePort(port) { const end = ends.get(port); if (end) end.started = false; },
  drainMessagePort(port) {
    const end = ends.get(port);
    end?.peer?.link?.receive();
    while (end?.queue.length > 0) {
      const message = end.queue.shift();
      if (message.isLast) host.portClose(end);
      else end.deliver(message);
    }
  },
  checkMessagePort: (v) => ends.has(v),
  receiveMessageOnPort(port) {
    const end = ends.get(port);
    if (end === undefined) {
      const { ERR_INVALID_ARG_TYPE } = host.require('internal/errors').codes;
      const error = new ERR_INVALID_ARG_TYPE('port', 'MessagePort', port);
      error.message = 'The "port" argument must be a MessagePort instance';
      throw error;
    }
    if (end.queue.length === 0) end.peer?.link?.receive();
    const message = end.queue.shift();
    if (message?.isLast) host.portClose(end);
    return message === undefined || message.isLast ? host.binding('symbols').no_message_symbol : message.value;
  },
  broadcastChannel,
});
})
