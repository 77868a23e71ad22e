//! Sockets against Linux: each scenario is played with the session's loopback and with the host's,
//! and every answer must be the same, errors in the words of glibc.

use rustix::net as host;
use std::collections::HashMap;
use std::net::SocketAddr;
use std::os::fd::OwnedFd;
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasibox_vfs::net::{
    Family, LoopbackNetwork, ReceiveOptions, Socket, SocketAddress, SocketFlag, SocketKind,
    SocketSize, SocketTime,
};
use wasibox_vfs::{Budget, Errno};

/// The time that Linux is given to deliver sent bytes.
const DELIVERY: Duration = Duration::from_millis(300);

/// An implementation on which a scenario is played. No operation waits.
trait World: Sized {
    type Sock;
    fn socket(&self, v6: bool, kind: SocketKind) -> Result<Self::Sock, String>;
    fn pair(&self) -> Result<(Self::Sock, Self::Sock), String>;
    fn bind(&self, s: &Self::Sock, at: SocketAddr) -> Result<(), String>;
    fn listen(&self, s: &Self::Sock, backlog: i32) -> Result<(), String>;
    fn connect(&self, s: &Self::Sock, to: SocketAddr, at_once: bool) -> Result<(), String>;
    fn accept(&self, s: &Self::Sock) -> Result<Self::Sock, String>;
    fn local(&self, s: &Self::Sock) -> Result<SocketAddr, String>;
    fn peer(&self, s: &Self::Sock) -> Result<SocketAddr, String>;
    fn send(&self, s: &Self::Sock, data: &[u8], to: Option<SocketAddr>) -> Result<usize, String>;
    fn receive(&self, s: &Self::Sock, most: usize, peek: bool) -> Result<Vec<u8>, String>;
    fn shutdown(&self, s: &Self::Sock, how: &str) -> Result<(), String>;
    fn error(&self, s: &Self::Sock) -> String;
    fn set(&self, s: &Self::Sock, what: &str);
    /// Returns whether the socket can be read or written, and whether it has hung up.
    fn ready(&self, s: &Self::Sock) -> String;
}

fn words(e: Errno) -> String {
    e.text().to_owned()
}

struct Ours(LoopbackNetwork);

impl World for Ours {
    type Sock = Socket;

    fn socket(&self, v6: bool, kind: SocketKind) -> Result<Socket, String> {
        Socket::new(&self.0, if v6 { Family::V6 } else { Family::V4 }, kind).map_err(words)
    }
    fn pair(&self) -> Result<(Socket, Socket), String> {
        let [a, b] = Socket::pair(&self.0, Family::Unix, SocketKind::Stream).map_err(words)?;
        Ok((a, b))
    }
    fn bind(&self, s: &Socket, at: SocketAddr) -> Result<(), String> {
        s.bind(SocketAddress::Ip(at)).map_err(words)
    }
    fn listen(&self, s: &Socket, backlog: i32) -> Result<(), String> {
        s.listen(backlog as u32 as usize, 1).map_err(words)
    }
    fn connect(&self, s: &Socket, to: SocketAddr, at_once: bool) -> Result<(), String> {
        s.connect(SocketAddress::Ip(to), at_once).map_err(words)
    }
    fn accept(&self, s: &Socket) -> Result<Socket, String> {
        s.accept().map_err(words)
    }
    fn local(&self, s: &Socket) -> Result<SocketAddr, String> {
        ip(s.local_address())
    }
    fn peer(&self, s: &Socket) -> Result<SocketAddr, String> {
        ip(s.peer_address().map_err(words)?)
    }
    fn send(&self, s: &Socket, data: &[u8], to: Option<SocketAddr>) -> Result<usize, String> {
        s.send(data, to.map(SocketAddress::Ip)).map_err(words)
    }
    fn receive(&self, s: &Socket, most: usize, peek: bool) -> Result<Vec<u8>, String> {
        let mut buf = vec![0; most];
        let n = s.receive(&mut buf, ReceiveOptions { peek: peek.then_some(0) }).map_err(words)?;
        buf.truncate(n);
        Ok(buf)
    }
    fn shutdown(&self, s: &Socket, how: &str) -> Result<(), String> {
        s.shutdown(how.contains('r'), how.contains('w')).map_err(words)
    }
    fn error(&self, s: &Socket) -> String {
        s.take_error().map_or("none".into(), words)
    }
    fn set(&self, s: &Socket, what: &str) {
        match what {
            "reuseaddr" => s.options().set_flag(SocketFlag::ReuseAddress, true),
            "reuseport" => s.options().set_flag(SocketFlag::ReusePort, true),
            "v6only" => s.options().set_flag(SocketFlag::OnlyV6, true),
            "abort" => s.options().set_time(SocketTime::Linger, Some(Duration::ZERO)),
            other => panic!("{other}"),
        }
    }
    fn ready(&self, s: &Socket) -> String {
        let (read, write) = (s.ready(false), s.ready(true));
        let hangup = read.or(write).is_some_and(|r| r.hangup);
        state(read.is_some(), write.is_some(), hangup)
    }
}

