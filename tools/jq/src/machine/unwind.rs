//! Backtracking: to the next path, or from an error to its handler.

use super::JqStop;
use super::run::{JqMachine, JumpReason, is_open};
use super::stack::{ContainerWalk, ForkKind};
use crate::value::Value;

impl JqMachine<'_> {
    /// Backtracks to the latest fork that has another path, or that handles the raised error or
    /// label. Returns the instruction at which to continue; `None` when the program is finished.
    pub fn unwind_to_fork(&mut self, raised: JumpReason) -> Result<Option<u32>, JqStop> {
        let (mut error, mut label) = match raised {
            JumpReason::Error(v) => (Some(v), None),
            JumpReason::Break(id) => (None, Some(id)),
            _ => (None, None),
        };
        self.outside = 0;
        loop {
            let back = error.is_none() && label.is_none();
            let s = &mut self.stacks;
            let Some(fork) = s.forks.last_mut() else {
                return match (error, label) {
                    (Some(v), _) => Err(JqStop::Error(v)),
                    (None, Some(_)) => Err(JqStop::Break),
                    (None, None) => Ok(None),
                };
            };
            match &mut fork.kind {
                ForkKind::Alt(pc) if back => {
                    let pc = *pc;
                    s.resume_fork();
                    return Ok(Some(pc));
                }
                ForkKind::Try(pc) => {
                    let pc = *pc;
                    if error.is_some() && self.outside > 0 {
                        self.outside -= 1;
                    } else if let Some(v) = error.take() {
                        s.resume_fork();
                        s.pop();
                        s.push(v);
                        return Ok(Some(pc));
                    }
                    s.drop_fork();
                }
                ForkKind::TryDone => {
                    if error.is_some() {
                        self.outside += 1;
                    }
                    s.drop_fork();
                }
                ForkKind::Or(pc, place) => {
                    let (pc, place) = (*pc, *place);
                    if !back || s.locals.get(place).is_some_and(Value::is_truthy) {
                        s.drop_fork();
                        continue;
                    }
                    s.resume_fork();
                    return Ok(Some(pc));
                }
                ForkKind::PatternAlt(pc) => {
                    let pc = *pc;
                    if error.is_some() {
                        s.resume_fork();
                        return Ok(Some(pc));
                    }
                    s.drop_fork();
                }
                ForkKind::Label(id) => {
                    if label == Some(*id) {
                        label = None;
                    }
                    s.drop_fork();
                }
                _ if !back => s.drop_fork(),
                ForkKind::Alt(_) => s.drop_fork(),
                ForkKind::Array { items, next, pc } => {
                    let (i, pc) = (*next, *pc);
                    let Some(v) = items.get(i).cloned() else {
                        s.drop_fork();
                        continue;
                    };
                    *next += 1;
                    let more = *next < items.len();
                    self.go_to_child(Value::int(i), v, more);
                    return Ok(Some(pc));
                }
                ForkKind::Object { map, next, pc } => {
                    let pc = *pc;
                    let Some((at, k, v)) = map.entry_from(*next) else {
                        s.drop_fork();
                        continue;
                    };
                    let (k, v) = (Value::Str(k.clone()), v.clone());
                    *next = at + 1;
                    let more = map.entry_from(at + 1).is_some();
                    self.go_to_child(k, v, more);
                    return Ok(Some(pc));
                }
                ForkKind::Range { next, end, step, pc } => {
                    let (n, pc) = (*next, *pc);
                    let inside = if *step > 0.0 { n < *end } else { n > *end };
                    if !inside {
                        s.drop_fork();
                        continue;
                    }
                    *next += *step;
                    let more = if *step > 0.0 { *next < *end } else { *next > *end };
                    if more {
                        s.restore_fork()
                    } else {
                        s.resume_fork()
                    }
                    s.push(Value::Num(n));
                    return Ok(Some(pc));
                }
                ForkKind::Recurse { walk, pc } => {
                    let pc = *pc;
                    let Some(v) = descend_walk(walk) else {
                        s.drop_fork();
                        continue;
                    };
                    let keys = if fork.track.is_some() { walk.keys.clone() } else { Vec::new() };
                    s.restore_fork();
                    for k in &keys {
                        s.follow_key(k, &v);
                    }
                    s.push(v);
                    return Ok(Some(pc));
                }
            }
        }
    }

    /// Replaces the input by a child of the latest fork's container.
    fn go_to_child(&mut self, key: Value, v: Value, more: bool) {
        let s = &mut self.stacks;
        if more {
            s.restore_fork()
        } else {
            s.resume_fork()
        }
        s.follow_key(&key, &v);
        s.push(v);
    }
}

/// Returns the next value of a recursion.
fn descend_walk(walk: &mut ContainerWalk) -> Option<Value> {
    if let Some(v) = walk.last.take()
        && is_open(&v)
    {
        walk.open.push((v, 0));
        walk.keys.push(Value::Null);
    }
    while let Some((container, next)) = walk.open.last_mut() {
        let child = match container {
            Value::Arr(a) => a.get(*next).map(|v| (Value::int(*next), v.clone(), *next + 1)),
            Value::Obj(o) => {
                o.entry_from(*next).map(|(at, k, v)| (Value::Str(k.clone()), v.clone(), at + 1))
            }
            _ => None,
        };
        let Some((key, v, after)) = child else {
            walk.open.pop();
            walk.keys.pop();
            continue;
        };
        *next = after;
        if let Some(last) = walk.keys.last_mut() {
            *last = key;
        }
        walk.last = Some(v.clone());
        return Some(v);
    }
    None
}
