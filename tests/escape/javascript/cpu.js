//: attacks = the CPU limit by alternating promises and timers
//: timeout = 20
//: cpu = 1
//: status = 152
//: limit = cpu
const tick = () => Promise.resolve().then(() => process.nextTick(tick));
setInterval(() => {}, 0);
setImmediate(function again() { setImmediate(again); });
tick();
