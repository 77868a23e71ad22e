//! Servers that are slow, endless, huge, broken or devious. After each of them the bridge serves
//! the next request.

mod common;

use common::{Box, Server, answer, policy, short};
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::Write as _;
use std::time::Duration;
use wasibox_bridge::{
    BridgeLimit, BridgeLimits, BridgePolicy, RedirectPolicy, RequestError, RequestHead,
    RequestPhase, TlsRoots,
};

const RULE: &str = "* http://127.0.0.1:*";

fn limited(limits: BridgeLimits) -> Box {
    Box::with(BridgePolicy { limits, ..policy(&[RULE]) }, TlsRoots::default())
}

/// Returns the result of a request to a server with this answer.
fn outcome(b: &Box, answer: impl Into<Vec<u8>>) -> Result<(u16, Vec<u8>), RequestError> {
    let server = Server::saying(answer);
    let got = b.get(&server.url("/")).map(|(head, body)| (head.status, body));
    good(b);
    got
}

/// Checks that the bridge still works.
fn good(b: &Box) {
    let server = Server::saying("HTTP/1.1 200 OK\r\nContent-Length: 4\r\n\r\ngood");
    assert_eq!(b.text(&server.url("/")).as_deref(), Ok("good"));
}

#[test]
fn broken_responses() {
    let b = limited(short());
    for (answer, code) in [
        // curl's statuses: 52 for an empty reply, 56 for an incomplete head, 18 for an incomplete
        // body, 8 for anything but HTTP.
        ("", 52),
        ("HTTP/1.1 200", 56),
        ("HTTP/1.1 200 OK\r\nContent-Le", 56),
        ("HTTP/1.1 200 OK\r\nContent-Length: 5\r\n\r\nabc", 18),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n5\r\nabc", 18),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n3\r\nabc\r\n", 18),
        ("SSH-2.0-OpenSSH_9.6\r\n\r\n", 8),
        ("220 mail ready\r\n\r\n", 8),
        ("<html>no head</html>\r\n\r\n", 8),
        ("HTTP/1.1 2000 OK\r\n\r\n", 8),
        ("HTTP/1.1 abc OK\r\n\r\n", 8),
        ("HTTP/3.7 200 OK\r\n\r\n", 8),
        ("HTTP/1.1 200 OK\r\nNo colon\r\n\r\n", 8),
        ("HTTP/1.1 200 OK\r\nBad name: x\r\n\r\n", 8),
        ("HTTP/1.1 200 OK\r\nX: a\0b\r\n\r\n", 8),
        ("HTTP/1.1 200 OK\r\nX: a\r\n folded\r\n\r\n", 8),
        ("HTTP/1.1 200 OK\r\n: empty\r\n\r\n", 8),
        ("HTTP/1.1 101 Switching Protocols\r\nUpgrade: x\r\nConnection: upgrade\r\n\r\n", 8),
    ] {
        let error = outcome(&b, answer).unwrap_err();
        assert_eq!(error.curl_code(), code, "{answer:?}: {error}");
    }
}

/// Messages that readers of HTTP interpret differently (RFC 9112, 6.3 and 11.2).
#[test]
fn smuggling() {
    let b = limited(short());
    for headers in [
        "Content-Length: 5\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding: chunked\r\nContent-Length: 5",
        "Content-Length: 5\r\nContent-Length: 6",
        "Content-Length: 5\r\nContent-Length: 5",
        "Content-Length: 5, 5",
        "Content-Length: +5",
        "Content-Length: -5",
        "Content-Length: 0x5",
        "Content-Length: 5 5",
        "Content-Length: ",
        "Content-Length: 99999999999999999999999",
        "Transfer-Encoding: gzip, chunked",
        "Transfer-Encoding: chunked, chunked",
        "Transfer-Encoding: chunked, identity",
        "Transfer-Encoding: xchunked",
        "Transfer-Encoding: identity",
        "Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked",
        "Transfer-Encoding : chunked",
        "Transfer-Encoding: \x0bchunked",
    ] {
        let answer = format!("HTTP/1.1 200 OK\r\n{headers}\r\n\r\n5\r\nhello\r\n0\r\n\r\n");
        let error = outcome(&b, answer).unwrap_err();
        assert!(matches!(error, RequestError::Malformed(_)), "{headers:?}: {error}");
    }
    let old = "HTTP/1.0 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n";
    assert!(matches!(outcome(&b, old), Err(RequestError::Malformed(_))));
    for chunks in ["z\r\nabc\r\n", "-1\r\nabc\r\n", "fffffffffffffffff\r\nabc", "3\r\nabcdef\r\n"] {
        let answer = format!("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n{chunks}");
        let error = outcome(&b, answer).unwrap_err();
        assert!(matches!(error, RequestError::Malformed(_)), "{chunks:?}: {error}");
    }
}

