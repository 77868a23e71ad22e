//! The bytes on the wire, and bodies in both directions.

mod common;

use common::{Box, Server, answer, field, header, policy, short};
use std::time::Duration;
use wasibox_bridge::{
    BodyLength, BridgeLimit, BridgeLimits, BridgePolicy, RedirectPolicy, RequestError, RequestHead,
    TlsRoots,
};

const RULE: &str = "* http://127.0.0.1:*";

/// Makes a server that answers with the method and the body of the request.
fn mirror() -> Server {
    Server::new(|peer| {
        while let Some(head) = peer.head() {
            let body = peer.body(&head);
            let method = head.split(' ').next().unwrap().to_string();
            if !peer.ok(&[method.as_bytes(), b" ", &body].concat()) {
                break;
            }
        }
    })
}

fn limited(limits: BridgeLimits) -> Box {
    Box::with(BridgePolicy { limits, ..policy(&[RULE]) }, TlsRoots::default())
}

#[test]
fn a_request_is_what_was_asked_for() {
    let server = mirror();
    let b = Box::new(&[RULE]);
    let head = RequestHead::new("GET", &server.url("/a/../b?c=d#e")).with_header("X-One", "1");
    let (got, body) = b.ask(&head).unwrap();
    assert_eq!((got.status, body.as_slice()), (200, b"GET ".as_slice()));
    assert_eq!(header(&got, "content-length").as_deref(), Some("4"));
    let seen = &server.heads()[0];
    assert!(seen.starts_with("GET /b?c=d HTTP/1.1\r\n"), "{seen}");
    assert_eq!(field(seen, "host"), Some(server.address.to_string()));
    assert_eq!(field(seen, "x-one").as_deref(), Some("1"));
    // The request has only the guest's headers and the host.
    assert_eq!(seen.lines().filter(|l| l.contains(':')).count(), 2, "{seen}");
    let entry = b.log.entries().pop().unwrap();
    assert_eq!((entry.status, entry.received, entry.error), (Some(200), 4, None));
    assert_eq!(entry.rule.as_deref(), Some("* http://127.0.0.1:*/"));
}

#[test]
fn bodies_of_known_and_unknown_length() {
    let server = mirror();
    let b = Box::new(&[RULE]);
    let whole = vec![b'x'; 300_000];
    for length in [BodyLength::Bytes(300_000), BodyLength::Unknown] {
        let mut head = RequestHead::new("PUT", &server.url("/"));
        head.body = length;
        let exchange = b.bridge.begin_request(&head).unwrap();
        for piece in whole.chunks(7_000) {
            exchange.write(piece).unwrap();
        }
        exchange.finish_body();
        let (_, body) = answer(&exchange).unwrap();
        assert_eq!(body, [b"PUT ", whole.as_slice()].concat());
    }
    let seen = server.heads();
    assert_eq!(field(&seen[0], "content-length").as_deref(), Some("300000"));
    assert_eq!(field(&seen[1], "transfer-encoding").as_deref(), Some("chunked"));
    assert_eq!(server.connections(), 1, "the connection is used again");
    assert_eq!(b.bridge.usage().sent, 600_000);
}

#[test]
fn bodies_must_be_as_long_as_announced() {
    let server = mirror();
    let b = limited(BridgeLimits { upload: 1000, ..short() });
    let mut head = RequestHead::new("PUT", &server.url("/"));
    head.body = BodyLength::Bytes(5);
    let exchange = b.bridge.begin_request(&head).unwrap();
    assert_eq!(exchange.write(b"123456"), Err(RequestError::Length));
    let exchange = b.bridge.begin_request(&head).unwrap();
    exchange.write(b"123").unwrap();
    exchange.finish_body();
    assert_eq!(exchange.wait_response(), Err(RequestError::Length));
    head.body = BodyLength::Bytes(1001);
    assert_eq!(
        b.bridge.begin_request(&head).map(|_| ()).err(),
        Some(RequestError::Limit(BridgeLimit::Upload))
    );
    head.body = BodyLength::Unknown;
    let exchange = b.bridge.begin_request(&head).unwrap();
    let _ = exchange.write(&[b'x'; 2000]);
    exchange.finish_body();
    assert_eq!(exchange.wait_response(), Err(RequestError::Limit(BridgeLimit::Upload)));
}

