//! Package managers. Nothing can be installed, so they say what is built in: a request for packages
//! that the image has succeeds, any other one fails as it does for an unknown package, and names
//! what serves instead.
//!
//! What is built in follows from the table of commands ([`catalogue`]).
//!
//! | file | contents |
//! |---|---|
//! | `catalogue` | packages, their commands and versions; what serves instead of a missing one |
//! | `request` | the actions that the managers share |
//! | `apt` | `apt`, `apt-get`, `apt-cache` |
//! | `dpkg` | `dpkg` |
//! | `others` | `yum`, `dnf`, `apk`, `brew` |

pub(crate) mod apt;
mod catalogue;
pub(crate) mod dpkg;
pub(crate) mod others;
mod request;
