//! One entry for each request that was made or refused, hop by hop. No bodies, no header values.

use crate::error::RequestError;
use serde::Serialize;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use url::Url;

/// What became of one hop.
#[derive(Clone, Debug, Serialize)]
pub struct LogEntry {
    /// The request's number within its bridge; its hops share it.
    pub request: u64,
    /// 0, or which redirect.
    pub hop: u32,
    pub begun: SystemTime,
    pub method: String,
    /// Without user and password. What does not parse as a URL is not repeated.
    pub url: String,
    /// The rule that allowed it.
    pub rule: Option<String>,
    /// Headers that the policy added: their names.
    pub secrets: Vec<String>,
    pub address: Option<SocketAddr>,
    pub status: Option<u16>,
    /// Bytes of bodies, as they went over the wire.
    pub sent: u64,
    pub received: u64,
    pub took: Duration,
    /// Why it was refused or failed.
    pub error: Option<RequestError>,
    /// What only the owner may know of the error.
    pub detail: Option<String>,
}

/// Takes the entries. Called on the bridge's thread: it should not block.
pub trait LogSink: Send + Sync {
    fn take_entry(&self, entry: &LogEntry);
}

/// Keeps nothing.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

impl LogSink for NoLog {
    fn take_entry(&self, _: &LogEntry) {}
}

/// An entry that is being written. It reaches the sink even if the request is given up.
pub(crate) struct OpenLogEntry {
    pub(crate) entry: LogEntry,
    since: Instant,
    sink: Arc<dyn LogSink>,
    ended: bool,
}

impl OpenLogEntry {
    pub(crate) fn new(sink: &Arc<dyn LogSink>, request: u64, hop: u32, method: &str) -> Self {
        let entry = LogEntry {
            request,
            hop,
            begun: SystemTime::now(),
            method: method.chars().take(40).collect(),
            url: String::new(),
            rule: None,
            secrets: Vec::new(),
            address: None,
            status: None,
            sent: 0,
            received: 0,
            took: Duration::ZERO,
            error: None,
            detail: None,
        };
        Self { entry, since: Instant::now(), sink: Arc::clone(sink), ended: false }
    }

    pub(crate) fn end(mut self, error: Option<RequestError>) {
        self.ended = true;
        self.entry.error = error;
    }
}

impl Drop for OpenLogEntry {
    fn drop(&mut self) {
        self.entry.took = self.since.elapsed();
        if !self.ended {
            self.entry.error = Some(RequestError::Cancelled);
        }
        self.sink.take_entry(&self.entry);
    }
}

/// The URL as the log shows it; `values` of the query are hidden if they are not wanted.
pub(crate) fn url_for_log(url: &Url, values: bool) -> String {
    let mut url = url.clone();
    let _ = url.set_username("");
    let _ = url.set_password(None);
    url.set_fragment(None);
    if !values && let Some(query) = url.query() {
        let names: Vec<String> = query
            .split('&')
            .map(|pair| match pair.split_once('=') {
                Some((name, _)) => format!("{name}=..."),
                None => "...".to_string(),
            })
            .collect();
        url.set_query(Some(&names.join("&")));
    }
    url.into()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn query_values_can_be_hidden() {
        let url = Url::parse("https://u:p@a.com/x?key=1&flag&k2=v#f").unwrap();
        assert_eq!(url_for_log(&url, true), "https://a.com/x?key=1&flag&k2=v");
        assert_eq!(url_for_log(&url, false), "https://a.com/x?key=...&...&k2=...");
    }
}
