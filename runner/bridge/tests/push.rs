//! Rules for git on the way out: the requests that reach the server, the answers to the client, and
//! the log.
//! The last tests have git itself at both ends, where the host has it.

mod common;

use common::{Box, Peer, Server, answer, field, header, policy, short};
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::{Arc, Mutex};
use wasibox_bridge::git::PushAction;
use wasibox_bridge::{
    BodyLength, BridgePolicy, RedirectPolicy, RequestError, RequestHead, ResponseHead, TlsRoots,
};

const A: &str = "1111111111111111111111111111111111111111";
const B: &str = "2222222222222222222222222222222222222222";
const NONE: &str = "0000000000000000000000000000000000000000";

/// A server that keeps the bodies it gets, and answers all of them.
fn keeping() -> (Server, Arc<Mutex<Vec<Vec<u8>>>>) {
    let bodies = Arc::<Mutex<Vec<Vec<u8>>>>::default();
    let kept = Arc::clone(&bodies);
    let server = Server::new(move |peer: &mut Peer| {
        while let Some(head) = peer.head() {
            let body = peer.body(&head);
            kept.lock().unwrap().push(body);
            peer.ok(b"answer");
        }
    });
    (server, bodies)
}

/// Returns a bridge with these rules, in which HOST stands for the server.
fn bridge(server: &Server, rules: &[&str], secrets: &[&str]) -> Box {
    let host = server.address.to_string();
    let rules: Vec<String> = rules.iter().map(|rule| rule.replace("HOST", &host)).collect();
    let rules: Vec<&str> = rules.iter().map(String::as_str).collect();
    let secrets = secrets.iter().map(|s| s.replace("HOST", &host).parse().unwrap()).collect();
    let policy = BridgePolicy { limits: short(), secrets, ..policy(&rules) };
    Box::with(policy, TlsRoots::default())
}

fn line(text: &str) -> String {
    format!("{:04x}{text}", text.len() + 4)
}

fn list(commands: &[(&str, &str, &str)]) -> Vec<u8> {
    let caps = "\0 report-status side-band-64k object-format=sha1 agent=git/2.47.3";
    let mut out = String::new();
    for (i, (old, new, name)) in commands.iter().enumerate() {
        out += &line(&format!("{old} {new} {name}{}", if i == 0 { caps } else { "" }));
    }
    (out + "0000").into_bytes()
}

fn push_head(server: &Server, body: BodyLength) -> RequestHead {
    let url = server.url("/r.git/git-receive-pack");
    let mut head = RequestHead::new("POST", &url)
        .with_header("Content-Type", "application/x-git-receive-pack-request");
    head.body = body;
    head
}

/// Sends a body in pieces, with its length or without.
fn send(
    b: &Box,
    head: &RequestHead,
    body: &[u8],
    piece: usize,
) -> Result<(ResponseHead, Vec<u8>), RequestError> {
    let exchange = b.bridge.begin_request(head)?;
    for part in body.chunks(piece) {
        exchange.write(part)?;
    }
    exchange.finish_body();
    answer(&exchange)
}

fn push(b: &Box, server: &Server, body: &[u8]) -> Result<(ResponseHead, Vec<u8>), RequestError> {
    let with_length = send(b, &push_head(server, BodyLength::Bytes(body.len() as u64)), body, 4096);
    for piece in [1000, 7] {
        let chunked = send(b, &push_head(server, BodyLength::Unknown), body, piece);
        let plain = |got: &Result<(ResponseHead, Vec<u8>), RequestError>| {
            got.as_ref().map(|(head, body)| (head.status, body.clone())).map_err(Clone::clone)
        };
        assert_eq!(plain(&chunked), plain(&with_length));
    }
    with_length
}

