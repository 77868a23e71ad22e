//! Package managers. Nothing can be installed: a request for packages that the image has succeeds,
//! any other one fails as it does for an unknown package, and names a replacement.
//!
//! The built-in packages follow from the table of commands ([`catalogue`]).
//!
//! | file | contents |
//! |---|---|
//! | `catalogue` | packages, their commands and versions; replacements of missing ones |
//! | `request` | the actions that the managers share |
//! | `apt` | `apt`, `apt-get`, `apt-cache` |
//! | `dpkg` | `dpkg` |
//! | `others` | `yum`, `dnf`, `apk`, `brew` |

pub(crate) mod apt;
mod catalogue;
pub(crate) mod dpkg;
pub(crate) mod others;
mod request;
