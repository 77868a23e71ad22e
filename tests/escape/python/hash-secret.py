#: attacks = the secret of hashes, which is the same in every start from a snapshot unless one asks for a fresh one
#: finding = low: hash() in every start
#: targets = exec
#: timeout = 10
#: before = ln -s "$IMAGE" image.webc
#: runner = exec --fresh-python image.webc -- python3 -c print(hash("wasibox"))
#: wrap = a=$("$@"); b=$("$@"); [ -n "$a" ] && [ "$a" != "$b" ] || exit 9
#: status = 0
# The whole attack is the command line above.
