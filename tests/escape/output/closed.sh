#: attacks = streams whose readers have gone
#: streams = closed
#: timeout = 1
#: status = any
trap '' PIPE; for i in $(seq 1000); do echo x; echo y >&2; done; yes; cat /dev/zero >&2; python3 -c 'while True: print(1)'
