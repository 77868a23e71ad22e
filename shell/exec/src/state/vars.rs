//! The table of variables: one map from each name to its visible variable, and a stack of scopes,
//! each of which stores the variables it hides (shallow binding). Lookup, by far the most frequent
//! operation, is one probe however deeply functions nest; entering and leaving a scope takes time
//! only for the scope's own variables.
//!
//! Invariants: a variable's `level` is the number of the scope that declared it (0 is global); for
//! every variable of level n > 0 the scope n has exactly one `saved` entry. A clone shares the map
//! and the scopes until one of the two is changed.

use std::rc::Rc;
use std::sync::atomic::{AtomicU64, Ordering};

use serde::{Deserialize, Serialize};
use sh_expand::array::{AssocArray, IndexedArray};
use sh_expand::{Attributes, Str, VarValue};

use super::hash::FastMap;

/// The name of a variable or function; clones share it.
pub type Name = Rc<[u8]>;

/// A variable whose value is computed on use.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Dynamic {
    Random,
    SRandom,
    Seconds,
    EpochSeconds,
    EpochRealtime,
    LineNo,
    BashPid,
    BashCommand,
    BashSubshell,
    FuncName,
    BashSource,
    BashLineNo,
    PipeStatus,
    DirStack,
    ShellOpts,
    BashOpts,
    Groups,
    BashArgv0,
    BashArgv,
    BashArgc,
    BashAliases,
    BashCmds,
    Underscore,
    /// The host name, which is read on use; assigning to it makes it an ordinary variable.
    HostName,
}

/// The content of a variable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub enum VarSlot {
    /// Declared, but without a value.
    Unset,
    /// A scalar written by arithmetic, kept as a number until its text is needed.
    Int(i64),
    Scalar(Str),
    Indexed(Rc<IndexedArray>),
    Assoc(Rc<AssocArray>),
    Dynamic(Dynamic),
}

/// The state of a variable that was made by an assignment before a command.
#[derive(Clone, Copy, Debug, Default, Serialize, Deserialize)]
pub struct TemporaryVar {
    /// Whether the called function has declared it again, with `local` or `declare`.
    pub local: bool,
    /// Whether `export` or `readonly` makes the variable outlive its scope. It then moves to the
    /// outer scope.
    pub outlives: bool,
}

/// A variable.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct ShellVar {
    pub slot: VarSlot,
    pub attrs: Attributes,
    /// The scope that declared it.
    pub level: u32,
    pub temporary: Option<TemporaryVar>,
}

impl ShellVar {
    /// Returns a variable without a value that is declared in the scope `level`.
    pub fn unset(level: u32) -> ShellVar {
        ShellVar { slot: VarSlot::Unset, attrs: Attributes::default(), level, temporary: None }
    }

    /// Returns a global variable.
    pub fn global(slot: VarSlot, attrs: Attributes) -> ShellVar {
        ShellVar { slot, attrs, ..ShellVar::unset(0) }
    }

    /// Returns a global variable with a text and no attributes.
    pub fn scalar(text: &[u8]) -> ShellVar {
        ShellVar::global(VarSlot::Scalar(Rc::new(text.to_vec())), Attributes::default())
    }

    /// Returns the value, except for dynamic variables.
    pub fn value(&self) -> Option<VarValue> {
        match &self.slot {
            VarSlot::Unset | VarSlot::Dynamic(_) => None,
            VarSlot::Int(n) => Some(VarValue::Scalar(Rc::new(decimal_digits(*n)))),
            VarSlot::Scalar(s) => Some(VarValue::Scalar(s.clone())),
            VarSlot::Indexed(a) => Some(VarValue::Indexed(a.clone())),
            VarSlot::Assoc(a) => Some(VarValue::Assoc(a.clone())),
        }
    }

