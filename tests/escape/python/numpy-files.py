#: attacks = NumPy's file formats
#: timeout = 2
#: status = any
import io, numpy as np, os
class E:
    def __reduce__(self): return (os.system, ("echo x > /tmp/pickled",))
np.save("/tmp/a.npy", np.array([E()], dtype=object), allow_pickle=True)
for f in (lambda: np.load("/tmp/a.npy"), lambda: np.load(io.BytesIO(b"\x93NUMPY\1\0\x50\0{'descr': '<f8', 'fortran_order': False, 'shape': (9999999999999,), }      \n")),
          lambda: np.load(io.BytesIO(b"\x93NUMPY\3\0\xff\xff\xff\x7f{")), lambda: np.memmap("/tmp/a.npy", shape=(1 << 40,), mode="r+"),
          lambda: np.fromfile("/dev/zero", count=1 << 40), lambda: np.frombuffer(b"", count=1 << 40), lambda: np.ndarray((2**62, 4), strides=(0, 0)),
          lambda: np.einsum("a,b,c,d,e->abcde", *[np.ones(200)] * 5), lambda: np.dtype("V2147483647"), lambda: np.dtype([("x", "f8")] * 1000),
          lambda: np.array([1]).view("V0"), lambda: np.lib.stride_tricks.as_strided(np.ones(1), (10,), (-(1 << 30),)).sum()):
    try:
        f()
    except (Exception, MemoryError):
        pass
print("contained")