#[test]
fn an_allowed_push_arrives_as_it_was_sent() {
    let (server, bodies) = keeping();
    let b = bridge(&server, &["git-push http://HOST/r.git refs/heads/agent/*"], &[]);
    let mut body = list(&[(NONE, A, "refs/heads/agent/x"), (A, B, "refs/heads/agent/y")]);
    body.extend_from_slice(b"PACK\0\0\0\x02");
    body.extend((0..3_000_000_u32).map(|n| (n % 251) as u8));
    for piece in [1000, 65536] {
        for length in [BodyLength::Unknown, BodyLength::Bytes(body.len() as u64)] {
            let (head, answer) = send(&b, &push_head(&server, length), &body, piece).unwrap();
            assert_eq!((head.status, answer.as_slice()), (200, &b"answer"[..]));
        }
    }
    let bodies = bodies.lock().unwrap();
    assert_eq!(bodies.len(), 4);
    assert!(bodies.iter().all(|got| *got == body));
    let entry = &b.log.entries()[0];
    assert_eq!(entry.status, Some(200));
    assert_eq!(entry.sent, body.len() as u64);
    let refs: Vec<_> = entry
        .push
        .iter()
        .map(|r| (r.name.as_str(), r.action, r.old.as_str(), r.new.as_str(), r.refused.clone()))
        .collect();
    assert_eq!(
        refs,
        [
            ("refs/heads/agent/x", PushAction::Create, NONE, A, None),
            ("refs/heads/agent/y", PushAction::Update, A, B, None),
        ]
    );
}

#[test]
fn a_refused_push_is_answered_and_not_sent() {
    let (server, bodies) = keeping();
    let b = bridge(&server, &["git-push http://HOST/r.git refs/heads/agent/*"], &[]);
    let mut body = list(&[(A, B, "refs/heads/agent/x"), (A, B, "refs/heads/main")]);
    body.extend_from_slice(b"PACK");
    body.resize(2_000_000, 7);
    let (head, report) = push(&b, &server, &body).unwrap();
    assert_eq!(head.status, 200);
    let content = header(&head, "content-type");
    assert_eq!(content.as_deref(), Some("application/x-git-receive-pack-result"));
    let report = String::from_utf8(report).unwrap();
    for part in [
        "unpack ok\n",
        "ng refs/heads/agent/x another ref of this push is not allowed\n",
        "ng refs/heads/main not allowed by this sandbox's rules\n",
        "/r.git refs/heads/main' would allow it\n",
    ] {
        assert!(report.contains(part), "{report}");
    }
    assert_eq!(server.connections(), 0, "nothing reaches the server");
    let entry = &b.log.entries()[0];
    assert_eq!(entry.push.len(), 2);
    assert_eq!(entry.push[0].refused, None);
    assert_eq!(entry.push[1].name, "refs/heads/main");
    assert!(entry.push[1].refused.is_some());
    assert!(matches!(entry.error, Some(RequestError::Refused(_))));
    assert_eq!((entry.sent, entry.status, entry.address), (0, None, None));

    // The next request is served.
    let good = [list(&[(A, B, "refs/heads/agent/x")]), b"PACK".to_vec()].concat();
    assert_eq!(push(&b, &server, &good).unwrap().1, b"answer");
    assert!(bodies.lock().unwrap().iter().all(|got| *got == good));
}

