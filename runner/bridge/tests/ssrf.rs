//! Nothing that a guest writes, a server redirects to or a resolver answers leads to an address
//! that no rule names.

mod common;

use common::{Box, Server, policy};
use wasibox_bridge::{RedirectPolicy, RequestError, RequestHead, TlsRoots};

/// Hosts in URLs; PORT is a port at which a server listens.
const SPELLINGS: &[&str] = &[
    "http://127.0.0.1:PORT/",
    "http://127.0.0.2:PORT/",
    "http://127.1:PORT/",
    "http://127.0.1:PORT/",
    "http://0x7f.1:PORT/",
    "http://0x7f000001:PORT/",
    "http://0X7F.0x0.0X0.0x1:PORT/",
    "http://0177.0.0.1:PORT/",
    "http://0177.1:PORT/",
    "http://017700000001:PORT/",
    "http://00000177.0.0.1:PORT/",
    "http://2130706433:PORT/",
    "http://127.0.0.1.:PORT/",
    "http://127.0.0.1:PORT\\@example.com/",
    "http://%31%32%37.0.0.1:PORT/",
    "http://１２７.０.０.１:PORT/",
    "http://①②⑦.0.0.①:PORT/",
    "http://127。0。0。1:PORT/",
    "http://0:PORT/",
    "http://0.0.0.0:PORT/",
    "http://0x0:PORT/",
    "http://[::]:PORT/",
    "http://[::1]:PORT/",
    "http://[0:0:0:0:0:0:0:1]:PORT/",
    "http://[0000:0000:0000:0000:0000:0000:0000:0001]:PORT/",
    "http://[::127.0.0.1]:PORT/",
    "http://[::7f00:1]:PORT/",
    "http://[::ffff:127.0.0.1]:PORT/",
    "http://[::ffff:7f00:1]:PORT/",
    "http://[::FFFF:7F00:0001]:PORT/",
    "http://[::ffff:0:127.0.0.1]:PORT/",
    "http://[64:ff9b::127.0.0.1]:PORT/",
    "http://[64:ff9b::7f00:1]:PORT/",
    "http://[64:ff9b:1::7f00:1]:PORT/",
    "http://[2002:7f00:1::]:PORT/",
    "http://[2002:7f00:0001::1]:PORT/",
    "http://[2001:0:7f00:1::]:PORT/",
    "http://[2001::80ff:fffe]:PORT/",
    "http://[fe80::1]:PORT/",
    "http://[fe80::5efe:127.0.0.1]:PORT/",
    "http://[fec0::1]:PORT/",
    "http://[fc00::1]:PORT/",
    "http://[fd00:ec2::254]/",
    "http://[fd20:ce::254]/",
    "http://[ff02::1]:PORT/",
    "http://[2001:db8::1]:PORT/",
    "http://[100::1]:PORT/",
    "http://[3fff::1]:PORT/",
    "http://169.254.169.254/latest/meta-data/",
    "http://2852039166/",
    "http://0xa9fea9fe/",
    "http://0251.0376.0251.0376/",
    "http://169.254.43518/",
    "http://[::ffff:169.254.169.254]/",
    "http://[::ffff:a9fe:a9fe]/",
    "http://[64:ff9b::169.254.169.254]/",
    "http://169.254.170.2/",
    "http://100.100.100.200/",
    "http://168.63.129.16/",
    "http://192.0.0.192/",
    "http://10.0.0.1/",
    "http://10.1/",
    "http://012.0.0.1/",
    "http://172.16.0.1/",
    "http://172.31.255.255/",
    "http://192.168.0.1/",
    "http://192.168.257/",
    "http://3232235521/",
    "http://100.64.0.1/",
    "http://198.18.0.1/",
    "http://192.0.2.1/",
    "http://198.51.100.1/",
    "http://203.0.113.1/",
    "http://224.0.0.1/",
    "http://240.0.0.1/",
    "http://255.255.255.255/",
    "http://4294967295/",
    "http://localhost:PORT/",
    "http://LOCALHOST:PORT/",
    "http://localhost.:PORT/",
    "http://a.localhost:PORT/",
    "https://127.0.0.1:PORT/",
    "https://localhost:PORT/",
];

