//! Variables whose value the shell computes (bash manual 5.2).

use std::path::Path;
use std::rc::Rc;
use std::time::{SystemTime, UNIX_EPOCH};

use sh_expand::array::{AssocArray, IndexedArray};
use sh_expand::{ExpandError, OwnedKey, Str, VarValue};

use super::PipeStatus;
use super::calls::Calls;
use super::vars::{Dynamic, VarSlot, decimal_digits};
use crate::Shell;
use crate::builtin::opts::parse_integer;

/// Maximum size in bytes of a system file that has one line.
const SMALL: u64 = 4096;

fn scalar_value(text: Vec<u8>) -> Option<VarValue> {
    Some(VarValue::Scalar(Rc::new(text)))
}

fn indexed_value(items: impl Iterator<Item = Vec<u8>>) -> Option<VarValue> {
    Some(VarValue::Indexed(Rc::new(items.map(Rc::new).collect::<IndexedArray>())))
}

fn number_value(n: i64) -> Option<VarValue> {
    scalar_value(decimal_digits(n))
}

fn assoc_value<'v>(items: impl Iterator<Item = (&'v [u8], &'v [u8])>) -> Option<VarValue> {
    let mut array = AssocArray::new();
    items.for_each(|(key, value)| array.set(key, Rc::new(value.to_vec())));
    Some(VarValue::Assoc(Rc::new(array)))
}

/// Returns the value of a variable that lists the active calls, innermost call first.
fn of_calls(calls: &Calls, d: Dynamic) -> Option<VarValue> {
    let frames = calls.frames().iter().rev();
    match d {
        Dynamic::FuncName => {
            calls.named_frames().and_then(|c| indexed_value(c.map(|f| f.name.to_vec())))
        }
        Dynamic::BashSource => indexed_value(frames.map(|f| f.source.to_vec())),
        Dynamic::BashLineNo => {
            indexed_value(frames.map(|f| decimal_digits(i64::from(f.call_line))))
        }
        Dynamic::BashArgc => {
            indexed_value(calls.debug_arguments().map(|args| decimal_digits(args.len() as i64)))
        }
        _ => indexed_value(
            calls.debug_arguments().flat_map(|a| a.iter().rev()).map(|arg| arg.to_vec()),
        ),
    }
}

fn since_epoch() -> std::time::Duration {
    SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default()
}