/// Bodies and heads that would get past a check which is less strict. None reaches the server.
#[test]
fn tricks_get_nothing_past() {
    let (server, bodies) = keeping();
    let b = bridge(&server, &["git-push http://HOST/r.git refs/heads/agent/*"], &[]);
    let good = line(&format!("{A} {B} refs/heads/agent/x\0report-status"));
    let main = format!("{A} {B} refs/heads/main");
    let join = |parts: &[&str]| parts.concat().into_bytes();
    let gzipped = {
        use flate2::{Compression, write::GzEncoder};
        let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
        gzip.write_all(&list(&[(A, B, "refs/heads/main")])).unwrap();
        gzip.finish().unwrap()
    };
    let own = ("Content-Type", "application/x-git-receive-pack-request");
    for (what, body) in [
        ("a second list", join(&[&good, "0000", &line(&main), "0000PACK"])),
        ("a list behind an empty one", join(&["0000", &line(&main), "0000PACK"])),
        ("two empty ones", join(&["00000000", &line(&main), "0000PACK"])),
        ("options that are a list", join(&[&good, "0000", &line(&main), "0000PACK"])),
        ("capabilities again", join(&[&good, &line(&format!("{main}\0x")), "0000PACK"])),
        ("a name behind a NUL", join(&[&line(&format!("{A} {B} refs/heads/agent/x\0\0{main}"))])),
        ("a certificate", join(&[&line("push-cert\0x"), &line(&main), &line("push-cert-end")])),
        ("dots", join(&[&line(&format!("{A} {B} refs/heads/agent/../main")), "0000PACK"])),
        ("a newline", join(&[&line(&format!("{A} {B} refs/heads/agent/x\n{main}")), "0000PACK"])),
        ("no flush", join(&[&good])),
        ("half a length", b"00".to_vec()),
        ("a list of version 2", join(&["0001", &line(&main), "0000"])),
        ("compressed", gzipped.clone()),
        ("no list", b"PACK".to_vec()),
        ("a ref twice", join(&[&good, &line(&format!("{A} {B} refs/heads/agent/x")), "0000PACK"])),
        ("a form", b"_method=PUT&x=y".to_vec()),
    ] {
        let error = push(&b, &server, &body).unwrap_err();
        assert!(matches!(error, RequestError::Push(_)), "{what}: {error}");
    }
    for length in [BodyLength::None, BodyLength::Bytes(0), BodyLength::Unknown] {
        let error = send(&b, &push_head(&server, length), b"", 1).unwrap_err();
        assert!(matches!(error, RequestError::Push(_)), "nothing: {error}");
    }
    let refused = list(&[(A, B, "refs/heads/main")]);
    for (what, headers, method, path) in [
        ("compressed", vec![own, ("Content-Encoding", "gzip")], "POST", "/r.git/git-receive-pack"),
        (
            "compressed otherwise",
            vec![own, ("content-encoding", "x-gzip, br")],
            "POST",
            "/r.git/git-receive-pack",
        ),
        (
            "a form",
            vec![("Content-Type", "application/x-www-form-urlencoded")],
            "POST",
            "/r.git/git-receive-pack",
        ),
        ("no type", vec![], "POST", "/r.git/git-receive-pack"),
        ("two types", vec![own, ("Content-Type", "text/plain")], "POST", "/r.git/git-receive-pack"),
        (
            "the type of a fetch",
            vec![("Content-Type", "application/x-git-upload-pack-request")],
            "POST",
            "/r.git/git-receive-pack",
        ),
        ("a push to the service for fetching", vec![own], "POST", "/r.git/git-upload-pack"),
        (
            "another protocol",
            vec![own, ("Git-Protocol", "version=7")],
            "POST",
            "/r.git/git-receive-pack",
        ),
        ("another method", vec![own], "PUT", "/r.git/git-receive-pack"),
        (
            "another method by a header",
            vec![own, ("X-HTTP-Method-Override", "PUT")],
            "POST",
            "/r.git/git-upload-pack",
        ),
        (
            "another path by a header",
            vec![own, ("X-Original-URL", "/x")],
            "POST",
            "/r.git/git-receive-pack",
        ),
        ("Expect", vec![own, ("Expect", "100-continue")], "POST", "/r.git/git-receive-pack"),
        ("a query", vec![own], "POST", "/r.git/git-receive-pack?x"),
        ("slashes", vec![own], "POST", "/r.git//git-receive-pack"),
        ("slashes before", vec![own], "POST", "//r.git/git-receive-pack"),
        ("dots", vec![own], "POST", "/r.git/../s.git/git-receive-pack"),
        ("encoded dots", vec![own], "POST", "/r.git/%2e%2e/s.git/git-receive-pack"),
        ("dots encoded twice", vec![own], "POST", "/r.git/%252e%252e/s.git/git-receive-pack"),
        ("an encoded slash", vec![own], "POST", "/r.git%2fgit-receive-pack"),
        ("parameters", vec![own], "POST", "/r.git;x/git-receive-pack"),
        ("a backslash", vec![own], "POST", "/r.git/x%5c..%5c..%5cs.git/git-receive-pack"),
        ("capitals", vec![own], "POST", "/R.git/git-receive-pack"),
        ("without .git", vec![own], "POST", "/r/git-receive-pack"),
        (".git twice", vec![own], "POST", "/r.git.git/git-receive-pack"),
        ("a folder behind it", vec![own], "POST", "/r.git/x/git-receive-pack"),
        ("a slash at the end", vec![own], "POST", "/r.git/git-receive-pack/"),
        ("a NUL", vec![own], "POST", "/r.git%00/git-receive-pack"),
        ("LFS", vec![own], "POST", "/r.git/info/lfs/objects/batch"),
        ("WebDAV", vec![own], "PUT", "/r.git/refs/heads/main"),
        ("a lock", vec![own], "LOCK", "/r.git/info/refs"),
    ] {
        let mut head = RequestHead::new(method, &server.url(path));
        for (name, value) in headers {
            head = head.with_header(name, value);
        }
        head.body = BodyLength::Bytes(refused.len() as u64);
        assert!(send(&b, &head, &refused, 4096).is_err(), "{what}");
    }
    for path in [
        "/r.git/info/refs",
        "/r.git/HEAD",
        "/r.git/objects/info/packs",
        "/r.git/info/refs?service=git-upload-pack&service=git-receive-pack",
        "/r.git/info/refs?service=git-upload-archive",
        "/s.git/info/refs?service=git-upload-pack",
        "/r.git/info/refs?service=git%2Dupload-pack",
    ] {
        assert!(b.get(&server.url(path)).is_err(), "{path}");
    }
    assert_eq!(server.connections(), 0, "nothing reaches the server");
    assert!(bodies.lock().unwrap().is_empty());
}

