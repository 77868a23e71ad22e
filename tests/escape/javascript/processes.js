//: attacks = the limit on processes by scripts that start themselves
//: timeout = 3
//: processes = 16
//: status = any
const { spawn, spawnSync } = require('child_process');
for (let i = 0; i < 40; i++) {
  try { spawn('node', ['-e', 'for(;;);'], { detached: true, stdio: 'ignore' }).on('error', () => {}); } catch { /* too many */ }
}
for (let i = 0; i < 40; i++) spawnSync('sh', ['-c', 'sleep 100 &']);