impl Shell<'_> {
    /// Returns the value of a computed variable; `None` if it is unset.
    pub(crate) fn get_dynamic(&mut self, d: Dynamic) -> Option<VarValue> {
        let s = &mut self.state;
        match d {
            Dynamic::Random => number_value(s.random.next_number().into()),
            Dynamic::SRandom => number_value(i64::from(self.random_bits() as u32)),
            Dynamic::Seconds => number_value(s.seconds.read()),
            Dynamic::EpochSeconds => number_value(since_epoch().as_secs() as i64),
            Dynamic::EpochRealtime => {
                let t = since_epoch();
                scalar_value(format!("{}.{:06}", t.as_secs(), t.subsec_micros()).into_bytes())
            }
            Dynamic::LineNo => number_value(s.line.into()),
            Dynamic::BashPid => number_value(s.ids.own_pid().into()),
            Dynamic::BashCommand => Some(VarValue::Scalar(s.command.current_text().clone())),
            Dynamic::BashSubshell => number_value(s.ids.subshell_depth().into()),
            Dynamic::BashArgv0 => Some(VarValue::Scalar(s.params.arg0().clone())),
            Dynamic::Underscore => Some(VarValue::Scalar(s.last_arg.clone())),
            Dynamic::FuncName
            | Dynamic::BashSource
            | Dynamic::BashLineNo
            | Dynamic::BashArgv
            | Dynamic::BashArgc => of_calls(&s.calls, d),
            Dynamic::PipeStatus => match &s.pipe_status {
                PipeStatus::One(n) => indexed_value(std::iter::once(decimal_digits(i64::from(*n)))),
                PipeStatus::Many(all) => {
                    indexed_value(all.iter().map(|n| decimal_digits(i64::from(*n))))
                }
            },
            Dynamic::DirStack => indexed_value(s.dirs.whole_stack().into_iter()),
            Dynamic::ShellOpts => scalar_value(s.options.shellopts_text()),
            Dynamic::BashOpts => scalar_value(s.options.bashopts_text()),
            Dynamic::Groups => {
                indexed_value(std::iter::once(decimal_digits(i64::from(box_sys::meta::ids().1))))
            }
            Dynamic::HostName => {
                let name = self.sys.read(Path::new("/etc/hostname"), SMALL).unwrap_or_default();
                let name = name.trim_ascii();
                scalar_value(if name.is_empty() { b"localhost".to_vec() } else { name.to_vec() })
            }
            Dynamic::BashAliases => {
                assoc_value(s.aliases.iter().map(|(k, v)| (k.as_slice(), &**v)))
            }
            Dynamic::BashCmds => assoc_value(
                s.commands.locations().map(|(name, file, _)| (name, box_sys::path::to_bytes(file))),
            ),
        }
    }

    pub(crate) fn set_dynamic(
        &mut self,
        name: &[u8],
        d: Dynamic,
        value: &[u8],
    ) -> Result<(), ExpandError> {
        let number = |shell: &mut Self| sh_expand::arith::eval_text(shell, value);
        match d {
            Dynamic::Random => {
                let n = number(self)?;
                self.state.random.assign(n as u32);
            }
            Dynamic::Seconds => {
                let n = if self.state.seconds.evaluates() {
                    number(self)?
                } else {
                    parse_integer(value).unwrap_or(0)
                };
                self.state.seconds.assign(n);
            }
            Dynamic::LineNo => {
                let n = number(self)?;
                self.state.line = n as u32;
            }
            Dynamic::BashArgv0 => self.state.params.set_arg0(value),
            Dynamic::Underscore => self.state.last_arg = Rc::new(value.to_vec()),
            Dynamic::HostName => {
                self.state.vars.entry_or_insert(name).slot =
                    VarSlot::Scalar(Rc::new(value.to_vec()));
            }
            Dynamic::DirStack => {
                return self.set_dynamic_element(
                    name,
                    d,
                    &OwnedKey::Index(0),
                    Rc::new(value.to_vec()),
                );
            }
            // As in bash, the others ignore assignments.
            _ => {}
        }
        Ok(())
    }

    pub(crate) fn set_dynamic_element(
        &mut self,
        _name: &[u8],
        d: Dynamic,
        key: &OwnedKey,
        value: Str,
    ) -> Result<(), ExpandError> {
        match (d, key) {
            (Dynamic::BashAliases, OwnedKey::Name(k)) => {
                Rc::make_mut(&mut self.state.aliases).insert(k.clone(), Rc::from(value.as_slice()));
            }
            (Dynamic::BashCmds, OwnedKey::Name(k)) => {
                let path = box_sys::path::from_bytes(&value).to_path_buf();
                self.state.commands.remember_location(k, path, 0);
            }
            (Dynamic::DirStack, OwnedKey::Index(i)) => {
                let dirs = self.state.dirs.below_mut();
                let at = usize::try_from(*i - 1).unwrap_or(usize::MAX);
                if let Some(d) = dirs.get_mut(at) {
                    *d = value.to_vec();
                }
            }
            _ => {}
        }
        Ok(())
    }

    /// Returns unpredictable bits, as far as the system provides any.
    pub(crate) fn random_bits(&mut self) -> u64 {
        use std::hash::{BuildHasher, Hasher};
        // std seeds its hash keys from the system's random source.
        let mut h = std::collections::hash_map::RandomState::new().build_hasher();
        h.write_u64(self.budget.commands);
        h.finish()
    }
}
