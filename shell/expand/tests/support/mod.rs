//! A shell that is small enough to understand at once: variables and the expansion crate, a few
//! builtins, no processes. It runs the same snippets as bash, for comparison.

mod commands;
mod environment;

use std::collections::BTreeMap;
use std::path::PathBuf;
use std::rc::Rc;

use sh_expand::{Attributes, ErrorReach, ExpandError, ExpandOptions, Str, VarValue};
use sh_syntax::parse::{NoAliases, ParseOptions, Parser};

#[derive(Clone, Default)]
pub struct Variable {
    pub value: Option<VarValue>,
    pub attributes: Attributes,
}

/// The test shell.
pub struct Shell {
    pub variables: BTreeMap<Vec<u8>, Variable>,
    pub positional: Rc<Vec<Str>>,
    pub options: ExpandOptions,
    pub out: Vec<u8>,
    pub err: Vec<u8>,
    pub cwd: PathBuf,
    /// Bytes that expansion may still produce.
    pub budget: usize,
    pub stack_base: Option<usize>,
}

/// The reason why a script ends early.
pub enum Stop {
    Error(ExpandError),
    Unsupported(String),
}

impl From<ExpandError> for Stop {
    fn from(error: ExpandError) -> Stop {
        Stop::Error(error)
    }
}

impl Shell {
    pub fn new(cwd: PathBuf) -> Shell {
        let mut shell = Shell {
            variables: BTreeMap::new(),
            positional: Rc::default(),
            options: ExpandOptions {
                braceexpand: true,
                extglob: true,
                globskipdots: true,
                patsub_replacement: true,
                ..ExpandOptions::default()
            },
            out: Vec::new(),
            err: Vec::new(),
            cwd,
            budget: 1 << 26,
            stack_base: None,
        };
        for (name, value) in [("IFS", " \t\n"), ("HOME", "/h"), ("PWD", "/w")] {
            shell.put(name.as_bytes(), VarValue::Scalar(Rc::new(value.as_bytes().to_vec())));
        }
        shell
    }

    pub fn put(&mut self, name: &[u8], value: VarValue) {
        let variable = self.variables.entry(name.to_vec()).or_default();
        match value {
            VarValue::Indexed(_) => variable.attributes |= Attributes::INDEXED,
            VarValue::Assoc(_) => variable.attributes |= Attributes::ASSOC,
            VarValue::Scalar(_) => {}
        }
        variable.value = Some(value);
    }

    /// Runs a script. Models bash's messages but not its exit status.
    pub fn run(&mut self, script: &str) -> Result<(), String> {
        let options = ParseOptions { extglob: true, ..ParseOptions::default() };
        let mut parser = Parser::new(script.as_bytes(), options);
        loop {
            let list = match parser.next_command(&NoAliases) {
                Ok(Some(list)) => list,
                Ok(None) => return Ok(()),
                Err(error) => return Err(error.to_string()),
            };
            match self.list(&list) {
                Ok(_) => {}
                Err(Stop::Unsupported(what)) => return Err(what),
                Err(Stop::Error(error)) => {
                    self.complain(&error.message());
                    if error.reach() != ErrorReach::Command {
                        return Ok(());
                    }
                }
            }
        }
    }

    pub fn complain(&mut self, message: &[u8]) {
        self.err.extend_from_slice(message);
        self.err.push(b'\n');
    }
}
