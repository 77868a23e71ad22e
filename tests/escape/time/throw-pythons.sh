#: attacks = the same by four interpreters, each killed by its parent again and again
#: finding = C1
#: timeout = 3
#: memory = 512M
#: grows = 900M
#: status = 124
while :; do
  for i in 1 2 3 4; do
    timeout 0.3 python3 -c 'import kiwisolver
c = kiwisolver.Variable("x") >= 1
while True:
    try: kiwisolver.Solver().removeConstraint(c)
    except Exception: pass' &
  done
  wait
done