fn state(read: bool, write: bool, hangup: bool) -> String {
    let mark = |on: bool, c: char| if on { c } else { '-' };
    [mark(read, 'r'), mark(write, 'w'), mark(hangup, 'h')].iter().collect()
}

fn ip(address: SocketAddress) -> Result<SocketAddr, String> {
    match address {
        SocketAddress::Ip(at) => Ok(at),
        SocketAddress::Unix(_) => Err("a name".into()),
    }
}

struct Linux;

fn text(e: rustix::io::Errno) -> String {
    let all = std::io::Error::from_raw_os_error(e.raw_os_error()).to_string();
    all.split(" (os error").next().unwrap_or_default().to_owned()
}

/// Tries again until something has arrived.
fn patiently<T>(mut what: impl FnMut() -> Result<T, rustix::io::Errno>) -> Result<T, String> {
    let end = Instant::now() + DELIVERY;
    loop {
        match what() {
            Err(rustix::io::Errno::AGAIN) if Instant::now() < end => {
                std::thread::sleep(Duration::from_millis(5));
            }
            other => return other.map_err(text),
        }
    }
}

fn nonblocking(s: &OwnedFd, on: bool) {
    rustix::io::ioctl_fionbio(s, on).unwrap();
}

impl World for Linux {
    type Sock = OwnedFd;

