#: attacks = children of Python that outlive it with its streams
#: timeout = 8
#: seconds = 4
#: status = 3
import subprocess, sys
subprocess.Popen(["sh", "-c", "trap '' TERM; while :; do sleep 1; done"], start_new_session=True)
subprocess.Popen(["yes"], stdout=subprocess.DEVNULL)
sys.exit(3)
