#: attacks = randomness, which must not begin the same in every interpreter
#: before = ln -s "$IMAGE" image.webc
#: timeout = 10
#: status = 0
for i in 1 2 3; do
  python3 -c 'import os, random, uuid, tempfile, secrets, numpy.random as n
print(random.random(), n.rand(), uuid.uuid4(), secrets.token_hex(), next(tempfile._get_candidate_names()), os.urandom(8))'
done | tr ' ' '\n' | sort | uniq -d | grep . && exit 1
exit 0
