//! TLS with an authority of the test: accepted and rejected certificates, and HTTP/2.

mod common;

use bytes::Bytes;
use common::{Box, Server, field, policy};
use http::{Request, Response};
use http_body::{Body, Frame};
use hyper::body::Incoming;
use hyper_util::rt::{TokioExecutor, TokioIo};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use std::net::SocketAddr;
use std::pin::Pin;
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering::SeqCst};
use std::task::{Context, Poll};
use tokio_rustls::TlsAcceptor;
use wasibox_bridge::{
    BridgePolicy, HttpVersion, RedirectPolicy, RequestError, RequestHead, TlsRoots,
};

/// A certificate authority.
struct Authority {
    pem: String,
    issuer: Issuer<'static, KeyPair>,
}

impl Authority {
    fn new() -> Self {
        let mut params = CertificateParams::new(Vec::new()).unwrap();
        params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
        let key = KeyPair::generate().unwrap();
        let pem = params.self_signed(&key).unwrap().pem();
        Self { pem, issuer: Issuer::new(params, key) }
    }

    fn roots(&self) -> TlsRoots {
        let mut roots = TlsRoots::default();
        roots.only_extra = true;
        roots.add_pem(self.pem.as_bytes()).unwrap();
        roots
    }

    /// Starts a server with a certificate for `name`, which answers with a description of the
    /// request.
    fn serve(&self, name: &str, h2: bool, old: bool) -> Https {
        let mut params = CertificateParams::new(vec![name.to_string()]).unwrap();
        if old {
            params.not_before = rcgen::date_time_ymd(2001, 1, 1);
            params.not_after = rcgen::date_time_ymd(2002, 1, 1);
        }
        let key = KeyPair::generate().unwrap();
        let cert = params.signed_by(&key, &self.issuer).unwrap();
        let provider = Arc::new(rustls::crypto::ring::default_provider());
        let mut config = rustls::ServerConfig::builder_with_provider(provider)
            .with_safe_default_protocol_versions()
            .unwrap()
            .with_no_client_auth()
            .with_single_cert(
                vec![cert.der().clone()],
                PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
            )
            .unwrap();
        config.alpn_protocols = vec![if h2 { b"h2".to_vec() } else { b"http/1.1".to_vec() }];
        Https::new(config, h2)
    }
}

struct Https {
    address: SocketAddr,
    connections: Arc<AtomicUsize>,
}

impl Https {
    fn new(config: rustls::ServerConfig, h2: bool) -> Self {
        let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
        let address = listener.local_addr().unwrap();
        listener.set_nonblocking(true).unwrap();
        let connections = Arc::new(AtomicUsize::new(0));
        let count = Arc::clone(&connections);
        std::thread::spawn(move || {
            let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build();
            runtime.unwrap().block_on(async move {
                let listener = tokio::net::TcpListener::from_std(listener).unwrap();
                let acceptor = TlsAcceptor::from(Arc::new(config));
                loop {
                    let (stream, _) = listener.accept().await.unwrap();
                    count.fetch_add(1, SeqCst);
                    let acceptor = acceptor.clone();
                    tokio::spawn(async move {
                        let Ok(stream) = acceptor.accept(stream).await else { return };
                        let service = hyper::service::service_fn(echo);
                        if h2 {
                            let server =
                                hyper::server::conn::http2::Builder::new(TokioExecutor::new());
                            let _ = server.serve_connection(TokioIo::new(stream), service).await;
                        } else {
                            let server = hyper::server::conn::http1::Builder::new();
                            let _ = server.serve_connection(TokioIo::new(stream), service).await;
                        }
                    });
                }
            });
        });
        Self { address, connections }
    }

    fn url(&self, host: &str, path: &str) -> String {
        format!("https://{host}:{}{path}", self.address.port())
    }
}

/// Answers `/to/URL` by a redirect there, and all other paths by a description of the request.
async fn echo(request: Request<Incoming>) -> Result<Response<Whole>, std::convert::Infallible> {
    let text = |name: &str| {
        let value = request.headers().get(name);
        value.map(|v| String::from_utf8_lossy(v.as_bytes()).into_owned()).unwrap_or_default()
    };
    let path = request.uri().path();
    if let Some(to) = path.strip_prefix("/to/") {
        let answer = Response::builder().status(302).header("location", to);
        return Ok(answer.body(Whole(None)).unwrap());
    }
    let body = format!("{} {path} key={}", request.method(), text("x-key"));
    Ok(Response::new(Whole(Some(body.into()))))
}

struct Whole(Option<Bytes>);

impl Body for Whole {
    type Data = Bytes;
    type Error = std::convert::Infallible;

    fn poll_frame(
        mut self: Pin<&mut Self>,
        _: &mut Context<'_>,
    ) -> Poll<Option<Result<Frame<Bytes>, Self::Error>>> {
        Poll::Ready(self.0.take().map(|b| Ok(Frame::data(b))))
    }
}

fn allowed(roots: TlsRoots, secrets: &[String]) -> Box {
    let secrets = secrets.iter().map(|s| s.parse().unwrap()).collect();
    let b = Box::with(BridgePolicy { secrets, ..policy(&["* https://*:* at 127.0.0.1"]) }, roots);
    for name in ["good.example", "bad.example"] {
        b.names.set(name, &[&["127.0.0.1"]]);
    }
    b
}

#[test]
fn both_versions_over_tls() {
    let ca = Authority::new();
    for h2 in [false, true] {
        let server = ca.serve("good.example", h2, false);
        let secret = format!("https://good.example:{}: X-Key=0123456789abc", server.address.port());
        let b = allowed(ca.roots(), &[secret]);
        for _ in 0..3 {
            let (head, body) = b.get(&server.url("good.example", "/a?b")).unwrap();
            assert_eq!(head.version, if h2 { HttpVersion::Http2 } else { HttpVersion::Http11 });
            assert_eq!(String::from_utf8(body).unwrap(), "GET /a key=*************");
        }
        assert_eq!(server.connections.load(SeqCst), 1, "one connection for all of them");
    }
}

