// The binding url_pattern: the class URLPattern by the URL Pattern Standard
// (https://urlpattern.spec.whatwg.org), whose names the functions have. Errors, properties and
// conversions are those of Node's C++.
//
// text -> tokenize -> Constructor (splits a whole URL) -> parse (parts) -> regular expression and text
(function (native, host) {
'use strict';

const COMPONENTS = ['protocol', 'username', 'password', 'hostname', 'port', 'pathname', 'search', 'hash'];
const PORTS = { __proto__: null, http: '80', https: '443', ws: '80', wss: '443', ftp: '21', file: '' };
const isSpecial = (protocol) => PORTS[protocol] !== undefined;

// A pattern or URL that is not valid. Each entrance turns it into an error of its own, or into null.
class PatternError extends Error {}
const fail = (why) => { throw new PatternError(why); };

// --- tokens --------------------------------------------------------------------------------------

const isNameBegin = (point) => point !== undefined && /[\p{ID_Start}$_]/u.test(point);
const isNamePoint = (point) => point !== undefined && /[\p{ID_Continue}$\u200c\u200d]/u.test(point);
const isAscii = (point) => point <= '\x7f';
const SIMPLE = { __proto__: null, '*': 'asterisk', '+': 'modifier', '?': 'modifier', '{': 'open', '}': 'close' };

// Returns the end of the regular expression that begins after a parenthesis, or undefined.
function endOfRegexp(points, begin) {
  let depth = 1;
  for (let at = begin; at < points.length; at++) {
    const point = points[at];
    if (!isAscii(point) || (at === begin && point === '?')) return undefined;
    if (point === '\\') {
      at++;
      if (at === points.length || !isAscii(points[at])) return undefined;
    } else if (point === ')') {
      depth--;
      if (depth === 0) return at;
    } else if (point === '(') {
      depth++;
      if (points[at + 1] !== '?') return undefined;
    }
  }
  return undefined;
}

// Returns the tokens: type, place and value. In a lenient text, what is no token is `invalid`.
function tokenize(text, isLenient) {
  const points = Array.from(text);
  const tokens = [];
  let at = 0;
  const add = (type, next, value) => {
    tokens.push({ type, index: at, value });
    at = next;
  };
  const invalid = (next) => {
    if (!isLenient) fail(`invalid token at ${at}`);
    add('invalid', next, points.slice(at, next).join(''));
  };
  while (at < points.length) {
    const point = points[at];
    if (SIMPLE[point] !== undefined) {
      add(SIMPLE[point], at + 1, point);
    } else if (point === '\\') {
      if (at + 1 === points.length) invalid(at + 1);
      else add('escaped', at + 2, points[at + 1]);
    } else if (point === ':') {
      let end = at + 1;
      if (isNameBegin(points[end])) while (isNamePoint(points[end])) end++;
      if (end === at + 1) invalid(end);
      else add('name', end, points.slice(at + 1, end).join(''));
    } else if (point === '(') {
      const end = endOfRegexp(points, at + 1);
      if (end === undefined || end === at + 1) invalid(at + 1);
      else add('regexp', end + 1, points.slice(at + 1, end).join(''));
    } else {
      add('char', at + 1, point);
    }
  }
  add('end', at, '');
  return { tokens, points };
}

// --- parts ---------------------------------------------------------------------------------------

const escapeRegexp = (text) => text.replace(/[.+*?^${}()[\]|/\\]/g, '\\$&');
const escapePattern = (text) => text.replace(/[+*?:{}()\\]/g, '\\$&');
const segmentOf = ({ delimiter }) => delimiter === '' ? '[^]+?' : `[^${escapeRegexp(delimiter)}]+?`;

const PLAIN = { delimiter: '', prefix: '' };
const HOSTNAME = { delimiter: '.', prefix: '' };
const PATHNAME = { delimiter: '/', prefix: '/' };

// Parses the pattern of a component. Parts are of the types text, regexp, segment and full.
function parse(text, options, encode) {
  const { tokens } = tokenize(text, false);
  const parts = [];
  const names = new Set();
  let [at, pending, nextNumber] = [0, '', 0];
  const take = (type) => tokens[at].type === type ? tokens[at++] : undefined;
  const need = (type) => take(type) ?? fail(`no ${type} at ${tokens[at].index}`);
  const takeRegexp = (name) => take('regexp') ?? (name === undefined ? take('asterisk') : undefined);
  const takeModifier = () => (take('modifier') ?? take('asterisk'))?.value ?? '';
  const takeText = () => {
    let out = '';
    for (let token; (token = take('char') ?? take('escaped')) !== undefined;) out += token.value;
    return out;
  };
  const flush = () => {
    if (pending !== '') parts.push({ type: 'text', value: encode(pending), modifier: '', name: '', prefix: '', suffix: '' });
    pending = '';
  };
  const add = (prefix, nameToken, regexp, suffix, modifier) => {
    if (nameToken === undefined && regexp === undefined && modifier === '') {
      pending += prefix;
      return;
    }
    flush();
    if (nameToken === undefined && regexp === undefined) {
      if (prefix !== '') parts.push({ type: 'text', value: encode(prefix), modifier, name: '', prefix: '', suffix: '' });
      return;
    }
    let value = regexp === undefined ? segmentOf(options) : regexp.type === 'asterisk' ? '.*' : regexp.value;
    let type = 'regexp';
    if (value === segmentOf(options)) [type, value] = ['segment', ''];
    else if (value === '.*') [type, value] = ['full', ''];
    const name = nameToken?.value ?? String(nextNumber++);
    if (names.has(name)) fail(`two groups ${name}`);
    names.add(name);
    parts.push({ type, value, modifier, name, prefix: encode(prefix), suffix: encode(suffix) });
  };
  while (at < tokens.length) {
    const char = take('char');
    let name = take('name');
    let regexp = takeRegexp(name);
    if (name !== undefined || regexp !== undefined) {
      let prefix = char?.value ?? '';
      if (prefix !== '' && prefix !== options.prefix) {
        pending += prefix;
        prefix = '';
      }
      flush();
      add(prefix, name, regexp, '', takeModifier());
      continue;
    }
    const fixed = char ?? take('escaped');
    if (fixed !== undefined) {
      pending += fixed.value;
    } else if (take('open') !== undefined) {
      const prefix = takeText();
      name = take('name');
      regexp = takeRegexp(name);
      const suffix = takeText();
      need('close');
      add(prefix, name, regexp, suffix, takeModifier());
    } else {
      flush();
      need('end');
    }
  }
  return parts;
}

// Returns the regular expression of parts, and the names of its groups.
function regexpOf(parts, options) {
  const names = [];
  let out = '^';
  for (const { type, value, modifier, name, prefix, suffix } of parts) {
    if (type === 'text') {
      out += modifier === '' ? escapeRegexp(value) : `(?:${escapeRegexp(value)})${modifier}`;
      continue;
    }
    names.push(name);
    const body = type === 'segment' ? segmentOf(options) : type === 'full' ? '.*' : value;
    const isRepeated = modifier === '*' || modifier === '+';
    const [before, after] = [escapeRegexp(prefix), escapeRegexp(suffix)];
    if (prefix === '' && suffix === '') out += isRepeated ? `((?:${body})${modifier})` : `(${body})${modifier}`;
    else if (!isRepeated) out += `(?:${before}(${body})${after})${modifier}`;
    else out += `(?:${before}((?:${body})(?:${after}${before}(?:${body}))*)${after})${modifier === '*' ? '?' : ''}`;
  }
  return { names, source: `${out}$` };
}

// Returns the text of parts, which may be shorter than what they were parsed from.
function textOf(parts, options) {
  let out = '';
  parts.forEach((part, i) => {
    const { type, value, modifier, name, prefix, suffix } = part;
    if (type === 'text') {
      out += modifier === '' ? escapePattern(value) : `{${escapePattern(value)}}${modifier}`;
      return;
    }
    const [previous, next] = [parts[i - 1], parts[i + 1]];
    const isNamed = !/^[0-9]/.test(name);
    let isGrouped = suffix !== '' || (prefix !== '' && prefix !== options.prefix);
    if (!isGrouped && isNamed && type === 'segment' && modifier === '' && next !== undefined && next.prefix === '' && next.suffix === '') {
      isGrouped = next.type === 'text' ? isNamePoint(Array.from(next.value)[0]) : /^[0-9]/.test(next.name);
    }
    if (!isGrouped && prefix === '' && previous?.type === 'text' && options.prefix !== '' && previous.value.endsWith(options.prefix)) isGrouped = true;
    if (isGrouped) out += '{';
    out += escapePattern(prefix);
    if (isNamed) out += `:${name}`;
    if (type === 'regexp') {
      out += `(${value})`;
    } else if (type === 'segment' && !isNamed) {
      out += `(${segmentOf(options)})`;
    } else if (type === 'full') {
      const isShort = !isNamed && (previous === undefined || previous.type === 'text' || previous.modifier !== '' || isGrouped || prefix !== '');
      out += isShort ? '*' : '(.*)';
    }
    if (type === 'segment' && isNamed && suffix !== '' && isNamePoint(Array.from(suffix)[0])) out += '\\';
    out += escapePattern(suffix);
    if (isGrouped) out += '}';
    out += modifier;
  });
  return out;
}

// The standard's flag is v. With it the engine refuses some characters outside of classes.
function makeRegexp(source, ignoreCase) {
  for (const flag of ['v', 'u']) {
    try {
      return new RegExp(source, ignoreCase ? `${flag}i` : flag);
    } catch {
      // The next flag, or an error.
    }
  }
  return fail(`no regular expression: ${source}`);
}

function compile(text, encode, options, ignoreCase = false) {
  const parts = parse(text, options, encode);
  const { names, source } = regexpOf(parts, options);
  const regexp = makeRegexp(source, ignoreCase);
  return { text: textOf(parts, options), regexp, names, hasRegexp: parts.some(({ type }) => type === 'regexp') };
}

// --- canonical values ------------------------------------------------------------------------------

const newUrl = (text, base) => {
  const { URL } = host.require('internal/url');
  try {
    return new URL(text, base);
  } catch {
    return fail(`no URL: ${text}`);
  }
};
const dummy = (protocol = 'https') => newUrl(`${protocol}://dummy.invalid/`);

// Returns what a setter of URL makes of a value.
function bySetter(name, value, url = dummy()) {
  url[name] = value;
  return url[name];
}

const canonical = {
  protocol: (value) => value === '' ? '' : newUrl(`${value}://dummy.invalid/`).protocol.slice(0, -1),
  username: (value) => value === '' ? '' : bySetter('username', value),
  password: (value) => value === '' ? '' : bySetter('password', value),
  hostname(value) {
    if (value === '') return '';
    // The parser skips some characters, and others end a host.
    const host = /^[^/?#\\]*/.exec(value.replace(/[\t\n\r]/g, ''))[0];
    if (host === '' || host.includes('@') || (host.includes(':') && !host.startsWith('['))) fail(`no host: ${value}`);
    return newUrl(`https://${host}/`).hostname;
  },
  ipv6(value) {
    if (/[^0-9a-fA-F[\]:]/.test(value)) fail(`no IPv6 address: ${value}`);
    return value.toLowerCase();
  },
  port(value, protocol = '') {
    if (value === '') return '';
    const digits = /^[0-9]*/.exec(value.replace(/[\t\n\r]/g, ''))[0];
    if (digits === '' || Number(digits) > 65535) fail(`no port: ${value}`);
    const port = String(Number(digits));
    return PORTS[protocol] === port ? '' : port;
  },
  pathname(value) {
    if (value === '') return '';
    const isRooted = value.startsWith('/');
    const path = bySetter('pathname', isRooted ? value : `/-${value}`);
    return isRooted ? path : path.slice(2);
  },
  opaque: (value) => value === '' ? '' : newUrl(`data:${value.replace(/[?#]/g, encodeURIComponent)}`).pathname,
  search: (value) => value === '' ? '' : bySetter('search', `?${value}`).slice(1),
  hash: (value) => value === '' ? '' : bySetter('hash', `#${value}`).slice(1),
};

// --- dictionaries ---------------------------------------------------------------------------------

function isAbsolute(path, isPattern) {
  return path.startsWith('/') || (isPattern && (path.startsWith('\\/') || path.startsWith('{/')));
}

// What a component inherits from the base URL depends on whether these are given.
const BEFORE = {
  protocol: ['protocol'], username: ['protocol', 'hostname', 'port', 'username'],
  password: ['protocol', 'hostname', 'port', 'username', 'password'], hostname: ['protocol', 'hostname'],
  port: ['protocol', 'hostname', 'port'], pathname: ['protocol', 'hostname', 'port', 'pathname'],
  search: ['protocol', 'hostname', 'port', 'pathname', 'search'], hash: ['protocol', 'hostname', 'port', 'pathname', 'search', 'hash'],
};
// The mark at an end of a value that `URL` has and components lack.
const partsOf = (url) => ({
  protocol: url.protocol.slice(0, -1), username: url.username, password: url.password, hostname: url.hostname, port: url.port,
  pathname: url.pathname, search: url.search.slice(1), hash: url.hash.slice(1),
});

// Returns the components of a dictionary: canonical values for a URL, and texts for a pattern.
function process(init, isPattern) {
  const result = isPattern ? {} : Object.fromEntries(COMPONENTS.map((name) => [name, '']));
  const fromBase = (text) => isPattern ? escapePattern(text) : text;
  let base;
  if (init.baseURL !== undefined) {
    base = newUrl(init.baseURL);
    const given = partsOf(base);
    for (const name of COMPONENTS) {
      if (isPattern && (name === 'username' || name === 'password')) continue;
      if (BEFORE[name].every((one) => init[one] === undefined)) result[name] = fromBase(given[name]);
    }
  }
  const make = (name, value, ...rest) => { result[name] = isPattern ? value : canonical[name](value, ...rest); };
  if (init.protocol !== undefined) make('protocol', init.protocol.replace(/:$/, ''));
  for (const name of ['username', 'password', 'hostname']) if (init[name] !== undefined) make(name, init[name]);
  if (init.port !== undefined) make('port', init.port, result.protocol);
  if (init.pathname !== undefined) {
    let path = init.pathname;
    const isOpaque = base !== undefined && base.pathname !== '' && !base.pathname.startsWith('/');
    if (base !== undefined && !isOpaque && !isAbsolute(path, isPattern)) {
      const folder = fromBase(base.pathname);
      path = folder.slice(0, folder.lastIndexOf('/') + 1) + path;
    }
    const isHierarchic = isSpecial(result.protocol) || result.protocol === '' || result.protocol === undefined;
    result.pathname = isPattern ? path : canonical[isHierarchic ? 'pathname' : 'opaque'](path);
  }
  if (init.search !== undefined) make('search', init.search.replace(/^\?/, ''));
  if (init.hash !== undefined) make('hash', init.hash.replace(/^#/, ''));
  return result;
}

// --- the text of a whole pattern ------------------------------------------------------------------

const isSpecialPattern = ({ regexp }) => Object.keys(PORTS).some((protocol) => regexp.test(protocol));

// Splits the text of a pattern at the marks between components, outside of groups.
class Constructor {
  result = {};
  #state = 'init';
  #at = 0;
  #step = 1;
  #begin = 0;
  #isSpecial = false;

  constructor(text) { Object.assign(this, tokenize(text, true)); }

  #token(at) { return this.tokens[at] ?? this.tokens.at(-1); }
  #is(value, at = this.#at) {
    const token = this.#token(at);
    return token.value === value && ['char', 'escaped', 'invalid'].includes(token.type);
  }
  #isSearch() {
    if (this.#is('?')) return true;
    if (this.#token(this.#at).value !== '?') return false;
    return this.#at === 0 || !['name', 'regexp', 'close', 'asterisk'].includes(this.#token(this.#at - 1).type);
  }
  #text() {
    const from = this.#token(this.#begin).index;
    return this.points.slice(from, this.#token(this.#at).index).join('');
  }

  #rewind(state) {
    this.#at = this.#begin;
    this.#step = 0;
    if (state !== undefined) this.#state = state;
  }

  #change(next, skipped) {
    const [state, { result }] = [this.#state, this];
    if (!['init', 'authority', 'done'].includes(state)) result[state] = this.#text();
    if (state !== 'init' && next !== 'done') {
      const isBetween = (last, ...then) => COMPONENTS.slice(0, COMPONENTS.indexOf(last) + 1).concat('authority').includes(state) && then.includes(next);
      if (isBetween('password', 'port', 'pathname', 'search', 'hash')) result.hostname ??= '';
      if (isBetween('port', 'search', 'hash')) result.pathname ??= this.#isSpecial ? '/' : '';
      if (isBetween('pathname', 'hash')) result.search ??= '';
    }
    this.#state = next;
    this.#at += skipped;
    this.#begin = this.#at;
    this.#step = 0;
  }

  // Goes on to the first of some components whose mark is here.
  #end(...names) {
    for (const name of names) {
      if (name === 'pathname' ? this.#is('/') : name === 'search' ? this.#isSearch() : this.#is('#')) {
        this.#change(name, name === 'pathname' ? 0 : 1);
        return;
      }
    }
  }

  parse() {
    let [depth, brackets] = [0, 0];
    for (; this.#at < this.tokens.length; this.#at += this.#step) {
      this.#step = 1;
      const { type } = this.tokens[this.#at];
      if (type === 'end') {
        if (this.#state === 'init') {
          this.#rewind();
          if (this.#is('#')) this.#change('hash', 1);
          else if (this.#isSearch()) this.#change('search', 1);
          else this.#change('pathname', 0);
          continue;
        }
        if (this.#state === 'authority') {
          this.#rewind('hostname');
          continue;
        }
        this.#change('done', 0);
        break;
      }
      if (type === 'open') {
        depth++;
        continue;
      }
      if (depth > 0) {
        if (type !== 'close') continue;
        depth--;
      }
      switch (this.#state) {
        case 'init':
          if (this.#is(':')) this.#rewind('protocol');
          break;
        case 'protocol':
          if (this.#is(':')) {
            this.#isSpecial = isSpecialPattern(compile(this.#text(), canonical.protocol, PLAIN));
            if (this.#is('/', this.#at + 1) && this.#is('/', this.#at + 2)) this.#change('authority', 3);
            else this.#change(this.#isSpecial ? 'authority' : 'pathname', 1);
          }
          break;
        case 'authority':
          if (this.#is('@')) this.#rewind('username');
          else if (this.#is('/') || this.#isSearch() || this.#is('#')) this.#rewind('hostname');
          break;
        case 'username':
          if (this.#is(':')) this.#change('password', 1);
          else if (this.#is('@')) this.#change('hostname', 1);
          break;
        case 'password':
          if (this.#is('@')) this.#change('hostname', 1);
          break;
        case 'hostname':
          if (this.#is('[')) brackets++;
          else if (this.#is(']')) brackets--;
          else if (this.#is(':') && brackets === 0) this.#change('port', 1);
          else this.#end('pathname', 'search', 'hash');
          break;
        case 'port': this.#end('pathname', 'search', 'hash'); break;
        case 'pathname': this.#end('search', 'hash'); break;
        case 'search': this.#end('hash'); break;
        default: break;
      }
    }
    if (this.result.hostname !== undefined) this.result.port ??= '';
    return this.result;
  }
}

// --- the class ------------------------------------------------------------------------------------

const MEMBERS = [...COMPONENTS, 'baseURL'];
// Returns the members of a dictionary; those that are not texts do not count.
const dictionary = (value) => Object.fromEntries(MEMBERS.map((name) => [name, value[name]]).map(([name, one]) => [name, typeof one === 'string' ? one : undefined]));
const isObject = (value) => value !== null && (typeof value === 'object' || typeof value === 'function');

function createPattern(input, base, ignoreCase) {
  let init = input;
  if (typeof input === 'string') {
    init = new Constructor(input).parse();
    if (base === undefined && init.protocol === undefined) fail('neither protocol nor base URL');
    if (base !== undefined) init.baseURL = base;
  } else if (base !== undefined) {
    fail('a base URL beside a dictionary');
  }
  const texts = process(init, true);
  for (const name of COMPONENTS) texts[name] ??= '*';
  if (isSpecial(texts.protocol) && texts.port === PORTS[texts.protocol]) texts.port = '';
  const made = {};
  for (const name of ['protocol', 'username', 'password']) made[name] = compile(texts[name], canonical[name], PLAIN);
  const isIpv6 = /^(\[|\{\[|\\\[)./s.test(texts.hostname);
  made.hostname = compile(texts.hostname, isIpv6 ? canonical.ipv6 : canonical.hostname, HOSTNAME);
  made.port = compile(texts.port, (value) => canonical.port(value), PLAIN);
  made.pathname = isSpecialPattern(made.protocol) ? compile(texts.pathname, canonical.pathname, PATHNAME, ignoreCase)
    : compile(texts.pathname, canonical.opaque, PLAIN, ignoreCase);
  for (const name of ['search', 'hash']) made[name] = compile(texts[name], canonical[name], PLAIN, ignoreCase);
  return made;
}

// Returns what a pattern finds in a URL, or null.
function match(pattern, input, base) {
  const inputs = [input];
  let values;
  try {
    if (typeof input === 'string') {
      values = partsOf(base === undefined ? newUrl(input) : newUrl(input, newUrl(base).href));
      if (base !== undefined) inputs.push(base);
    } else {
      values = process(input, false);
    }
  } catch (error) {
    if (error instanceof PatternError) return null;
    throw error;
  }
  const result = { __proto__: null, inputs };
  for (const name of COMPONENTS) {
    const { regexp, names } = pattern[name];
    const found = regexp.exec(values[name]);
    if (found === null) return null;
    result[name] = { input: values[name], groups: Object.fromEntries(names.map((one, i) => [one, found[i + 1]])) };
  }
  return result;
}

host.bindings.url_pattern = () => {
  const patterns = new WeakMap();
  // Node's C++ creates these errors, so its library has no classes for them.
  const error = (code, message) => Object.assign(new TypeError(message), { code });
  const wrongType = (message) => error('ERR_INVALID_ARG_TYPE', message);
  const patternOf = (object) => {
    const found = isObject(object) ? patterns.get(object) : undefined;
    if (found === undefined) throw new TypeError('Illegal invocation');
    return found;
  };
  const operation = (object, given, what) => {
    const pattern = patternOf(object);
    let [input, base] = given;
    if (input === undefined || input === null) input = {};
    else if (isObject(input)) input = dictionary(input);
    else if (typeof input !== 'string') throw wrongType('URLPattern input needs to be a string or an object');
    if (base === null) base = '';
    if (base !== undefined && typeof base !== 'string') throw wrongType('baseURL must be a string');
    if (base !== undefined && typeof input !== 'string') throw error('ERR_OPERATION_FAILED', `Failed to ${what} URLPattern`);
    return match(pattern, input, base);
  };

  function URLPattern() {
    if (new.target === undefined) throw error('ERR_CONSTRUCT_CALL_REQUIRED', 'Cannot call constructor without `new`');
    this[host.privateSymbols.transfer_mode_private_symbol] = 0;
    const given = arguments;
    let [input, base, options] = given;
    if (isObject(input)) input = dictionary(input);
    else if (input === undefined || input === null) input = {};
    else if (typeof input !== 'string') throw wrongType('Input must be an object or a string');
    if (isObject(base) && given.length > 2) throw wrongType('baseURL must be a string');
    if (isObject(base)) [base, options] = [undefined, base];
    else if (base !== undefined && base !== null && typeof base !== 'string') throw wrongType('second argument must be a string or object');
    if (options !== undefined && options !== null && !isObject(options)) throw wrongType('options must be an object');
    try {
      patterns.set(this, createPattern(input, base ?? undefined, Boolean(options?.ignoreCase)));
    } catch (why) {
      throw why instanceof PatternError ? error('ERR_INVALID_URL_PATTERN', 'Failed to construct URLPattern') : why;
    }
  }
  const { prototype } = URLPattern;
  const getter = (name, get) => Object.defineProperty(prototype, name, { get, enumerable: true, configurable: false });
  const anonymous = (get) => Object.defineProperty(get, 'name', { value: '' });
  for (const name of COMPONENTS) getter(name, anonymous(function() { return patternOf(this)[name].text; }));
  getter('hasRegExpGroups', anonymous(function() { return Object.values(patternOf(this)).some(({ hasRegexp }) => hasRegexp); }));
  prototype.exec = function exec() { return operation(this, arguments, 'exec'); };
  prototype.test = function test() { return operation(this, arguments, 'test') !== null; };
  Object.defineProperty(URLPattern, 'length', { value: 0 });
  return { URLPattern };
};
})
