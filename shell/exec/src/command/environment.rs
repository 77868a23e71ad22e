//! The environment of children.

use sh_expand::Attributes;
use std::rc::Rc;

use crate::Shell;
use crate::state::vars::{ShellVar, VarSlot};

/// The names and values of variables.
pub(crate) type EnvList = Rc<Vec<(Vec<u8>, Vec<u8>)>>;

/// The environment made last, which is valid until a variable in it changes.
#[derive(Debug, Default)]
pub(crate) struct ChildEnv {
    /// The generation of the variables that it was made from.
    cache: Option<(u64, EnvList)>,
    /// The entries of the shell's own environment that are not variables.
    others: EnvList,
}

impl ChildEnv {
    /// Keeps the entries that cannot be variables, to pass them to children.
    pub fn keep_others(&mut self, others: Vec<(Vec<u8>, Vec<u8>)>) {
        self.others = Rc::new(others);
    }

    fn cached_env(&self, generation: u64) -> Option<EnvList> {
        self.cache.as_ref().filter(|(of, _)| *of == generation).map(|(_, env)| env.clone())
    }
}

impl Shell<'_> {
    /// Returns the environment of children: all exported variables and functions.
    pub(crate) fn child_env(&mut self) -> EnvList {
        let generation = self.state.vars.env_generation();
        if let Some(env) = self.child_env.cached_env(generation) {
            return env;
        }
        let mut env: Vec<(Vec<u8>, Vec<u8>)> = self.child_env.others.to_vec();
        let mut dynamic = Vec::new();
        for (name, v) in self.state.vars.iter() {
            if !v.attrs.intersects(Attributes::EXPORT) || v.attrs.intersects(Attributes::ARRAY) {
                continue;
            }
            match v {
                ShellVar { slot: VarSlot::Dynamic(_), .. } => dynamic.push(name.clone()),
                v => {
                    if let Some(t) = v.text() {
                        env.push((name.to_vec(), t.to_vec()));
                    }
                }
            }
        }
        let cacheable = dynamic.is_empty();
        for name in dynamic {
            if let Some(t) = self.text_of(&name) {
                env.push((name.to_vec(), t.to_vec()));
            }
        }
        for (name, f) in
            self.state.functions.iter().filter(|(_, f)| f.attrs.intersects(Attributes::EXPORT))
        {
            let Ok(function) = f.function.get() else { continue };
            let value = sh_syntax::print::exported_function(function);
            env.push(([b"BASH_FUNC_", name.as_ref(), b"%%"].concat(), value));
        }
        env.sort_unstable();
        let env = Rc::new(env);
        if cacheable {
            self.child_env.cache = Some((generation, env.clone()));
        }
        env
    }
}
