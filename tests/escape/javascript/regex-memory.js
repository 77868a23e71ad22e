//: attacks = the memory limit by regular expressions that are large or save much state
//: timeout = 5
//: memory = 96M
//: status = any
//: says = contained
console.log('contained');
for (const f of [
  () => /(?:(a)|b)*/.exec('ab'.repeat(1e7)), () => new RegExp('a{1,65535}'.repeat(1000)), () => new RegExp('(?:a{1,1000}){1,1000}'), () => new RegExp('(a)'.repeat(1e5)),
  () => new RegExp('[\\u{0}-\\u{10ffff}]'.repeat(1e5), 'u'), () => new RegExp('\\p{L}'.repeat(1e5), 'iu'), () => 'x'.repeat(1e6).split(/(?:)/), () => 'x'.repeat(1e6).replace(/x/g, '$&$&$`'),
]) {
  try {
    f();
  } catch (e) {
    console.log(e.name);
  }
}
