//: attacks = internal bindings by calls that no library makes
//: timeout = 4
//: status = any
//: says = begin
console.log('begin');
process.on('uncaughtException', () => {});
const { internalBinding } = (() => { try { return process.mainModule.require('internal/test/binding'); } catch { return {}; } })();
for (const name of ['fs', 'crypto', 'zlib', 'buffer', 'util', 'os', 'uv', 'contextify', 'constants', 'natives', 'url', 'tty_wrap', 'pipe_wrap', 'process_wrap', 'spawn_sync', 'stream_wrap', 'v8']) {
  let binding;
  try { binding = internalBinding ? internalBinding(name) : process.binding(name); } catch { continue; }
  for (const key of Object.keys(binding)) {
    for (const args of [[], [-1], [0, 0, 0, 0, 0], ['/tmp/x', 2 ** 31, -1, {}, []], [new Uint8Array(8), 2 ** 32, -5, 2 ** 53]]) {
      try { binding[key](...args); } catch { /* an error is right */ }
      try { new binding[key](...args); } catch { /* as above */ }
    }
  }
}
