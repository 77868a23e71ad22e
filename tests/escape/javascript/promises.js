//: attacks = the queue of jobs by promises that make more
//: timeout = 3
//: memory = 96M
//: status = any
//: never = survived
const storm = () => Promise.all(Array.from({ length: 100 }, () => Promise.resolve().then(storm)));
const thenable = { then(resolve) { resolve(thenable); } };
Promise.resolve(thenable).then(() => console.log('survived'));
storm().then(() => console.log('survived'));
