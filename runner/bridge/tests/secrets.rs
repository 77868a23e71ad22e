//! Secrets: they are sent only where the policy says, and appear in nothing that a guest receives.

mod common;

use base64::Engine as _;
use base64::prelude::{BASE64_STANDARD, BASE64_URL_SAFE};
use common::{Box, Server, field, policy};
use flate2::Compression;
use flate2::write::GzEncoder;
use std::io::Write as _;
use std::time::Duration;
use wasibox_bridge::{
    BodyLength, Bridge, BridgeNetwork, BridgePolicy, NetworkOptions, RedirectPolicy, RequestHead,
    SecretRule, TlsRoots,
};

const SECRET: &str = "sk-live/51H+z\"9xQ=tail";
const RULE: &str = "* http://127.0.0.1:*";

fn with_secret(server: &Server) -> Box {
    let text = format!("http://{}: Authorization=Bearer {SECRET}", server.address);
    let secrets = vec![text.parse::<SecretRule>().unwrap()];
    // The whole header is the secret if no part of it is fetched; a file contains the bare secret.
    let path = std::env::temp_dir().join(format!("wasibox-bridge-{}", server.address.port()));
    std::fs::write(&path, format!("{SECRET}\n")).unwrap();
    let file = format!("http://{}: X-Key=${{file:{}}}", server.address, path.display());
    let secrets = secrets.into_iter().chain([file.parse().unwrap()]).collect();
    Box::with(BridgePolicy { secrets, ..policy(&[RULE]) }, TlsRoots::default())
}

fn absent(text: &str) {
    let forms = [
        SECRET.to_string(),
        BASE64_STANDARD.encode(SECRET),
        BASE64_URL_SAFE.encode(SECRET),
        SECRET.replace('"', "\\\""),
        "51H+z".to_string(),
    ];
    for form in forms {
        assert!(!text.contains(&form), "{form} in {text}");
    }
}

/// Makes a server that sends back everything that it received, in every form it can.
fn echo() -> Server {
    Server::new(|peer| {
        while let Some(head) = peer.head() {
            let key = field(&head, "x-key").unwrap_or_default();
            let whole = field(&head, "authorization").unwrap_or_default();
            let json = serde_json::to_string(&key).unwrap();
            let coded = BASE64_STANDARD.encode(format!("ab{key}cd"));
            let body = format!("{head}\n{key}\n{whole}\n{json}\n{coded}\n");
            let path = head.split(' ').nth(1).unwrap_or_default().to_string();
            let sent = match path.as_str() {
                "/drip" => {
                    let head = format!("HTTP/1.1 200 OK\r\nContent-Length: {}\r\n\r\n", body.len());
                    peer.say(head.as_bytes());
                    body.bytes().all(|b| {
                        std::thread::sleep(Duration::from_micros(200));
                        peer.say(&[b])
                    })
                }
                "/gzip" => {
                    let mut gzip = GzEncoder::new(Vec::new(), Compression::fast());
                    gzip.write_all(body.as_bytes()).unwrap();
                    let bytes = gzip.finish().unwrap();
                    let head = format!(
                        "HTTP/1.1 200 OK\r\nContent-Encoding: gzip\r\nContent-Length: {}\r\n\r\n",
                        bytes.len()
                    );
                    peer.say(&[head.as_bytes(), &bytes].concat())
                }
                "/headers" => {
                    let head = format!(
                        "HTTP/1.1 200 {key}\r\nX-Echo: {key}\r\nX-Code: {}\r\nSet-Cookie: k={key}\r\n\
                         Content-Length: 0\r\n\r\n",
                        BASE64_STANDARD.encode(&key)
                    );
                    peer.say(head.as_bytes())
                }
                "/away" => {
                    let code: String =
                        url::form_urlencoded::byte_serialize(key.as_bytes()).collect();
                    let head = format!(
                        "HTTP/1.1 302 Found\r\nLocation: /q?k={code}\r\nContent-Length: 0\r\n\r\n"
                    );
                    peer.say(head.as_bytes())
                }
                _ => peer.ok(body.as_bytes()),
            };
            if !sent {
                break;
            }
        }
    })
}

