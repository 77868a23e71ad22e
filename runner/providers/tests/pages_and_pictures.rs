//! Pages and pictures from local servers.
#![allow(clippy::unwrap_used)]

mod common;

use base64::Engine;
use base64::prelude::BASE64_STANDARD;
use common::{Answer, Server, tools};
use wasibox_bridge::RequestRules;
use wasibox_providers::{
    BridgePolicy, PageQuery, PictureQuality, PictureQuery, PictureStyle, ProviderError, RequestStop,
};

const KEY: &str = "sk-0123456789abcdef";
const PNG: &[u8] = b"\x89PNG\r\n\x1a\n-the rest of a picture";

fn policy(rules: &[String]) -> BridgePolicy {
    let allow = rules.iter().map(|rule| rule.parse().unwrap()).collect();
    BridgePolicy { rules: RequestRules { allow, deny: Vec::new() }, ..BridgePolicy::default() }
}

fn page(url: &str, offset: u64) -> PageQuery {
    PageQuery { url: url.into(), offset }
}

#[test]
fn pages_come_under_the_sessions_rules() {
    let server = Server::new(|request| match request.target() {
        "/moved" => Answer(302, vec![("Location", "/page".into())], vec![]),
        "/away" => Answer(302, vec![("Location", "http://10.0.0.1/secret".into())], vec![]),
        "/data" => Answer(200, vec![("Content-Type", "application/pdf".into())], b"%PDF".to_vec()),
        "/plain" => Answer(
            200,
            vec![("Content-Type", "text/plain".into())],
            b"line one\r\nline two\x07\n".repeat(100),
        ),
        "/page" => Answer(
            200,
            vec![("Content-Type", "text/html; charset=ISO-8859-1".into())],
            b"<title>Caf\xe9</title><p>Open <a href=hours>daily</a></p><script>x()</script>"
                .to_vec(),
        ),
        _ => Answer(404, vec![], b"<h1>Not here</h1>".to_vec()),
    });
    let dir = tempfile::tempdir().unwrap();
    let tools = tools(&dir, "fetch_page", &[("characters", "500"), ("daily", "8")]);
    let stop = RequestStop::default();
    let rules = [format!("GET {}/", server.base)];
    let fetch = |path: &str, offset| {
        tools.fetch_page(&page(&format!("{}{path}", server.base), offset), policy(&rules), &stop)
    };
    let read = fetch("/moved#part", 0).unwrap();
    assert_eq!((read.url, read.title.as_str()), (format!("{}/page", server.base), "Café"));
    assert!(
        read.markdown.contains("[daily]") && !read.markdown.contains("x()"),
        "{}",
        read.markdown
    );
    assert!(!read.cached && fetch("/moved", 0).unwrap().cached);
    let first = fetch("/plain", 0).unwrap();
    assert!(first.markdown.starts_with("line one\nline two\n"));
    let next = fetch("/plain", first.next_offset.unwrap()).unwrap();
    assert!(next.cached && next.markdown.starts_with("line"));
    let why = |path| fetch(path, 0).unwrap_err().to_string();
    assert!(why("/data").contains("application/pdf, not a page to read"));
    assert_eq!(why("/none"), "127.0.0.1 answers with status 404: Not here");
    // The rules judge redirects, too; and a page that is kept is not for other rules.
    assert!(why("/away").contains("10.0.0.1"), "{}", why("/away"));
    let url = format!("{}/moved", server.base);
    let none = tools.fetch_page(&page(&url, 0), policy(&[]), &stop).unwrap_err();
    assert!(matches!(none, ProviderError::Inside(_)), "{none}");
    let wide =
        tools.fetch_page(&page(&url, 0), policy(&["GET *://*:*/".into()]), &stop).unwrap_err();
    assert!(matches!(wide, ProviderError::Inside(_) | ProviderError::Request(_)), "{wide}");
    for private in
        ["http://10.0.0.1/", "http://169.254.169.254/latest/meta-data/", "http://[fd00::1]/"]
    {
        let error = tools.fetch_page(&page(private, 0), policy(&["GET *://*:*/".into()]), &stop);
        assert!(matches!(error, Err(ProviderError::Request(_))), "{private}: {error:?}");
    }
    let wrong = tools.fetch_page(&page("file:///etc/passwd", 0), policy(&rules), &stop);
    assert!(wrong.is_err());
    let spent = fetch("/one-more", 0).unwrap_err();
    assert!(matches!(spent, ProviderError::Daily { .. }), "{spent}");
}

