//! HTTP for guests: takes a request of an untrusted guest and a policy, and returns a response, or
//! an error with the reason.
//!
//! # Stages
//! A [`RequestHead`] is checked and normalised ([`mod@request`]); [`RequestRules`] decide whether
//! it may be made; its host is resolved once and the addresses are judged ([`mod@address`],
//! [`mod@connect`]); the owner's headers are added ([`mod@secret`]); the response's head is judged
//! ([`mod@exchange`]), and a redirect starts all of this over. Everything that goes to the guest is
//! searched for secrets ([`mod@scrub`]). Every hop is reported to a [`LogSink`].
//!
//! A [`BridgeNetwork`] is one thread with one runtime for the whole process. A [`Bridge`] has a
//! session's policy, counts and open connections. A [`BridgeExchange`] is a request in progress;
//! its calls block.
//!
//! Without the feature `transport`, which adds sockets, TLS and secrets, there is a
//! [`RequestJudge`]: the same rules for a host that leaves sending the requests to another program.
//!
//! # Invariants
//! - The default policy allows nothing.
//! - The URL that is judged is the URL that is sent; the addresses that are judged are those that
//!   are connected to.
//! - Certificates are verified, and nothing can turn that off.
//! - No secret appears in a guest's response, in an error, in the log, or in a `Debug`.
//! - The memory of a request is bounded, whatever guest and server do: 256 KiB in each direction,
//!   the head, and as much of the body as [`BridgeLimits::kept_body`] allows.
//!
//! # Deliberately absent
//! Proxies from the host's environment; cookies, caches, and decoding of bodies that need not be
//! searched, because those are the guest's tasks. Trailers, upgrades, CONNECT. HTTP/3.
#![forbid(unsafe_code)]
// Some code is used only by the transport.
#![cfg_attr(not(feature = "transport"), allow(dead_code))]

mod address;
#[cfg(feature = "transport")]
mod body;
#[cfg(feature = "transport")]
mod bridge;
#[cfg(feature = "transport")]
mod connect;
#[cfg(feature = "transport")]
mod decode;
mod error;
#[cfg(feature = "transport")]
mod exchange;
pub mod git;
mod judge;
mod limits;
#[cfg(feature = "transport")]
mod log;
pub mod message;
#[cfg(feature = "transport")]
mod network;
mod path;
#[cfg(feature = "transport")]
mod pipe;
mod request;
#[cfg(feature = "transport")]
mod resolve;
mod rules;
#[cfg(feature = "transport")]
mod scrub;
#[cfg(feature = "transport")]
mod secret;
#[cfg(feature = "transport")]
mod tls;

pub use address::{AddressClass, address_class};
#[cfg(feature = "transport")]
pub use bridge::{Bridge, BridgeExchange, BridgePolicy};
pub use error::{
    BridgeLimit, ConnectFault, HeaderFault, RequestError, RequestPhase, RuleRefusal, UrlFault,
};
pub use judge::{JudgedRequest, PlaceError, RequestJudge};
pub use limits::{BridgeLimits, BridgeUsage, MAX_URL};
#[cfg(feature = "transport")]
pub use log::{LogEntry, LogSink, NoLog};
pub use message::{BodyLength, Header, HttpVersion, RedirectPolicy, RequestHead, ResponseHead};
#[cfg(feature = "transport")]
pub use network::{BridgeNetwork, NetworkOptions};
#[cfg(feature = "transport")]
pub use resolve::{NameResolver, SystemResolver};
pub use rules::{RequestRule, RequestRules, RuleError, RuleFault, RuleSpec};
#[cfg(feature = "transport")]
pub use secret::{SecretError, SecretFn, SecretRule};
#[cfg(feature = "transport")]
pub use tls::{RootsError, TlsRoots};
#[cfg(feature = "transport")]
pub use zeroize::Zeroizing;