    fn socket(&self, v6: bool, kind: SocketKind) -> Result<OwnedFd, String> {
        let family = if v6 { host::AddressFamily::INET6 } else { host::AddressFamily::INET };
        let kind = match kind {
            SocketKind::Stream => host::SocketType::STREAM,
            SocketKind::Datagram => host::SocketType::DGRAM,
        };
        let s = host::socket(family, kind, None).map_err(text)?;
        nonblocking(&s, true);
        Ok(s)
    }
    fn pair(&self) -> Result<(OwnedFd, OwnedFd), String> {
        let none = host::SocketFlags::NONBLOCK;
        host::socketpair(host::AddressFamily::UNIX, host::SocketType::STREAM, none, None)
            .map_err(text)
    }
    fn bind(&self, s: &OwnedFd, at: SocketAddr) -> Result<(), String> {
        host::bind(s, &at).map_err(text)
    }
    fn listen(&self, s: &OwnedFd, backlog: i32) -> Result<(), String> {
        host::listen(s, backlog).map_err(text)
    }
    fn connect(&self, s: &OwnedFd, to: SocketAddr, at_once: bool) -> Result<(), String> {
        nonblocking(s, at_once);
        let done = host::connect(s, &to).map_err(text);
        nonblocking(s, true);
        done
    }
    fn accept(&self, s: &OwnedFd) -> Result<OwnedFd, String> {
        let s = patiently(|| host::accept(s))?;
        nonblocking(&s, true);
        Ok(s)
    }
    fn local(&self, s: &OwnedFd) -> Result<SocketAddr, String> {
        SocketAddr::try_from(host::getsockname(s).map_err(text)?).map_err(text)
    }
    fn peer(&self, s: &OwnedFd) -> Result<SocketAddr, String> {
        let peer = host::getpeername(s).map_err(text)?.ok_or("nobody")?;
        SocketAddr::try_from(peer).map_err(text)
    }
    fn send(&self, s: &OwnedFd, data: &[u8], to: Option<SocketAddr>) -> Result<usize, String> {
        let flags = host::SendFlags::NOSIGNAL;
        let sent = match to {
            Some(to) => host::sendto(s, data, flags, &to),
            None => host::send(s, data, flags),
        };
        // The returning packet is on its way.
        std::thread::sleep(Duration::from_millis(20));
        sent.map_err(text)
    }
    fn receive(&self, s: &OwnedFd, most: usize, peek: bool) -> Result<Vec<u8>, String> {
        let mut buf = vec![0; most];
        let flags = if peek { host::RecvFlags::PEEK } else { host::RecvFlags::empty() };
        let (n, _) = patiently(|| host::recv(s, &mut buf[..], flags))?;
        buf.truncate(n);
        Ok(buf)
    }
    fn shutdown(&self, s: &OwnedFd, how: &str) -> Result<(), String> {
        let how = match how {
            "r" => host::Shutdown::Read,
            "w" => host::Shutdown::Write,
            _ => host::Shutdown::Both,
        };
        host::shutdown(s, how).map_err(text)
    }
    fn error(&self, s: &OwnedFd) -> String {
        std::thread::sleep(Duration::from_millis(20));
        host::sockopt::socket_error(s).unwrap().map_or_else(text, |()| "none".into())
    }
    fn set(&self, s: &OwnedFd, what: &str) {
        match what {
            "reuseaddr" => host::sockopt::set_socket_reuseaddr(s, true),
            "reuseport" => host::sockopt::set_socket_reuseport(s, true),
            "v6only" => host::sockopt::set_ipv6_v6only(s, true),
            "abort" => host::sockopt::set_socket_linger(s, Some(Duration::ZERO)),
            other => panic!("{other}"),
        }
        .unwrap();
    }
    fn ready(&self, s: &OwnedFd) -> String {
        use rustix::event::{PollFd, PollFlags, Timespec, poll};
        std::thread::sleep(Duration::from_millis(20));
        let mut fds = [PollFd::new(s, PollFlags::IN | PollFlags::OUT)];
        poll(&mut fds, Some(&Timespec { tv_sec: 0, tv_nsec: 0 })).unwrap();
        let got = fds[0].revents();
        let hangup = got.intersects(PollFlags::HUP | PollFlags::ERR);
        state(got.contains(PollFlags::IN) || hangup, got.contains(PollFlags::OUT) || hangup, hangup)
    }
}

