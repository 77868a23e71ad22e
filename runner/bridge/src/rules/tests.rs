//! The matching of rules, and their notation.

use super::*;

fn rules(allow: &[&str], deny: &[&str]) -> RequestRules {
    let all = |texts: &[&str]| texts.iter().map(|t| t.parse().unwrap()).collect();
    RequestRules { allow: all(allow), deny: all(deny) }
}

fn allows(rules: &RequestRules, method: &str, url: &str) -> bool {
    rules.check_allowed(method, &Url::parse(url).unwrap()).is_ok()
}

#[test]
fn nothing_is_allowed_by_default() {
    assert!(!allows(&RequestRules::default(), "GET", "https://example.com/"));
}

#[test]
fn hosts_match_by_labels() {
    let r = rules(&["GET https://*.example.com/", "GET https://one.org"], &[]);
    for good in [
        "https://a.example.com/",
        "https://a.b.example.com/x",
        "https://A.EXAMPLE.com/",
        "https://one.org/x",
        "https://one.org:443/",
    ] {
        assert!(allows(&r, "GET", good), "{good}");
    }
    for bad in [
        "https://example.com/",
        "https://badexample.com/",
        "https://a.example.com.evil.org/",
        "https://.example.com/",
        "https://sub.one.org/",
        "https://one.org.evil.com/",
        "https://one.org:444/",
        "http://one.org/",
        "https://a.example.com@evil.org/",
    ] {
        assert!(!allows(&r, "GET", bad), "{bad}");
    }
}

/// Names are compared in the form of IDNA.
#[test]
fn names_are_compared_in_their_ascii_form() {
    let r = rules(&["GET https://bücher.example/"], &[]);
    assert!(allows(&r, "GET", "https://xn--bcher-kva.example/"));
    assert!(allows(&r, "GET", "https://BÜCHER.example/"));
    // A Cyrillic letter that looks like a Latin one makes another name.
    let r = rules(&["GET https://apple.com/"], &[]);
    assert!(!allows(&r, "GET", "https://\u{430}pple.com/"));
}

#[test]
fn methods_ports_and_schemes() {
    let r = rules(&["GET,POST https://a.com:8443/api/", "* *://b.com:*"], &[]);
    assert!(allows(&r, "GET", "https://a.com:8443/api/x"));
    assert!(allows(&r, "HEAD", "https://a.com:8443/api/x"));
    assert!(allows(&r, "POST", "https://a.com:8443/api/x"));
    assert!(!allows(&r, "PUT", "https://a.com:8443/api/x"));
    assert!(!allows(&r, "get", "https://a.com:8443/api/x"));
    assert!(!allows(&r, "GET", "https://a.com/api/x"));
    assert!(!allows(&r, "GET", "https://a.com:8443/apix"));
    assert!(allows(&r, "PURGE", "http://b.com:1/"));
    assert!(allows(&r, "GET", "https://b.com/"));
}

#[test]
fn denying_comes_first() {
    let r = rules(&["* https://*"], &["DELETE https://*", "* https://a.com/admin/"]);
    assert!(allows(&r, "GET", "https://a.com/"));
    assert!(!allows(&r, "DELETE", "https://b.com/"));
    assert!(!allows(&r, "delete", "https://b.com/"));
    assert!(!allows(&r, "GET", "https://a.com/%61dmin/x"));
    assert!(!allows(&r, "GET", "https://a.com//admin/x"));
    let refusal = r.check_allowed("GET", &Url::parse("https://a.com/admin/").unwrap()).unwrap_err();
    assert_eq!(refusal.denied_by.as_deref(), Some("* https://a.com/admin/"));
}

#[test]
fn a_refusal_names_the_rule_that_would_allow() {
    let r = rules(&["GET https://a.com/"], &[]);
    for (method, url) in [
        ("POST", "https://a.com/x/y?q=1"),
        ("GET", "http://127.0.0.1:8000/f.txt"),
        ("GET", "https://[2606:4700::1111]:8443/"),
        ("GET", "https://b.com/a%2fb//c;d"),
        ("GET", "https://b.com/*"),
    ] {
        let url = Url::parse(url).unwrap();
        let refusal = r.check_allowed(method, &url).unwrap_err();
        let more = rules(&[refusal.needed.as_str()], &[]);
        assert!(more.check_allowed(method, &url).is_ok(), "{url}: {}", refusal.needed);
    }
    let url = Url::parse("https://example.com/").unwrap();
    let refusal = r.check_allowed("GET", &url).unwrap_err().to_string();
    assert!(refusal.starts_with("example.com:443 is not allowed by the sandbox's policy"));
}

