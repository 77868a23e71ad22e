#: attacks = a chain of processes each of which waits for the next
#: timeout = 1
#: memory = 512M
#: processes = 64
#: status = any
export f='bash -c "$f"; echo x'
bash -c "$f"
