//! Searches against servers that answer in the forms that the providers document.
#![allow(clippy::unwrap_used)]

mod common;

use common::{Answer, Server, query, tools};
use std::time::{Duration, Instant};
use wasibox_providers::{ProviderError, RequestStop, SearchFreshness};

const KEY: &str = "BSA-0123456789abcdef";

/// The form of the answer is that of Brave's reference of the Web Search API.
const BRAVE: &str = r#"{"type":"search","query":{"original":"rust","more_results_available":true},
  "web":{"type":"search","results":[
    {"title":"Rust &amp; <strong>more</strong>","url":"https://rust-lang.org/",
     "description":"A language\u0007 empowering <b>everyone</b>","page_age":"2026-01-15T00:00:00","age":"January 15, 2026"},
    {"title":"","url":"https://example.com/untitled","description":"x"},
    {"title":"script","url":"javascript:alert(1)","description":"x"},
    {"title":"again","url":"https://rust-lang.org/","description":"x"}]}}"#;

#[test]
fn brave_is_asked_as_documented_and_its_texts_are_cleaned() {
    let server = Server::new(|_| Answer::json(BRAVE));
    let dir = tempfile::tempdir().unwrap();
    let address = format!("{}/res/v1/web/search", server.base);
    let tools = tools(
        &dir,
        "web_search",
        &[("provider", "brave"), ("key", KEY), ("address", &address), ("safe-search", "strict")],
    );
    let stop = RequestStop::default();
    let asked = query("  rust \n language ", 7, SearchFreshness::Week);
    let answer = tools.search(&asked, &stop).unwrap();
    assert_eq!(answer.query, "rust language");
    assert!(!answer.cached && answer.searched_at.ends_with('Z'));
    let urls: Vec<_> = answer.results.iter().map(|r| r.url.as_str()).collect();
    assert_eq!(urls, ["https://rust-lang.org/", "https://example.com/untitled"]);
    let first = &answer.results[0];
    assert_eq!(first.title, "Rust & more");
    assert_eq!(first.snippet, "A language empowering everyone");
    assert_eq!(first.published_date.as_deref(), Some("2026-01-15T00:00:00"));
    assert_eq!(answer.results[1].title, "https://example.com/untitled");
    let request = &server.asked()[0];
    assert!(request.head.starts_with("GET /res/v1/web/search?"));
    assert_eq!(request.header("x-subscription-token"), Some(KEY));
    for (name, value) in [
        ("q", "rust language"),
        ("count", "7"),
        ("safesearch", "strict"),
        ("freshness", "pw"),
        ("text_decorations", "false"),
    ] {
        assert_eq!(request.parameter(name).as_deref(), Some(value));
    }
    // The second time it comes from the cache, with the time of the search.
    let again = tools.search(&asked, &stop).unwrap();
    assert!(again.cached && again.searched_at == answer.searched_at);
    assert_eq!((again.results, server.asked().len()), (answer.results, 1));
    let long = tools.search(&query(&"word ".repeat(51), 1, SearchFreshness::Any), &stop);
    assert_eq!(
        long.unwrap_err().to_string(),
        "Brave Search takes queries of at most 400 characters and 50 words"
    );
}

