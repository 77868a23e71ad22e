//! Tests servers and clients within a session, on the session's own loopback interface.

use std::io::{ErrorKind, Read, Write};
use std::net::TcpListener;
use wasibox::{Engine, Exec, Isolation, NetworkPolicy, Policy, Session};
use wasibox_sessions::*;

fn both() -> [Engine; 2] {
    [Isolation::Process, Isolation::Threads].map(engine)
}

fn keeps(script: &str) -> Exec {
    let mut exec = Exec::script(script);
    exec.keep_background = true;
    exec
}

/// Starts a server, and waits until it listens.
fn begin(s: &Session, command: &str, port: u16) {
    let wait = format!("until nc -z localhost {port}; do sleep 0.05; done");
    let o = s.exec(keeps(&format!("{command} >/tmp/server.log 2>&1 & {wait}"))).unwrap();
    assert_eq!(o.exit_code, 0, "{o:?}");
    assert_eq!(o.background.len(), 1, "{o:?}");
}

/// Tests a command exactly as a user reported it.
#[test]
fn a_server_in_the_background_is_asked_by_curl() {
    let s = engine(Isolation::Process).session(policy()).unwrap();
    sh(&s, "mkdir /tmp/d; cd /tmp/d; echo text > f.txt");
    let script = "python3 -m http.server 8000 & sleep 0.5; curl -s --retry 60 --retry-delay 1 --retry-connrefused localhost:8000/; kill %1";
    let said = sh(&s, script);
    assert!(said.contains("<a href=\"f.txt\">f.txt</a>"), "{said}");
    let said = sh(&s, "curl -sS http://127.0.0.1:8000/; echo $?");
    assert!(said.starts_with("7\n") && said.contains("curl: (7) Failed to connect"), "{said}");
}

#[test]
fn a_server_that_stays_answers_a_thousand_requests() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        sh(
            &s,
            "mkdir -p /tmp/d; echo 'a file' > /tmp/d/f.txt; head -c 3000000 /dev/zero > /tmp/d/large",
        );
        begin(&s, "cd /tmp/d && exec python3 -m http.server 8000", 8000);
        // The client runs in another call than the one that started the server.
        assert_eq!(sh(&s, "curl -s http://127.0.0.1:8000/f.txt"), "a file\n");
        assert_eq!(
            sh(&s, "curl -s 'http://localhost:8000/f.txt?[1-400]' | sort | uniq -c | tr -s ' '"),
            " 400 a file\n"
        );
        assert_eq!(
            sh(&s, "curl -s http://localhost:8000/large | cksum"),
            sh(&s, "cksum < /tmp/d/large")
        );
        assert_eq!(sh(&s, "curl -so /dev/null -w '%{http_code}' localhost:8000/nothing"), "404");
        let urllib = "
import urllib.request
def get():
    with urllib.request.urlopen('http://localhost:8000/f.txt') as r: return r.read()
sum(get() == b'a file\\n' for _ in range(300))";
        assert_eq!(py(&s, urllib), "300");
        let requests = "
import requests
with requests.Session() as s:
    right = sum(s.get('http://localhost:8000/f.txt').text == 'a file\\n' for _ in range(300))
right";
        assert_eq!(py(&s, requests), "300");
        let client = "
import asyncio
async def one():
    r, w = await asyncio.open_connection('127.0.0.1', 8000)
    w.write(b'GET /f.txt HTTP/1.0\\r\\n\\r\\n')
    answer = await r.read()
    w.close()
    await w.wait_closed()
    return answer.endswith(b'a file\\n')
async def main():
    right = 0
    for _ in range(30): right += sum(await asyncio.gather(*[one() for _ in range(10)]))
    return right
asyncio.run(main())";
        assert_eq!(py(&s, client), "300");
        // The server ends when the session goes to sleep, and its port is free again.
        s.park();
        assert_eq!(sh(&s, "nc -z localhost 8000; echo $?"), "1\n");
    }
}

