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

mod address;
mod body;
mod bridge;
mod connect;
mod decode;
mod error;
mod exchange;
mod limits;
mod log;
pub mod message;
mod network;
mod path;
mod pipe;
mod request;
mod resolve;
mod rules;
mod scrub;
mod secret;
mod tls;

pub use address::{Class, class};
pub use bridge::{Bridge, Exchange, Policy};
pub use error::{ConnectFault, Error, HeaderFault, Limit, Phase, Refusal, UrlFault};
pub use limits::{Limits, MAX_URL, Usage};
pub use log::{Entry, NoLog, Sink};
pub use message::{BodyLength, Header, Redirect, RequestHead, ResponseHead, Version};
pub use network::{Network, NetworkOptions};
pub use resolve::{Resolve, SystemResolver};
pub use rules::{Rule, RuleError, RuleFault, RuleSpec, Rules};
pub use secret::{SecretError, SecretFn, SecretRule};
pub use tls::{Roots, RootsError};
pub use zeroize::Zeroizing;