#[test]
fn nothing_comes_back() {
    let server = echo();
    let b = with_secret(&server);
    for path in ["/", "/drip", "/gzip", "/headers", "/away"] {
        for redirect in [RedirectPolicy::Manual, RedirectPolicy::Follow(3)] {
            let mut head = RequestHead::new("GET", &server.url(path));
            head.redirect = redirect;
            let (head, body) = b.ask(&head).unwrap();
            absent(&format!("{head:?}"));
            for h in &head.headers {
                absent(&String::from_utf8_lossy(&h.value));
            }
            let body = String::from_utf8(body).unwrap();
            absent(&body);
            if matches!(path, "/" | "/drip" | "/gzip") {
                assert!(body.contains("******"), "{body}");
            }
        }
    }
    // The server did receive them.
    let heads = server.heads();
    assert_eq!(field(&heads[0], "x-key").as_deref(), Some(SECRET));
    assert_eq!(field(&heads[0], "authorization"), Some(format!("Bearer {SECRET}")));
    assert_eq!(field(&heads[0], "accept-encoding").as_deref(), Some("identity"));
    // They appear nowhere else.
    let log = b.log.entries();
    absent(&format!("{log:?}"));
    absent(&serde_json::to_string(&log).unwrap());
    assert_eq!(log[0].secrets, ["authorization", "x-key"]);
    absent(&format!("{:?}", b.bridge));
}

/// Another port is another server: it receives neither the owner's header nor the guest's own.
#[test]
fn redirects_do_not_take_secrets_along() {
    let other = echo();
    let to = other.url("/there");
    let server = Server::new(move |peer| {
        while peer.head().is_some() {
            let head = format!("HTTP/1.1 307 Go\r\nLocation: {to}\r\nContent-Length: 0\r\n\r\n");
            peer.say(head.as_bytes());
        }
    });
    let b = with_secret(&server);
    let mut head = RequestHead::new("GET", &server.url("/"))
        .with_header("Cookie", "session=guest")
        .with_header("Authorization", "Basic guest")
        .with_header("X-Other", "stays");
    head.redirect = RedirectPolicy::Follow(3);
    let (got, _) = b.ask(&head).unwrap();
    assert_eq!((got.status, got.redirects), (200, 1));
    let first = &server.heads()[0];
    assert_eq!(field(first, "authorization"), Some(format!("Bearer {SECRET}")));
    assert!(!first.contains("Basic guest"), "the owner's header takes the guest's place");
    let second = &other.heads()[0];
    for name in ["authorization", "x-key", "cookie"] {
        assert_eq!(field(second, name), None, "{name}");
    }
    assert_eq!(field(second, "x-other").as_deref(), Some("stays"));
}

/// A server that receives no secret may have learnt it elsewhere.
#[test]
fn all_responses_are_searched() {
    let keeper = echo();
    let b = with_secret(&keeper);
    let leak = format!("HTTP/1.1 200 OK\r\nX: {SECRET}\r\n\r\nfound {SECRET}!");
    let other = Server::saying(leak);
    let (head, body) = b.get(&other.url("/")).unwrap();
    absent(&format!("{head:?}"));
    let stars = "*".repeat(SECRET.len());
    assert_eq!(String::from_utf8(body).unwrap(), format!("found {stars}!"));
}

#[test]
fn a_guest_cannot_get_at_the_request() {
    let server = echo();
    let b = with_secret(&server);
    for method in ["TRACE", "trace", "CONNECT", "TRACK"] {
        assert!(b.ask(&RequestHead::new(method, &server.url("/"))).is_err());
    }
    let mut head = RequestHead::new("POST", &server.url("/"));
    head.body = BodyLength::Bytes(3);
    let exchange = b.bridge.begin_request(&head).unwrap();
    exchange.write(b"abc").unwrap();
    let (head, body) = common::answer(&exchange).unwrap();
    absent(&format!("{head:?} {}", String::from_utf8(body).unwrap()));
    absent(&format!("{exchange:?}"));
}

#[test]
fn a_secret_that_cannot_be_had() {
    let network = BridgeNetwork::new(NetworkOptions::default()).unwrap();
    for text in ["a.example: X=${env:WASIBOX_NO_SUCH}", "a.example: X=${file:/no/such/file}"] {
        let secrets = vec![text.parse().unwrap()];
        assert!(
            Bridge::new(&network, BridgePolicy { secrets, ..BridgePolicy::default() }).is_err()
        );
    }
    // A file that disappears later: the request fails, and the guest does not learn which file.
    let server = echo();
    let b = with_secret(&server);
    let path = std::env::temp_dir().join(format!("wasibox-bridge-{}", server.address.port()));
    std::fs::remove_file(&path).unwrap();
    let error = b.get(&server.url("/")).unwrap_err();
    assert!(!error.to_string().contains("wasibox-bridge-"));
    let entry = b.log.entries().pop().unwrap();
    assert!(entry.detail.unwrap().contains("wasibox-bridge-"));
    assert_eq!(server.connections(), 0);
}
