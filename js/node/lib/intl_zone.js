// `Intl`: time zones, their offsets and names. Offsets come from the files of /usr/share/zoneinfo;
// names are put together as UTS 35 describes ("Using Time Zone Names").
(function (native, host) {
'use strict';

const { intl } = host;
const zones = () => intl.partOf('root/zones');

let byLowerCase;
// Returns the name that Node reports for a zone; undefined if there is none. An offset such as
// `+01:00` is a zone, too.
function canonicalZone(name) {
  const offset = /^([+-])([01]\d|2[0-3])(?::?([0-5]\d))?$/.exec(name);
  if (offset !== null) {
    const { 1: sign, 2: hours, 3: minutes = '00' } = offset;
    return `${hours === '00' && minutes === '00' ? '+' : sign}${hours}:${minutes}`;
  }
  byLowerCase ??= new Map(Object.entries(zones().canonical).map(([key, value]) => [key.toLowerCase(), [key, value]]));
  const found = byLowerCase.get(name.toLowerCase());
  // The file has the offsets; a zone without it cannot be used.
  return found === undefined || offsetAt(found[0], 0) === undefined && offsetAt(found[1], 0) === undefined ? undefined : found[1];
}

// Returns the offset of a zone from UTC in milliseconds; undefined if there is no such zone.
function offsetAt(zone, time) {
  const fixed = /^([+-])(\d\d):(\d\d)$/.exec(zone);
  if (fixed !== null) return (fixed[1] === '-' ? -1 : 1) * (Number(fixed[2]) * 60 + Number(fixed[3])) * 60000;
  const seconds = native.zoneOffset(zone, Math.floor(time / 1000));
  return seconds === null || seconds === undefined ? undefined : seconds * 1000;
}

// Returns the zone of local time, as the variable TZ says.
function localZone() {
  const name = (host.process?.env?.TZ ?? '').replace(/^:/, '');
  if (name === '') return 'UTC';
  return canonicalZone(name) ?? 'UTC';
}

// Returns whether a zone has daylight saving time at a time: its offset is larger than in January
// or in July. (Ireland's files call its summer time the standard.)
function isDaylight(zone, time) {
  const year = new Date(time).getUTCFullYear();
  return offsetAt(zone, time) > Math.min(offsetAt(zone, Date.UTC(year, 0, 1)), offsetAt(zone, Date.UTC(year, 6, 1)));
}
const HALF_A_YEAR = 184 * 86400000;
const hasDaylight = (zone, time) => [-HALF_A_YEAR, HALF_A_YEAR].some((d) => offsetAt(zone, time + d) !== offsetAt(zone, time)) || isDaylight(zone, time);

function metazoneAt(zone, time) {
  const spans = zones().meta[zone];
  if (spans === undefined) return undefined;
  const parse = (text) => Date.UTC(Number(text.slice(0, 4)), Number(text.slice(5, 7)) - 1, Number(text.slice(8, 10)), Number(text.slice(11, 13)), Number(text.slice(14, 16)));
  return spans.find(([, from, to]) => from === undefined || (parse(from) <= time && time < parse(to)))?.[0];
}

// Returns the text for an offset: `GMT+1` or `GMT+01:00`.
function offsetText(state, time, isLong) {
  const names = intl.dataOf(state.dataLocale, 'z');
  const offset = offsetAt(state.zone, time);
  const pattern = names.hourFormat.split(';')[offset < 0 ? 1 : 0];
  const seconds = Math.floor(Math.abs(offset) / 1000);
  const [h, m, s] = [Math.floor(seconds / 3600), Math.floor(seconds / 60) % 60, seconds % 60];
  const two = (n) => String(n).padStart(2, '0');
  const { 1: sign, 2: separator, 3: tail } = /^(.*?)H+([^m]*)mm(.*)$/.exec(pattern);
  const hours = isLong ? two(h) : String(h);
  let text = sign + hours;
  const hasMinutes = isLong || m !== 0 || s !== 0;
  if (hasMinutes) text += separator + two(m);
  if (s !== 0) text += separator + two(s);
  return names.gmtFormat.replace('{0}', () => state.digits(hasMinutes ? text + tail : text));
}

// Returns a zone's own name of a kind: `l` or `s` for the length, and `s`, `d` or `g` for standard,
// daylight or either time.
function ownName(state, kind, time) {
  const names = intl.dataOf(state.dataLocale, 'z');
  const zone = state.zone === 'UTC' ? 'Etc/UTC' : state.zone;
  const real = (name) => name === '\u2205\u2205\u2205' ? undefined : name;
  const own = real(names[zone.replaceAll('/', ':')]?.[kind]);
  if (own !== undefined) return own;
  const metazone = metazoneAt(zone, time);
  return metazone === undefined ? undefined : real(names[`meta:${metazone}`]?.[kind]);
}

function specificName(state, time, isLong) {
  if (/^[+-]/.test(state.zone)) return offsetText(state, time, isLong);
  const kind = (isLong ? 'l' : 's') + (isDaylight(state.zone, time) ? 'd' : 's');
  return ownName(state, kind, time) ?? offsetText(state, time, isLong);
}

// Returns the place by which a zone is called: its country if it has no other, or its city.
function placeOf(state) {
  const { regions, count, primary } = zones();
  const region = regions[state.zone];
  const isOnly = region !== undefined && region !== '001' && (count[region] === 1 || primary[region] === state.zone);
  const country = isOnly ? intl.dataOf(state.dataLocale, 'k').regions[region] : undefined;
  if (country !== undefined) return country;
  const names = intl.dataOf(state.dataLocale, 'z');
  return names[state.zone.replaceAll('/', ':')]?.ec ?? state.zone.split('/').at(-1).replaceAll('_', ' ');
}

function genericName(state, time, isLong) {
  const names = intl.dataOf(state.dataLocale, 'z');
  const { zone } = state;
  if (/^[+-]|^UTC$/.test(zone)) return offsetText(state, time, isLong);
  const { map } = zones();
  const length = isLong ? 'l' : 's';
  const own = ownName(state, `${length}g`, time);
  const standard = hasDaylight(zone, time) ? undefined : ownName(state, `${length}s`, time);
  const name = standard ?? own;
  const metazone = metazoneAt(zone, time);
  if (name !== undefined) {
    const golden = map[metazone]?.[intl.regionOf(state.dataLocale)] ?? map[metazone]?.['001'];
    if (golden === undefined || golden === zone || offsetAt(golden, time) === offsetAt(zone, time)) return name;
    const place = placeOf(state);
    return names.fallbackFormat.replace(/\{([01])\}/g, (_, i) => i === '1' ? name : place);
  }
  if (zones().regions[zone] === '001') return offsetText(state, time, isLong);
  return names.regionFormat.replace('{0}', () => placeOf(state));
}

// Returns the text of a zone for a field of a pattern.
function zoneText(state, time, letter, length) {
  switch (letter) {
    case 'z': return specificName(state, time, length >= 4);
    case 'v': return genericName(state, time, length >= 4);
    default: return offsetText(state, time, length >= 4);
  }
}

Object.assign(intl, { canonicalZone, offsetAt, localZone, zoneText });
})
