//: attacks = the memory limit and the time by long texts and large numbers for Intl and URLPattern
//: timeout = 15
//: memory = 96M
//: status = any
//: says = contained
console.log('contained');
const long = 'a-'.repeat(1e5);
for (const f of [
  () => new Intl.NumberFormat('en', { minimumFractionDigits: 100, maximumFractionDigits: 100 }).format(1e300), () => new Intl.NumberFormat('de').format(10n ** 20000n), () => Intl.getCanonicalLocales(long),
  () => new Intl.NumberFormat(`en-x-${long}`), () => new Intl.DateTimeFormat('en', { timeZone: long }), () => new Intl.DateTimeFormat('en', { timeZone: '../../etc/passwd' }).format(0), () => new Intl.DateTimeFormat('en', { timeZone: 'Europe/../../../etc/passwd' }),
  () => [...new Intl.Segmenter('en', { granularity: 'word' }).segment('\u200d'.repeat(2e5))].length, () => 'é'.repeat(5e5).localeCompare('e\u0301'.repeat(5e5), 'de'), () => new Intl.ListFormat('en').format(Array(1e5).fill('x')),
  () => new Intl.Locale('en', { calendar: long }), () => new Intl.DurationFormat('en').format({ seconds: 2 ** 53 - 1 }), () => Array(2e5).fill(0).map((_, i) => `${i}`).sort(new Intl.Collator('ja').compare), () => '\u0130'.repeat(1e6).toLocaleLowerCase('tr'),
  () => new URLPattern({ pathname: '{'.repeat(1e5) }), () => new URLPattern({ pathname: ':a'.repeat(1e4) }), () => new URLPattern({ pathname: '/(a*)*b' }).exec(`http://h/${'a'.repeat(30)}`), () => new TextDecoder('iso-2022-jp').decode(new Uint8Array(1e7)),
]) {
  try {
    f();
  } catch (e) {
    console.log(e.name);
  }
}
