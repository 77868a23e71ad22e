cat > run.py <<'P'
import subprocess as sp, os, signal, sys, tempfile, shutil
r = sp.run("echo out; echo err >&2; exit 3", shell=True, capture_output=True, text=True); print(r)
print(sp.check_output(["sort", "-n"], input="10\n9\n1\n", text=True).split(), sp.run(["grep", "-c", "x"], input=b"x\ny\nx", stdout=sp.PIPE).stdout)
try: sp.run("sleep 5", shell=True, timeout=.2)
except sp.TimeoutExpired as e: print("timeout", round(e.timeout, 1))
try: sp.run(["false"], check=True)
except sp.CalledProcessError as e: print(e)
try: sp.run(["no-such-command"])
except FileNotFoundError as e: print(e.strerror, e.filename)
p = sp.Popen(["bash", "-c", "trap 'echo bye; exit 4' TERM; echo ready; while :; do sleep .05; done"], stdout=sp.PIPE, text=True); print(p.stdout.readline().strip()); p.terminate(); print(p.communicate()[0].strip(), p.returncode)
a = sp.Popen(["seq", "5"], stdout=sp.PIPE); b = sp.Popen(["awk", "{s+=$1} END {print s}"], stdin=a.stdout, stdout=sp.PIPE, text=True); a.stdout.close(); print(b.communicate()[0].strip())
print(sp.run(["env"], env={"A": "1 2", "PATH": os.environ["PATH"]}, capture_output=True, text=True).stdout.split("\n")[0], sp.getstatusoutput("echo hi; exit 2"))
d = tempfile.mkdtemp(); print(sp.run("pwd; touch f; ls", shell=True, cwd=d, capture_output=True, text=True).stdout.replace(d, "DIR").split()); shutil.rmtree(d); print(os.path.exists(d), os.system("exit 5") >> 8); sys.stdout.flush(); os.execvp("echo", ["echo", "replaced"])
P
python3 run.py; echo "status $?"
