//! HTTP out of the box: a request of a hostile guest and a policy give a response, or an error that says why not.
//!
//! # Stages
//! A [`RequestHead`] is checked and brought into one form ([`mod@request`]); [`Rules`] say whether it may be made;
//! its host is resolved once and the addresses are judged ([`mod@address`], [`mod@connect`]); headers of the owner
//! are added ([`mod@secret`]); the response's head is judged ([`mod@exchange`]), and a redirect begins all of this
//! anew. What goes to the guest is searched for secrets ([`mod@scrub`]). Every hop is told to a [`Sink`].
//!
//! A [`Network`] is one thread with one runtime, for a process. A [`Bridge`] is a session's policy, counts and
//! open connections. An [`Exchange`] is a request under way; its calls block.
//!
//! Without the feature `transport`, which has sockets, TLS and secrets, there is a [`Judge`]: the same rules for a host
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

pub use address::{Class, class};
#[cfg(feature = "transport")]
pub use bridge::{Bridge, Exchange, Policy};
pub use error::{ConnectFault, Error, HeaderFault, Limit, Phase, Refusal, UrlFault};
pub use judge::{Judge, Judged, PlaceError};
pub use limits::{Limits, MAX_URL, Usage};
#[cfg(feature = "transport")]
pub use log::{Entry, NoLog, Sink};
pub use message::{BodyLength, Header, Redirect, RequestHead, ResponseHead, Version};
#[cfg(feature = "transport")]
pub use network::{Network, NetworkOptions};
#[cfg(feature = "transport")]
pub use resolve::{Resolve, SystemResolver};
pub use rules::{Rule, RuleError, RuleFault, RuleSpec, Rules};
#[cfg(feature = "transport")]
pub use secret::{SecretError, SecretFn, SecretRule};
#[cfg(feature = "transport")]
pub use tls::{Roots, RootsError};
#[cfg(feature = "transport")]
pub use zeroize::Zeroizing;
