#: attacks = pictures with sizes that are lies
#: timeout = 2
#: memory = 160M
#: status = any
import io, struct, zlib
from PIL import Image
Image.MAX_IMAGE_PIXELS = None
def png(w, h, data=b"", depth=8, kind=6):
    def chunk(t, d): return struct.pack(">I", len(d)) + t + d + struct.pack(">I", zlib.crc32(t + d))
    return b"\x89PNG\r\n\x1a\n" + chunk(b"IHDR", struct.pack(">IIBBBBB", w, h, depth, kind, 0, 0, 0)) + chunk(b"IDAT", zlib.compress(data)) + chunk(b"IEND", b"")
for data in (png(1 << 30, 1 << 30), png(65535, 65535, bytes(1 << 20)), png(1, (1 << 31) - 1), b"GIF89a\xff\xff\xff\xff\xf7\0\0" + b"\0" * 1000, b"BM" + b"\xff" * 200,
             b"II*\0\x08\0\0\0\xff\xff" + b"\xff" * 400, b"\xff\xd8\xff\xc0\0\x11\x08\xff\xff\xff\xff\3" + bytes(100), b"P6\n99999999 99999999\n255\n"):
    try:
        i = Image.open(io.BytesIO(data)); i.load(); i.resize((50000, 50000)); i.rotate(45)
    except (Exception, MemoryError):
        pass
print("contained")
