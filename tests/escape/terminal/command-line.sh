#: attacks = the runner's command line: numbers that overflow
#: finding = low: --timeout 1e19
#: targets = exec
#: before = ln -s "$IMAGE" image.webc
#: runner = exec --timeout 1e19 image.webc -- echo contained
#: status = 0 2
