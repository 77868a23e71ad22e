#: attacks = other signals from outside that must not end the runner
#: finding = medium: SIGUSR1 from outside
#: timeout = 3
#: status = 0
#: says = contained
#: targets = exec
#: during = while :; do for p in /proc/[0-9]*; do
#: during = if [ "$(readlink $p/cwd)" = "$PWD" ] && [ "$(readlink $p/exe)" = "$RUNNER" ]; then kill -PIPE ${p#/proc/}; kill -CHLD ${p#/proc/}; kill -WINCH ${p#/proc/}; fi; done; sleep 0.05; done
for i in $(seq 20); do sleep 0.03; x=$(seq 2000 | sort -n | tail -n 1); done; echo contained