/// Plays a scenario: a line is `RESULT-NAME = verb ARGUMENTS` or `verb ARGUMENTS`. Sockets have
/// names; an address may have a name's port (`127.0.0.1:@a`). Ports are shown by the names of their
/// sockets.
fn play<W: World>(world: &W, scenario: &str) -> Vec<String> {
    let mut sockets: HashMap<String, W::Sock> = HashMap::new();
    let mut ports: HashMap<u16, String> = HashMap::from([(0, "0".into())]);
    let mut told = Vec::new();
    for line in scenario.lines().map(str::trim).filter(|l| !l.is_empty()) {
        let (name, command) = line.split_once(" = ").unwrap_or(("", line));
        let word: Vec<&str> = command.split_whitespace().collect();
        let at = |text: &str| -> SocketAddr {
            let (ip, port) = text.rsplit_once(':').unwrap();
            let port = match port.strip_prefix('@') {
                Some(name) => *ports.iter().find(|(_, n)| *n == name).unwrap().0,
                None => port.parse().unwrap(),
            };
            SocketAddr::new(ip.trim_matches(['[', ']']).parse().unwrap(), port)
        };
        let kinds = HashMap::from([("tcp", SocketKind::Stream), ("udp", SocketKind::Datagram)]);
        let s = |i: usize| &sockets[word[i]];
        let done = |r: Result<(), String>| r.map_or_else(|e| e, |()| "done".into());
        let bytes = |r: Result<Vec<u8>, String>| {
            r.map_or_else(|e| e, |b| format!("{:?}", String::from_utf8_lossy(&b)))
        };
        let mut made = Vec::new();
        let answer = match word[0] {
            kind @ ("tcp" | "udp" | "tcp6" | "udp6") => {
                let v6 = kind.ends_with('6');
                match world.socket(v6, kinds[&kind[..3]]) {
                    Ok(s) => {
                        made.push((name.to_owned(), s));
                        "made".into()
                    }
                    Err(e) => e,
                }
            }
            "pair" => {
                let (a, b) = world.pair().unwrap();
                let (x, y) = name.split_once(' ').unwrap();
                made.extend([(x.to_owned(), a), (y.to_owned(), b)]);
                "made".into()
            }
            "bind" => done(world.bind(s(1), at(word[2]))),
            "listen" => done(world.listen(s(1), word[2].parse().unwrap())),
            "connect" => done(world.connect(s(1), at(word[2]), false)),
            "start" => done(world.connect(s(1), at(word[2]), true)),
            "accept" => match world.accept(s(1)) {
                Ok(s) => {
                    made.push((name.to_owned(), s));
                    "accepted".into()
                }
                Err(e) => e,
            },
            "send" => {
                let to = word.get(3).map(|to| at(to));
                world.send(s(1), word[2].as_bytes(), to).map_or_else(|e| e, |n| n.to_string())
            }
            "recv" => bytes(world.receive(s(1), word[2].parse().unwrap(), false)),
            "peek" => bytes(world.receive(s(1), word[2].parse().unwrap(), true)),
            "shut" => done(world.shutdown(s(1), word[2])),
            "error" => world.error(s(1)),
            "ready" => world.ready(s(1)),
            "set" => {
                world.set(s(1), word[2]);
                "set".into()
            }
            "close" => {
                sockets.remove(word[1]);
                "closed".into()
            }
            which @ ("local" | "peer") => {
                let got = if which == "local" { world.local(s(1)) } else { world.peer(s(1)) };
                match got {
                    Ok(at) => {
                        let own = ports.entry(at.port()).or_insert_with(|| word[1].to_owned());
                        format!("{}:{own}", at.ip())
                    }
                    Err(e) => e,
                }
            }
            other => panic!("{other}"),
        };
        sockets.extend(made);
        told.push(format!("{line} -> {answer}"));
    }
    told
}

fn same(scenario: &str) {
    let ours = play(&Ours(LoopbackNetwork::new(Budget::new(64 << 20))), scenario);
    assert_eq!(ours, play(&Linux, scenario));
}

/// A listener `l`, a client `c` and its other end `a`.
const CONNECTED: &str = "
    l = tcp
    bind l 127.0.0.1:0
    listen l 5
    local l
    c = tcp
    connect c 127.0.0.1:@l
    a = accept l
    local c
";

fn connected(rest: &str) {
    same(&format!("{CONNECTED}{rest}"));
}

#[test]
fn a_connection_carries_bytes_both_ways_and_has_addresses() {
    connected(
        "local a
        peer a
        peer c
        ready c
        ready a
        ready l
        send c hello
        ready a
        peek a 3
        recv a 3
        recv a 100
        recv a 100
        send a back
        recv c 2
        recv c 100",
    );
}

#[test]
fn closing_gives_an_end_then_broken_pipes() {
    connected(
        "send c last
        close c
        ready a
        recv a 100
        recv a 100
        ready a
        send a x
        send a y
        send a z
        recv a 10",
    );
}

#[test]
fn closing_with_bytes_unread_resets() {
    connected(
        "send c unread
        send a there
        close a
        recv c 100
        recv c 100
        recv c 100
        send c x
        peer c",
    );
    connected("send c unread\nclose a\nready c\nsend c x\nsend c y\nrecv c 5");
    connected("send c unread\nclose a\nerror c\nerror c\nrecv c 5");
}

#[test]
fn a_close_without_lingering_resets() {
    connected("set c abort\nclose c\nrecv a 5\nrecv a 5\nsend a x");
}

#[test]
fn half_a_connection_goes_on() {
    connected(
        "shut c w
        send c x
        recv a 10
        send a answer
        ready c
        recv c 10
        ready a
        shut a w
        ready a
        ready c
        recv c 10
        close a
        recv c 10",
    );
    connected("send c before\nshut a r\nrecv a 10\nrecv a 10\nsend a still\nrecv c 10");
}

