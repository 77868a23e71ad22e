// Times operations of Node other than computing, and prints "NAME MILLISECONDS" for each. Files are
// in the temporary folder.
'use strict';
const { execFileSync } = require('child_process');
const fs = require('fs');
const os = require('os');
const path = require('path');

function measured(name, work) {
  const begun = performance.now();
  const result = work();
  console.log(`${name} ${(performance.now() - begun).toFixed(2)}`);
  return result;
}

const rows = Array.from({ length: 80000 }, (_, i) => (
  { id: i, name: `row ${i}`, price: i * 1.25, tags: ['a', 'bc', `t${i % 17}`], open: i % 3 === 0, note: 'a text with "quotes" and \u00fc' }));
const text = measured('stringify', () => JSON.stringify(rows));
if (text.length < 9e6) throw new Error(`${text.length} bytes of JSON`);
if (measured('parse', () => JSON.parse(text)).length !== rows.length) throw new Error('parse');

const folder = fs.mkdtempSync(path.join(os.tmpdir(), 'bench-'));
const files = Array.from({ length: 10000 }, (_, i) => path.join(folder, `${i}.txt`));
measured('write-files', () => { for (const file of files) fs.writeFileSync(file, `${file}\n`.repeat(20)); });
const bytes = measured('read-files', () => files.reduce((sum, file) => sum + fs.readFileSync(file, 'utf8').length, 0));
if (bytes < 10000 * 100) throw new Error(`${bytes} bytes of files`);
fs.rmSync(folder, { recursive: true });

measured('commands', () => {
  for (let i = 0; i < 100; i++) if (execFileSync('echo', [`${i}`]).toString() !== `${i}\n`) throw new Error('echo');
});
