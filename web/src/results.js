// The results pane: output, values, tables and pictures of runs.

import { element } from './page.js';

/** The maximum number of entries, and of rows of a table. */
const ENTRIES = 50;
const ROWS = 200;

/**
 * Returns the columns and rows of a value that is a table: a list of records or of lists, or an
 * object that has columns by name. Returns null for other values.
 */
export function table(value) {
  const isRecord = (row) => row !== null && typeof row === 'object' && !Array.isArray(row);
  if (Array.isArray(value) && value.length > 0) {
    if (value.every(isRecord)) {
      const names = [...new Set(value.flatMap(Object.keys))];
      return names.length > 0 ? { names, rows: value.map((row) => names.map((name) => row[name])) } : null;
    }
    const width = value[0].length;
    const isTable = width > 1 && value.every((row) => Array.isArray(row) && row.length === width);
    return isTable ? { names: value[0].map((_, n) => String(n)), rows: value } : null;
  }
  if (!isRecord(value)) return null;
  const [names, columns] = [Object.keys(value), Object.values(value)];
  const isTable = names.length > 0 && columns.every((c) => Array.isArray(c) && c.length > 0 && c.length === columns[0].length);
  return isTable ? { names, rows: columns[0].map((_, n) => columns.map((column) => column[n])) } : null;
}

/**
 * Returns the rows of a text of comma- or tab-separated values (RFC 4180), each a list of fields.
 * Stops when there are enough rows to be shown.
 */
export function separated(text, comma) {
  const rows = [];
  let [row, field, isQuoted] = [[], '', false];
  const endField = () => (row.push(field), (field = ''));
  const endRow = () => (endField(), rows.push(row), (row = []));
  for (let n = 0; n < text.length && rows.length <= ROWS; n++) {
    const c = text[n];
    if (isQuoted && c === '"' && text[n + 1] === '"') [field, n] = [`${field}"`, n + 1];
    else if (c === '"' && (isQuoted || field === '')) isQuoted = !isQuoted;
    else if (isQuoted || (c !== comma && c !== '\n')) field += c === '\r' && text[n + 1] === '\n' ? '' : c;
    else if (c === comma) endField();
    else endRow();
  }
  if (field !== '' || row.length > 0) endRow();
  return rows;
}

const SEPARATORS = { csv: ',', tsv: '\t' };
const TYPES = { png: 'image/png', jpg: 'image/jpeg', jpeg: 'image/jpeg', gif: 'image/gif', svg: 'image/svg+xml', webp: 'image/webp' };

export class Results {
  #log;
  #urls = new Map();

  constructor(log) {
    this.#log = log;
  }

  clear() {
    const hint = 'The output, values, tables and pictures of runs appear here.';
    this.#log.replaceChildren(element('p', { class: 'empty' }, hint));
    this.#forget();
  }

  /** Frees the pictures that are no longer shown. */
  #forget() {
    for (const [image, url] of this.#urls) {
      if (image.isConnected) continue;
      URL.revokeObjectURL(url);
      this.#urls.delete(image);
    }
  }

  #entry(title, ...children) {
    this.#log.querySelector('.empty')?.remove();
    const entry = element('article', {}, element('h3', {}, title), ...children);
    this.#log.append(entry);
    while (this.#log.children.length > ENTRIES) this.#log.firstElementChild.remove();
    this.#forget();
    this.#log.scrollTop = entry.offsetTop - this.#log.offsetTop;
  }

  /** Shows the outcome of a run and its pictures. */
  add(title, outcome, pictures) {
    const { stdout, stderr, value, valueRepr, exitCode, duration, limitHit } = outcome;
    const parts = [];
    if (stdout) parts.push(element('pre', {}, stdout));
    if (stderr) parts.push(element('pre', { class: 'failed' }, stderr));
    const found = table(value);
    if (found) parts.push(this.#table(found));
    else if (valueRepr !== null && valueRepr !== undefined) parts.push(element('pre', {}, valueRepr));
    for (const { path, mimeType, data } of pictures) parts.push(this.#picture(path, mimeType, data));
    if (parts.length === 0) parts.push(element('p', { class: 'empty' }, 'No output'));
    const status = exitCode === 0 ? '' : `, status ${exitCode}`;
    this.#entry(`${title}: ${(duration * 1000).toFixed(0)} ms${status}${limitHit ? `, ${limitHit}` : ''}`, ...parts);
  }

  failed(title, error) {
    this.#entry(title, element('pre', { class: 'failed' }, error.message));
  }

  /** Shows a file that is a table or a picture. */
  preview(path, data) {
    const ending = path.split('.').pop().toLowerCase();
    if (TYPES[ending]) return this.#entry(path, this.#picture(path, TYPES[ending], data));
    if (!SEPARATORS[ending]) return;
    const [names, ...rows] = separated(new TextDecoder().decode(data), SEPARATORS[ending]);
    if (names) this.#entry(path, this.#table({ names, rows }));
  }

  #table({ names, rows }) {
    const cell = (value) => {
      const isNumber = typeof value === 'number' || (typeof value === 'string' && value.trim() !== '' && Number.isFinite(Number(value)));
      const text = value === null || value === undefined ? '' : typeof value === 'object' ? JSON.stringify(value) : String(value);
      return element('td', isNumber ? { class: 'number' } : {}, text);
    };
    const head = element('tr', {}, ...names.map((name) => element('th', { scope: 'col' }, name)));
    const body = rows.slice(0, ROWS).map((row) => element('tr', {}, ...row.map(cell)));
    const made = element('table', {}, element('thead', {}, head), element('tbody', {}, ...body));
    // The box can have the focus, so that keys can scroll it.
    const box = element('div', { class: 'table', tabindex: '0', role: 'region', 'aria-label': 'Table' }, made);
    if (rows.length > ROWS) box.append(element('p', { class: 'empty' }, `and ${rows.length - ROWS} more rows`));
    return box;
  }

  #picture(path, type, data) {
    const image = element('img', { alt: `Picture ${path}` });
    const url = URL.createObjectURL(new Blob([data], { type }));
    image.src = url;
    this.#urls.set(image, url);
    return element('figure', {}, image, element('figcaption', {}, path));
  }
}