/// Starts a proxy that opens tunnels to `to`, whatever host it is asked for.
fn tunnels(to: SocketAddr) -> Server {
    Server::new(move |peer| {
        let head = peer.head().unwrap();
        assert!(head.starts_with("CONNECT far.example:443 HTTP/1.1\r\n"), "{head}");
        peer.say(b"HTTP/1.1 200 OK\r\n\r\n");
        let mut near = peer.stream.try_clone().unwrap();
        let mut far = std::net::TcpStream::connect(to).unwrap();
        let (mut from_far, mut to_near) = (far.try_clone().unwrap(), near.try_clone().unwrap());
        std::thread::spawn(move || std::io::copy(&mut from_far, &mut to_near));
        let _ = std::io::copy(&mut near, &mut far);
    })
}

#[test]
fn tls_goes_through_a_tunnel_of_a_proxy() {
    let ca = Authority::new();
    for h2 in [false, true] {
        let server = ca.serve("far.example", h2, false);
        let proxy = tunnels(server.address);
        let policy = BridgePolicy {
            proxy: Some(format!("http://{}", proxy.address).parse().unwrap()),
            secrets: vec!["https://far.example: X-Key=0123456789abc".parse().unwrap()],
            ..policy(&["* https://far.example/"])
        };
        let b = Box::with(policy, ca.roots());
        for _ in 0..3 {
            let (head, body) = b.get("https://far.example/a").unwrap();
            assert_eq!(head.version, if h2 { HttpVersion::Http2 } else { HttpVersion::Http11 });
            assert_eq!(String::from_utf8(body).unwrap(), "GET /a key=*************");
        }
        assert_eq!(proxy.connections(), 1, "one tunnel for all of them");
    }
    // The proxy cannot stand for the server.
    let server = Authority::new().serve("far.example", false, false);
    let proxy = tunnels(server.address);
    let proxy = Some(format!("http://{}", proxy.address).parse().unwrap());
    let b = Box::with(BridgePolicy { proxy, ..policy(&["* https://far.example/"]) }, ca.roots());
    let error = b.get("https://far.example/").unwrap_err();
    assert!(matches!(error, RequestError::Certificate { .. }), "{error}");
}

#[test]
fn certificates_that_are_not_accepted() {
    let (ca, other) = (Authority::new(), Authority::new());
    let good = ca.serve("good.example", false, false);
    let old = ca.serve("good.example", false, true);
    let b = allowed(ca.roots(), &[]);
    let certificate = |got: Result<_, RequestError>| {
        let error = got.map(|_: (_, Vec<u8>)| ()).unwrap_err();
        assert!(matches!(error, RequestError::Certificate { .. }), "{error}");
        assert_eq!(error.curl_code(), 60);
    };
    assert!(b.get(&good.url("good.example", "/")).is_ok());
    certificate(b.get(&good.url("bad.example", "/")));
    certificate(b.get(&good.url("127.0.0.1", "/")));
    certificate(b.get(&old.url("good.example", "/")));
    let b = allowed(other.roots(), &[]);
    certificate(b.get(&good.url("good.example", "/")));
    // The platform's authorities do not know it either.
    let b = allowed(TlsRoots::default(), &[]);
    let error = b.get(&good.url("good.example", "/")).map(|_| ()).unwrap_err();
    assert!(
        matches!(error, RequestError::Certificate { .. } | RequestError::Tls { .. }),
        "{error}"
    );
}

#[test]
fn what_is_not_tls() {
    let ca = Authority::new();
    let b = allowed(ca.roots(), &[]);
    let plain = Server::new(|peer| {
        peer.say(b"HTTP/1.1 400 Bad Request\r\n\r\n");
        peer.wait();
    });
    let url = format!("https://good.example:{}/", plain.address.port());
    let error = b.get(&url).map(|_| ()).unwrap_err();
    assert_eq!(error.curl_code(), 35, "{error}");
    let shut = Server::new(|_| {});
    let url = format!("https://good.example:{}/", shut.address.port());
    assert_eq!(b.get(&url).map(|_| ()).unwrap_err().curl_code(), 35);
}

/// A redirect from https to http needs a rule of its own, and does not carry the secret.
#[test]
fn downgrades() {
    let ca = Authority::new();
    let https = ca.serve("good.example", false, false);
    let plain = Server::new(|peer| while peer.head().is_some() && peer.ok(b"plain") {});
    let url = https.url("good.example", &format!("/to/http://{}/x", plain.address));
    let secret = format!("https://*.example:{}: X-Key=0123456789abc", https.address.port());
    let mut head = RequestHead::new("GET", &url).with_header("Authorization", "guest's");
    head.redirect = RedirectPolicy::Follow(3);
    let b = allowed(ca.roots(), std::slice::from_ref(&secret));
    assert!(matches!(b.ask(&head), Err(RequestError::Refused(_))));
    assert_eq!(plain.connections(), 0);
    let rules = ["* https://*:* at 127.0.0.1", "GET http://127.0.0.1:*"];
    let secrets = vec![secret.parse().unwrap()];
    let b = Box::with(BridgePolicy { secrets, ..policy(&rules) }, ca.roots());
    b.names.set("good.example", &[&["127.0.0.1"]]);
    assert_eq!(b.ask(&head).unwrap().1, b"plain");
    let seen = &plain.heads()[0];
    assert_eq!(field(seen, "x-key"), None);
    assert_eq!(field(seen, "authorization"), None);
}
