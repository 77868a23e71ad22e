//! The trap table. Conditions are numbers: 0 is `EXIT`, 1 to 64 are signals, then the
//! three pseudo signals.

use std::collections::BTreeMap;
use std::rc::Rc;

use box_sys::signal;
use serde::{Deserialize, Serialize};
use sh_expand::Str;

/// The condition `EXIT`.
pub const EXIT: u8 = 0;
/// The condition `DEBUG`.
pub const DEBUG: u8 = 65;
/// The condition `ERR`.
pub const ERR: u8 = 66;
/// The condition `RETURN`.
pub const RETURN: u8 = 67;

/// Actions by condition; an empty action ignores the signal.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Traps {
    actions: Rc<BTreeMap<u8, Str>>,
    /// The traps that `trap` lists in a subshell until it sets a trap of its own (POSIX XCU trap).
    inherited: Option<Rc<BTreeMap<u8, Str>>>,
    /// Whether the shell runs beside another one: QUIT is ignored unless there is an action for it.
    ignores_quit: bool,
    /// The conditions with an action that is visible here, for a fast check.
    seen: TrapSet,
    /// The status that `exit` or `set -e` gave within the EXIT trap.
    #[serde(skip)]
    exit_status: Option<i32>,
}

/// A DEBUG trap that is temporarily removed.
#[derive(Debug)]
pub struct SuspendedDebugTrap {
    action: Str,
    /// Whether the trap was visible where it was removed, instead of hidden from a function.
    seen: bool,
}

/// The traps at the beginning of a function.
#[derive(Debug)]
pub struct HiddenTraps {
    /// The traps that the function does not see.
    actions: Vec<(u8, Str)>,
    /// The traps that are visible around the function.
    around: TrapSet,
    /// The traps that the function saw at its beginning.
    inside: TrapSet,
}

impl Traps {
    /// Returns the action of a condition.
    pub fn get(&self, condition: u8) -> Option<&Str> {
        self.actions.get(&condition)
    }

    /// Returns whether no condition has an action.
    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Sets an action, or resets it for `None`.
    pub fn set(&mut self, condition: u8, action: Option<Str>) {
        self.inherited = None;
        let acts = action.as_ref().is_some_and(|a| !a.is_empty());
        let map = Rc::make_mut(&mut self.actions);
        match action {
            Some(a) => map.insert(condition, a),
            None => map.remove(&condition),
        };
        // Of the traps that may be hidden, only this one becomes visible.
        if let Some(trap) = Trap::HIDDEN.into_iter().find(|t| t.condition() == condition) {
            self.seen = self.seen.put(trap, acts);
        }
    }

    /// Returns whether there is an action that the current commands see.
    #[inline]
    pub fn sees_trap(&self, trap: Trap) -> bool {
        self.seen.has(trap)
    }

    /// Hides the DEBUG trap from all following commands.
    pub fn hide_debug(&mut self) {
        self.seen = self.seen.without_trap(Trap::Debug);
    }

    /// Enters a function that sees only the traps in `reaching`.
    #[must_use]
    pub(crate) fn enter_function(&mut self, reaching: TrapSet) -> HiddenTraps {
        let around = self.seen;
        let mut actions = Vec::new();
        for trap in Trap::HIDDEN {
            if self.seen.has(trap) && !reaching.has(trap) {
                self.seen = self.seen.without_trap(trap);
                let condition = trap.condition();
                actions.extend(self.get(condition).map(|action| (condition, action.clone())));
            }
        }
        HiddenTraps { actions, around, inside: self.seen }
    }

    /// Leaves a function. Traps that it set stay in force. All others become visible as before, and
    /// a trap that the function reset without seeing it is restored.
    pub(crate) fn leave_function(&mut self, hidden: HiddenTraps) {
        for (condition, action) in hidden.actions {
            if self.get(condition).is_none() {
                self.set(condition, Some(action));
            }
        }
        for trap in Trap::HIDDEN {
            if self.seen.has(trap) == hidden.inside.has(trap) {
                self.seen = self.seen.put(trap, hidden.around.has(trap));
            }
        }
    }

    /// Returns the status that `exit` or `set -e` gave within the EXIT trap.
    pub fn exit_status(&self) -> Option<i32> {
        self.exit_status
    }

    /// Records the status of the EXIT trap.
    pub fn set_exit_status(&mut self, status: Option<i32>) {
        self.exit_status = status;
    }

    /// Removes the DEBUG trap while a file is sourced.
    #[must_use]
    pub fn take_debug(&mut self) -> Option<SuspendedDebugTrap> {
        let action = Rc::make_mut(&mut self.actions).remove(&DEBUG)?;
        let seen = self.sees_trap(Trap::Debug);
        self.hide_debug();
        Some(SuspendedDebugTrap { action, seen })
    }

    /// Restores the DEBUG trap, unless a new one has been set.
    pub fn put_debug_back(&mut self, taken: SuspendedDebugTrap) {
        if self.get(DEBUG).is_none() {
            Rc::make_mut(&mut self.actions).insert(DEBUG, taken.action);
            self.seen = self.seen.put(Trap::Debug, taken.seen);
        }
    }

    fn sync_sets(&mut self) {
        for trap in Trap::HIDDEN {
            let acts = self.actions.get(&trap.condition()).is_some_and(|a: &Str| !a.is_empty());
            self.seen = self.seen.put(trap, acts);
        }
    }

    /// Returns the traps that a listing shows, in order of the conditions.
    pub fn listed_traps(&self) -> impl Iterator<Item = (u8, &Str)> {
        self.inherited.as_ref().unwrap_or(&self.actions).iter().map(|(c, a)| (*c, a))
    }

