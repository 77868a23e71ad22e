// Maps positions in generated code to its source, because stack traces should show the file that
// was written by hand.
//
// The maps (ECMA-426) of the files that this program has transformed are stored here. With
// --enable-source-maps, the map that another file names by `sourceMappingURL` is read when a trace
// has a position in the file.
(function (native, host) {
'use strict';

// For each file (not URL), its map: `{ mappings, sources }`, where `sources` are the names to show.
host.sourceMaps = new Map();
host.endProcessMaps = () => host.sourceMaps.clear();

const DIGITS = 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/';
const VALUE = Object.fromEntries([...DIGITS].map((c, i) => [c, i]));

// Decodes the field `mappings` of a source map. Returns the segments of each line, which are
// `[column, source, line in the source, column in the source]`, all counted from 0.
host.decodeMappings = function(mappings) {
  const at = [0, 0, 0, 0, 0];
  return mappings.split(';').map((line) => {
    at[0] = 0;
    const segments = [];
    if (line === '') return segments;
    for (const segment of line.split(',')) {
      let [field, value, shift] = [0, 0, 0];
      for (const character of segment) {
        const digit = VALUE[character];
        value += (digit & 31) * 2 ** shift;
        shift += 5;
        if (digit & 32) continue;
        at[field++] += value % 2 === 1 ? -((value - 1) / 2) : value / 2;
        value = shift = 0;
      }
      if (field >= 4) segments.push([at[0], at[1], at[2], at[3]]);
    }
    return segments;
  });
};

const encodeNumber = (n) => {
  let rest = n < 0 ? -n * 2 + 1 : n * 2;
  let text = '';
  do {
    const digit = rest % 32;
    rest = Math.floor(rest / 32);
    text += DIGITS[rest > 0 ? digit | 32 : digit];
  } while (rest > 0);
  return text;
};

// Encodes segments as the field `mappings`, the inverse of `decodeMappings`.
host.encodeMappings = function(lines) {
  const at = [0, 0, 0, 0];
  return lines.map((segments) => {
    at[0] = 0;
    return segments.map((segment) => segment.map((n, i) => {
      const step = n - at[i];
      at[i] = n;
      return encodeNumber(step);
    }).join('')).join(',');
  }).join(';');
};

// Returns the segment that contains a position, whose line and column are counted from 0.
host.segmentAt = function(lines, line, column) {
  const segments = lines[line];
  if (segments === undefined || segments.length === 0) return undefined;
  let [low, high] = [0, segments.length - 1];
  while (low < high) {
    const middle = (low + high + 1) >> 1;
    if (segments[middle][0] <= column) low = middle;
    else high = middle - 1;
  }
  return segments[low];
};

// Returns the map that a file names by `sourceMappingURL`; undefined if there is none.
function namedMap(file) {
  const { getOptionValue } = host.require('internal/options');
  if (!getOptionValue('--enable-source-maps')) return undefined;
  try {
    const path = host.require('path');
    const text = host.readText(file);
    const [, url] = [...text.matchAll(/^[ \t]*\/\/[#@] sourceMappingURL=(\S+)[ \t]*$/gm)].at(-1) ?? [];
    if (url === undefined) return undefined;
    const data = /^data:application\/json[^,]*?(;base64)?,(.*)$/s.exec(url);
    const { Buffer } = host.require('buffer');
    const json = data === null ? host.readText(path.resolve(path.dirname(file), decodeURI(url))) :
      data[1] ? Buffer.from(data[2], 'base64').toString() : decodeURIComponent(data[2]);
    const { mappings, sources, sourceRoot = '' } = JSON.parse(json);
    const absolute = (s) => /^[a-z]+:/.test(s) ? s : path.resolve(path.dirname(file), sourceRoot, s);
    return { mappings, sources: sources.map(absolute) };
  } catch {
    // A map that cannot be read is ignored.
    return undefined;
  }
}

function mapOf(file) {
  if (!host.sourceMaps.has(file)) {
    if (!host.begun || file.startsWith('node:') || file.startsWith('host:')) return undefined;
    host.sourceMaps.set(file, namedMap(file));
  }
  return host.sourceMaps.get(file);
}

// A call site with a different position. Its methods are on its prototype, as in V8, because
// source-map-support copies a site by the names on the prototype.
const METHODS = [
  'getThis', 'getTypeName', 'getFunction', 'getFunctionName', 'getMethodName', 'getEvalOrigin', 'isToplevel', 'isEval', 'isNative',
  'isConstructor', 'isAsync', 'isPromiseAll', 'getPromiseIndex', 'getScriptHash', 'getEnclosingLineNumber',
  'getEnclosingColumnNumber', 'getPosition',
];
class MappedSite {
  #site;
  #place;
  constructor(site, place) {
    this.#site = site;
    this.#place = place;
  }
  static {
    for (const name of METHODS) {
      const method = { [name]() { return this.#site[name]?.(); } }[name];
      Object.defineProperty(MappedSite.prototype, name, { value: method, writable: true, configurable: true });
    }
  }
  getFileName() { return this.#place.file; }
  getScriptNameOrSourceURL() { return this.#place.file; }
  getLineNumber() { return this.#place.line; }
  getColumnNumber() { return this.#place.column; }
  toString() { return this.#site.toString.call(this); }
}

host.movedSite = (site, place) => new MappedSite(site, place);

host.mapSites = function(sites) {
  if (!host.begun) return sites;
  return sites.map((site) => {
    const name = site.getFileName();
    if (typeof name !== 'string' || name.startsWith('node:')) return site;
    const url = name.startsWith('file://');
    const file = url ? host.require('internal/url').fileURLToPath(name) : name;
    const map = mapOf(file);
    if (map === undefined) return site;
    map.lines ??= host.decodeMappings(map.mappings);
    const found = host.segmentAt(map.lines, site.getLineNumber() - 1, site.getColumnNumber() - 1);
    if (found === undefined) return site;
    const source = map.sources[found[1]];
    const shown = url && source.startsWith('/') ? host.require('internal/url').pathToFileURL(source).href : source;
    return host.movedSite(site, { file: shown, line: found[2] + 1, column: found[3] + 1 });
  });
};

// --- syntax errors -------------------------------------------------------------------------------

// Adds the line at which the parser stops to a syntax error of the engine, as Node shows it.
host.showPlace = function(error, source, filename, kind) {
  const arrow = host.privateSymbols.arrow_message_private_symbol;
  if (error === null || typeof error !== 'object' || typeof error[arrow] === 'string') return error;
  if (!(error instanceof SyntaxError)) return error;
  const found = native.checkText(source, '/source.js', kind)?.error;
  if (found === undefined) return error;
  const { line, column, length, text } = found;
  error[arrow] = `${filename}:${line}\n${text}\n${text.slice(0, column - 1).replace(/[^\t]/g, ' ')}${'^'.repeat(length)}\n`;
  return error;
};
})
