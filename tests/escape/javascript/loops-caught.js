//: attacks = the time limit by handlers that catch everything
//: timeout = 1
//: status = 124
//: limit = timeout
process.on('uncaughtException', () => {});
process.on('exit', () => { for (;;); });
for (const name of ['SIGTERM', 'SIGINT', 'SIGXCPU', 'SIGALRM', 'SIGHUP']) process.on(name, () => { for (;;); });
for (;;) try { (function f() { try { f(); } finally { f(); } })(); } catch {}
