//! Variables as bytes, with the scopes that hide some of them.

use std::rc::Rc;

use sh_expand::Attributes;
use sh_expand::array::{AssocArray, IndexedArray};

use super::ship::{Reader, Writer};
use super::vars::{Name, Scope, ScopeKind, Slot, Temporary, Var, Vars};

pub(super) fn write(w: &mut Writer, vars: &Vars) {
    let all: Vec<_> = vars.iter().collect();
    w.num(all.len() as u64);
    for (name, var) in all {
        w.bytes(name);
        write_var(w, var);
    }
    w.num(vars.scopes().len() as u64);
    for scope in vars.scopes() {
        w.num(u64::from(scope.kind == ScopeKind::Function));
        w.num(scope.saved.len() as u64);
        for (name, hidden) in &scope.saved {
            w.bytes(name);
            w.num(u64::from(hidden.is_some()));
            if let Some(var) = hidden {
                write_var(w, var);
            }
        }
    }
}

/// `fresh`: the variables of the new shell, whose dynamic ones it keeps.
pub(super) fn read(r: &mut Reader<'_>, fresh: &Vars) -> Option<Vars> {
    let mut vars = Vars::default();
    for _ in 0..r.count()? {
        let name = r.bytes()?;
        if let Some(var) = read_var(r, name, fresh)? {
            vars.insert(name, var);
        }
    }
    for _ in 0..r.count()? {
        let kind = if r.num()? != 0 { ScopeKind::Function } else { ScopeKind::Temporary };
        let mut saved: Vec<(Name, Option<Var>)> = Vec::new();
        for _ in 0..r.count()? {
            let name = r.bytes()?;
            let hidden = r.num()? != 0;
            saved.push((name.into(), if hidden { read_var(r, name, fresh)? } else { None }));
        }
        // Options of `local -` are put back where the function returns, which is not here.
        vars.push_whole(Scope { kind, saved, options: None });
    }
    Some(vars)
}

fn write_var(w: &mut Writer, var: &Var) {
    w.num(attr_bits(var.attrs));
    w.num(u64::from(var.level));
    w.num(var.temporary.map_or(0, |t| 1 | u64::from(t.local) << 1 | u64::from(t.outlives) << 2));
    match &var.slot {
        Slot::Unset => w.num(0),
        Slot::Int(n) => {
            w.num(1);
            w.int(*n);
        }
        Slot::Scalar(t) => {
            w.num(2);
            w.bytes(t);
        }
        Slot::Indexed(a) => {
            w.num(3);
            w.num(a.len() as u64);
            for (i, t) in a.iter() {
                w.int(i);
                w.bytes(t);
            }
        }
        Slot::Assoc(a) => {
            w.num(4);
            w.num(a.len() as u64);
            for (k, t) in a.iter() {
                w.bytes(k);
                w.bytes(t);
            }
        }
        Slot::Dynamic(_) => w.num(5),
    }
}

/// The inner `None`: a dynamic variable that the new shell does not have.
fn read_var(r: &mut Reader<'_>, name: &[u8], fresh: &Vars) -> Option<Option<Var>> {
    let attrs = attrs(r.num()?);
    let level = r.num()? as u32;
    let temporary = match r.num()? {
        0 => None,
        bits => Some(Temporary { local: bits & 2 != 0, outlives: bits & 4 != 0 }),
    };
    let slot = match r.num()? {
        0 => Slot::Unset,
        1 => Slot::Int(r.int()?),
        2 => Slot::Scalar(r.text()?),
        3 => {
            let mut a = IndexedArray::new();
            for _ in 0..r.count()? {
                let i = r.int()?;
                a.set(i, r.text()?);
            }
            Slot::Indexed(Rc::new(a))
        }
        4 => {
            let mut a = AssocArray::new();
            for _ in 0..r.count()? {
                let key = r.bytes()?;
                a.set(key, r.text()?);
            }
            Slot::Assoc(Rc::new(a))
        }
        _ => match fresh.get(name) {
            Some(v) => v.slot.clone(),
            None => return Some(None),
        },
    };
    Some(Some(Var { slot, attrs, level, temporary }))
}

fn attr_bits(a: Attributes) -> u64 {
    [
        a.export,
        a.readonly,
        a.integer,
        a.lowercase,
        a.uppercase,
        a.capitalize,
        a.nameref,
        a.trace,
        a.indexed,
        a.assoc,
    ]
    .iter()
    .enumerate()
    .fold(0, |bits, (i, on)| bits | (u64::from(*on) << i))
}

fn attrs(bits: u64) -> Attributes {
    let on = |i: u32| bits & (1 << i) != 0;
    Attributes {
        export: on(0),
        readonly: on(1),
        integer: on(2),
        lowercase: on(3),
        uppercase: on(4),
        capitalize: on(5),
        nameref: on(6),
        trace: on(7),
        indexed: on(8),
        assoc: on(9),
    }
}
