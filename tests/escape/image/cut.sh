#: attacks = an image that ends in its middle
#: targets = exec
#: before = head -c 30000000 "$IMAGE" > i
#: runner = exec i -- true
#: status = 125
