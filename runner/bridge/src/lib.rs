//! HTTP for guests: takes a request of an untrusted guest and a policy, and returns a response, or
//! an error with the reason.
//!
//! # Stages
//! A [`RequestHead`] is checked and normalised ([`mod@request`]); [`RequestRules`] decide whether
//! it may be made; its host is resolved once and the addresses are judged ([`mod@address`],
//! `transport::connect`); the owner's headers are added (`transport::secret`); the response's head
//! is judged (`transport::exchange`), and a redirect starts all of this over. Everything that goes
//! to the guest is searched for secrets (`transport::scrub`). Every hop is reported to a
//! [`LogSink`].
//!
//! A [`BridgeNetwork`] is one thread with one runtime for the whole process. A [`Bridge`] has a
//! session's policy, counts and open connections. A [`BridgeExchange`] is a request in progress;
//! its calls block.
//!
//! Without the feature and module `transport`, which add sockets, TLS and secrets, there is a
//! [`RequestJudge`]: the same rules for a host that leaves sending the requests to another program.
//!
//! # Invariants
//! - The default policy allows nothing.
//! - The URL that is judged is the URL that is sent; the addresses that are judged are those that
//!   are connected to. With a proxy ([`ProxySettings`]), the proxy resolves names again.
//! - Certificates are verified, and nothing can turn that off.
//! - No secret appears in a guest's response, in an error, in the log, or in a `Debug`.
//! - The memory of a request is bounded, whatever guest and server do: 256 KiB in each direction,
//!   the head, and as much of the body as [`BridgeLimits::kept_body`] allows.
//!
//! # Deliberately absent
//! Proxies that the policy's owner has not asked for; cookies, caches, and decoding of bodies that need not be
//! searched, because those are the guest's tasks. Trailers, upgrades, CONNECT. HTTP/3.
#![forbid(unsafe_code)]
// Some code is used only by the transport.
#![cfg_attr(not(feature = "transport"), allow(dead_code))]

mod address;
mod error;
pub mod git;
mod judge;
mod limits;
pub mod message;
mod path;
mod request;
mod rules;
#[cfg(feature = "transport")]
mod transport;

pub use address::{AddressClass, address_class};
pub use error::{
    BridgeLimit, ConnectFault, HeaderFault, RequestError, RequestPhase, RuleRefusal, UrlFault,
};
pub use judge::{JudgedRequest, PlaceError, RequestJudge};
pub use limits::{BridgeLimits, BridgeUsage, MAX_URL};
pub use message::{BodyLength, Header, HttpVersion, RedirectPolicy, RequestHead, ResponseHead};
pub use rules::{RequestRule, RequestRules, RuleError, RuleFault, RuleSpec};
#[cfg(feature = "transport")]
pub use transport::{
    Bridge, BridgeExchange, BridgeNetwork, BridgePolicy, LogEntry, LogSink, NameResolver,
    NetworkOptions, NoLog, ProxyError, ProxySettings, RootsError, SecretError, SecretFn,
    SecretRule, SystemResolver, TlsRoots, Zeroizing,
};
