#: attacks = an image with noise where its manifest and its directories are
#: targets = exec
#: before = cp "$IMAGE" i
#: wrap = python3 -c "import random; r = random.Random(5); f = open('i', 'r+b'); [(f.seek(r.randrange(12, 20000)), f.write(bytes([r.randrange(256)]))) for _ in range(400)]; f.close()"
#: runner = inspect i
#: timeout = 8
#: status = 125