#[test]
fn ports_are_taken_once() {
    connected(
        "m = tcp
        bind m 127.0.0.1:@l
        bind m 0.0.0.0:@l
        bind m 127.0.0.2:@l
        local m
        bind m 127.0.0.1:0
        n = tcp
        set n reuseaddr
        bind n 127.0.0.1:@l",
    );
    same(
        "a = tcp
        b = tcp
        set a reuseaddr
        set b reuseaddr
        bind a 127.0.0.1:0
        local a
        bind b 127.0.0.1:@a
        listen a 1
        listen b 1",
    );
    same(
        "a = tcp
        b = tcp
        set a reuseport
        set b reuseport
        bind a 127.0.0.1:0
        local a
        bind b 127.0.0.1:@a
        listen a 1
        listen b 1",
    );
    same("a = udp\nb = udp\nbind a 127.0.0.1:0\nlocal a\nbind b 127.0.0.1:@a");
}

#[test]
fn both_kinds_of_addresses_meet_at_a_listener_for_all() {
    same(
        "l = tcp6
        bind l [::]:0
        listen l 5
        local l
        c = tcp
        connect c 127.0.0.1:@l
        local c
        a = accept l
        peer a
        local a
        d = tcp6
        connect d [::1]:@l
        local d
        b = accept l
        peer b
        e = tcp6
        connect e [::ffff:127.0.0.1]:@l
        peer e
        m = tcp
        bind m 0.0.0.0:@l",
    );
    same(
        "l = tcp6
        set l v6only
        bind l [::]:0
        listen l 5
        local l
        c = tcp
        connect c 127.0.0.1:@l
        m = tcp
        bind m 0.0.0.0:@l
        listen m 1
        connect c 127.0.0.1:@l",
    );
}

#[test]
fn calls_in_the_wrong_state_say_what_linux_says() {
    same(
        "s = tcp
        local s
        peer s
        ready s
        accept s
        recv s 10
        send s x
        shut s rw
        error s
        bind s 127.0.0.1:0
        bind s 127.0.0.1:0
        connect s 0.0.0.0:1
        u = udp
        listen u 1
        accept u
        send u x
        peer u
        shut u w
        x = tcp
        connect x [::1]:1",
    );
    connected(
        "connect c 127.0.0.1:@l\nlisten c 1\nrecv l 1\nconnect l 127.0.0.1:@l\nbind c 127.0.0.1:0\nlisten l 9",
    );
    connected("shut l r\naccept l\nd = tcp\nconnect d 127.0.0.1:@l");
}

#[test]
fn a_connect_that_does_not_wait_tells_later() {
    same(
        "l = tcp
        bind l 127.0.0.1:0
        listen l 5
        local l
        c = tcp
        start c 127.0.0.1:@l
        error c
        ready c
        start c 127.0.0.1:@l
        start c 127.0.0.1:@l
        close l
        d = tcp
        start d 127.0.0.1:@l
        error d
        error d
        e = tcp
        start e 127.0.0.1:@l
        ready e
        start e 127.0.0.1:@l",
    );
}

#[test]
fn who_waits_at_a_listener_that_closes_is_reset() {
    same(
        "l = tcp
        bind l 127.0.0.1:0
        listen l 5
        local l
        c = tcp
        connect c 127.0.0.1:@l
        send c x
        close l
        send c y
        send c z
        recv c 1",
    );
}

#[test]
fn datagrams_keep_their_bounds() {
    same(
        "a = udp
        b = udp
        bind a 127.0.0.1:0
        local a
        send b one 127.0.0.1:@a
        send b second 127.0.0.1:@a
        ready a
        peek a 2
        recv a 2
        recv a 100
        recv a 100
        connect b 127.0.0.1:@a
        send b three
        recv a 10
        ready b
        close a
        send b lost
        recv b 10
        recv b 10",
    );
}

#[test]
fn pairs_are_connected() {
    same("a b = pair\nsend a hi\nrecv b 10\nsend b back\nrecv a 10\nclose a\nrecv b 10\nsend b x");
}

fn network() -> LoopbackNetwork {
    LoopbackNetwork::new(Budget::new(64 << 20))
}

