#: attacks = the time limit, by ends of pipes that wait for others
#: finding = low: half-open pipes
#: timeout = 1
#: status = 124
#: limit = timeout
cat /.box/pipe/a/r & yes > /.box/pipe/b/w & cat < /.box/pipe/c/r > /.box/pipe/c/w & dd if=/.box/pipe/d/r & wait; cat /.box/pipe/e/r