/// The form is that of SerpApi's reference of the Google Search API.
#[test]
fn serpapi_is_asked_page_by_page() {
    let server = Server::new(|request| {
        let start: u32 = request.parameter("start").unwrap().parse().unwrap();
        let results: Vec<String> = (start..start + 10)
            .map(|n| format!(r#"{{"position":{n},"title":"T{n}","link":"https://a.example/{n}","snippet":"S","date":"Jan 15, 2026"}}"#))
            .collect();
        Answer::json(&format!(
            r#"{{"search_metadata":{{"status":"Success"}},"organic_results":[{}]}}"#,
            results.join(",")
        ))
    });
    let dir = tempfile::tempdir().unwrap();
    let address = format!("{}/search.json", server.base);
    let tools = tools(
        &dir,
        "web_search",
        &[
            ("provider", "serpapi"),
            ("key", KEY),
            ("address", &address),
            ("interval", "0"),
            ("safe-search", "off"),
        ],
    );
    let answer =
        tools.search(&query("x", 15, SearchFreshness::Month), &RequestStop::default()).unwrap();
    assert_eq!(answer.results.len(), 15);
    assert_eq!(answer.results[14].url, "https://a.example/14");
    assert_eq!(answer.results[0].published_date.as_deref(), Some("Jan 15, 2026"));
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    for (name, value) in [
        ("engine", "google"),
        ("api_key", KEY),
        ("tbs", "qdr:m"),
        ("safe", "off"),
        ("num", "5"),
        ("start", "10"),
    ] {
        assert_eq!(asked[1].parameter(name).as_deref(), Some(value));
    }
}

#[test]
fn serpapis_errors_are_named_without_the_key() {
    let server = Server::new(|request| match request.parameter("q").as_deref() {
        Some("none") => Answer::json(
            r#"{"search_metadata":{"status":"Success"},"error":"Google hasn't returned any results for this query."}"#,
        ),
        Some("spent") => Answer(
            429,
            vec![("Retry-After", "30".into())],
            br#"{"error":"Your searches for the month are exhausted."}"#.to_vec(),
        ),
        _ => Answer(401, vec![], format!(r#"{{"error":"Invalid API key {KEY}."}}"#).into()),
    });
    let dir = tempfile::tempdir().unwrap();
    let tools = tools(
        &dir,
        "web_search",
        &[("provider", "serpapi"), ("key", KEY), ("address", &server.base), ("interval", "0")],
    );
    let stop = RequestStop::default();
    let search = |text: &str| tools.search(&query(text, 5, SearchFreshness::Any), &stop);
    assert_eq!(search("none").unwrap().results, []);
    let spent = search("spent").unwrap_err();
    assert!(matches!(spent, ProviderError::Quota { retry_after: Some(30), .. }), "{spent}");
    let wrong = search("x").unwrap_err();
    assert!(matches!(wrong, ProviderError::Key { status: 401, .. }), "{wrong}");
    assert_eq!(
        wrong.to_string(),
        "SerpApi does not accept the key (status 401): Invalid API key ***."
    );
}

/// The form is that of Google's reference of `cse.list`.
#[test]
fn google_takes_ten_results_a_request_and_its_key_in_a_header() {
    let server = Server::new(|request| {
        if request.parameter("start").as_deref() == Some("11") {
            return Answer::json(
                r#"{"kind":"customsearch#search","searchInformation":{"totalResults":"10"}}"#,
            );
        }
        let items: Vec<String> = (1..=10)
            .map(|n| format!(r#"{{"kind":"customsearch#result","title":"Vec<T> {n}","link":"https://a.example/{n}",
                "snippet":"a &amp; b","pagemap":{{"metatags":[{{"article:published_time":"2026-02-0{n}"}}]}}}}"#))
            .collect();
        Answer::json(&format!(r#"{{"kind":"customsearch#search","items":[{}]}}"#, items.join(",")))
    });
    let dir = tempfile::tempdir().unwrap();
    let tools = tools(
        &dir,
        "web_search",
        &[
            ("provider", "google"),
            ("key", KEY),
            ("engine", "cx1"),
            ("address", &server.base),
            ("interval", "0"),
        ],
    );
    let stop = RequestStop::default();
    let answer = tools.search(&query("x", 20, SearchFreshness::Day), &stop).unwrap();
    assert_eq!(answer.results.len(), 10);
    assert_eq!(answer.results[0].title, "Vec<T> 1");
    assert_eq!(answer.results[0].published_date.as_deref(), Some("2026-02-01"));
    let asked = server.asked();
    assert_eq!(asked.len(), 2);
    for (name, value) in
        [("cx", "cx1"), ("num", "10"), ("start", "1"), ("dateRestrict", "d1"), ("safe", "active")]
    {
        assert_eq!(asked[0].parameter(name).as_deref(), Some(value));
    }
    assert_eq!(asked[0].header("x-goog-api-key"), Some(KEY));
    assert!(!asked[0].target().contains(KEY));
}

/// The form is that of the Instant Answer API.
#[test]
fn duckduckgo_needs_no_key_and_knows_no_dates() {
    let server = Server::new(|_| {
        Answer(200, vec![("Content-Type", "application/x-javascript".into())],
        br#"{"Heading":"Rust","AbstractText":"A language.","AbstractURL":"https://en.wikipedia.org/wiki/Rust",
        "AbstractSource":"Wikipedia","Answer":"","Type":"A","Results":[{"FirstURL":"https://www.rust-lang.org","Text":"Official site"}],
        "RelatedTopics":[{"FirstURL":"https://duckduckgo.com/c/PL","Text":"Programming languages - all of them"},
        {"Name":"See also","Topics":[{"FirstURL":"https://duckduckgo.com/Cargo","Text":"Cargo - a package manager"}]}]}"#.to_vec())
    });
    let dir = tempfile::tempdir().unwrap();
    let tools = tools(&dir, "web_search", &[("provider", "duckduckgo"), ("address", &server.base)]);
    let stop = RequestStop::default();
    let answer = tools.search(&query("rust", 10, SearchFreshness::Any), &stop).unwrap();
    let found: Vec<_> = answer.results.iter().map(|r| (r.title.as_str(), r.url.as_str())).collect();
    assert_eq!(
        found,
        [
            ("Rust", "https://en.wikipedia.org/wiki/Rust"),
            ("Official site", "https://www.rust-lang.org/"),
            ("Programming languages", "https://duckduckgo.com/c/PL"),
            ("Cargo", "https://duckduckgo.com/Cargo"),
        ]
    );
    assert_eq!(server.asked()[0].parameter("no_html").as_deref(), Some("1"));
    let dated = tools.search(&query("rust", 10, SearchFreshness::Day), &stop).unwrap_err();
    assert!(dated.to_string().starts_with("DuckDuckGo has instant answers only"), "{dated}");
}

#[test]
fn bounds_and_gaps_are_named() {
    let server = Server::new(|_| Answer::json(BRAVE));
    let dir = tempfile::tempdir().unwrap();
    let set = tools(
        &dir,
        "web_search",
        &[
            ("provider", "brave"),
            ("key", KEY),
            ("address", &server.base),
            ("interval", "150"),
            ("daily", "2"),
            ("keep", "0"),
        ],
    );
    let stop = RequestStop::default();
    let search = |text: &str, most| set.search(&query(text, most, SearchFreshness::Any), &stop);
    let begun = Instant::now();
    search("a", 5).unwrap();
    search("a", 5).unwrap();
    assert!(begun.elapsed() >= Duration::from_millis(150));
    assert_eq!(server.asked().len(), 2, "keep = 0 asks again");
    let third = search("a", 5).unwrap_err();
    assert!(matches!(third, ProviderError::Daily { most: 2, .. }), "{third}");
    for (text, most) in [("", 5), (&*"x".repeat(501), 5), ("x", 0), ("x", 21), ("a\u{1b}b", 5)] {
        assert!(matches!(search(text, most), Err(ProviderError::Invalid(_))), "{text} {most}");
    }
    let empty = tempfile::tempdir().unwrap();
    for (settings, text) in [
        (&[][..], "web_search is not set up: set a provider"),
        (&[("provider", "brave")], "web_search is not set up: set the key for Brave Search"),
        (
            &[("provider", "google"), ("key", KEY)],
            "web_search is not set up: set the engine, the ID of a Programmable Search Engine",
        ),
    ] {
        let none = tools(&empty, "web_search", settings);
        let why = none.search(&query("x", 1, SearchFreshness::Any), &stop).unwrap_err();
        assert_eq!(why.to_string(), text);
    }
}

#[test]
fn answers_that_are_none_are_refused() {
    let server = Server::new(|request| match request.parameter("q").as_deref() {
        Some("html") => Answer(200, vec![], b"<html>".to_vec()),
        Some("other") => Answer::json(r#"{"type":"ErrorResponse"}"#),
        Some("redirect") => Answer(302, vec![("Location", "https://evil.example/".into())], vec![]),
        Some("down") => Answer(503, vec![], b"<h1>Down</h1>".to_vec()),
        _ => Answer(
            422,
            vec![],
            br#"{"error":{"code":"VALIDATION","detail":"Unable to validate"}}"#.to_vec(),
        ),
    });
    let dir = tempfile::tempdir().unwrap();
    let tools = tools(
        &dir,
        "web_search",
        &[("provider", "brave"), ("key", KEY), ("address", &server.base), ("interval", "0")],
    );
    let stop = RequestStop::default();
    for (text, why) in [
        ("html", "Brave Search's answer is not what its interface promises: it is not JSON"),
        ("other", "Brave Search's answer is not what its interface promises: its type"),
        ("redirect", "Brave Search answers with status 302: without a reason"),
        ("down", "Brave Search answers with status 503: Down"),
        ("x", "Brave Search answers with status 422: Unable to validate"),
    ] {
        let error = tools.search(&query(text, 5, SearchFreshness::Any), &stop).unwrap_err();
        assert!(error.to_string().starts_with(why), "{error}");
    }
    stop.stop();
    let stopped = tools.search(&query("y", 5, SearchFreshness::Any), &stop);
    assert!(matches!(stopped, Err(ProviderError::Stopped)));
}