    /// Returns the traps that are in force in this shell.
    pub fn active_traps(&self) -> impl Iterator<Item = (u8, &Str)> {
        self.actions.iter().map(|(c, a)| (*c, a))
    }

    /// Enters a subshell, which keeps ignored signals, and `ERR`, `DEBUG` and `RETURN` only on
    /// request.
    pub fn enter_subshell(&mut self, errtrace: bool, functrace: bool) {
        if self.actions.is_empty() {
            return;
        }
        let old = self.actions.clone();
        let keep = |c: u8, a: &Str| match c {
            // An empty action does nothing there, but is listed.
            EXIT => a.is_empty(),
            ERR => errtrace,
            DEBUG | RETURN => functrace,
            _ => a.is_empty(),
        };
        let kept = old.iter().filter(|(c, a)| keep(**c, a)).map(|(c, a)| (*c, a.clone()));
        self.actions = Rc::new(kept.collect());
        self.inherited.get_or_insert(old);
        self.sync_sets();
    }

    /// Enters a process substitution, which ignores QUIT, and where `trap` does not list the traps
    /// of the shell around it.
    pub fn enter_process_sub(&mut self) {
        self.inherited = None;
        self.ignores_quit = true;
    }

    /// Ignores keyboard signals, which belong to the other shell from then on (POSIX XCU 2.11). As
    /// in bash, only INT is listed.
    pub fn enter_background(&mut self) {
        self.ignores_quit = true;
        for map in std::iter::once(&mut self.actions).chain(&mut self.inherited) {
            Rc::make_mut(map).insert(signal::INT, Str::default());
        }
    }

    /// Returns whether a signal is ignored although it has no action.
    pub fn ignores_unlisted(&self, condition: u8) -> bool {
        self.ignores_quit && condition == signal::QUIT && !self.actions.contains_key(&condition)
    }
}

/// Parses the name or number of a condition as given to `trap`.
pub fn parse(text: &[u8]) -> Option<u8> {
    let upper = text.to_ascii_uppercase();
    match upper.strip_prefix(b"SIG".as_slice()).unwrap_or(&upper) {
        b"EXIT" => Some(EXIT),
        b"DEBUG" => Some(DEBUG),
        b"ERR" => Some(ERR),
        b"RETURN" => Some(RETURN),
        _ => signal::parse(text),
    }
}

/// Returns every condition in the order of listings.
pub fn all_conditions() -> impl Iterator<Item = u8> {
    EXIT..=RETURN
}

/// Returns the name as `trap -p` prints it.
pub fn name(condition: u8) -> String {
    match condition {
        EXIT => "EXIT".into(),
        DEBUG => "DEBUG".into(),
        ERR => "ERR".into(),
        RETURN => "RETURN".into(),
        n => signal::name(n).map_or_else(|| n.to_string(), |s| format!("SIG{s}")),
    }
}

/// A condition that the shell itself raises.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    Debug,
    Err,
    Return,
    Exit,
}

impl Trap {
    /// The conditions that may be hidden from functions.
    const HIDDEN: [Trap; 3] = [Trap::Debug, Trap::Return, Trap::Err];

    /// Returns its number among the conditions.
    pub fn condition(self) -> u8 {
        match self {
            Trap::Debug => DEBUG,
            Trap::Err => ERR,
            Trap::Return => RETURN,
            Trap::Exit => EXIT,
        }
    }
}

/// A set of such conditions.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct TrapSet(u8);

impl TrapSet {
    /// Returns whether the set contains a trap.
    #[inline]
    pub fn has(self, trap: Trap) -> bool {
        self.0 & 1 << trap as u8 != 0
    }

    /// Returns the set with one more trap.
    #[must_use]
    pub fn with_trap(self, trap: Trap) -> TrapSet {
        TrapSet(self.0 | 1 << trap as u8)
    }

    /// Returns the set without a trap.
    #[must_use]
    pub fn without_trap(self, trap: Trap) -> TrapSet {
        TrapSet(self.0 & !(1 << trap as u8))
    }

    /// Returns the set with a trap added if `on` is true and removed otherwise.
    #[must_use]
    pub fn put(self, trap: Trap, on: bool) -> TrapSet {
        if on { self.with_trap(trap) } else { self.without_trap(trap) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn text(text: &str) -> Option<Str> {
        Some(Rc::new(text.as_bytes().to_vec()))
    }

    #[test]
    fn a_function_sees_only_the_traps_that_reach_it() {
        let mut traps = Traps::default();
        traps.set(DEBUG, text("d"));
        traps.set(ERR, text("e"));
        let hidden = traps.enter_function(TrapSet::default().with_trap(Trap::Err));
        assert!(!traps.sees_trap(Trap::Debug) && traps.sees_trap(Trap::Err));
        traps.leave_function(hidden);
        assert!(traps.sees_trap(Trap::Debug) && traps.sees_trap(Trap::Err));
    }

    #[test]
    fn traps_set_by_a_function_stay_and_hidden_ones_that_it_resets_return() {
        let mut traps = Traps::default();
        traps.set(DEBUG, text("d"));
        let hidden = traps.enter_function(TrapSet::default());
        traps.set(RETURN, text("r"));
        traps.set(DEBUG, None);
        traps.leave_function(hidden);
        assert!(traps.sees_trap(Trap::Debug) && traps.sees_trap(Trap::Return));
        assert_eq!(traps.get(DEBUG), text("d").as_ref());
    }
}
