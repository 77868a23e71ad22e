//! Requests through a proxy of the policy's owner.

mod common;

use common::{Box, Server, policy};
use wasibox_bridge::{BridgePolicy, ConnectFault, RequestError, TlsRoots};

const OK: &str = "HTTP/1.1 200 OK\r\nContent-Length: 2\r\n\r\nhi";

fn through(proxy: &str, allow: &[&str]) -> Box {
    let policy = BridgePolicy { proxy: Some(proxy.parse().unwrap()), ..policy(allow) };
    Box::with(policy, TlsRoots::default())
}

/// The address of a proxy with a password.
fn with_password(server: &Server) -> String {
    format!("http://user:pass@{}", server.address)
}

#[test]
fn a_plain_request_is_sent_with_its_whole_address() {
    let proxy = Server::saying(OK);
    let b = through(&with_password(&proxy), &["GET http://example.com/"]);
    assert_eq!(b.text("http://example.com/a?b=c").unwrap(), "hi");
    // RFC 9112, 3.2.2; RFC 7617.
    let head = &proxy.heads()[0];
    assert!(head.starts_with("GET http://example.com/a?b=c HTTP/1.1\r\n"), "{head}");
    assert!(head.to_lowercase().contains("\r\nhost: example.com\r\n"), "{head}");
    assert!(head.contains(": Basic dXNlcjpwYXNz\r\n"), "{head}");
}

#[test]
fn the_loopback_is_connected_to_directly() {
    let (proxy, server) = (Server::saying(OK), Server::saying(OK));
    let b = through(&with_password(&proxy), &[&format!("GET {}", server.url("/"))]);
    assert_eq!(b.text(&server.url("/x")).unwrap(), "hi");
    assert_eq!((proxy.connections(), server.heads().len()), (0, 1));
    assert!(!server.heads()[0].to_lowercase().contains("proxy-authorization"));
}

#[test]
fn addresses_are_judged_as_far_as_names_are_known_here() {
    let proxy = Server::saying(OK);
    let b = through(
        &with_password(&proxy),
        &["GET http://*.example.com/", "GET http://169.254.169.254/"],
    );
    b.names.set("inside.example.com", &[&["10.0.0.1"]]);
    b.names.set("both.example.com", &[&["10.0.0.1", "93.184.216.34"]]);
    let refused = b.get("http://inside.example.com/").unwrap_err();
    assert!(matches!(refused, RequestError::Address { .. }), "{refused}");
    assert!(b.get("http://10.0.0.1/").is_err());
    assert_eq!(proxy.connections(), 0);
    assert_eq!(b.text("http://both.example.com/").unwrap(), "hi");
    // A name that only the proxy can resolve.
    assert_eq!(b.text("http://unknown.example.com/").unwrap(), "hi");
}

#[test]
fn a_proxy_that_refuses_or_is_away_is_named() {
    let proxy = Server::saying("HTTP/1.1 403 Forbidden\r\nContent-Length: 0\r\n\r\n");
    let b = through(&with_password(&proxy), &["GET https://example.com/"]);
    let refused = b.get("https://example.com/").unwrap_err();
    let fault = ConnectFault::ProxyRefused(403);
    assert_eq!(refused, RequestError::Connect { host: "example.com".into(), fault });
    assert_eq!(refused.curl_code(), 7);
    // RFC 9110, 9.3.6: the target is a host and a port.
    assert!(proxy.heads()[0].starts_with("CONNECT example.com:443 HTTP/1.1\r\n"));
    let gone = std::net::TcpListener::bind("127.0.0.1:0").unwrap().local_addr().unwrap();
    let b = through(&format!("http://{gone}"), &["GET http://example.com/"]);
    let away = b.get("http://example.com/").unwrap_err();
    assert!(matches!(away, RequestError::Connect { fault: ConnectFault::Proxy, .. }), "{away}");
}
