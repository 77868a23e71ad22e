#: attacks = hosts by sockets: the host's loopback, private and metadata addresses, names
#: status = 0
#: says = nothing reached
#: never = reached one
import errno, socket
for host in ['10.0.0.1', '192.168.0.1', '172.17.0.1', '169.254.169.254', '8.8.8.8', '224.0.0.1', '255.255.255.255']:
    for kind in (socket.SOCK_STREAM, socket.SOCK_DGRAM):
        s = socket.socket(socket.AF_INET, kind)
        s.settimeout(1)
        if s.connect_ex((host, 80)) != errno.ENETUNREACH:
            print('reached one', host)
for host in ['fe80::1', '2001:db8::1', '::ffff:10.0.0.1', '64:ff9b::a00:1', '2002:a00:1::']:
    s = socket.socket(socket.AF_INET6)
    s.settimeout(1)
    if s.connect_ex((host, 80)) != errno.ENETUNREACH:
        print('reached one', host)
# Nothing in this session listens, although programs on the host may.
for port in range(1, 65536, 7):
    s = socket.socket()
    if s.connect_ex(('127.0.0.1', port)) != errno.ECONNREFUSED:
        print('reached one', port)
    s.close()
for name in ['example.org', 'metadata.google.internal', 'host.docker.internal']:
    # The address of a host outside leads to the policy's rules, and this policy has none.
    try:
        socket.create_connection((name, 80), 1)
        print('reached one', name)
    except OSError:
        pass
print('nothing reached')