/// Possible answers of a resolver for a name that a rule allows.
const ANSWERS: &[&str] = &[
    "127.0.0.1",
    "127.255.0.1",
    "0.0.0.0",
    "10.1.2.3",
    "172.20.0.1",
    "192.168.1.1",
    "169.254.169.254",
    "168.63.129.16",
    "100.64.1.1",
    "224.0.0.251",
    "255.255.255.255",
    "192.0.0.170",
    "198.19.0.1",
    "::",
    "::1",
    "::127.0.0.1",
    "::ffff:127.0.0.1",
    "::ffff:10.0.0.1",
    "64:ff9b::a00:1",
    "64:ff9b:1::1",
    "2001::1",
    "2002:a00:1::",
    "2001:db8::1",
    "fd00:ec2::254",
    "fe80::1",
    "ff02::fb",
    "fc00::1",
    "fec0::1",
    "5f00::1",
    "4000::1",
];

/// Rules that allow every host by its name.
const ANY: &[&str] = &["* http://*:*", "* https://*:*"];

fn closed(error: &RequestError) -> bool {
    // Some spellings are not valid URLs, which is just as good.
    matches!(error, RequestError::Address { .. } | RequestError::Url(_))
}

#[test]
fn spellings_of_closed_addresses() {
    assert!(SPELLINGS.len() >= 80);
    let victim = Server::saying("HTTP/1.1 200 OK\r\n\r\n");
    let b = Box::new(ANY);
    for form in SPELLINGS {
        let url = form.replace("PORT", &victim.address.port().to_string());
        let error = b.get(&url).map(|(head, _)| head).unwrap_err();
        assert!(closed(&error), "{url}: {error}");
    }
    assert_eq!(victim.connections(), 0);
    assert_eq!(b.names.asked(), Vec::<String>::new(), "localhost is not asked for");
}

#[test]
fn redirects_to_closed_addresses() {
    let victim = Server::saying("HTTP/1.1 200 OK\r\n\r\n");
    for form in SPELLINGS {
        let url = form.replace("PORT", &victim.address.port().to_string());
        let location = url.clone();
        let door = Server::new(move |peer| {
            peer.head();
            let answer =
                format!("HTTP/1.1 302 Found\r\nLocation: {location}\r\nContent-Length: 0\r\n\r\n");
            peer.say(answer.as_bytes());
        });
        let named = format!("GET {}", door.url("/"));
        let b = Box::new(&[ANY[0], ANY[1], &named]);
        let mut head = RequestHead::new("GET", &door.url("/"));
        head.redirect = RedirectPolicy::Follow(5);
        let error = b.ask(&head).map(|(head, _)| head).unwrap_err();
        assert!(closed(&error), "{url}: {error}");
        assert_eq!(door.connections(), 1);
    }
    assert_eq!(victim.connections(), 0);
}

/// Redirects that change the host, the scheme, the port or the path need a rule of their own.
#[test]
fn redirects_need_their_rule() {
    let victim = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nin");
    let port = victim.address.port();
    for location in [
        format!("http://127.0.0.1:{port}/"),
        "http://other.example/".into(),
        "//other.example/".into(),
        "https://127.0.0.1/".into(),
        "/outside".into(),
        "../outside".into(),
        "/api/..%2foutside".into(),
        "/api/%2e%2e/outside".into(),
        "\\\\other.example\\".into(),
        "file:///etc/passwd".into(),
        "javascript:alert(1)".into(),
        "http://user:pw@127.0.0.1/".into(),
    ] {
        let to = location.clone();
        let door = Server::new(move |peer| {
            peer.head();
            let answer = format!("HTTP/1.1 302 Found\r\nLocation: {to}\r\n\r\n");
            peer.say(answer.as_bytes());
        });
        let b = Box::new(&[&format!("GET {}", door.url("/api/"))]);
        let mut head = RequestHead::new("GET", &door.url("/api/x"));
        head.redirect = RedirectPolicy::Follow(5);
        let error = b.ask(&head).map(|(head, _)| head).unwrap_err();
        let refused = matches!(
            error,
            RequestError::Refused(_) | RequestError::Scheme(_) | RequestError::Url(_)
        );
        assert!(refused, "{location}: {error}");
        // A guest that follows redirects by itself receives the redirect, and the victim is not
        // contacted.
        let (head, _) = b.get(&door.url("/api/x")).unwrap();
        assert_eq!(head.status, 302);
    }
    assert_eq!(victim.connections(), 0);
}

