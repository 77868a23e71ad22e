#: attacks = objects that are freed or resized while they are looked at
#: status = 0 1
#: says = contained
import array, gc, io, weakref
b = bytearray(1000)
v = memoryview(b)
for f in (b.clear, lambda: b.extend(b"x"), lambda: b.pop()):
    try:
        f()
    except BufferError:
        pass
class Evil:
    def __index__(self):
        b2.clear()
        return 5
b2 = bytearray(10)
try:
    b2[Evil()] = 1
except IndexError:
    pass
class L(list):
    def __del__(self):
        keep.append(self)
keep = []
for _ in range(1000):
    x = L(); x.append(x); del x
gc.collect(); keep.clear(); gc.collect()
a = array.array("i", range(100))
m = memoryview(a).cast("B")
try:
    a.append(1)
except BufferError:
    pass
w = [weakref.ref(Evil) for _ in range(1000)]
io.BytesIO(b"x" * 100).getbuffer().release()
print("contained")
