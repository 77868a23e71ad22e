#: attacks = the runner's command line: limits without bound
#: targets = exec
#: before = ln -s "$IMAGE" image.webc
#: runner = exec --timeout 9e18 --memory 16777215T --disk 16777215T --output-limit 16777215T --processes 18446744073709551615 image.webc -- echo contained
#: status = 0 2
