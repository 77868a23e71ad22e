//! The log: one entry for each hop of a request that was made or refused. No bodies, no header
//! values.

use crate::error::RequestError;
use crate::git::PushedRef;
use serde::Serialize;
use std::net::SocketAddr;
use std::sync::Arc;
use std::time::{Duration, Instant, SystemTime};
use url::Url;

/// The result of one hop.
#[derive(Clone, Debug, Serialize)]
pub struct LogEntry {
    /// The request's number within its bridge, shared by its hops.
    pub request: u64,
    /// 0, or the number of the redirect.
    pub hop: u32,
    pub begun: SystemTime,
    pub method: String,
    /// The URL without user and password. A text that does not parse as a URL is not repeated.
    pub url: String,
    /// The rule that allowed it.
    pub rule: Option<String>,
    /// The names of the headers that the policy added.
    pub secrets: Vec<String>,
    pub address: Option<SocketAddr>,
    pub status: Option<u16>,
    /// The lengths of the bodies in bytes, as transferred.
    pub sent: u64,
    pub received: u64,
    pub took: Duration,
    /// The commands of a push, if the rules have judged it.
    pub push: Vec<PushedRef>,
    /// The reason why the hop was refused or failed.
    pub error: Option<RequestError>,
    /// Details of the error that only the owner may see.
    pub detail: Option<String>,
}

/// A receiver of log entries. It is called on the bridge's thread and should not block.
pub trait LogSink: Send + Sync {
    fn take_entry(&self, entry: &LogEntry);
}

/// A sink that drops all entries.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoLog;

impl LogSink for NoLog {
    fn take_entry(&self, _: &LogEntry) {}
}

/// An entry in progress. It reaches the sink even if the request is aborted.
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
            push: Vec::new(),
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

/// Returns the URL as the log shows it. Unless `values` is true, the values of its query are
/// hidden.
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
