#: attacks = an image of eight terabytes of nothing
#: targets = exec
#: before = printf '\0webc003' > i; truncate -s 8T i
#: runner = inspect i
#: timeout = 2
#: status = 125
