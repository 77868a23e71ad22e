//: attacks = the reporting of rejections by a very large number of them
//: timeout = 5
//: memory = 96M
//: status = any
process.on('unhandledRejection', (e, p) => { Promise.reject(p); });
for (let i = 0; i < 1e5; i++) Promise.reject(new Error('x'.repeat(i % 100)));