#[test]
fn a_client_without_reports_gets_an_error() {
    let (server, _) = keeping();
    let b = bridge(&server, &["git-push http://HOST/r.git refs/heads/agent/*"], &[]);
    let body = line(&format!("{A} {B} refs/heads/main\0delete-refs")) + "0000PACK";
    let error = push(&b, &server, body.as_bytes()).unwrap_err();
    assert!(error.to_string().contains("refs/heads/main in http://"), "{error}");
    assert_eq!(server.connections(), 0);
}

/// git asks with an empty list before it sends much.
#[test]
fn an_empty_list_is_sent() {
    let (server, bodies) = keeping();
    let b = bridge(&server, &["git-push http://HOST/r.git refs/heads/agent/*"], &[]);
    assert_eq!(push(&b, &server, b"0000").unwrap().1, b"answer");
    assert_eq!(*bodies.lock().unwrap(), vec![b"0000".to_vec(); 3]);
}

#[test]
fn a_list_that_never_ends_is_bounded() {
    let (server, _) = keeping();
    let b = bridge(&server, &["git-push http://HOST/r.git"], &[]);
    let exchange = b.bridge.begin_request(&push_head(&server, BodyLength::Unknown)).unwrap();
    let shallow = line(&format!("shallow {A}")).repeat(1000);
    let mut written = 0;
    let error = loop {
        match exchange.write(shallow.as_bytes()) {
            Ok(()) => written += shallow.len(),
            Err(error) => break error,
        }
        assert!(written < 4 << 20, "the list is bounded");
    };
    assert!(error.to_string().contains("its list of refs has more than"), "{error}");
    assert_eq!(server.connections(), 0);
}

#[test]
fn secrets_are_added_outside() {
    let (server, _) = keeping();
    let secret = "http://HOST/r.git/: Authorization=Basic YW5uOnNlY3JldHNlY3JldA==";
    let b = bridge(&server, &["git-push http://HOST/r.git refs/heads/*"], &[secret]);
    let body = [list(&[(A, B, "refs/heads/main")]), b"PACK".to_vec()].concat();
    push(&b, &server, &body).unwrap();
    b.get(&server.url("/r.git/info/refs?service=git-receive-pack")).unwrap();
    for head in server.heads() {
        let sent = field(&head, "authorization");
        assert_eq!(sent.as_deref(), Some("Basic YW5uOnNlY3JldHNlY3JldA=="), "{head}");
    }
    assert_eq!(server.heads().len(), 4);
}

