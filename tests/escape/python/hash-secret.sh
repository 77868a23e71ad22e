#: attacks = the secret of hashes, which must not be the same in every session on the machine
#: finding = low: hash() in every start
#: targets = exec
#: before = ln -s "$IMAGE" image.webc; "$RUNNER" exec image.webc -- python3 -c 'print("hash", hash("x"))' > first
#: mount = first:/first:ro
#: status = 0
python3 -c 'print("hash", hash("x"))' > /tmp/second
! cmp -s /first /tmp/second
