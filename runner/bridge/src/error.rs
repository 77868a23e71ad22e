//! The reasons why a request was not made, or not finished. These values are passed to the guest
//! unchanged, so they contain no secret and no address of the host's networks.

use crate::address::AddressClass;
use crate::git::PushFault;
use serde::{Deserialize, Serialize};

/// The reason why a request has no response, or an incomplete body.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum RequestError {
    /// The text is not an absolute URL.
    #[error("not a URL: {0}")]
    Url(UrlFault),
    #[error("only http and https are supported, not {0}")]
    Scheme(String),
    #[error("the method {0:?} cannot be used")]
    Method(String),
    /// A header that a guest may not send, or that is malformed.
    #[error("header {name:?}: {fault}")]
    Header { name: String, fault: HeaderFault },
    /// No rule allows the request, or a rule denies it.
    #[error("{0}")]
    Refused(RuleRefusal),
    /// All addresses of the host belong to classes that a rule must name.
    #[error("{host} has {class}, which the sandbox's policy does not allow")]
    Address { host: String, class: AddressClass },
    #[error("could not resolve {0}")]
    Resolve(String),
    #[error("could not connect to {host}: {fault}")]
    Connect { host: String, fault: ConnectFault },
    #[error("{0} took too long")]
    Timeout(RequestPhase),
    /// The handshake failed for a reason other than the certificate.
    #[error("TLS with {host}: {text}")]
    Tls { host: String, text: String },
    #[error("the certificate of {host} is not accepted: {text}")]
    Certificate { host: String, text: String },
    #[error("more than {0} redirects")]
    Redirects(u32),
    /// A redirect needs the body a second time, but it was too long to keep.
    #[error("the body cannot be sent again after a redirect: only {0} bytes are kept")]
    Rewind(u64),
    #[error("the server closed the connection without a response")]
    Empty,
    /// The response ended early.
    #[error("the response ended early")]
    Partial,
    /// The response is not HTTP, or has a form that two readers may interpret differently.
    #[error("the server's response is malformed: {0}")]
    Malformed(String),
    #[error("receiving failed: {0}")]
    Receive(String),
    #[error("sending failed: {0}")]
    Send(String),
    /// The body's encoding does not allow a search for secrets, or the body cannot be decoded.
    #[error("content encoding {0:?} cannot be decoded here")]
    Encoding(String),
    #[error("limit reached: {0}")]
    Limit(BridgeLimit),
    /// The owner's secret could not be read. The reason is only in the log.
    #[error("a header of the sandbox's policy could not be made")]
    Secret,
    /// The body was shorter or longer than announced.
    #[error("the body is not as long as announced")]
    Length,
    /// The request was aborted by the guest, or the bridge has ended.
    #[error("the request was given up")]
    Cancelled,
    /// A push whose commands cannot be read, so that no rule can be applied to them.
    #[error("the push cannot be judged: {0}")]
    Push(PushFault),
    /// A redirect of a request that only a rule for git allows leads to something else.
    #[error("{0} is redirected out of its repository")]
    Repository(String),
}

impl RequestError {
    /// Returns curl's exit status for the error.
    #[must_use]
    pub fn curl_code(&self) -> u8 {
        match self {
            Self::Scheme(_) => 1,
            Self::Url(_) => 3,
            Self::Resolve(_) => 6,
            Self::Refused(_) | Self::Address { .. } | Self::Connect { .. } | Self::Secret => 7,
            Self::Malformed(_) => 8,
            Self::Partial => 18,
            Self::Timeout(_) => 28,
            Self::Tls { .. } => 35,
            Self::Cancelled => 42,
            Self::Method(_) | Self::Header { .. } | Self::Length | Self::Push(_) => 43,
            Self::Redirects(_) | Self::Repository(_) => 47,
            Self::Empty => 52,
            Self::Send(_) => 55,
            Self::Receive(_) => 56,
            Self::Certificate { .. } => 60,
            Self::Encoding(_) => 61,
            Self::Limit(limit) => match limit {
                BridgeLimit::Download | BridgeLimit::Ratio => 63,
                BridgeLimit::Upload => 55,
                BridgeLimit::Headers => 56,
                BridgeLimit::Requests | BridgeLimit::Concurrent => 7,
            },
            Self::Rewind(_) => 65,
        }
    }
}

/// The fault of a URL.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum UrlFault {
    #[error("it cannot be parsed")]
    Syntax,
    #[error("it has spaces or control characters")]
    Character,
    #[error("it is too long")]
    Long,
    #[error("it has no host, or not one that can be")]
    Host,
    #[error("it has a user or password; send a header instead")]
    User,
    #[error("its path is percent-encoded too many times")]
    Path,
}

/// The fault of a guest's header.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum HeaderFault {
    #[error("not the name of a header")]
    Name,
    #[error("its value has control characters")]
    Value,
    #[error("it is made by the bridge alone")]
    Ours,
    #[error("too many or too long headers")]
    Size,
}

/// The reason why there is no connection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum ConnectFault {
    #[error("connection refused")]
    Refused,
    #[error("no route to the host")]
    Unreachable,
    #[error("connection failed")]
    Other,
    #[error("the proxy does not answer")]
    Proxy,
    /// The status with which the proxy has refused a tunnel.
    #[error("the proxy refuses it with status {0}")]
    ProxyRefused(u16),
}

/// The phase of a request that took too long.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum RequestPhase {
    /// Resolving, connecting and the TLS handshake together.
    #[error("connecting")]
    Connect,
    #[error("waiting for the response")]
    FirstByte,
    #[error("the request")]
    Total,
}

/// A limit of [`crate::BridgeLimits`].
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize, thiserror::Error)]
pub enum BridgeLimit {
    #[error("the number of requests")]
    Requests,
    #[error("requests at the same time")]
    Concurrent,
    #[error("bytes sent")]
    Upload,
    #[error("bytes received")]
    Download,
    #[error("the response's headers")]
    Headers,
    #[error("the body decompresses to too much")]
    Ratio,
}

/// A request that the rules do not allow.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct RuleRefusal {
    /// The target as `host:port`.
    pub target: String,
    /// The rule that denies the request; `None` if no rule allows it.
    pub denied_by: Option<String>,
    /// The narrowest rule that would allow it.
    pub needed: String,
}

impl std::fmt::Display for RuleRefusal {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{} is not allowed by the sandbox's policy", self.target)?;
        match &self.denied_by {
            Some(rule) => write!(f, ": its rule '{rule}' denies it"),
            None => write!(f, "; the rule '{}' would allow it", self.needed),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The numbers are those of curl's manual, section EXIT CODES.
    #[test]
    fn codes_are_curls() {
        let table = [
            (RequestError::Url(UrlFault::Syntax), 3),
            (RequestError::Resolve("h".into()), 6),
            (RequestError::Connect { host: "h".into(), fault: ConnectFault::Refused }, 7),
            (RequestError::Partial, 18),
            (RequestError::Timeout(RequestPhase::Total), 28),
            (RequestError::Tls { host: "h".into(), text: String::new() }, 35),
            (RequestError::Redirects(3), 47),
            (RequestError::Empty, 52),
            (RequestError::Receive(String::new()), 56),
            (RequestError::Certificate { host: "h".into(), text: String::new() }, 60),
        ];
        for (error, code) in table {
            assert_eq!(error.curl_code(), code, "{error}");
        }
    }
}