#[test]
fn redirects_do_not_leave_the_repository() {
    let (target, bodies) = keeping();
    let to = target.url("");
    let server = Server::new(move |peer: &mut Peer| {
        while let Some(head) = peer.head() {
            peer.body(&head);
            let path = if head.contains("/leaves/") {
                format!("{to}/r.git/git-receive-pack")
            } else if head.contains("/moves/") {
                "/other.git/git-receive-pack".into()
            } else if head.contains("/again/") {
                peer.ok(b"again");
                continue;
            } else {
                "/stays.git/again/git-receive-pack".into()
            };
            peer.say(
                format!("HTTP/1.1 307 x\r\nLocation: {path}\r\nContent-Length: 0\r\n\r\n")
                    .as_bytes(),
            );
        }
    });
    let there = format!("git-push http://{} refs/*", target.address);
    let b = bridge(
        &server,
        &["git-push http://HOST/* refs/heads/*", &there, "git-fetch http://HOST/*"],
        &[],
    );
    let body = [list(&[(A, B, "refs/heads/main")]), b"PACK".to_vec()].concat();
    let follow = |path: &str| {
        let url = server.url(&format!("{path}/git-receive-pack"));
        let mut head = RequestHead::new("POST", &url)
            .with_header("Content-Type", "application/x-git-receive-pack-request");
        head.body = BodyLength::Bytes(body.len() as u64);
        head.redirect = RedirectPolicy::Follow(3);
        send(&b, &head, &body, 4096)
    };
    for path in ["/leaves/r.git", "/moves/r.git"] {
        let error = follow(path).unwrap_err();
        assert!(matches!(error, RequestError::Repository(_)), "{path}: {error}");
    }
    assert_eq!(follow("/stays.git").unwrap().1, b"again");
    assert!(bodies.lock().unwrap().is_empty());
    assert_eq!(target.connections(), 0);
}

/// A redirect can lead from a repository whose pushes are free to one whose pushes are judged.
#[test]
fn a_push_is_judged_again_where_a_redirect_leads() {
    let server = Server::new(move |peer: &mut Peer| {
        while let Some(head) = peer.head() {
            peer.body(&head);
            if head.contains("/free/") {
                peer.say(b"HTTP/1.1 307 x\r\nLocation: /r.git/git-receive-pack\r\nContent-Length: 0\r\n\r\n");
            } else {
                peer.ok(b"done");
            }
        }
    });
    let host = server.address.to_string();
    let mut policy = policy(&[&format!("POST http://{host}/")]);
    policy
        .rules
        .deny
        .push(format!("git-push http://{host}/r.git refs/heads/main").parse().unwrap());
    let b = Box::with(BridgePolicy { limits: short(), ..policy }, TlsRoots::default());
    let follow = |name: &str, size: usize| {
        let mut body = [list(&[(A, B, name)]), b"PACK".to_vec()].concat();
        body.resize(body.len() + size, 1);
        let url = server.url("/free/git-receive-pack");
        let mut head = RequestHead::new("POST", &url)
            .with_header("Content-Type", "application/x-git-receive-pack-request");
        head.body = BodyLength::Bytes(body.len() as u64);
        head.redirect = RedirectPolicy::Follow(3);
        send(&b, &head, &body, 4096)
    };
    assert_eq!(follow("refs/heads/x", 100).unwrap().1, b"done");
    let report = String::from_utf8(follow("refs/heads/main", 100).unwrap().1).unwrap();
    assert!(report.contains("ng refs/heads/main denied by this sandbox's rules"), "{report}");
    // Bytes that were not kept cannot be judged.
    assert!(matches!(follow("refs/heads/x", 2 << 20), Err(RequestError::Rewind(_))));
    assert_eq!(server.heads().iter().filter(|h| h.contains("/r.git/")).count(), 1);
}

// git itself at both ends.

