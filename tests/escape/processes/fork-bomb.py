#: attacks = processes of Python that start two more each
#: timeout = 1
#: memory = 512M
#: status = any
import subprocess, sys
code = "import subprocess, sys\nwhile True:\n  try:\n    p = [subprocess.Popen(sys.argv[1:], args) if 0 else subprocess.Popen([sys.executable, '-c', sys.argv[1], sys.argv[1]]) for _ in range(2)]\n  except OSError: pass"
while True:
    try:
        subprocess.Popen([sys.executable, "-c", code, code])
    except OSError:
        pass