    /// Returns the value as a scalar: element 0 of an array.
    pub fn text(&self) -> Option<Str> {
        match &self.slot {
            VarSlot::Unset | VarSlot::Dynamic(_) => None,
            VarSlot::Int(n) => Some(Rc::new(decimal_digits(*n))),
            VarSlot::Scalar(s) => Some(s.clone()),
            VarSlot::Indexed(a) => a.get(0).cloned(),
            VarSlot::Assoc(a) => a.get(b"0").cloned(),
        }
    }

    /// Returns whether a variable that is not global was declared by `local` or `declare`.
    pub fn is_local(&self) -> bool {
        self.temporary.is_none_or(|t| t.local)
    }

    /// Returns whether the variable has a value.
    pub fn is_set(&self) -> bool {
        !matches!(self.slot, VarSlot::Unset)
    }

    /// Returns whether the variable is an associative array, by its value or by its attributes
    /// alone.
    pub fn is_assoc(&self) -> bool {
        self.attrs.intersects(Attributes::ASSOC) || matches!(self.slot, VarSlot::Assoc(_))
    }

    /// Returns whether the variable is an array, by its value or by its attributes alone.
    pub fn is_array(&self) -> bool {
        matches!(self.slot, VarSlot::Indexed(_) | VarSlot::Assoc(_))
            || self.attrs.intersects(Attributes::ARRAY)
    }
}

/// Returns the decimal digits of a number.
pub fn decimal_digits(n: i64) -> Vec<u8> {
    let mut buf = [0u8; 20];
    let mut at = buf.len();
    let mut rest = n.unsigned_abs();
    loop {
        at -= 1;
        buf[at] = b'0' + (rest % 10) as u8;
        rest /= 10;
        if rest == 0 {
            break;
        }
    }
    let mut out = Vec::with_capacity(21 - at);
    if n < 0 {
        out.push(b'-');
    }
    out.extend_from_slice(&buf[at..]);
    out
}

/// The construct that opened a scope.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ScopeKind {
    /// A function call with the assignments before it; `local` declares variables in such a scope.
    Function,
    /// Assignments before a command other than a function.
    Temporary,
}

/// A scope with the variables that it hides.
#[derive(Clone, Debug, Serialize, Deserialize)]
pub struct Scope {
    pub kind: ScopeKind,
    pub saved: Vec<(Name, Option<ShellVar>)>,
    /// Options to restore when the function returns, after `local -`. They are not serialized,
    /// because the function does not return in another process.
    #[serde(skip)]
    pub options: Option<Box<super::options::ShellOptions>>,
}

/// A byte that is put before a name to mean the global variable of that name, if a local nameref to
/// its own name hides it. Only following namerefs makes such names; no variable's own name has this
/// byte.
pub const OUTERMOST: u8 = 2;

/// The table of variables.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct Vars {
    map: Rc<FastMap<Name, ShellVar>>,
    scopes: Rc<Vec<Scope>>,
    /// A number that is new after each change that may alter the environment of children.
    #[serde(skip, default = "next_generation")]
    env_generation: u64,
}

/// Returns a number that no table has had before. Subshells change copies of the table and discard
/// them, and a copy must not be taken for another one that has the same number.
fn next_generation() -> u64 {
    static LAST: AtomicU64 = AtomicU64::new(0);
    LAST.fetch_add(1, Ordering::Relaxed) + 1
}

impl Vars {
    /// Returns the visible variable of that name.
    #[inline]
    pub fn get(&self, name: &[u8]) -> Option<&ShellVar> {
        self.map.get(name).or_else(|| self.outermost_var(name))
    }

    #[inline]
    fn outermost_var(&self, name: &[u8]) -> Option<&ShellVar> {
        let (&OUTERMOST, name) = name.split_first()? else { return None };
        match self.hidden_global(name) {
            None => self.map.get(name).filter(|v| v.level == 0),
            Some((scope, at)) => self.scopes[scope].saved[at].1.as_ref(),
        }
    }