fn backend() -> Option<PathBuf> {
    let output = Command::new("git").arg("--exec-path").output().ok()?;
    let folder = String::from_utf8(output.stdout).ok()?;
    let program = Path::new(folder.trim()).join("git-http-backend");
    if !program.is_file() {
        eprintln!("no git http-backend here: not tested");
        return None;
    }
    Some(program)
}

/// Runs git, and returns its status and all that it says.
fn git(dir: &Path, args: &[&str]) -> (bool, String) {
    let mut git = Command::new("git");
    git.current_dir(dir).args(["-c", "user.name=Ann", "-c", "user.email=ann@example.org"]);
    git.env("GIT_TERMINAL_PROMPT", "0").env("GIT_CONFIG_NOSYSTEM", "1").env("HOME", dir);
    let output = git.args(args).output().unwrap();
    let text = [output.stdout, output.stderr].concat();
    (output.status.success(), String::from_utf8(text).unwrap())
}

fn done(dir: &Path, args: &[&str]) -> String {
    let (success, text) = git(dir, args);
    assert!(success, "git {args:?}: {text}");
    text.trim().to_owned()
}

/// Makes a server of the repositories below `root`, by CGI (RFC 3875).
fn git_server(program: PathBuf, root: PathBuf) -> Server {
    Server::new(move |peer: &mut Peer| {
        while let Some(head) = peer.head() {
            let body = peer.body(&head);
            let mut words = head.split(' ');
            let (method, target) = (words.next().unwrap(), words.next().unwrap());
            let (path, query) = target.split_once('?').unwrap_or((target, ""));
            let mut command = Command::new(&program);
            command.env("GIT_PROJECT_ROOT", &root).env("GIT_HTTP_EXPORT_ALL", "1");
            command.env("PATH_INFO", path).env("QUERY_STRING", query);
            command.env("REQUEST_METHOD", method).env("REMOTE_USER", "ann");
            for (variable, name) in [
                ("CONTENT_TYPE", "content-type"),
                ("HTTP_CONTENT_ENCODING", "content-encoding"),
                ("GIT_PROTOCOL", "git-protocol"),
            ] {
                command.env(variable, field(&head, name).unwrap_or_default());
            }
            command.env("CONTENT_LENGTH", body.len().to_string());
            let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
            let mut stdin = child.stdin.take().unwrap();
            let writer = std::thread::spawn(move || drop(stdin.write_all(&body)));
            let output = child.wait_with_output().unwrap().stdout;
            writer.join().unwrap();
            let end = output.windows(4).position(|w| w == b"\r\n\r\n").unwrap();
            let fields = String::from_utf8_lossy(&output[..end]).into_owned();
            let status = field(&fields, "status").unwrap_or_else(|| "200 OK".into());
            let kind = field(&fields, "content-type").unwrap_or_default();
            let rest = &output[end + 4..];
            let head = format!(
                "HTTP/1.1 {status}\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
                rest.len()
            );
            peer.say(&[head.as_bytes(), rest].concat());
        }
    })
}

/// Makes a server that passes every request to the bridge, for `server`.
fn gateway(b: &Box, server: &Server) -> Server {
    let (bridge, to) = (b.bridge.clone(), server.url(""));
    Server::new(move |peer: &mut Peer| {
        while let Some(head) = peer.head() {
            let mut words = head.split(' ');
            let (method, target) = (words.next().unwrap(), words.next().unwrap());
            let mut request = RequestHead::new(method, &format!("{to}{target}"));
            for name in ["Content-Type", "Content-Encoding", "Git-Protocol", "Accept"] {
                if let Some(value) = field(&head, name) {
                    request = request.with_header(name, &value);
                }
            }
            if field(&head, "expect").is_some() {
                peer.say(b"HTTP/1.1 100 Continue\r\n\r\n");
            }
            let body = peer.body(&head);
            request.body = if field(&head, "transfer-encoding").is_some() {
                BodyLength::Unknown
            } else if method == "POST" {
                BodyLength::Bytes(body.len() as u64)
            } else {
                BodyLength::None
            };
            let got = bridge.begin_request(&request).and_then(|exchange| {
                for part in body.chunks(10_000) {
                    exchange.write(part)?;
                }
                exchange.finish_body();
                answer(&exchange)
            });
            match got {
                Ok((head, body)) => {
                    let kind = header(&head, "content-type").unwrap_or_default();
                    let head = format!(
                        "HTTP/1.1 {} x\r\nContent-Type: {kind}\r\nContent-Length: {}\r\n\r\n",
                        head.status,
                        body.len()
                    );
                    peer.say(&[head.as_bytes(), &body].concat());
                }
                Err(error) => {
                    let text = error.to_string();
                    let head = format!("HTTP/1.1 403 x\r\nContent-Length: {}\r\n\r\n", text.len());
                    peer.say(&[head.as_bytes(), text.as_bytes()].concat());
                }
            }
        }
    })
}