#[test]
fn asyncio_socketserver_selectors_and_pairs_work() {
    let s = engine(Isolation::Threads).session(policy()).unwrap();
    let asyncio = "
import asyncio
async def main():
    async def answer(r, w):
        while line := await r.readline():
            w.write(line.upper()); await w.drain()
        w.close()
    server = await asyncio.start_server(answer, '127.0.0.1', 0)
    port = server.sockets[0].getsockname()[1]
    async def ask(n):
        r, w = await asyncio.open_connection('127.0.0.1', port)
        w.write(b'x%d\\n' % n * 100); w.write_eof()
        got = await r.read(); w.close()
        return got == b'X%d\\n' % n * 100
    async with server:
        return sum(await asyncio.gather(*[ask(n) for n in range(50)]))
asyncio.run(main())";
    assert_eq!(py(&s, asyncio), "50");
    let datagrams = "
import asyncio
class Echo(asyncio.DatagramProtocol):
    def connection_made(self, t): self.t = t
    def datagram_received(self, data, at): self.t.sendto(data[::-1], at)
class Ask(asyncio.DatagramProtocol):
    def __init__(self, done): self.done = done
    def datagram_received(self, data, at): self.done.set_result(data)
async def main():
    loop = asyncio.get_running_loop()
    server, _ = await loop.create_datagram_endpoint(Echo, local_addr=('127.0.0.1', 0))
    done = loop.create_future()
    t, _ = await loop.create_datagram_endpoint(lambda: Ask(done), remote_addr=server.get_extra_info('sockname'))
    t.sendto(b'abc')
    return await done
asyncio.run(main())";
    assert_eq!(py(&s, datagrams), "b'cba'");
    let pair = "
import socket, selectors
a, b = socket.socketpair()
sel = selectors.DefaultSelector()
sel.register(a, selectors.EVENT_READ | selectors.EVENT_WRITE)
first = [e for _, e in sel.select(0)]
b.sendall(b'hi')
second = [e for _, e in sel.select(0)]
b.settimeout(0.05)
try: b.recv(1)
except TimeoutError as e: late = str(e)
b.close()
(first, second, late, a.recv(5), a.recv(5))";
    assert_eq!(py(&s, pair), "([2], [3], 'timed out', b'hi', b'')");
    let server = "
import socketserver, subprocess, sys
class Upper(socketserver.StreamRequestHandler):
    def handle(self): self.wfile.write(self.rfile.readline().upper())
with socketserver.TCPServer(('127.0.0.1', 0), Upper) as server:
    client = subprocess.Popen(['nc', 'localhost', str(server.server_address[1])], stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    client.stdin.write(b'shout\\n'); client.stdin.flush()
    server.handle_request()
    out = client.communicate()[0]
out";
    assert_eq!(py(&s, server), "b'SHOUT\\n'");
}

/// Tests that names, options and errors are those of CPython on Linux.
#[test]
fn names_options_and_errors_are_linuxs() {
    let s = engine(Isolation::Threads).session(policy()).unwrap();
    let of = |code: &str| py(&s, &format!("import socket\n{code}"));
    assert_eq!(
        of("socket.getaddrinfo('127.0.0.1', 80, type=socket.SOCK_STREAM)"),
        "[(<AddressFamily.AF_INET: 2>, <SocketKind.SOCK_STREAM: 1>, 6, '', ('127.0.0.1', 80))]"
    );
    assert_eq!(
        of(
            "socket.gethostbyname('localhost'), socket.getfqdn('127.0.0.1'), socket.getservbyname('http')"
        ),
        "('127.0.0.1', 'localhost', 80)"
    );
    let caught = |code: &str| {
        of(&format!("try: {code}\nexcept OSError as e: r = type(e).__name__, str(e)\nr"))
    };
    // The bridge resolves names of hosts outside, so the refusal names the policy.
    let far = caught("socket.create_connection(('example.org', 80))");
    assert!(far.contains("example.org:80 is not allowed by the sandbox's policy"), "{far}");
    let far = caught("socket.create_connection(('10.0.0.1', 80))");
    assert!(far.contains("10.0.0.1:80 is not allowed by the sandbox's policy"), "{far}");
    let refused = caught("socket.create_connection(('127.0.0.1', 1))");
    assert!(
        refused.starts_with("('ConnectionRefusedError'") && refused.contains("Connection refused"),
        "{refused}"
    );
    let taken = caught(
        "a = socket.create_server(('127.0.0.1', 0)); b = socket.create_server(a.getsockname())",
    );
    assert!(taken.contains("Address already in use"), "{taken}");
    let options = "
a = socket.socket()
a.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
a.setsockopt(socket.SOL_SOCKET, socket.SO_KEEPALIVE, 1)
a.setsockopt(socket.SOL_SOCKET, socket.SO_RCVBUF, 10000)
opt = a.getsockopt
r = opt(socket.IPPROTO_TCP, socket.TCP_NODELAY), opt(socket.SOL_SOCKET, socket.SO_KEEPALIVE), opt(socket.SOL_SOCKET, socket.SO_RCVBUF), opt(socket.SOL_SOCKET, socket.SO_TYPE), opt(socket.SOL_SOCKET, socket.SO_ERROR)
a.close()
r";
    assert_eq!(of(options), "(1, 1, 20000, 1, 0)");
    let late = "
a = socket.create_server(('127.0.0.1', 0), backlog=5)
c = socket.socket(); c.setblocking(False)
r = c.connect_ex(a.getsockname())
d, at = a.accept()
r = r, at == c.getsockname(), c.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR), c.connect_ex(a.getsockname())
import errno
r[0] == errno.EINPROGRESS, r[1:]";
    assert_eq!(of(late), "(True, (True, 0, 0))");
}

