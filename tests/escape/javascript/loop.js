//: attacks = the time limit by a loop that calls nothing
//: timeout = 1
//: status = 124
//: limit = timeout
for (;;);
