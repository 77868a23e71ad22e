//! Process numbers as a script sees them, and the depth of subshells. Most subshells have no
//! process of their own, and therefore a number that no process of the session has.

use box_sys::Pid;
use serde::{Deserialize, Serialize};

/// The difference between the shell's number and the first number without a process. Numbers of
/// processes in the guest are small.
const NO_PROCESS: u32 = 1_000_000;

/// The numbers of a shell.
#[derive(Clone, Copy, Debug, Serialize, Deserialize)]
pub struct Ids {
    /// `$$`: the main shell's number, also in subshells.
    shell: Pid,
    /// `$BASHPID`. Each process has its own.
    #[serde(skip)]
    own: Pid,
    /// The number of subshells around this code.
    subshells: u32,
    /// `$!`
    pub last_background: Option<Pid>,
}

impl Ids {
    /// Returns the numbers of the main shell, whose process is `pid`.
    pub fn new(pid: Pid) -> Ids {
        Ids { shell: pid, own: pid, subshells: 0, last_background: None }
    }

    /// Returns `$$`.
    pub fn shell_pid(&self) -> Pid {
        self.shell
    }

    /// Returns `$BASHPID`.
    pub fn own_pid(&self) -> Pid {
        self.own
    }

    /// Returns the number of subshells around this code.
    pub fn subshell_depth(&self) -> u32 {
        self.subshells
    }

    /// Returns whether this is a subshell.
    pub fn is_subshell(&self) -> bool {
        self.subshells > 0
    }

    /// Returns a number for the `count`th job that has no process.
    pub fn pseudo_pid(&self, count: u32) -> Pid {
        self.shell.wrapping_add(NO_PROCESS + count)
    }

    /// Begins a subshell, whose number is `own`.
    pub fn enter_subshell(&mut self, own: Pid) {
        self.own = own;
        self.subshells += 1;
    }

    /// Counts two nested subshells as one level.
    pub fn count_once(&mut self) {
        self.subshells = self.subshells.saturating_sub(1);
    }

    /// Returns the numbers with `$BASHPID` set to that of the process `pid`.
    #[must_use]
    pub fn in_process(self, pid: Pid) -> Ids {
        Ids { own: pid, ..self }
    }
}