#[test]
fn nc_and_the_shell_connect() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        for listen in ["nc -l 9000", "nc -lp 9000"] {
            let script = format!(
                "{listen} </dev/null >/tmp/got & until echo hello | nc -v localhost 9000 2>/tmp/said; do sleep 0.05; done; wait; cat /tmp/got /tmp/said"
            );
            assert_eq!(
                sh(&s, &script),
                "hello\nConnection to localhost (127.0.0.1) 9000 port [tcp/*] succeeded!\n"
            );
        }
        // This is a server of one line, which the shell alone connects to. In POSIX mode a failed
        // `exec` would end the shell.
        let script = "bash -c '(echo answer | nc -l 9001 >/tmp/asked) & until exec 3<>/dev/tcp/localhost/9001; do sleep 0.05; done 2>/dev/null; echo question >&3; read -r x <&3; exec 3>&-; wait; echo \"$x $(cat /tmp/asked)\"'";
        assert_eq!(sh(&s, script), "answer question\n");
        let said = sh(&s, "exec 3<>/dev/tcp/127.0.0.1/1");
        assert!(
            said.contains("connect: Connection refused")
                && said.contains("/dev/tcp/127.0.0.1/1: Connection refused"),
            "{said}"
        );
        let said = sh(&s, "nc -zv localhost 1-3; echo $?");
        assert!(said.starts_with("1\n"), "{said}");
        assert!(said.ends_with("port 3 (tcp) failed: Connection refused\n"), "{said}");
        let said = sh(&s, "nc 10.0.0.1 80 </dev/null; nc example.org 80 </dev/null");
        assert!(
            said.contains("Network is unreachable")
                && said.contains("no network inside the sandbox"),
            "{said}"
        );
        let script = "nc -lk 9002 </dev/null >/tmp/all & n=$!; for i in 1 2 3; do until echo $i | nc localhost 9002; do sleep 0.05; done 2>/dev/null; done; until [ $(wc -l </tmp/all) = 3 ]; do sleep 0.05; done; kill $n; sort /tmp/all | tr -d '\\n'";
        assert_eq!(sh(&s, script), "123");
        let script = "nc -lu -w 60 9003 </dev/null >/tmp/udp & n=$!; until [ -s /tmp/udp ]; do echo dgram | nc -u -q 0 127.0.0.1 9003; sleep 0.05; done 2>/dev/null; kill $n; head -1 /tmp/udp";
        assert_eq!(sh(&s, script), "dgram\n");
        // A wait in `accept` ends as all waits do.
        assert_eq!(
            sh(&s, "timeout 0.2 nc -l 9004; echo $?; nc -w 1 -l 9004; echo $?"),
            "124\n1\nnc: Connection timed out\n"
        );
    }
}

/// Tests that neither another session nor the host's own loopback interface is reached, and the
/// host only where a rule names it.
#[test]
fn nothing_but_the_own_session_is_reached() {
    let real = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = real.local_addr().unwrap().port();
    real.set_nonblocking(true).unwrap();
    for engine in both() {
        let (one, other) = (engine.session(policy()).unwrap(), engine.session(policy()).unwrap());
        // Any number of sessions may use the number of a port of the host.
        begin(&one, &format!("exec nc -lk {port} </dev/null"), port);
        assert_eq!(sh(&other, &format!("nc -z 127.0.0.1 {port}; echo $?")), "1\n");
        let refused = format!("curl: (7) Failed to connect to localhost port {port} after ");
        let said = sh(&other, &format!("curl -sS http://localhost:{port}/"));
        assert!(said.starts_with(&refused) && said.ends_with("[7]"), "{said}");
        assert_eq!(sh(&one, &format!("nc -z 127.0.0.1 {port}; echo $?")), "0\n");
        assert_eq!(real.accept().unwrap_err().kind(), ErrorKind::WouldBlock);
        // With rules for other hosts it is the same, and no rule is named.
        let network =
            NetworkPolicy { allow: vec!["GET https://example.org/".into()], ..Default::default() };
        let s = engine.session(Policy { network, ..policy() }).unwrap();
        let said = sh(&s, &format!("curl -sS http://localhost:{port}/"));
        assert!(said.starts_with(&refused), "{said}");
        let said = sh(&s, "curl -sS http://10.0.0.1/");
        assert!(said.contains("not allowed"), "{said}");
    }
    // A rule that names the address sends the request to the host.
    let network = NetworkPolicy {
        allow: vec![format!("GET http://localhost:{port}/")],
        ..Default::default()
    };
    let s = engine(Isolation::Process).session(Policy { network, ..policy() }).unwrap();
    real.set_nonblocking(false).unwrap();
    let server = std::thread::spawn(move || {
        let (mut stream, _) = real.accept().unwrap();
        let mut part = [0; 4096];
        let n = stream.read(&mut part).unwrap();
        stream.write_all(b"HTTP/1.1 200 OK\r\nContent-Length: 9\r\n\r\nthe host\n").unwrap();
        n
    });
    assert_eq!(sh(&s, &format!("curl -s http://localhost:{port}/")), "the host\n");
    assert!(server.join().unwrap() > 0);
}

