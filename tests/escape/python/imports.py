#: attacks = modules that the guest puts where the interpreter looks
#: status = 0
#: says = contained
import os, subprocess, sys
os.makedirs("/home/user/.local/lib/python3.13/site-packages", exist_ok=True)
for name in ("os.py", "site.py", "encodings.py", "sitecustomize.py", "usercustomize.py"):
    open("/tmp/" + name, "w").write("while True: pass")
open("/home/user/.local/lib/python3.13/site-packages/x.pth", "w").write("import os; os._exit(3)\n")
for p in ("/usr/lib/python3.13/os.py", "/usr/bin/python3", "/bin/sh"):
    for f in (lambda: os.unlink(p), lambda: os.rename(p, p + "x"), lambda: open(p, "w").write("x"), lambda: os.chmod(p, 0)):
        try:
            f()
        except OSError:
            pass
try:
    subprocess.run([sys.executable, "-c", "pass"], cwd="/tmp", timeout=0.5)
except (OSError, subprocess.TimeoutExpired):
    pass
print("contained")