    /// Returns the place where a global variable that locals hide is saved: the index of the
    /// outermost scope that hides the variable, and the variable's index there.
    fn hidden_global(&self, name: &[u8]) -> Option<(usize, usize)> {
        let kept = |s: &Scope| s.saved.iter().position(|(n, _)| **n == *name);
        self.scopes.iter().enumerate().find_map(|(i, s)| kept(s).map(|at| (i, at)))
    }

    /// Returns whether a hidden variable of that name has a value.
    pub fn hides_value(&self, name: &[u8]) -> bool {
        let kept = |s: &Scope| {
            s.saved.iter().any(|(n, v)| **n == *name && v.as_ref().is_some_and(ShellVar::is_set))
        };
        self.scopes.iter().any(kept)
    }

    /// Returns an existing variable for changes in place; call [`Vars::touch_env`] for exported
    /// ones.
    #[inline]
    pub fn get_mut(&mut self, name: &[u8]) -> Option<&mut ShellVar> {
        if let Some((&OUTERMOST, outer)) = name.split_first() {
            self.outermost_var(name)?;
            return Some(self.global_mut(outer));
        }
        Rc::make_mut(&mut self.map).get_mut(name)
    }

    /// Returns the variable for writing; creates it, global and without a value, if there is none.
    pub fn entry_or_insert(&mut self, name: &[u8]) -> &mut ShellVar {
        if let Some((&OUTERMOST, name)) = name.split_first() {
            return self.global_mut(name);
        }
        let map = Rc::make_mut(&mut self.map);
        if !map.contains_key(name) {
            map.insert(Rc::from(name), ShellVar::unset(0));
        }
        match map.get_mut(name) {
            Some(v) => v,
            // Inserted above.
            None => unreachable!(),
        }
    }

    /// Inserts a variable. Its level must be 0, or that of a scope that has saved the name.
    pub fn insert(&mut self, name: &[u8], var: ShellVar) {
        self.env_generation = next_generation();
        Rc::make_mut(&mut self.map).insert(Rc::from(name), var);
    }

    /// Records that the environment of children may have changed.
    pub fn touch_env(&mut self) {
        self.env_generation = next_generation();
    }

    /// Returns the generation number of the environment of children.
    pub fn env_generation(&self) -> u64 {
        self.env_generation
    }

    /// Returns the visible variables, in no particular order.
    pub fn iter(&self) -> impl Iterator<Item = (&Name, &ShellVar)> {
        self.map.iter()
    }

    /// Returns the names in byte order.
    pub fn sorted_names(&self) -> Vec<Name> {
        let mut names: Vec<Name> = self.map.keys().cloned().collect();
        names.sort_unstable();
        names
    }

    /// Returns the current scope's number; 0 outside of functions.
    pub fn scope_level(&self) -> u32 {
        self.scopes.len() as u32
    }

    /// Returns the number of the innermost function's scope, `None` outside of functions.
    pub fn function_level(&self) -> Option<u32> {
        let at = self.scopes.iter().rposition(|s| s.kind == ScopeKind::Function)?;
        Some(at as u32 + 1)
    }

    /// Returns the scope of this number.
    pub fn scope_mut(&mut self, level: u32) -> Option<&mut Scope> {
        Rc::make_mut(&mut self.scopes).get_mut((level as usize).checked_sub(1)?)
    }

    /// Returns whether the function of this scope has options of its own (`local -`).
    pub fn has_own_options(&self, level: u32) -> bool {
        let index = (level as usize).checked_sub(1);
        index.and_then(|i| self.scopes.get(i)).is_some_and(|s| s.options.is_some())
    }

    /// Returns the construct that opened the scope of this number.
    pub fn scope_kind(&self, level: u32) -> Option<ScopeKind> {
        self.scopes.get((level as usize).checked_sub(1)?).map(|s| s.kind)
    }

