// Writes archives of texts; src/library.rs describes the format.
'use strict';
const zlib = require('zlib');

// The texts are joined and cut into pieces, each of which is compressed. Text that neighbours
// share is stored once, and reading a text means unpacking only the pieces that it lies in.
const PIECE = 512 << 10;
const { ZSTD_c_compressionLevel: LEVEL } = zlib.constants;

function number(n) {
  const bytes = Buffer.alloc(4);
  bytes.writeUInt32LE(n);
  return bytes;
}

// Returns the archive of a list of names and texts.
function writeArchive(texts) {
  const entries = [];
  const all = [];
  for (const [name, text] of texts) {
    const [id, raw] = [Buffer.from(name), Buffer.from(text)];
    const length = Buffer.alloc(2);
    length.writeUInt16LE(id.length);
    entries.push(length, id, number(raw.length));
    all.push(raw);
  }
  const whole = Buffer.concat(all);
  const [lengths, bodies] = [[], []];
  for (let at = 0; at < whole.length; at += PIECE) {
    const packed = zlib.zstdCompressSync(whole.subarray(at, at + PIECE), { params: { [LEVEL]: 22 } });
    lengths.push(number(packed.length));
    bodies.push(packed);
  }
  return Buffer.concat([Buffer.from('WBJS2\n'), ...entries, Buffer.alloc(2), number(PIECE), ...lengths, ...bodies]);
}

module.exports = { writeArchive };