#[test]
fn addresses_must_be_named() {
    let ip = |t: &str| t.parse::<IpAddr>().unwrap();
    let reaches = |rule: &str, url: &str, at: &str| {
        let r = rules(&[rule], &[]);
        let permit = r.check("GET", &Url::parse(url).unwrap());
        permit.unwrap().check_address(ip(at)).is_ok()
    };
    assert!(reaches("GET http://a.com", "http://a.com", "8.8.8.8"));
    assert!(!reaches("GET http://a.com", "http://a.com", "127.0.0.1"));
    assert!(!reaches("GET http://*:*", "http://127.0.0.1", "127.0.0.1"));
    assert!(reaches("GET http://127.0.0.1", "http://127.0.0.1", "127.0.0.1"));
    assert!(reaches("GET http://127.0.0.1", "http://2130706433", "127.0.0.1"));
    assert!(reaches("GET http://localhost", "http://localhost", "::1"));
    assert!(!reaches("GET http://localhost", "http://localhost", "10.0.0.1"));
    assert!(reaches("GET http://a.lan at 10.0.0.0/8,fd00::/8", "http://a.lan", "10.9.9.9"));
    assert!(reaches("GET http://a.lan at 10.0.0.0/8,fd00::/8", "http://a.lan", "fd00::1"));
    assert!(!reaches("GET http://a.lan at 10.0.0.0/8", "http://a.lan", "127.0.0.1"));
    assert!(!reaches("GET http://a.lan at 10.0.0.0/8", "http://a.lan", "8.8.8.8"));
    assert!(reaches("GET http://m at 169.254.169.254", "http://m", "169.254.169.254"));
    // A denied address is denied for every name that leads to it.
    let r = rules(&["GET http://*"], &["* http://8.8.8.8"]);
    let permit = r.check("GET", &Url::parse("http://a.com").unwrap()).unwrap();
    assert!(permit.check_address(ip("8.8.8.8")).is_err());
    assert!(permit.check_address(ip("8.8.4.4")).is_ok());
}

#[test]
fn mistakes_are_named() {
    use RuleFault as F;
    for (text, fault) in [
        ("", F::Form),
        ("GET", F::Form),
        ("https://a.com", F::Form),
        ("GET https://a.com and", F::Form),
        ("GET, https://a.com", F::Method),
        ("G(T https://a.com", F::Method),
        ("GET a.com", F::Scheme),
        ("GET ftp://a.com", F::Scheme),
        ("GET https://", F::Host),
        ("GET https://*com", F::Host),
        ("GET https://a.*.com", F::Host),
        ("GET https://*.10.0.0.1", F::Host),
        ("GET https://a..com", F::Host),
        ("GET https://a.com:", F::Port),
        ("GET https://a.com:0", F::Port),
        ("GET https://a.com:65536", F::Port),
        ("GET https://a.com:8*", F::Port),
        ("GET https://u:p@a.com", F::User),
        ("GET https://a.com/x?y", F::Path),
        ("GET https://a.com/x/*", F::Path),
        ("GET https://a.com/x/../y", F::Path),
        ("GET https://a.com/x%2fy", F::Path),
        ("GET https://a.com//x", F::Path),
        ("GET https://a.com at 10.0.0.0/33", F::At),
        ("GET https://a.com at here", F::At),
    ] {
        let got = text.parse::<RequestRule>().map(|r| r.to_string());
        assert_eq!(got.map_err(|e| e.fault), Err(fault), "{text}");
    }
}

#[test]
fn texts_and_tables_are_the_same() {
    for (text, canonical) in [
        ("get,POST  https://A.com:443", "GET,POST https://a.com/"),
        ("* *://*:*/x", "* *://*:*/x"),
        ("GET https://[::1]:8443/a/", "GET https://[::1]:8443/a/"),
        ("GET http://0x7f.1 at 127.0.0.1", "GET http://127.0.0.1/ at 127.0.0.1/32"),
        ("GET https://*.a.com. at 10.0.0.0/8,::1", "GET https://*.a.com/ at 10.0.0.0/8,::1/128"),
    ] {
        let rule: RequestRule = text.parse().unwrap();
        assert_eq!(rule.to_string(), canonical);
        assert_eq!(canonical.parse::<RequestRule>().unwrap(), rule);
    }
    let read: RequestRules = serde_json::from_str(
        r#"{"allow": ["GET http://a.lan/x at 10.0.0.0/8",
                     {"methods": ["GET"], "url": "http://a.lan/x", "at": ["10.0.0.0/8"]}]}"#,
    )
    .unwrap();
    assert_eq!(read.allow[0], read.allow[1]);
    let written = serde_json::to_string(&read).unwrap();
    assert_eq!(serde_json::from_str::<RequestRules>(&written).unwrap(), read);
    assert!(serde_json::from_str::<RequestRules>(r#"{"alow": []}"#).is_err());
}

#[test]
fn hosts_are_named_by_themselves() {
    let allow =
        ["GET http://127.0.0.1:8000/x", "* https://localhost", "* *://[::1]:*/", "* *://*:*/"];
    let allow = allow.map(|r| r.parse().unwrap()).to_vec();
    let rules = RequestRules { allow, ..RequestRules::default() };
    for (host, port) in [("127.0.0.1", 8000), ("localhost", 443), ("LOCALHOST", 443), ("::1", 7)] {
        assert!(rules.names_host(host, port), "{host} {port}");
    }
    for (host, port) in
        [("127.0.0.1", 80), ("localhost", 80), ("127.0.0.2", 8000), ("a.com", 443), ("", 1)]
    {
        assert!(!rules.names_host(host, port), "{host} {port}");
    }
}
