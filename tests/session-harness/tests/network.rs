//! Tests requests of guests to hosts outside: rules, secrets, the log, and nonsense.

use std::io::{BufRead, BufReader, Read, Write};
use std::net::{Ipv4Addr, SocketAddr, TcpListener, TcpStream};
use wasibox::{Engine, Isolation, NetworkPolicy, Policy, Session};
use wasibox_sessions::*;

/// Starts an HTTP/1.1 server that answers each request with a description of it, on a thread until
/// the process ends. Returns its address.
fn server() -> SocketAddr {
    let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
    let address = listener.local_addr().unwrap();
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            std::thread::spawn(move || drop(serve(&stream)));
        }
    });
    address
}

fn serve(stream: &TcpStream) -> std::io::Result<()> {
    let mut reader = BufReader::new(stream);
    loop {
        let (mut head, mut length) = (String::new(), 0);
        loop {
            let mut line = String::new();
            if reader.read_line(&mut line)? == 0 {
                return Ok(());
            }
            if let Some(n) = line.to_ascii_lowercase().strip_prefix("content-length:") {
                length = n.trim().parse().unwrap_or(0);
            }
            if line.trim().is_empty() {
                break;
            }
            head += &line;
        }
        let mut body = vec![0; length];
        reader.read_exact(&mut body)?;
        let path = head.split(' ').nth(1).unwrap_or_default().to_owned();
        let (status, more, answer) = match path.as_str() {
            "/to-a" => ("302 Found", "Location: /a\r\n".to_owned(), Vec::new()),
            "/out" => ("302 Found", "Location: http://127.0.0.2:1/\r\n".to_owned(), Vec::new()),
            "/large" => ("200 OK", String::new(), vec![b'x'; 3_000_000]),
            "/none" => ("404 Not Found", String::new(), b"none".to_vec()),
            _ => {
                ("200 OK", "X-Own: yes\r\n".to_owned(), [head.as_bytes(), b"--\n", &body].concat())
            }
        };
        let mut stream = stream;
        write!(stream, "HTTP/1.1 {status}\r\n{more}Content-Length: {}\r\n\r\n", answer.len())?;
        stream.write_all(&answer)?;
    }
}

fn policy_of(network: NetworkPolicy) -> Policy {
    Policy { network, ..policy() }
}

fn allow(rules: &[&str]) -> NetworkPolicy {
    let allow = rules.iter().map(|r| (*r).to_owned()).collect();
    NetworkPolicy { allow, ..NetworkPolicy::default() }
}

fn both() -> [Engine; 2] {
    [Isolation::Process, Isolation::Threads].map(engine)
}

/// A client in Python that sends the steps of `box_abi::http`.
const CLIENT: &str = r#"
import struct
def part(b): return struct.pack('<I', len(b)) + b
def ask(message):
    with open('/.box/http', 'r+b', buffering=0) as node:
        node.write(message)
        out = b''
        while more := node.read(1 << 16): out += more
        return out
def step(kind, n, more=b''): return ask(struct.pack('<BQ', kind, n) + more)
def begin(method, url, headers=(), body=b'', redirects=0):
    heads = struct.pack('<I', len(headers)) + b''.join(part(a.encode()) + part(b.encode()) for a, b in headers)
    return ask(b'\1' + part(method.encode()) + part(url.encode()) + heads + struct.pack('<BQIQQ', 1, len(body), redirects, 0, 0))
def fetch(method, url, headers=(), body=b'', redirects=0):
    opened = begin(method, url, headers, body, redirects)
    if opened[0] == 6: return 'own'
    if opened[0] == 5: return opened[1], opened[2:].decode()
    n, = struct.unpack('<Q', opened[1:])
    if body: step(2, n, body)
    head = step(3, n)
    if head[0] == 5: return head[1], head[2:].decode()
    status, = struct.unpack('<H', head[1:3])
    out = b''
    while (piece := step(4, n))[0] == 4 and len(piece) > 1: out += piece[1:]
    step(5, n)
    return status, out.decode()
"#;

fn client(s: &Session) {
    assert_eq!(py(s, CLIENT), "");
}

