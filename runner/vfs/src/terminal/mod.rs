//! Pseudo-terminals, as Linux has them (`pty(7)`, `termios(3)`).
//!
//! | file | content |
//! |---|---|
//! | `discipline` | the line discipline: bytes and attributes in, bytes and signals out |
//! | `line` | the input that waits to be read, with the ends of lines |
//! | `input` | what typed bytes do: special characters, editing, signals |
//! | `echo` | echo, which waits while the output is stopped |
//! | `output` | what written bytes become: columns, tabs, line ends |
//! | `reading` | reads: lines, or bytes by VMIN and VTIME |
//! | `pair` | a terminal with its two kinds of ends, and the session that it controls |
//! | `registry` | the terminals of a session of this runner |
//! | `exchange` | the node `/.box/terminal`, whose requests the kernel answers |
//!
//! The discipline follows Linux's `n_tty` function by function; `tests/terminals.rs` compares it
//! with recordings of Linux. It has no lock, no clock and no processes. A terminal knows groups and
//! sessions by their numbers only: which signals a group is to receive is returned to the kernel.
//!
//! Like pipes, ends never block: a caller that must wait registers its thread and parks.
//!
//! # Deliberately absent
//! Packet mode (TIOCPKT), TIOCSTI, and modem lines: nothing here needs them. Opening a terminal
//! never makes it the controlling one, because preview 1 has no O_NOCTTY to prevent it.

mod discipline;
mod echo;
mod exchange;
mod input;
mod line;
mod output;
mod pair;
mod reading;
mod registry;

pub use discipline::LineDiscipline;
pub use exchange::TerminalExchange;
pub use pair::{GroupSignal, MasterEnd, SlaveEnd, Terminal};
pub use reading::{ReadProgress, ReadStep};
pub use registry::{MAX_TERMINALS, TerminalSignals, Terminals};
