// Makes the object `Intl`, and the methods of the language that depend on locales. Everything is
// made when it is first used.
(function (native, host) {
'use strict';

const { intl } = host;
const define = (object, name, value) => Object.defineProperty(object, name, { __proto__: null, value, writable: true, enumerable: false, configurable: true });

const Intl = {};
Object.defineProperty(Intl, Symbol.toStringTag, { __proto__: null, value: 'Intl', configurable: true });

const { getCanonicalLocales, supportedValuesOf } = {
  getCanonicalLocales(locales) { return intl.canonicalList(locales); },
  supportedValuesOf(key) {
    const kind = String(key);
    switch (kind) {
      case 'calendar': return ['gregory'];
      case 'collation': return [...intl.partOf('root/subtags').supported.collation];
      case 'currency': return [...intl.partOf('root/subtags').supported.currency];
      case 'numberingSystem': return Object.keys(intl.index().systems).sort();
      case 'timeZone': return [...intl.partOf('root/zones').names];
      case 'unit': return [...intl.index().units].sort();
      default: throw new RangeError(`Invalid key : ${kind}`);
    }
  },
};
define(Intl, 'getCanonicalLocales', getCanonicalLocales);
define(Intl, 'supportedValuesOf', supportedValuesOf);
for (const name of ['DateTimeFormat', 'NumberFormat', 'Collator', 'PluralRules', 'RelativeTimeFormat', 'ListFormat', 'Locale', 'DisplayNames', 'Segmenter', 'DurationFormat']) {
  define(Intl, name, intl[name]);
}

// --- methods of other objects ------------------------------------------------------------------------

// Methods get the names and lengths of the language's own.
function replaceMethods(object, methods) {
  Object.keys(methods).forEach((name) => {
    const method = methods[name];
    Object.defineProperty(method, 'length', { __proto__: null, value: name === 'localeCompare' ? 1 : 0, configurable: true });
    define(object, name, method);
  });
}

const { call } = Function.prototype;
const called = (method) => call.bind(method);
const asNumber = called(Number.prototype.valueOf);
const asBigInt = called(BigInt.prototype.valueOf);
const timeOf = called(Date.prototype.getTime);

// Formats without options are used often.
const numbers = new Map();
function formatNumber(value, locales, options) {
  if (options !== undefined || (locales !== undefined && typeof locales !== 'string')) return intl.numberFormat(locales, options).format(value);
  const key = locales ?? '';
  if (!numbers.has(key)) numbers.set(key, intl.numberFormat(locales, undefined));
  return numbers.get(key).format(value);
}

function formatDate(date, locales, options, required, defaults) {
  const time = timeOf(date);
  return Number.isNaN(time) ? 'Invalid Date' : intl.formatDate(time, locales, options, required, defaults);
}
// The name of the zone in the text of a date, in English as in Node's usual locale.
const DATE_TEXTS = ['toString', 'toTimeString'];
const dateTexts = DATE_TEXTS.map((name) => called(Date.prototype[name]));
function withZone(date, text) {
  const time = timeOf(date);
  if (Number.isNaN(time)) return text;
  const zone = host.process?.env?.TZ ?? '';
  if (zone === '' || zone === 'UTC' || zone === ':UTC') return `${text} (Coordinated Universal Time)`;
  try {
    return `${text} (${intl.zoneText({ dataLocale: intl.defaultLocale(), zone: intl.localZone(), digits: (digits) => digits }, time, 'z', 4)})`;
  } catch {
    // Without the archive there are no names.
    return text;
  }
}
function locales(list) {
  const found = intl.canonicalList(list)[0];
  return (found ?? intl.defaultLocale()).split('-')[0];
}

// Upper and lower case of languages with rules of their own (SpecialCasing.txt of Unicode).
function upper(text, language) {
  switch (language) {
    case 'tr': case 'az': return text.replaceAll('i', '\u0130').toUpperCase();
    case 'lt': return text.replace(/(\p{Soft_Dotted}[\u0316-\u0333\u0339-\u033c]*)\u0307/gu, '$1').toUpperCase();
    case 'el': return upperGreek(text);
    case 'hy': return text.replaceAll('\u0587', '\u0535\u054e').toUpperCase();
    default: return text.toUpperCase();
  }
}
function lower(text, language) {
  switch (language) {
    case 'tr': case 'az': return text.replace(/I\u0307|\u0130/g, 'i').replaceAll('I', '\u0131').toLowerCase();
    case 'lt': return text.replace(/\u00cc/g, 'i\u0307\u0300').replace(/\u00cd/g, 'i\u0307\u0301').replace(/\u0128/g, 'i\u0307\u0303')
      .replace(/([IJ\u012e])(?=\p{M}*[\u0300\u0301\u0303])/gu, (letter) => `${letter.toLowerCase()}\u0307`).toLowerCase();
    default: return text.toLowerCase();
  }
}
// Capital Greek letters have no accents, except for the dialytika.
function upperGreek(text) {
  return text.normalize('NFD').replace(/([\u0391-\u03a9\u03b1-\u03c9])([\u0300-\u036f]*)/g, (_, letter, marks, at, all) => {
    const isOr = /[\u0397\u03b7]/.test(letter) && marks.includes('\u0301') && !/[\p{L}\p{M}]/u.test(all[at - 1] ?? '') && !/\p{L}/u.test(all[at + 1 + marks.length] ?? '');
    if (isOr) return '\u0389';
    const before = /[\u0391\u0395\u039f\u03a5\u03b1\u03b5\u03bf\u03c5]([\u0300-\u036f]*)$/.exec(all.slice(0, at));
    const second = /[\u0399\u03b9\u03a5\u03c5]/.test(letter) && before !== null && /[\u0301\u0300\u0342]/.test(before[1]) && !marks.includes('\u0308');
    return letter.toUpperCase() + (marks.includes('\u0308') || second ? '\u0308' : '');
  }).normalize('NFC').toUpperCase();
}

const textOf = (value, method) => {
  if (value === undefined || value === null) throw new TypeError(`String.prototype.${method} called on null or undefined`);
  return String(value);
};

// Lists pass their arguments to the methods of their elements. A list within itself is empty.
const joining = [];
function joinElements(list, given, options) {
  if (joining.includes(list)) return '';
  joining.push(list);
  try {
    return elementTexts(list, given, options).join(',');
  } finally {
    joining.pop();
  }
}
function elementTexts(list, given, options) {
  const texts = [];
  for (let i = 0; i < list.length; i++) {
    const value = list[i];
    texts.push(value === undefined || value === null ? '' : String(value.toLocaleString(given, options)));
  }
  return texts;
}

// Gives a realm `Intl` and the methods that depend on locales.
host.installIntl = (global) => {
  define(global, 'Intl', Intl);
  replaceMethods(global.Number.prototype, { toLocaleString(locales, options) { return formatNumber(asNumber(this), locales, options); } });
  replaceMethods(global.BigInt.prototype, { toLocaleString(locales, options) { return formatNumber(asBigInt(this), locales, options); } });
  replaceMethods(global.Date.prototype, {
    toLocaleString(locales, options) { return formatDate(this, locales, options, 'any', 'all'); },
    toLocaleDateString(locales, options) { return formatDate(this, locales, options, 'date', 'date'); },
    toLocaleTimeString(locales, options) { return formatDate(this, locales, options, 'time', 'time'); },
  });
  DATE_TEXTS.forEach((name, i) => replaceMethods(global.Date.prototype, { [name]() { return withZone(this, dateTexts[i](this)); } }));
  replaceMethods(global.String.prototype, {
    localeCompare(other, locales, options) { return intl.localeCompare(textOf(this, 'localeCompare'), String(other), locales, options); },
    toLocaleUpperCase(list) { const text = textOf(this, 'toLocaleUpperCase'); return upper(text, locales(list)); },
    toLocaleLowerCase(list) { const text = textOf(this, 'toLocaleLowerCase'); return lower(text, locales(list)); },
  });
  const typed = Object.getPrototypeOf(global.Uint8Array.prototype);
  const lengthOf = called(Object.getOwnPropertyDescriptor(typed, 'length').get);
  replaceMethods(global.Array.prototype, { toLocaleString(given, options) { return joinElements(Object(this), given, options); } });
  replaceMethods(typed, { toLocaleString(given, options) {
    lengthOf(this);
    return joinElements(this, given, options);
  } });
};
host.installIntl(globalThis);
})