#[test]
fn answers_of_resolvers() {
    let victim = Server::saying("HTTP/1.1 200 OK\r\n\r\n");
    let port = victim.address.port();
    let b = Box::new(&[&format!("GET http://a.example:{port}/"), "GET http://*:*"]);
    for answer in ANSWERS {
        b.names.set("a.example", &[&[answer]]);
        let error = b.get(&format!("http://a.example:{port}/")).map(|(head, _)| head).unwrap_err();
        assert!(matches!(error, RequestError::Address { .. }), "{answer}: {error}");
        assert!(!error.to_string().contains(answer), "the guest is not told addresses");
    }
    b.names.set("a.example", &[ANSWERS]);
    assert!(matches!(
        b.get(&format!("http://a.example:{port}/")),
        Err(RequestError::Address { .. })
    ));
    b.names.set("a.example", &[&[]]);
    assert_eq!(b.get("http://a.example/"), Err(RequestError::Resolve("a.example".into())));
    assert_eq!(b.get("http://b.example/"), Err(RequestError::Resolve("b.example".into())));
    assert_eq!(victim.connections(), 0);
}

/// The name is resolved once; the address that was judged is the one that is connected to.
#[test]
fn rebinding() {
    let good = Server::new(|peer| {
        peer.head();
        peer.say(b"HTTP/1.1 200 OK\r\nContent-Length: 4\r\nConnection: close\r\n\r\ngood");
    });
    let port = good.address.port();
    let victim = Server::at(&format!("127.0.0.2:{port}"), |peer| {
        peer.head();
        peer.ok(b"secret");
    });
    let b = Box::new(&[&format!("GET http://a.example:{port}/ at 127.0.0.1")]);
    let url = format!("http://a.example:{port}/");
    b.names.set("a.example", &[&["127.0.0.1"], &["127.0.0.2"]]);
    assert_eq!(b.text(&url).as_deref(), Ok("good"));
    assert_eq!(b.names.asked().len(), 1, "asked once");
    assert!(matches!(b.get(&url), Err(RequestError::Address { .. })));
    // Good and bad addresses mixed: only the good ones are tried.
    b.names.set("a.example", &[&["127.0.0.2", "10.0.0.1", "127.0.0.1", "::1"]]);
    assert_eq!(b.text(&url).as_deref(), Ok("good"));
    assert_eq!(victim.connections(), 0);
    // The address in the log is the one that was judged.
    let addresses: Vec<_> = b.log.entries().iter().filter_map(|e| e.address).collect();
    assert_eq!(addresses, [good.address, good.address]);
}

/// A kept connection serves no request whose rules do not include its address.
#[test]
fn kept_connections_are_judged_again() {
    let server = Server::new(|peer| while peer.head().is_some() && peer.ok(b"x") {});
    let port = server.address.port();
    let named = format!("GET http://a.example:{port}/in/ at 127.0.0.1");
    let b = Box::new(&[&named, &format!("GET http://a.example:{port}/out/")]);
    b.names.set("a.example", &[&["127.0.0.1"]]);
    assert_eq!(b.text(&format!("http://a.example:{port}/in/")).as_deref(), Ok("x"));
    let error = b.get(&format!("http://a.example:{port}/out/"));
    assert!(matches!(error, Err(RequestError::Address { .. })));
    assert_eq!(b.text(&format!("http://a.example:{port}/in/")).as_deref(), Ok("x"));
    assert_eq!(server.connections(), 1);
}

/// An address that a rule names is reached, so the rules do not refuse too much.
#[test]
fn named_addresses_are_reached() {
    let server = Server::new(|peer| while peer.head().is_some() && peer.ok(b"x") {});
    let port = server.address.port();
    for (rule, url) in [
        (format!("GET http://127.0.0.1:{port}/"), format!("http://127.0.0.1:{port}/")),
        (format!("GET http://127.0.0.1:{port}/"), format!("http://0x7f.1:{port}/")),
        (format!("GET http://localhost:{port}/"), format!("http://localhost:{port}/")),
        (format!("GET http://localhost:{port}/"), format!("http://LocalHost.:{port}/")),
        (format!("GET http://*:{port}/ at 127.0.0.0/8"), format!("http://127.0.0.1:{port}/")),
        (format!("GET http://*.lan:{port}/ at 127.0.0.1"), format!("http://b.a.lan:{port}/")),
    ] {
        let b = Box::with(policy(&[&rule]), TlsRoots::default());
        b.names.set("b.a.lan", &[&["127.0.0.1"]]);
        assert_eq!(b.text(&url).as_deref(), Ok("x"), "{rule} {url}");
    }
}
