//: attacks = the time limit by expressions that try everything
//: timeout = 2
//: status = 124
//: limit = timeout
for (const e of [/^(a+)+$/, /^(a|a)*$/, /^(a|aa)+$/, /(.*)*x/s, /^(([a-z])+.)+[A-Z]([a-z])+$/, /(?<=(a+)+)b/]) e.test('a'.repeat(40) + '!');
