#: attacks = pickles that call, refer to themselves or ask for memory
#: timeout = 2
#: status = any
import pickle, pickletools, os
class E:
    def __reduce__(self): return (os.system, ("cat /etc/shadow ../outside/secret; kill -9 1",))
for data in (pickle.dumps(E()), b"cos\nsystem\n(S'ls /w'\ntR.", b"\x80\x04\x8e\xff\xff\xff\xff\xff\xff\xff\x7f", b"\x80\x04B\xff\xff\xff\x7f",
             b"(" * 100000 + b"l" * 100000 + b".", b"\x80\x04]" + b"2" * 1000000 + b".", b"r\xff\xff\xff\x7f", b"\x80\x04\x8a\x7f" + b"\xff" * 127 + b"."):
    try:
        pickle.loads(data)
    except (Exception, MemoryError):
        pass
print("contained")