/// A 307 needs the body again. A body that was too long to be kept cannot be sent again.
#[test]
fn redirects_send_short_bodies_again() {
    let server = Server::new(|peer| {
        while let Some(head) = peer.head() {
            let body = peer.body(&head);
            if head.contains(" /from") {
                let status = if head.contains("303") { 303 } else { 307 };
                let answer =
                    format!("HTTP/1.1 {status} Go\r\nLocation: /to\r\nContent-Length: 0\r\n\r\n");
                peer.say(answer.as_bytes());
            } else {
                let method = head.split(' ').next().unwrap().to_string();
                peer.ok(&[method.as_bytes(), b" ", &body].concat());
            }
        }
    });
    let b = limited(BridgeLimits { kept_body: 10, ..short() });
    let send = |path: &str, body: &[u8]| {
        let mut head = RequestHead::new("POST", &server.url(path));
        head.body = BodyLength::Bytes(body.len() as u64);
        head.redirect = RedirectPolicy::Follow(3);
        let exchange = b.bridge.begin_request(&head).unwrap();
        exchange.write(body).unwrap();
        answer(&exchange).map(|(_, body)| String::from_utf8(body).unwrap())
    };
    assert_eq!(send("/from", b"short").as_deref(), Ok("POST short"));
    assert_eq!(send("/from", b"longer than ten"), Err(RequestError::Rewind(10)));
    assert_eq!(send("/from303", b"longer than ten").as_deref(), Ok("GET "));
}

/// A kept connection that the server has closed costs only a new connection.
#[test]
fn closed_connections_are_replaced() {
    let server = Server::new(|peer| {
        peer.head();
        peer.ok(b"x");
    });
    let b = Box::new(&[RULE]);
    for _ in 0..20 {
        assert_eq!(b.text(&server.url("/")).as_deref(), Ok("x"));
    }
    assert_eq!(server.heads().len(), 20, "no request was sent twice");
}

#[test]
fn requests_at_the_same_time_are_counted() {
    let server = Server::new(|peer| {
        peer.head();
        peer.wait();
    });
    let b =
        limited(BridgeLimits { concurrent: 2, turn: Duration::ZERO, ..BridgeLimits::default() });
    let head = RequestHead::new("GET", &server.url("/"));
    let one = b.bridge.begin_request(&head).unwrap();
    let _two = b.bridge.begin_request(&head).unwrap();
    let third = b.bridge.begin_request(&head).map(|_| ());
    assert_eq!(third, Err(RequestError::Limit(BridgeLimit::Concurrent)));
    while server.heads().len() < 2 {
        std::thread::yield_now();
    }
    drop(one);
    // Giving up releases the place at once, and is logged.
    assert!(b.bridge.begin_request(&head).is_ok());
    while !b.log.entries().iter().any(|e| e.error == Some(RequestError::Cancelled)) {
        std::thread::yield_now();
    }
}

#[test]
fn responses_without_bodies() {
    let server = Server::new(|peer| {
        while let Some(head) = peer.head() {
            let answer = if head.starts_with("HEAD") {
                "HTTP/1.1 200 OK\r\nContent-Length: 1000\r\n\r\n"
            } else {
                "HTTP/1.1 204 No Content\r\n\r\n"
            };
            peer.say(answer.as_bytes());
        }
    });
    let b = Box::new(&[RULE]);
    let (head, body) = b.ask(&RequestHead::new("HEAD", &server.url("/"))).unwrap();
    assert_eq!((header(&head, "content-length").as_deref(), body.len()), (Some("1000"), 0));
    assert_eq!(b.get(&server.url("/")).unwrap().0.status, 204);
    assert_eq!(server.connections(), 1);
}

/// A refused request makes no connection, and is in the log.
#[test]
fn refusals_are_logged() {
    let server = mirror();
    let b = Box::new(&[&format!("GET {}", server.url("/in/"))]);
    let error = b.get(&server.url("/out?k=v")).unwrap_err();
    assert_eq!(error.curl_code(), 7);
    assert!(error.to_string().contains("is not allowed by the sandbox's policy"));
    let entry = b.log.entries().pop().unwrap();
    assert_eq!(entry.error, Some(error));
    assert_eq!(entry.url, server.url("/out?k=v"));
    assert_eq!(server.connections(), 0);
}