/// A second response that arrives with the first one is not the answer to the next request. A
/// second response that arrives later could be taken for that answer, as with every client of
/// HTTP/1.1. Connections are shared within one bridge and one origin only, so that a server can
/// only confuse its own answers.
#[test]
fn a_response_too_many() {
    let b = limited(short());
    let server = Server::new(|peer| {
        while peer.head().is_some() {
            let number = peer.number;
            let first = format!("HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\n{number:02}");
            let second = "HTTP/1.1 200 OK\r\nContent-Length: 6\r\n\r\npoison";
            peer.say(format!("{first}{second}").as_bytes());
        }
    });
    for _ in 0..10 {
        let text = b.text(&server.url("/")).unwrap();
        assert_ne!(text, "poison");
    }
}

#[test]
fn slow_servers() {
    let b = limited(BridgeLimits { first_byte: Duration::from_millis(300), ..short() });
    let late = Err(RequestError::Timeout(RequestPhase::FirstByte));
    // A server that stays silent.
    let server = Server::new(|peer| {
        peer.head();
        peer.wait();
    });
    assert_eq!(b.get(&server.url("/")), late);
    // A head that never ends, byte by byte.
    let server = Server::new(|peer| {
        peer.head();
        while peer.say(b"H") {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    let error = b.get(&server.url("/")).unwrap_err();
    assert!(matches!(error, RequestError::Timeout(_) | RequestError::Malformed(_)), "{error}");
    let server = Server::new(|peer| {
        peer.head();
        peer.say(b"HTTP/1.1 200 OK\r\nX: ");
        while peer.say(b"x") {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    assert_eq!(b.get(&server.url("/")), late);
    // Interim responses without end.
    let server = Server::new(|peer| {
        peer.head();
        while peer.say(b"HTTP/1.1 100 Continue\r\n\r\n") {}
    });
    assert_eq!(b.get(&server.url("/")), late);
    // A body that never ends.
    let b = limited(BridgeLimits { total: Duration::from_millis(800), ..short() });
    let server = Server::new(|peer| {
        peer.head();
        peer.say(b"HTTP/1.1 200 OK\r\n\r\n");
        while peer.say(b"x") {
            std::thread::sleep(Duration::from_millis(50));
        }
    });
    assert_eq!(
        b.get(&server.url("/")).map(|_| ()),
        Err(RequestError::Timeout(RequestPhase::Total))
    );
    // The guest's own limit, which may be shorter.
    let b = limited(short());
    let mut head = RequestHead::new("GET", &server.url("/"));
    head.max_time_ms = Some(300);
    assert_eq!(b.ask(&head).map(|_| ()), Err(RequestError::Timeout(RequestPhase::Total)));
    good(&b);
}

/// A guest that does not read blocks only its own request.
#[test]
fn guests_that_do_not_read() {
    let b = limited(BridgeLimits { total: Duration::from_secs(4), ..short() });
    let server = Server::new(|peer| {
        peer.head();
        peer.say(b"HTTP/1.1 200 OK\r\n\r\n");
        while peer.say(&[b'x'; 4096]) {}
    });
    let exchange = b.bridge.begin_request(&RequestHead::new("GET", &server.url("/"))).unwrap();
    assert_eq!(exchange.wait_response().unwrap().status, 200);
    good(&b);
    std::thread::sleep(Duration::from_secs(6));
    // Only as much of the endless body is kept as the pipe holds.
    let mut kept = 0;
    let end = loop {
        match exchange.read() {
            Ok(Some(piece)) => kept += piece.len(),
            Ok(None) => panic!("an endless body has ended"),
            Err(e) => break e,
        }
    };
    assert_eq!(end, RequestError::Timeout(RequestPhase::Total));
    assert!(kept <= 512 << 10, "{kept}");
}

#[test]
fn too_much() {
    let limits = BridgeLimits { download: 1 << 20, ..short() };
    let b = limited(limits);
    let over = Err(RequestError::Limit(BridgeLimit::Download));
    let endless = |head: &'static str, piece: &'static [u8]| {
        Server::new(move |peer| {
            peer.head();
            peer.say(head.as_bytes());
            while peer.say(piece) {}
        })
    };
    let server = endless("HTTP/1.1 200 OK\r\n\r\n", &[b'x'; 1000]);
    assert_eq!(b.get(&server.url("/")).map(|_| ()), over);
    let chunked = "HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n";
    let server = endless(chunked, b"4\r\nabcd\r\n");
    assert_eq!(b.get(&server.url("/")).map(|_| ()), over);
    // A body that announces too much is refused before it arrives.
    let server = endless("HTTP/1.1 200 OK\r\nContent-Length: 1048577\r\n\r\n", b"");
    let head =
        b.bridge.begin_request(&RequestHead::new("GET", &server.url("/"))).unwrap().wait_response();
    assert_eq!(head.map(|_| ()), over);
    // Endless heads, headers, names, chunk extensions, trailers.
    for (head, piece) in [
        ("HTTP/1.1 200 OK\r\n", "X: y\r\n"),
        ("HTTP/1.1 200 OK\r\nX: ", "yyyyyyyyyyyyyyyy"),
        ("HTTP/1.1 200 OK\r\n", "nnnnnnnnnnnnnnnn"),
        ("HTTP/1.1 200 ", "reason reason"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n1;", "extension=extension;"),
        ("HTTP/1.1 200 OK\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n", "Trailer: trailer\r\n"),
    ] {
        let server = Server::new(move |peer| {
            peer.head();
            peer.say(head.as_bytes());
            while peer.say(piece.as_bytes()) {}
        });
        let error = b.get(&server.url("/")).map(|_| ()).unwrap_err();
        let bounded = matches!(
            error,
            RequestError::Limit(BridgeLimit::Headers)
                | RequestError::Malformed(_)
                | RequestError::Receive(_)
        );
        assert!(bounded, "{head:?}: {error}");
        good(&b);
    }
    let many = format!("HTTP/1.1 200 OK\r\n{}\r\n", "X: y\r\n".repeat(101));
    assert_eq!(outcome(&b, many), Err(RequestError::Limit(BridgeLimit::Headers)));
    let long = format!("HTTP/1.1 200 OK\r\nX: {}\r\n\r\n", "y".repeat(65 << 10));
    assert_eq!(outcome(&b, long), Err(RequestError::Limit(BridgeLimit::Headers)));
}

#[test]
fn the_session_has_an_end() {
    let limits = BridgeLimits { session_download: 10_000, requests: 5, ..short() };
    let b = limited(limits);
    let body = "x".repeat(4000);
    let answer = format!("HTTP/1.1 200 OK\r\nContent-Length: 4000\r\n\r\n{body}");
    let server = Server::saying(answer);
    assert!(b.get(&server.url("/")).is_ok());
    assert!(b.get(&server.url("/")).is_ok());
    assert_eq!(b.get(&server.url("/")), Err(RequestError::Limit(BridgeLimit::Download)));
    assert!(b.bridge.usage().received <= 10_000);
    let _ = b.get(&server.url("/"));
    let _ = b.get(&server.url("/"));
    assert_eq!(b.get(&server.url("/")), Err(RequestError::Limit(BridgeLimit::Requests)));
}

#[test]
fn redirects_without_end() {
    let b = limited(short());
    let server = Server::new(|peer| {
        while let Some(head) = peer.head() {
            let path = head.split(' ').nth(1).unwrap().to_string();
            let answer =
                format!("HTTP/1.1 302 Found\r\nLocation: {path}x\r\nContent-Length: 0\r\n\r\n");
            peer.say(answer.as_bytes());
        }
    });
    for (asked, followed) in [(0, 0), (1, 1), (7, 7), (u32::MAX, 20)] {
        let before = server.heads().len();
        let mut head = RequestHead::new("GET", &server.url("/"));
        head.redirect = RedirectPolicy::Follow(asked);
        let error = b.ask(&head).unwrap_err();
        assert_eq!(error, RequestError::Redirects(followed));
        assert_eq!(error.curl_code(), 47);
        assert_eq!(server.heads().len() - before, followed as usize + 1);
    }
    for location in ["Location: /a\r\nLocation: /b", "Location: \u{e9}://"] {
        let answer = format!("HTTP/1.1 302 Found\r\n{location}\r\nContent-Length: 0\r\n\r\n");
        let server = Server::saying(answer);
        let mut head = RequestHead::new("GET", &server.url("/"));
        head.redirect = RedirectPolicy::Follow(5);
        assert!(b.ask(&head).is_err(), "{location}");
    }
}

fn gzip(bytes: &[u8]) -> Vec<u8> {
    let mut out = GzEncoder::new(Vec::new(), Compression::best());
    out.write_all(bytes).unwrap();
    out.finish().unwrap()
}

fn encoded(encoding: &str, body: &[u8]) -> Vec<u8> {
    let head = format!(
        "HTTP/1.1 200 OK\r\nContent-Encoding: {encoding}\r\nContent-Length: {}\r\n\r\n",
        body.len()
    );
    [head.as_bytes(), body].concat()
}

/// A decompression bomb is passed to the guest unchanged, or is decoded within limits.
#[test]
fn bombs() {
    let zeros = vec![0; 30 << 20];
    let bomb = gzip(&zeros);
    assert!(bomb.len() < 40_000);
    let b = limited(short());
    assert_eq!(outcome(&b, encoded("gzip", &bomb)), Ok((200, bomb.clone())));
    let secret = |limits| {
        let secrets = vec!["api.example: X-Key=0123456789".parse().unwrap()];
        Box::with(BridgePolicy { limits, secrets, ..policy(&[RULE]) }, TlsRoots::default())
    };
    let b = secret(short());
    assert_eq!(outcome(&b, encoded("gzip", &bomb)), Err(RequestError::Limit(BridgeLimit::Ratio)));
    let mut zlib = ZlibEncoder::new(Vec::new(), Compression::best());
    zlib.write_all(&zeros).unwrap();
    let zlib = zlib.finish().unwrap();
    assert_eq!(
        outcome(&b, encoded("deflate", &zlib)),
        Err(RequestError::Limit(BridgeLimit::Ratio))
    );
    let b = secret(BridgeLimits { download: 1 << 20, ..short() });
    assert_eq!(
        outcome(&b, encoded("gzip", &bomb)),
        Err(RequestError::Limit(BridgeLimit::Download))
    );
    // A bomb within a bomb is not unpacked, and neither is a body in an unknown encoding.
    for encoding in ["gzip, gzip", "br", "zstd", "x"] {
        let got = outcome(&b, encoded(encoding, &gzip(&bomb)));
        assert!(matches!(got, Err(RequestError::Encoding(_))), "{encoding}");
    }
    assert_eq!(
        outcome(&b, encoded("gzip", b"this is not what gzip makes")).unwrap_err().curl_code(),
        61
    );
    assert_eq!(outcome(&b, encoded("gzip", &gzip(b"plain"))), Ok((200, b"plain".to_vec())));
}

/// A server that resets the connection at any moment.
#[test]
fn resets() {
    let whole = b"HTTP/1.1 200 OK\r\nContent-Length: 20\r\n\r\n01234567890123456789";
    let b = limited(short());
    for cut in (0..whole.len()).step_by(7) {
        let server = Server::saying(&whole[..cut]);
        let exchange = b.bridge.begin_request(&RequestHead::new("GET", &server.url("/"))).unwrap();
        let error = answer(&exchange).unwrap_err();
        assert!(matches!(error.curl_code(), 52 | 56 | 18), "{cut}: {error}");
    }
    good(&b);
}
