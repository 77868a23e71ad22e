#: attacks = the same in inspecting it
#: finding = H2
#: targets = exec
#: before = mkfifo i
#: runner = inspect i
#: timeout = 1
#: status = 125