#[test]
fn what_is_allowed_is_answered() {
    let at = server();
    for engine in both() {
        let rules = [format!("GET,POST http://127.0.0.1:{}/", at.port())];
        let mut network = allow(&[&rules[0]]);
        network.deny = vec![format!("* http://127.0.0.1:{}/closed/", at.port())];
        let s = engine.session(policy_of(network)).unwrap();
        client(&s);
        py(&s, &format!("base = 'http://{at}'"));
        let said = py(&s, "print(fetch('POST', base + '/a?b', [('X-A', 'b')], b'body')[1])")
            .to_lowercase();
        assert!(said.starts_with("post /a?b http/1.1") && said.contains("x-a: b"), "{said}");
        assert!(said.ends_with("--\nbody\n"), "{said}");
        assert_eq!(py(&s, "fetch('GET', base + '/none')"), "(404, 'none')");
        assert_eq!(py(&s, "len(fetch('GET', base + '/large')[1])"), "3000000");
        assert_eq!(
            py(&s, "fetch('GET', base + '/to-a')[0], fetch('GET', base + '/to-a', redirects=3)[0]"),
            "(302, 200)"
        );
        // Each refusal names the rule that the policy would need.
        let refused = |code: &str| {
            let said = py(&s, code);
            assert!(said.starts_with("(7, ") && said.contains("not allowed"), "{code}: {said}");
        };
        refused("fetch('DELETE', base + '/a')");
        refused("fetch('GET', base + '/closed/x')");
        refused("fetch('GET', base + '/x/../closed/x')");
        refused("fetch('GET', base + '/out', redirects=3)");
        refused("fetch('GET', 'http://169.254.169.254/latest')");
        // Addresses of this machine that no rule names are those of the session.
        for own in
            ["localhost", "a.localhost", "127.9.9.9", "[::1]", "[::ffff:127.0.0.1]", "0.0.0.0"]
        {
            assert_eq!(py(&s, &format!("fetch('GET', 'http://{own}:1/')")), "'own'", "{own}");
        }
        // The log has all requests, and guests cannot see it.
        let mut log = Vec::new();
        let store = s.store().unwrap();
        let name = store.sessions().unwrap()[0].name.clone();
        store
            .audit(&name, &mut |_, entry| {
                log.push(entry.to_owned());
                Ok(())
            })
            .unwrap();
        let requests: Vec<_> = log.iter().filter(|e| e.contains("\"event\":\"request\"")).collect();
        assert!(requests.len() >= 12, "{requests:#?}");
        assert!(requests.iter().any(|e| e.contains("\"status\":404")), "{requests:#?}");
    }
}

#[test]
fn secrets_are_added_outside_and_never_seen() {
    let at = server();
    let dir = tempfile::tempdir().unwrap();
    let file = dir.path().join("key");
    std::fs::write(&file, "hunter2hunter2").unwrap();
    for engine in both() {
        let mut network = allow(&[&format!("* http://127.0.0.1:{}/", at.port())]);
        network.secrets = vec![format!(
            "http://127.0.0.1:{}/: Authorization=Bearer ${{file:{}}}",
            at.port(),
            file.display()
        )];
        let s = engine.session(policy_of(network)).unwrap();
        client(&s);
        // The server prints the request that it got; the guest does not see it.
        let said = py(&s, &format!("print(fetch('GET', 'http://{at}/a')[1])")).to_lowercase();
        assert!(said.contains("authorization: bearer") && !said.contains("hunter2"), "{said}");
        assert!(
            !sh(&s, "env; cat /proc/self/environ 2>&1; grep -r hunter2 /tmp /home /.box 2>&1")
                .contains("hunter2")
        );
    }
}

#[test]
fn curl_speaks_to_servers_that_are_allowed() {
    let at = server();
    for engine in both() {
        let s = engine
            .session(policy_of(allow(&[&format!("* http://127.0.0.1:{}/", at.port())])))
            .unwrap();
        sh(&s, &format!("U=http://{at}"));
        let said = sh(&s, "curl -s -d 'a=b' $U/a").to_lowercase();
        assert!(said.starts_with("post /a http/1.1") && said.ends_with("--\na=b"), "{said}");
        assert_eq!(
            sh(
                &s,
                "curl -s -o /tmp/l -w '%{http_code} %{size_download}\n' $U/large; wc -c </tmp/l"
            ),
            "200 3000000\n3000000\n"
        );
        assert_eq!(
            sh(&s, "curl -s -o /dev/null -w '%{http_code} %{num_redirects}' -L $U/to-a"),
            "200 1"
        );
        assert_eq!(
            sh(&s, "curl -fsS $U/none"),
            "curl: (22) The requested URL returned error: 404\n[22]"
        );
        let refused = sh(&s, "curl -sSL $U/out");
        assert!(refused.starts_with("curl: (7)") && refused.ends_with("[7]"), "{refused}");
        assert_eq!(
            sh(
                &s,
                "curl -s $U/large | head -c 3; seq 3 | curl -s --data-binary @- $U/x | tail -n 3"
            ),
            "xxx1\n2\n3\n"
        );
    }
}