/// Makes a bare repository that takes pushes over HTTP, `r.git`, and an empty one to work in, `w`.
fn repositories(root: &Path) -> (PathBuf, PathBuf) {
    done(root, &["init", "-q", "--bare", "-b", "main", "r.git"]);
    let bare = root.join("r.git");
    done(&bare, &["config", "http.receivepack", "true"]);
    done(root, &["init", "-q", "-b", "main", "w"]);
    let work = root.join("w");
    (bare, work)
}

#[test]
fn gits_own_pushes() {
    let Some(program) = backend() else { return };
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let (bare, work) = repositories(root);
    done(&bare, &["config", "receive.advertisePushOptions", "true"]);
    done(&work, &["commit", "-q", "--allow-empty", "-m", "one"]);
    done(&work, &["push", "-q", bare.to_str().unwrap(), "main"]);
    let server = git_server(program, root.to_path_buf());
    let b = bridge(&server, &["git-push http://HOST/r.git refs/heads/agent/* create"], &[]);
    let front = gateway(&b, &server);
    let url = front.url("/r.git");
    let main = done(&bare, &["rev-parse", "main"]);

    for version in ["0", "1", "2"] {
        let protocol = format!("protocol.version={version}");
        done(root, &["-c", &protocol, "clone", "-q", &url, &format!("c{version}")]);
    }
    let clone = root.join("c2");
    std::fs::write(clone.join("big"), vec![0xa5; 100]).unwrap();
    done(&clone, &["add", "big"]);
    done(&clone, &["commit", "-q", "-m", "two"]);

    // A new branch below agent/; with a body that has no length, after git's question.
    done(&clone, &["push", "-q", "origin", "HEAD:refs/heads/agent/a"]);
    done(&clone, &["-c", "http.postBuffer=10", "push", "-q", "origin", "HEAD:refs/heads/agent/b"]);
    let head = done(&clone, &["rev-parse", "HEAD"]);
    assert_eq!(done(&bare, &["rev-parse", "agent/a"]), head);
    assert_eq!(done(&bare, &["rev-parse", "agent/b"]), head);

    // All other cases, in git's own words.
    let refused = "! [remote rejected] HEAD -> main (not allowed by this sandbox's rules)";
    let updates = "updating it is not allowed by this sandbox's rules";
    done(&clone, &["commit", "-q", "--allow-empty", "-m", "three"]);
    for (args, expected) in [
        (vec!["push", "origin", "HEAD:main"], refused),
        (vec!["-c", "http.postBuffer=10", "push", "origin", "HEAD:main"], refused),
        (vec!["push", "--force", "origin", "HEAD:main"], refused),
        (vec!["push", "--force-with-lease", "origin", "HEAD:main"], refused),
        (vec!["push", "--atomic", "origin", "HEAD:main", "HEAD:refs/heads/agent/c"], refused),
        (
            vec!["push", "origin", "HEAD:main", "HEAD:refs/heads/agent/c"],
            "(another ref of this push is not allowed)",
        ),
        (vec!["push", "origin", "HEAD:refs/heads/agent/a"], updates),
        (vec!["push", "--force", "origin", "HEAD~1:refs/heads/agent/a"], "up-to-date"),
        (vec!["push", "--force", "origin", "main~2:refs/heads/agent/a"], updates),
        (vec!["push", "origin", ":refs/heads/agent/a"], "deleting it is not allowed"),
        (vec!["push", "origin", ":main"], "[remote rejected] main (not allowed"),
        (vec!["push", "origin", "HEAD:refs/tags/v1"], "HEAD -> v1 (not allowed"),
        (vec!["push", "--mirror", "origin"], "[remote rejected]"),
        (
            vec!["push", "-o", "merge_request.create", "origin", "HEAD:refs/heads/agent/c"],
            "push options are not allowed",
        ),
        (vec!["-c", "protocol.version=1", "push", "origin", "HEAD:main"], refused),
        (vec!["push", "origin", "HEAD:main"], "would allow it"),
    ] {
        let (success, said) = git(&clone, &args);
        assert!(said.contains(expected), "{args:?}: {said}");
        assert_eq!(success, expected == "up-to-date", "{args:?}: {said}");
    }
    let branches = done(&bare, &["for-each-ref", "--format=%(refname) %(objectname)"]);
    assert_eq!(
        branches,
        format!("refs/heads/agent/a {head}\nrefs/heads/agent/b {head}\nrefs/heads/main {main}")
    );
    assert_eq!(done(&bare, &["fsck", "--full", "--strict"]), "");

    // Another repository is out of reach.
    done(root, &["init", "-q", "--bare", "s.git"]);
    let (success, said) = git(root, &["ls-remote", &front.url("/s.git")]);
    assert!(!success && said.contains("403"), "{said}");
}