    /// Opens a scope.
    pub fn push_scope(&mut self, kind: ScopeKind) {
        Rc::make_mut(&mut self.scopes).push(Scope { kind, saved: Vec::new(), options: None });
    }

    /// Turns the innermost scope, which assignments before a function call have made, into the
    /// scope of that call.
    pub fn give_scope(&mut self) {
        if let Some(scope) = Rc::make_mut(&mut self.scopes).last_mut() {
            scope.kind = ScopeKind::Function;
        }
    }

    /// Leaves the innermost scope, so that the variables it hid are visible again. Calls `changed`
    /// with each name that the scope declared, and with its variable if that outlives the scope.
    /// Returns the options of `local -`.
    pub fn pop_scope(
        &mut self,
        mut changed: impl FnMut(Name, Option<ShellVar>),
    ) -> Option<Box<super::options::ShellOptions>> {
        let scope = Rc::make_mut(&mut self.scopes).pop()?;
        if !scope.saved.is_empty() {
            let map = Rc::make_mut(&mut self.map);
            for (name, old) in scope.saved.into_iter().rev() {
                let exported = |v: &ShellVar| v.attrs.intersects(Attributes::EXPORT);
                let was = map.get(&name).is_some_and(exported);
                let is = old.as_ref().is_some_and(exported);
                if was || is {
                    self.env_generation = next_generation();
                }
                let gone = match old {
                    Some(v) => map.insert(name.clone(), v),
                    None => map.remove(&name),
                };
                changed(name, gone.filter(|v| v.temporary.is_some_and(|t| t.outlives)));
            }
        }
        scope.options
    }

    /// Removes the innermost scope and returns its variables, with which [`Vars::put_scope`]
    /// restores it.
    pub fn lift_scope(&mut self) -> Vec<(Name, ShellVar)> {
        let Some(scope) = self.scopes.last() else { return Vec::new() };
        let names: Vec<Name> = scope.saved.iter().map(|(n, _)| n.clone()).collect();
        let vars =
            names.into_iter().filter_map(|n| self.get(&n).cloned().map(|v| (n, v))).collect();
        self.pop_scope(|_, _| {});
        vars
    }

    /// Opens a scope with these variables, such as those of [`Vars::lift_scope`].
    pub fn put_scope(&mut self, kind: ScopeKind, vars: Vec<(Name, ShellVar)>) {
        self.push_scope(kind);
        let level = self.scope_level();
        for (name, var) in vars {
            *self.declare_var(&name, level) = ShellVar { level, ..var };
        }
        self.env_generation = next_generation();
    }

    /// Declares `name` in the scope of this number, hiding the visible variable, and returns the
    /// new one. A variable that the scope has already declared is returned unchanged; one that a
    /// more deeply nested temporary scope has declared is left to that scope.
    pub fn declare_var(&mut self, name: &[u8], level: u32) -> &mut ShellVar {
        let visible = self.map.get(name).map(|v| v.level);
        if level == 0 || visible.is_some_and(|l| l >= level) {
            return self.entry_or_insert(name);
        }
        let key: Name = match self.map.get_key_value(name) {
            Some((k, _)) => k.clone(),
            None => Rc::from(name),
        };
        let map = Rc::make_mut(&mut self.map);
        let mut var = ShellVar::unset(level);
        // A local variable is exported if the one it hides is, as in bash.
        var.attrs = map.get(name).map(|v| v.attrs & Attributes::EXPORT).unwrap_or_default();
        if var.attrs.intersects(Attributes::EXPORT) {
            self.env_generation = next_generation();
        }
        let old = map.insert(key.clone(), var);
        if let Some(scope) = Rc::make_mut(&mut self.scopes).get_mut(level as usize - 1) {
            scope.saved.push((key, old));
        }
        self.entry_or_insert(name)
    }

