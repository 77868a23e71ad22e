#: attacks = the same in Python
#: timeout = 1
#: status = 124
#: limit = timeout
import os, sys
code = "import os, sys; os.execv(sys.executable, [sys.executable, '-c', sys.argv[1], sys.argv[1]])"
os.execv(sys.executable, [sys.executable, "-c", code, code])