#[test]
fn the_embedder_reaches_a_port_of_the_session() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        assert_eq!(s.connect(8000).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        sh(
            &s,
            "mkdir -p /tmp/d; echo inside > /tmp/d/f.txt; head -c 3000000 /dev/zero > /tmp/d/large",
        );
        assert_eq!(s.connect(8000).unwrap_err().kind(), ErrorKind::ConnectionRefused);
        begin(&s, "cd /tmp/d && exec python3 -m http.server 8000", 8000);
        let get = |path: &str| {
            let mut stream = s.connect(8000).unwrap();
            write!(stream, "GET {path} HTTP/1.0\r\n\r\n").unwrap();
            let mut all = Vec::new();
            stream.read_to_end(&mut all).unwrap();
            all
        };
        assert!(get("/f.txt").ends_with(b"\r\n\r\ninside\n"));
        assert!(get("/large").ends_with(&[0; 3_000_000]));
        // Connections also work while a call runs.
        let running = s.clone();
        let call = std::thread::spawn(move || {
            sh(&running, "until [ -e /tmp/go ]; do sleep 0.05; done; echo went")
        });
        assert!(get("/f.txt").ends_with(b"inside\n"));
        let asked = s.interrupter();
        drop(asked);
        // An unused connection delays nothing.
        let idle = s.connect(8000).unwrap();
        drop(idle);
        s.interrupter().interrupt();
        let _ = call.join();
        s.park();
        assert_eq!(s.connect(8000).unwrap_err().kind(), ErrorKind::ConnectionRefused);
    }
}

#[test]
fn hostile_programs_meet_limits_and_nobody_else_is_hurt() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        begin(&s, "exec nc -lk 9000 </dev/null", 9000);
        let many = "
import socket, errno
all = []
try:
    while len(all) < 10000: all.append(socket.socket())
except OSError as e: r = errno.errorcode[e.errno]
del all
r";
        let said = py(&s, many);
        assert!(said == "'EMFILE'" || said == "'ENFILE'", "{said}");
        let connections = "
import socket
l = socket.create_server(('127.0.0.1', 0), backlog=100)
ok = 0
for _ in range(10000):
    c = socket.create_connection(l.getsockname()); a, _ = l.accept()
    a.shutdown(socket.SHUT_WR); c.close(); a.close(); ok += 1
ok";
        assert_eq!(py(&s, connections), "10000");
        let selfish = "
import socket, errno
s = socket.socket(); s.bind(('127.0.0.1', 0))
r = errno.errorcode[s.connect_ex(s.getsockname())]
l = socket.create_server(('127.0.0.1', 0), backlog=0)
waiting = []
for _ in range(50):
    c = socket.socket(); c.setblocking(False); c.connect_ex(l.getsockname()); waiting.append(c)
l.close()
r, len(waiting)";
        assert_eq!(py(&s, selfish), "('ECONNREFUSED', 50)");
        let full = "
import socket
pairs, sent = [], 0
try:
    for _ in range(400):
        a, b = socket.socketpair(); a.setblocking(False); pairs.append((a, b))
        try:
            while True: sent += a.send(bytes(1 << 20))
        except BlockingIOError: pass
except OSError as e: pass
n = len(pairs)
del pairs
n > 0 and sent >= (n - 1) * 256 * 1024";
        assert_eq!(py(&s, full), "True");
        assert_eq!(sh(&s, "nc -z localhost 9000; echo $?"), "0\n");
    }
}
