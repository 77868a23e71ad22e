#: attacks = native code by ctypes and relatives
#: status = 0 139
import importlib
for name in ("_ctypes", "cffi", "_posixshmem", "_multiprocessing", "resource", "socket", "ssl", "_socket", "spwd", "nis", "ossaudiodev", "msvcrt"):
    try:
        importlib.import_module(name)
        print(name)
    except Exception:
        pass
try:
    import ctypes
    for f in (lambda: ctypes.CDLL(None), lambda: ctypes.CDLL("libc.so.6"), lambda: ctypes.pythonapi.PyRun_SimpleString(b"x"),
              lambda: ctypes.string_at(0, 10), lambda: ctypes.cast(1, ctypes.c_char_p).value, lambda: ctypes.memset(0, 0, 1 << 31),
              lambda: (ctypes.c_char * (1 << 31)).from_address(0).raw):
        try:
            f()
        except (Exception, MemoryError):
            pass
except ImportError:
    pass
print("contained")