fn tcp(net: &LoopbackNetwork) -> Socket {
    Socket::new(net, Family::V4, SocketKind::Stream).unwrap()
}

fn local(port: u16) -> SocketAddress {
    SocketAddress::Ip(SocketAddr::from(([127, 0, 0, 1], port)))
}

#[test]
fn nothing_but_the_loopback_exists() {
    let net = network();
    for far in ["10.0.0.1:80", "93.184.216.34:443", "169.254.169.254:80", "224.0.0.1:1"] {
        let to = SocketAddress::Ip(far.parse().unwrap());
        assert_eq!(tcp(&net).connect(to.clone(), false), Err(Errno::NETUNREACH), "{far}");
        assert_eq!(tcp(&net).connect(to.clone(), true), Err(Errno::NETUNREACH), "{far}");
        assert_eq!(tcp(&net).bind(to.clone()), Err(Errno::ADDRNOTAVAIL), "{far}");
        let udp = Socket::new(&net, Family::V4, SocketKind::Datagram).unwrap();
        assert_eq!(udp.send(b"x", Some(to)), Err(Errno::NETUNREACH), "{far}");
    }
    for far in ["[fe80::1]:80", "[2001:db8::1]:80", "[::ffff:10.0.0.1]:80", "[64:ff9b::7f00:1]:80"]
    {
        let s = Socket::new(&net, Family::V6, SocketKind::Stream).unwrap();
        assert_eq!(
            s.connect(SocketAddress::Ip(far.parse().unwrap()), false),
            Err(Errno::NETUNREACH),
            "{far}"
        );
    }
}

#[test]
fn two_networks_have_nothing_in_common_and_the_hosts_is_a_third() {
    let real = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    real.set_nonblocking(true).unwrap();
    let port = real.local_addr().unwrap().port();
    let (one, other) = (network(), network());
    assert_eq!(tcp(&one).connect(local(port), false), Err(Errno::CONNREFUSED));
    let listener = tcp(&one);
    listener.bind(local(port)).unwrap();
    listener.listen(1, 1).unwrap();
    assert_eq!(tcp(&other).connect(local(port), false), Err(Errno::CONNREFUSED));
    tcp(&one).connect(local(port), false).unwrap();
    assert_eq!(real.accept().unwrap_err().kind(), std::io::ErrorKind::WouldBlock);
}

#[test]
fn a_full_backlog_holds_up_and_goes_on() {
    let net = network();
    let listener = tcp(&net);
    listener.bind(local(0)).unwrap();
    listener.listen(1, 1).unwrap();
    let to = listener.local_address();
    let first: Vec<Socket> = (0..2).map(|_| tcp(&net)).collect();
    for s in &first {
        s.connect(to.clone(), false).unwrap();
    }
    let (waits, polls) = (tcp(&net), tcp(&net));
    assert_eq!(waits.connect(to.clone(), false), Err(Errno::AGAIN));
    assert_eq!(polls.connect(to.clone(), true), Err(Errno::INPROGRESS));
    assert_eq!(polls.connect(to.clone(), true), Err(Errno::ALREADY));
    assert_eq!((polls.ready(true), polls.take_error()), (None, None));
    let all = net.len();
    drop(listener.accept().unwrap());
    assert!(polls.ready(true).is_some() && polls.take_error().is_none());
    assert_eq!(polls.peer_address().unwrap(), to);
    assert_eq!(net.len(), all, "one less, one more");
    drop(listener);
    assert_eq!(waits.connect(to, false), Err(Errno::CONNREFUSED));
}

#[test]
fn a_full_connection_pushes_back() {
    let net = network();
    let [a, b] = Socket::pair(&net, Family::Unix, SocketKind::Stream).unwrap();
    let data = vec![7; wasibox_vfs::net::BUFFER];
    let mut sent = 0;
    while let Ok(n) = a.send(&data, None) {
        sent += n;
    }
    assert_eq!((sent, a.send(&data, None)), (wasibox_vfs::net::BUFFER, Err(Errno::AGAIN)));
    assert!(a.ready(true).is_none() && b.ready(true).is_some());
    let mut buf = vec![0; sent / 4];
    assert_eq!(b.receive(&mut buf, ReceiveOptions::default()), Ok(sent / 4));
    assert!(a.ready(true).is_some());
    b.set_size(SocketSize::Receive, 4096);
    assert_eq!(b.options().size(SocketSize::Receive), 8192);
    assert_eq!(a.send(&data, None), Err(Errno::AGAIN), "less room than there is waiting");
}

