//: attacks = the reader of output by more than its limit
//: timeout = 3
//: output = 1M
//: status = any
for (;;) process.stdout.write('\x1b[2J'.repeat(1 << 14));