    /// Removes the visible variable. A local of the current function stays local and loses its
    /// value. A local of a calling function is removed, so that the variable it hid becomes visible
    /// (bash's dynamic scope; with `localvar_unset` it stays unset, too).
    pub fn unset_var(&mut self, name: &[u8], keep_local: bool) {
        let Some(var) = self.map.get(name) else { return };
        let level = var.level;
        let (temporary, local) = (var.temporary.is_some(), var.is_local());
        if var.attrs.intersects(Attributes::EXPORT) {
            self.env_generation = next_generation();
        }
        let own = self.function_level() == Some(level);
        let map = Rc::make_mut(&mut self.map);
        if level == 0 {
            map.remove(name);
            return;
        }
        if (own || keep_local) && local {
            if let Some(v) = map.get_mut(name) {
                let kept =
                    if temporary { v.attrs & Attributes::EXPORT } else { Attributes::empty() };
                *v = ShellVar { attrs: kept, ..ShellVar::unset(level) };
            }
            return;
        }
        self.reveal_hidden(name, level);
    }

    /// Drops the variable that scope `level` declared, so that the variable it hid is visible.
    pub fn reveal_hidden(&mut self, name: &[u8], level: u32) {
        let map = Rc::make_mut(&mut self.map);
        let scope = Rc::make_mut(&mut self.scopes).get_mut((level as usize).wrapping_sub(1));
        let Some(scope) = scope else { return };
        if let Some(at) = scope.saved.iter().rposition(|(n, _)| **n == *name) {
            let (key, old) = scope.saved.remove(at);
            self.env_generation = next_generation();
            match old {
                Some(v) => map.insert(key, v),
                None => map.remove(&key),
            };
        }
    }

    /// Makes a variable from an assignment before a command outlive its scope, because `export`,
    /// `readonly` or `declare` was applied to it. Before a builtin, as in `x=1 eval 'export x'`,
    /// `export` and `readonly` do so only inside a function; `declare` always does (`anywhere`).
    pub fn outlive_scope(&mut self, name: &[u8], anywhere: bool) {
        let Some(v) = self.map.get(name) else { return };
        let level = v.level as usize;
        if v.temporary.is_none() {
            return;
        }
        if anywhere || self.scopes.iter().take(level).any(|s| s.kind == ScopeKind::Function) {
            let v = Rc::make_mut(&mut self.map).get_mut(name);
            if let Some(t) = v.and_then(|v| v.temporary.as_mut()) {
                t.outlives = true;
            }
        }
    }

    /// Returns the global variable of this name, even if locals hide it.
    pub fn global_var(&self, name: &[u8]) -> Option<&ShellVar> {
        match self.map.get(name).filter(|v| v.level > 0).and_then(|_| self.hidden_global(name)) {
            Some((i, at)) => self.scopes[i].saved[at].1.as_ref(),
            None => self.map.get(name),
        }
    }

    /// Returns the global variable of this name and creates it if necessary.
    pub fn global_mut(&mut self, name: &[u8]) -> &mut ShellVar {
        if self.map.get(name).is_none_or(|v| v.level == 0) {
            return self.entry_or_insert(name);
        }
        let Some((i, at)) = self.hidden_global(name) else { return self.entry_or_insert(name) };
        let (_, old) = &mut Rc::make_mut(&mut self.scopes)[i].saved[at];
        old.get_or_insert_with(|| ShellVar::unset(0))
    }

    /// Returns the names that are local to the scope of this number.
    pub fn local_names(&self, level: u32) -> Vec<Name> {
        let Some(scope) = self.scopes.get((level as usize).wrapping_sub(1)) else {
            return Vec::new();
        };
        let declared = |n: &Name| self.map.get(n).is_none_or(|v| v.level != level || v.is_local());
        let names = scope.saved.iter().map(|(n, _)| n).filter(|n| declared(n));
        let mut names: Vec<Name> = names.cloned().collect();
        names.sort_unstable();
        names.dedup();
        names
    }
}
