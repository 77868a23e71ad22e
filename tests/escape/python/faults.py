#: attacks = everything by which an interpreter is made to crash
#: timeout = 1
#: status = any
import faulthandler, sys, subprocess
for f in ("faulthandler._sigsegv()", "faulthandler._stack_overflow()", "faulthandler._fatal_error_c_thread()", "faulthandler._read_null()", "faulthandler.dump_traceback_later(0.001, repeat=True, exit=True)",
          "import os; os.abort()", "import sys; sys._getframe().clear()", "import gc; gc.get_objects()[0].__class__ = int", "import _testcapi; _testcapi.crash_no_current_thread()", "import ctypes; ctypes.memmove(0, 1, 1 << 31)"):
    p = subprocess.run([sys.executable, "-c", "import faulthandler; faulthandler.enable()\n" + f], capture_output=True)
    print(p.returncode)
