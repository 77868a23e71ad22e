//! Running a command name: function, builtin, program (POSIX XCU 2.9.1.4, bash manual 3.7.2).
//!
//! | file | contents |
//! |---|---|
//! | `lookup` | from a name to [`ResolvedCommand`], the hash table, messages and statuses 126 and 127 |
//! | `function` | calling a function |
//! | `program` | spawning a program, or running a small applet in-process |
//! | `spawn` | descriptors, pumps and waiting around a child |
//! | `environment` | the environment of a child |
//! | `children` | background children: those that ended, and waiting for jobs |

mod children;
mod environment;
mod function;
mod lookup;
mod program;
mod spawn;

pub(crate) use environment::ChildEnv;
pub use lookup::{MissingCommand, MissingReason, ResolvedCommand};
pub(crate) use spawn::{Children, Pumps};