/// The forms are those of the reference of OpenAI's images endpoint.
#[test]
fn a_picture_comes_in_base64_or_from_an_address() {
    let server = Server::new(|request| {
        if request.target() == "/files/a.png" {
            return Answer(200, vec![("Content-Type", "image/png".into())], PNG.to_vec());
        }
        let host = request.header("host").unwrap();
        let prompt: serde_json::Value = serde_json::from_str(&request.body).unwrap();
        let data = match prompt["prompt"].as_str().unwrap() {
            "address" => {
                format!(r#"{{"url":"http://{host}/files/a.png","revised_prompt":"A <b>cat</b>"}}"#)
            }
            "away" => r#"{"url":"http://10.0.0.1/a.png"}"#.to_owned(),
            "inside" => r#"{"url":"https://10.0.0.1/a.png"}"#.to_owned(),
            "html" => format!(r#"{{"b64_json":"{}"}}"#, BASE64_STANDARD.encode("<html>")),
            "refuse" => {
                return Answer(
                    400,
                    vec![],
                    format!(r#"{{"error":{{"message":"Your request was rejected, {KEY}"}}}}"#)
                        .into(),
                );
            }
            _ => format!(r#"{{"b64_json":"{}"}}"#, BASE64_STANDARD.encode(PNG)),
        };
        Answer::json(&format!(r#"{{"created":1713833628,"data":[{data}]}}"#))
    });
    let dir = tempfile::tempdir().unwrap();
    let address = format!("{}/v1/", server.base);
    let tools = tools(
        &dir,
        "generate_image",
        &[("key", KEY), ("address", &address), ("model", "dall-e-3")],
    );
    let stop = RequestStop::default();
    let make = |prompt: &str| {
        tools
            .make_picture(&PictureQuery { prompt: prompt.into(), ..PictureQuery::default() }, &stop)
    };
    let asked = PictureQuery {
        prompt: "a cat".into(),
        size: Some("1024x1024".into()),
        quality: Some(PictureQuality::Hd),
        style: Some(PictureStyle::Natural),
    };
    let made = tools.make_picture(&asked, &stop).unwrap();
    assert_eq!((made.bytes.as_slice(), made.mime, made.extension), (PNG, "image/png", "png"));
    assert_eq!(made.revised_prompt, None);
    let request = &server.asked()[0];
    assert!(request.head.starts_with("POST /v1/images/generations HTTP/1.1"));
    assert_eq!(request.header("authorization"), Some(&*format!("Bearer {KEY}")));
    let body: serde_json::Value = serde_json::from_str(&request.body).unwrap();
    assert_eq!(
        body,
        serde_json::json!({"model": "dall-e-3", "prompt": "a cat", "n": 1,
        "response_format": "b64_json", "size": "1024x1024", "quality": "hd", "style": "natural"})
    );
    let from_address = make("address").unwrap();
    assert_eq!(
        (from_address.bytes, from_address.revised_prompt.as_deref()),
        (PNG.to_vec(), Some("A cat"))
    );
    assert_eq!(
        server.asked()[2].header("authorization"),
        None,
        "the key is for the endpoint alone"
    );
    for (prompt, why) in [
        ("away", "the picture's address is not one of https"),
        ("inside", "the picture's address has no public name"),
        ("html", "it is not PNG"),
    ] {
        let error = make(prompt).unwrap_err().to_string();
        assert!(error.contains(why), "{error}");
    }
    let refused = make("refuse").unwrap_err().to_string();
    assert!(refused.contains("Your request was rejected") && !refused.contains(KEY), "{refused}");
}

#[test]
fn without_a_key_there_are_no_pictures() {
    let dir = tempfile::tempdir().unwrap();
    let tools = tools(&dir, "generate_image", &[("model", "gpt-image-1")]);
    assert!(tools.check_pictures().is_err());
    let query = PictureQuery { prompt: "x".into(), ..PictureQuery::default() };
    let why = tools.make_picture(&query, &RequestStop::default()).unwrap_err().to_string();
    assert_eq!(why, "generate_image is not set up: set a key");
}
