#: attacks = pipelines of hundreds of stages
#: timeout = 1
#: processes = 400
#: memory = 2G
#: threads = 440
#: status = any
eval "yes $(printf '| cat %.0s' $(seq 300)) | head -n 1"; eval "yes $(printf '| cat %.0s' $(seq 5000)) | head -n 1"