/// A rule for updates leaves to the server which of them are forced.
#[test]
fn the_server_compares_ids_and_histories() {
    let Some(program) = backend() else { return };
    let dir = tempfile::tempdir().unwrap();
    let root = dir.path();
    let (bare, work) = repositories(root);
    done(&work, &["commit", "-q", "--allow-empty", "-m", "one"]);
    done(&work, &["push", "-q", bare.to_str().unwrap(), "HEAD:agent/x", "HEAD:agent/y"]);
    let one = done(&work, &["rev-parse", "HEAD"]);
    done(&work, &["commit", "-q", "--allow-empty", "--amend", "-m", "other"]);
    let other = done(&work, &["rev-parse", "HEAD"]);
    done(&work, &["push", "-q", bare.to_str().unwrap(), "HEAD:agent/z"]);
    let server = git_server(program, root.to_path_buf());
    let create = "git-push http://HOST/r.git refs/heads/agent/* create";
    let b = bridge(&server, &[create], &[]);
    // A client that claims to create a ref that exists.
    let body = list(&[(NONE, &other, "refs/heads/agent/x")]);
    let empty_pack = done_bytes(&work, &["pack-objects", "-q", "--stdout"]);
    let (_, report) = push(&b, &server, &[body, empty_pack.clone()].concat()).unwrap();
    let report = String::from_utf8_lossy(&report).into_owned();
    assert!(report.contains("ng refs/heads/agent/x"), "{report}");
    assert_eq!(done(&bare, &["rev-parse", "agent/x"]), one);

    let update = "git-push http://HOST/r.git refs/heads/agent/* update";
    let b = bridge(&server, &[update], &[]);
    let forced = [list(&[(&one, &other, "refs/heads/agent/x")]), empty_pack].concat();
    done(&bare, &["config", "receive.denyNonFastForwards", "true"]);
    let (_, report) = push(&b, &server, &forced).unwrap();
    let report = String::from_utf8_lossy(&report).into_owned();
    assert!(report.contains("ng refs/heads/agent/x non-fast-forward"), "{report}");
    assert_eq!(done(&bare, &["rev-parse", "agent/x"]), one);
}

/// Returns git's output.
fn done_bytes(dir: &Path, args: &[&str]) -> Vec<u8> {
    let mut git = Command::new("git");
    let output = git.current_dir(dir).args(args).stdin(Stdio::null()).output().unwrap();
    assert!(output.status.success());
    output.stdout
}