#[test]
fn what_sockets_hold_is_counted_and_given_back() {
    let budget = Budget::new(1 << 20);
    let net = LoopbackNetwork::new(budget.clone());
    let pairs: Vec<_> =
        (0..4).map(|_| Socket::pair(&net, Family::Unix, SocketKind::Stream).unwrap()).collect();
    let data = vec![1; wasibox_vfs::net::BUFFER];
    let full: Vec<_> = pairs.iter().map(|[a, _]| a.send(&data, None)).collect();
    assert_eq!(full.iter().filter(|r| r.is_ok()).count(), 3, "{full:?}");
    assert_eq!(full[3], Err(Errno::NOBUFS));
    drop(pairs);
    assert_eq!((budget.used_bytes(), net.len()), (0, 0));
}

#[test]
fn the_number_of_sockets_is_capped() {
    let net = network();
    let mut all = Vec::new();
    let end = loop {
        match Socket::new(&net, Family::V4, SocketKind::Stream) {
            Ok(s) => all.push(s),
            Err(e) => break e,
        }
    };
    assert_eq!((all.len(), end), (wasibox_vfs::net::MAX_SOCKETS, Errno::NFILE));
    all.pop();
    assert!(Socket::new(&net, Family::V4, SocketKind::Stream).is_ok());
}

#[test]
fn datagrams_that_have_no_room_are_lost() {
    let net = network();
    let a = Socket::new(&net, Family::V4, SocketKind::Datagram).unwrap();
    a.bind(local(0)).unwrap();
    let b = Socket::new(&net, Family::V4, SocketKind::Datagram).unwrap();
    let data = vec![3; wasibox_vfs::net::MAX_DATAGRAM];
    for _ in 0..100 {
        assert_eq!(b.send(&data, Some(a.local_address())), Ok(data.len()));
    }
    assert_eq!(b.send(&[0; 65508], Some(a.local_address())), Err(Errno::MSGSIZE));
    let got = std::iter::from_fn(|| a.receive_message(10, ReceiveOptions::default()).ok()).count();
    assert_eq!(got, wasibox_vfs::net::BUFFER / (data.len() + 128));
}

#[test]
fn a_socket_cannot_be_its_own_peer() {
    let net = network();
    let s = tcp(&net);
    s.bind(local(0)).unwrap();
    assert_eq!(s.connect(s.local_address(), false), Err(Errno::CONNREFUSED));
}

#[test]
fn waiting_threads_are_woken_by_connections_bytes_and_ends() {
    let net = network();
    let listener = Arc::new(tcp(&net));
    listener.listen(4, 1).unwrap();
    let to = listener.local_address();
    let server = std::thread::spawn(move || {
        let wait = |s: &Socket| {
            s.watch(&std::thread::current());
            if s.ready(false).is_none() {
                std::thread::park_timeout(Duration::from_secs(60));
            }
        };
        let a = loop {
            match listener.accept() {
                Ok(a) => break a,
                Err(_) => wait(&listener),
            }
        };
        let (mut got, mut buf) = (0, [0; 1000]);
        loop {
            match a.receive(&mut buf, ReceiveOptions::default()) {
                Ok(0) => return got,
                Ok(n) => got += n,
                Err(_) => wait(&a),
            }
        }
    });
    let c = tcp(&net);
    c.connect(to, false).unwrap();
    let (mut sent, data) = (0, [5; 4099]);
    while sent < 5_000_000 {
        match c.send(&data, None) {
            Ok(n) => sent += n,
            Err(_) => {
                c.watch(&std::thread::current());
                if c.ready(true).is_none() {
                    std::thread::park_timeout(Duration::from_secs(60));
                }
            }
        }
    }
    drop(c);
    assert_eq!(server.join().unwrap(), sent);
}
