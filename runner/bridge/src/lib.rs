//! HTTP out of the box: a request of a hostile guest and a policy give a response, or an error that says why not.
//!
//! # Stages
//! A [`RequestHead`] is checked and brought into one form ([`mod@request`]); [`RequestRules`] say whether it may be made;
//! its host is resolved once and the addresses are judged ([`mod@address`], [`mod@connect`]); headers of the owner
//! are added ([`mod@secret`]); the response's head is judged ([`mod@exchange`]), and a redirect begins all of this
//! anew. What goes to the guest is searched for secrets ([`mod@scrub`]). Every hop is told to a [`LogSink`].
//!
//! A [`BridgeNetwork`] is one thread with one runtime, for a process. A [`Bridge`] is a session's policy, counts and
//! open connections. An [`BridgeExchange`] is a request under way; its calls block.
//!
//! Without the feature `transport`, which has sockets, TLS and secrets, there is a [`RequestJudge`]: the same rules for a host
//! that has somebody else make the requests.
//!
//! # Invariants
//! - The default policy allows nothing.
//! - The URL that is judged is the URL that is sent; the addresses that are judged are those that are connected to.
//! - Certificates are verified. Nothing turns that off.
//! - No secret is in what a guest gets, in an error, in the log, or in a `Debug`.
//! - What is kept for a request is bounded, whatever guest and server do: 256 KiB each way, the
//!   head, and of the body what [`Limits::kept_body`] says.
//!
//! # Deliberately absent
//! Proxies of the host's environment, cookies, caches, decoding of bodies that need not be searched: they
//! are the guest's. Trailers, upgrades, CONNECT. HTTP/3.
#![forbid(unsafe_code)]
// What only the transport uses of the rest.
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
