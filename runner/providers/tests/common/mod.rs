//! A server on 127.0.0.1 that answers each request as a test says, and keeps the requests.
#![allow(dead_code, clippy::unwrap_used)]

use std::io::{Read, Write};
use std::net::TcpListener;
use std::sync::{Arc, Mutex};
use wasibox_providers::settings::SettingsStore;
use wasibox_providers::{SearchFreshness, SearchQuery, WebTools};

/// An answer: status, headers, body.
pub struct Answer(pub u16, pub Vec<(&'static str, String)>, pub Vec<u8>);

impl Answer {
    pub fn json(body: &str) -> Answer {
        Answer(200, vec![("Content-Type", "application/json".into())], body.into())
    }
}

/// A request: its first line and headers, and its body.
#[derive(Clone, Debug)]
pub struct Asked {
    pub head: String,
    pub body: String,
}

impl Asked {
    /// Returns the path with its query.
    pub fn target(&self) -> &str {
        self.head.split(' ').nth(1).unwrap()
    }

    /// Returns the decoded parameters of the query.
    pub fn parameters(&self) -> Vec<(String, String)> {
        let url = url::Url::parse(&format!("http://x{}", self.target())).unwrap();
        url.query_pairs().map(|(name, value)| (name.into_owned(), value.into_owned())).collect()
    }

    pub fn parameter(&self, name: &str) -> Option<String> {
        self.parameters().into_iter().find(|(n, _)| n == name).map(|(_, value)| value)
    }

    pub fn header(&self, name: &str) -> Option<&str> {
        let mut lines = self.head.lines().skip(1).filter_map(|line| line.split_once(": "));
        lines.find(|(n, _)| n.eq_ignore_ascii_case(name)).map(|(_, value)| value)
    }
}

pub struct Server {
    pub base: String,
    asked: Arc<Mutex<Vec<Asked>>>,
}

impl Server {
    pub fn new(answer: impl Fn(&Asked) -> Answer + Send + 'static) -> Server {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let base = format!("http://{}", listener.local_addr().unwrap());
        let asked = Arc::<Mutex<Vec<Asked>>>::default();
        let kept = asked.clone();
        std::thread::spawn(move || {
            for mut stream in listener.incoming().flatten() {
                let mut bytes = Vec::new();
                let mut buffer = [0; 8192];
                let (head, length) = loop {
                    let n = stream.read(&mut buffer).unwrap_or(0);
                    bytes.extend_from_slice(&buffer[..n]);
                    if let Some(end) = bytes.windows(4).position(|w| w == b"\r\n\r\n") {
                        let head = String::from_utf8_lossy(&bytes[..end]).into_owned();
                        let request = Asked { head: head.clone(), body: String::new() };
                        let length = request.header("content-length").map(|n| n.parse().unwrap());
                        bytes.drain(..end + 4);
                        break (head, length.unwrap_or(0));
                    }
                    if n == 0 {
                        break (String::new(), 0);
                    }
                };
                while bytes.len() < length {
                    let n = stream.read(&mut buffer).unwrap();
                    bytes.extend_from_slice(&buffer[..n]);
                }
                if head.is_empty() {
                    continue;
                }
                let request = Asked { head, body: String::from_utf8_lossy(&bytes).into_owned() };
                kept.lock().unwrap().push(request.clone());
                let Answer(status, headers, body) = answer(&request);
                let headers: String =
                    headers.iter().map(|(name, value)| format!("{name}: {value}\r\n")).collect();
                let head = format!(
                    "HTTP/1.1 {status} X\r\n{headers}Content-Length: {}\r\nConnection: close\r\n\r\n",
                    body.len()
                );
                let _ = stream.write_all(head.as_bytes());
                let _ = stream.write_all(&body);
            }
        });
        Server { base, asked }
    }

    pub fn asked(&self) -> Vec<Asked> {
        self.asked.lock().unwrap().clone()
    }
}

/// Makes tools with settings of a folder.
pub fn tools(dir: &tempfile::TempDir, tool: &str, settings: &[(&str, &str)]) -> WebTools {
    let store = SettingsStore::new(dir.path().join("tools.toml"));
    let changes: Vec<_> = settings
        .iter()
        .map(|(name, value)| ((*name).to_owned(), Some((*value).to_owned())))
        .collect();
    store.set(tool, &changes).unwrap();
    WebTools::new(Arc::new(store), None)
}

pub fn query(text: &str, max_results: u32, freshness: SearchFreshness) -> SearchQuery {
    SearchQuery { query: text.into(), max_results, freshness }
}
