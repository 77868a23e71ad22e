#: attacks = the runner's command line: limits of nothing
#: targets = exec
#: before = ln -s "$IMAGE" image.webc
#: runner = exec --timeout 1e-9 --memory 0 --disk 0 --output-limit 0 --processes 1 image.webc -- echo never
#: status = any
#: never = never
