#: attacks = small data that unpacks to very much
#: timeout = 2
#: memory = 128M
#: status = any
import bz2, gzip, io, lzma, zipfile, zlib, tarfile
z = zlib.compressobj(9); bomb = b"".join(z.compress(bytes(1 << 20)) for _ in range(200)) + z.flush()
for f in (lambda: zlib.decompress(bomb), lambda: zlib.decompress(zlib.compress(bytes(1 << 26)), bufsize=1 << 31), lambda: bz2.decompress(bz2.compress(bytes(1 << 26)) * 20),
          lambda: lzma.decompress(lzma.compress(bytes(1 << 26)) * 20), lambda: zlib.decompressobj().decompress(bomb, 1 << 40)):
    try:
        print(len(f()))
    except (MemoryError, Exception) as e:
        print(type(e).__name__)
