//! The trap table. Conditions are numbers: 0 is `EXIT`, 1 to 64 are signals, then the
//! three pseudo signals.

use std::collections::BTreeMap;
use std::rc::Rc;

use box_sys::signal;
use sh_expand::Str;

pub const EXIT: u8 = 0;
pub const DEBUG: u8 = 65;
pub const ERR: u8 = 66;
pub const RETURN: u8 = 67;

/// Actions by condition; an empty action ignores the signal.
#[derive(Clone, Debug, Default)]
pub struct Traps {
    actions: Rc<BTreeMap<u8, Str>>,
    /// What `trap` lists in a subshell until it sets a trap of its own (POSIX XCU trap).
    inherited: Option<Rc<BTreeMap<u8, Str>>>,
    /// The shell runs beside another one, which has the keyboard: INT and QUIT are ignored unless
    /// there is an action for them.
    background: bool,
    /// Fast answers to "is there one".
    pub has_debug: bool,
    pub has_err: bool,
    pub has_return: bool,
}

/// A DEBUG trap out of force.
#[derive(Debug)]
pub struct TakenDebug {
    action: Str,
    /// It was in force where it was taken, not hidden from a function.
    seen: bool,
}

impl Traps {
    pub fn get(&self, condition: u8) -> Option<&Str> {
        self.actions.get(&condition)
    }

    pub fn is_empty(&self) -> bool {
        self.actions.is_empty()
    }

    /// Sets or (`None`) resets an action.
    pub fn set(&mut self, condition: u8, action: Option<Str>) {
        self.inherited = None;
        let acts = action.as_ref().is_some_and(|a| !a.is_empty());
        let map = Rc::make_mut(&mut self.actions);
        match action {
            Some(a) => map.insert(condition, a),
            None if self.background && condition == signal::INT => {
                map.insert(condition, Str::default())
            }
            None => map.remove(&condition),
        };
        // Others stay hidden from the function that sets this one.
        match condition {
            DEBUG => self.has_debug = acts,
            ERR => self.has_err = acts,
            RETURN => self.has_return = acts,
            _ => {}
        }
    }

    /// Removes the DEBUG trap for as long as a file is sourced.
    #[must_use]
    pub fn take_debug(&mut self) -> Option<TakenDebug> {
        let action = Rc::make_mut(&mut self.actions).remove(&DEBUG)?;
        Some(TakenDebug { action, seen: std::mem::take(&mut self.has_debug) })
    }

    /// Puts the DEBUG trap back, unless there is another one now.
    pub fn put_debug_back(&mut self, taken: TakenDebug) {
        if self.get(DEBUG).is_none() {
            Rc::make_mut(&mut self.actions).insert(DEBUG, taken.action);
            self.has_debug = taken.seen;
        }
    }

    fn sync(&mut self) {
        let set = |c| self.actions.get(&c).is_some_and(|a: &Str| !a.is_empty());
        (self.has_debug, self.has_err, self.has_return) = (set(DEBUG), set(ERR), set(RETURN));
    }

    /// What a listing shows, in order of the conditions.
    pub fn listed(&self) -> impl Iterator<Item = (u8, &Str)> {
        self.inherited.as_ref().unwrap_or(&self.actions).iter().map(|(c, a)| (*c, a))
    }

    /// What is really in force.
    pub fn active(&self) -> impl Iterator<Item = (u8, &Str)> {
        self.actions.iter().map(|(c, a)| (*c, a))
    }

    /// A subshell keeps ignored signals; `ERR`, `DEBUG` and `RETURN` only when asked to.
    pub fn enter_subshell(&mut self, errtrace: bool, functrace: bool) {
        if self.actions.is_empty() {
            return;
        }
        let old = self.actions.clone();
        let keep = |c: u8, a: &Str| match c {
            EXIT => false,
            ERR => errtrace,
            DEBUG | RETURN => functrace,
            _ => a.is_empty(),
        };
        let kept = old.iter().filter(|(c, a)| keep(**c, a)).map(|(c, a)| (*c, a.clone()));
        self.actions = Rc::new(kept.collect());
        self.inherited.get_or_insert(old);
        self.sync();
    }

    /// Keyboard signals are the other shell's from now on (POSIX XCU 2.11). As in bash, only INT is
    /// listed.
    pub fn enter_background(&mut self) {
        self.background = true;
        for map in std::iter::once(&mut self.actions).chain(&mut self.inherited) {
            Rc::make_mut(map).insert(signal::INT, Str::default());
        }
    }

    pub fn is_background(&self) -> bool {
        self.background
    }

    /// Whether a signal is ignored though it has no action.
    pub fn ignores_unlisted(&self, condition: u8) -> bool {
        self.background && condition == signal::QUIT && !self.actions.contains_key(&condition)
    }

    /// The traps of another shell: those in force and those that `trap` lists.
    pub fn restore(
        actions: BTreeMap<u8, Str>,
        listed: BTreeMap<u8, Str>,
        background: bool,
    ) -> Traps {
        let inherited = (listed != actions).then(|| Rc::new(listed));
        let actions = Rc::new(actions);
        let mut t = Traps { actions, inherited, background, ..Traps::default() };
        t.sync();
        t
    }
}

/// The condition of this name or number, as `trap` takes it.
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

/// Every condition there is, in the order of listings.
pub fn all() -> impl Iterator<Item = u8> {
    EXIT..=RETURN
}

/// The name as `trap -p` prints it.
pub fn name(condition: u8) -> String {
    match condition {
        EXIT => "EXIT".into(),
        DEBUG => "DEBUG".into(),
        ERR => "ERR".into(),
        RETURN => "RETURN".into(),
        n => signal::name(n).map_or_else(|| n.to_string(), |s| format!("SIG{s}")),
    }
}

/// A trap that does not run within itself.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Trap {
    Debug,
    Err,
    Return,
    Exit,
}

/// The traps whose actions run.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, serde::Serialize, serde::Deserialize)]
pub(crate) struct Running(u8);

impl Running {
    pub fn has(self, trap: Trap) -> bool {
        self.0 & 1 << trap as u8 != 0
    }

    /// These and that one.
    #[must_use]
    pub fn with(self, trap: Trap) -> Running {
        Running(self.0 | 1 << trap as u8)
    }

    /// These but that one.
    #[must_use]
    pub fn without(self, trap: Trap) -> Running {
        Running(self.0 & !(1 << trap as u8))
    }
}
