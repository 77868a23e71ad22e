#: attacks = the host's memory by sockets that are full, backlogs that are full and datagrams that nobody reads
#: status = any
#: timeout = 10
import socket
keep = []
def full(make):
    try:
        while True:
            keep.append(make())
    except (OSError, MemoryError):
        pass
def pair():
    a, b = socket.socketpair()
    a.setblocking(False)
    try:
        while True:
            a.send(bytes(1 << 20))
    except BlockingIOError:
        return a, b
full(pair)
del keep[:]
listener = socket.create_server(('127.0.0.1', 0), backlog=1 << 20)
def client():
    c = socket.socket()
    c.setblocking(False)
    c.connect_ex(listener.getsockname())
    return c
full(client)
del keep[:]
inbox = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
inbox.bind(('127.0.0.1', 0))
out = socket.socket(socket.AF_INET, socket.SOCK_DGRAM)
for _ in range(20000):
    out.sendto(bytes(60000), inbox.getsockname())
full(lambda: socket.socket())
print(len(keep))