#[test]
fn wget_fetches_files() {
    let at = server();
    for engine in both() {
        let s = engine
            .session(policy_of(allow(&[&format!("* http://127.0.0.1:{}/", at.port())])))
            .unwrap();
        sh(&s, &format!("cd /tmp; U=http://{at}"));
        let said = sh(&s, "wget $U/large && wc -c <large");
        assert!(said.starts_with("3000000\n"), "{said}");
        assert!(said.contains("awaiting response... 200 OK\nLength: 3000000 (2.9M)\n"), "{said}");
        assert!(said.contains("‘large’ saved [3000000/3000000]"), "{said}");
        let said = sh(&s, "wget -qO- --post-data=a=b $U/a").to_lowercase();
        assert!(said.starts_with("post /a http/1.1") && said.ends_with("--\na=b"), "{said}");
        assert!(sh(&s, "wget -nv $U/none").ends_with("ERROR 404: Not Found.\n[8]"));
        assert!(sh(&s, "wget $U/to-a; head -n 1 to-a").starts_with("GET /a HTTP/1.1"));
        let refused = sh(&s, "wget http://example.com/");
        let why = "failed: example.com:80 is not allowed by the sandbox's policy";
        assert!(refused.contains(why) && refused.ends_with("[4]"), "{refused}");
    }
}

#[test]
fn nothing_is_there_without_a_rule() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        assert_eq!(sh(&s, "test -e /.box/http; echo $?"), "1\n");
        let wrong = allow(&["GET nonsense"]);
        let s = engine.session(policy_of(wrong)).unwrap();
        assert!(
            matches!(s.exec("true"), Err(wasibox::Error::Network(why)) if why.contains("GET nonsense"))
        );
    }
}

#[test]
fn guests_that_speak_nonsense_are_answered() {
    let at = server();
    for engine in both() {
        let s = engine
            .session(policy_of(allow(&[&format!("* http://127.0.0.1:{}/", at.port())])))
            .unwrap();
        client(&s);
        py(&s, &format!("base = 'http://{at}'"));
        assert_eq!(py(&s, "ask(b'zz')[:2]"), r"b'\x05\x02'");
        assert_eq!(py(&s, "step(4, 999)[:2]"), r"b'\x05*'");
        // This header would become two headers.
        assert_eq!(py(&s, "fetch('GET', base + '/a', [('A', 'b\\r\\nC: d')])[0]"), "43");
        assert_eq!(
            py(&s, "fetch('GET', base + '/a', [('Host', 'other')])[0] in (43, 200)"),
            "True"
        );
        assert_eq!(py(&s, "fetch('GET /x HTTP/1.1', base + '/a')[0]"), "43");
        // More requests are started and abandoned than may run at the same time; the last one waits
        // for its turn and is refused.
        let many = "[begin('POST', base + '/a', body=b'x')[0] for _ in range(17)].count(1)";
        assert_eq!(py(&s, many), "16");
        // The next call has room for requests again.
        assert_eq!(py(&s, "fetch('GET', base + '/none')"), "(404, 'none')");
    }
}

#[test]
fn programs_beside_calls_make_requests() {
    let address = server();
    for engine in both() {
        let rule = format!("GET http://{address}/");
        let session = engine.session(policy_of(allow(&[&rule]))).unwrap();
        let script = format!("sleep 0.2; curl -s http://{address}/beside | head -1");
        let process = session.spawn(wasibox::Exec::new(["sh", "-c", &script])).unwrap();
        // A request of a call ends with the call; that of the program continues.
        let call = sh(&session, &format!("curl -s http://{address}/call | head -1"));
        assert!(call.starts_with("GET /call HTTP/1.1"), "{call}");
        let (mut text, mut stdout) = (String::new(), process.stdout);
        stdout.read_to_string(&mut text).unwrap();
        assert!(text.starts_with("GET /beside HTTP/1.1"), "{text}");
        assert_eq!(process.end.wait().end, wasibox::End::Exited(0));
    }
}
