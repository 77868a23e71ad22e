//: attacks = the time limit by regular expressions that backtrack exponentially
//: timeout = 2
//: status = 124
//: limit = timeout
for (const e of [/^(a+)+$/, /^(a|a)*$/, /^(a|aa)+$/, /(.*)*x/s, /^(([a-z])+.)+[A-Z]([a-z])+$/, /(?<=(a+)+)b/]) e.test('a'.repeat(40) + '!');
