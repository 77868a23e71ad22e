//! Commands about the network. There is one interface, the loopback of the session, no route beyond
//! it and no name server; these commands say so.
//!
//! | file | contents |
//! |---|---|
//! | `ping` | `ping` |
//! | `interfaces` | `ip`, `ifconfig` |
//! | `sockets` | `ss`, `netstat`, `lsof -i` |
//! | `names` | `dig`, `host`, `nslookup` |

pub(crate) mod interfaces;
pub(crate) mod names;
pub(crate) mod ping;
pub(crate) mod sockets;

/// The sentence after a request for a host beyond the loopback.
const BEYOND: &str =
    "only the session's own loopback is there; use curl, for what the sandbox's policy allows";
