//: attacks = the limits of processes and memory by workers that make workers, and by messages nobody reads
//: timeout = 10
//: memory = 96M
//: status = any
//: says = contained
console.log('contained');
const { Worker, BroadcastChannel } = require('worker_threads');
const code = 'const { Worker } = require("worker_threads"); for (let i = 0; i < 20; i++) new Worker(require("worker_threads").workerData, { eval: true, workerData: require("worker_threads").workerData }).on("error", () => {});';
for (let i = 0; i < 20; i++) {
  try {
    new Worker(code, { eval: true, workerData: code }).on('error', () => {});
  } catch (e) {
    console.log(e.name);
  }
}
const channel = new BroadcastChannel('x');
const { port1, port2 } = new MessageChannel();
port1.postMessage({ port2 }, [port2]);
const deaf = new Worker('for (;;);', { eval: true });
deaf.on('error', () => {});
setInterval(() => { deaf.postMessage(new Uint8Array(1e6)); channel.postMessage(new SharedArrayBuffer(1e6)); }, 0);
