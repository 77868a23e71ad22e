//: attacks = the CPU limit by promises and timers in turn
//: timeout = 20
//: cpu = 1
//: status = 152
//: limit = cpu
const tick = () => Promise.resolve().then(() => process.nextTick(tick));
setInterval(() => {}, 0);
setImmediate(function again() { setImmediate(again); });
tick();
