#: attacks = ended processes that nobody waits for
#: timeout = 1
#: memory = 96M
#: status = 0 1 124
import subprocess
held = []
try:
    while True:
        held.append(subprocess.Popen(["true"]))
except OSError as e:
    print(len(held), e)
