//! What a function consists of: its tree, or text that becomes one when somebody asks. A spawned
//! shell and a later call of a session get all functions of the shell before them and call few.

use std::cell::OnceCell;
use std::rc::Rc;

use sh_syntax::ast::{CommandKind, Function, List};
use sh_syntax::error::SyntaxError;

use super::lines;
use super::ship::Code;

/// The definition of a function. Clones are the same one.
#[derive(Clone, Debug)]
pub struct Definition(Rc<Lazy>);

#[derive(Debug)]
struct Lazy {
    tree: OnceCell<Rc<Function>>,
    /// Where there is no tree yet.
    code: Option<Code>,
}

/// Text that is no definition of a function.
#[derive(Debug, thiserror::Error)]
pub enum NoFunction {
    #[error("syntax error")]
    Syntax(SyntaxError),
    #[error("not a function definition")]
    Other,
}

impl From<Rc<Function>> for Definition {
    fn from(function: Rc<Function>) -> Definition {
        Definition(Rc::new(Lazy { tree: OnceCell::from(function), code: None }))
    }
}

impl From<Code> for Definition {
    fn from(code: Code) -> Definition {
        Definition(Rc::new(Lazy { tree: OnceCell::new(), code: Some(code) }))
    }
}

impl Definition {
    pub fn get(&self) -> Result<&Rc<Function>, NoFunction> {
        if let Some(tree) = self.0.tree.get() {
            return Ok(tree);
        }
        let code = self.0.code.as_ref().ok_or(NoFunction::Other)?;
        let list = code.parse().map_err(NoFunction::Syntax)?;
        let function = only_function(&list).ok_or(NoFunction::Other)?;
        Ok(self.0.tree.get_or_init(|| function))
    }

    /// As it travels; `line` is where the definition stood.
    pub fn code(&self, line: u32) -> Code {
        match (&self.0.code, self.0.tree.get()) {
            (Some(code), _) => code.clone(),
            (None, Some(function)) => {
                let mut all = vec![line];
                lines::of_command(&function.body, &mut all);
                Code { text: sh_syntax::print::function(function), lines: all }
            }
            // One of them is there.
            (None, None) => Code::default(),
        }
    }

    /// The text as it came, of a definition that nobody has called.
    pub fn text(&self) -> Option<&[u8]> {
        self.0.code.as_ref().map(|c| c.text.as_slice())
    }

    /// Whether both are one.
    pub fn is(&self, other: &Definition) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

/// The function that a text defines, if it does nothing else: what stands beside it would be run.
pub fn only_function(list: &List) -> Option<Rc<Function>> {
    let [item] = list.items.as_slice() else { return None };
    let [stage] = item.and_or.first.stages.as_slice() else { return None };
    match &stage.command.kind {
        CommandKind::Function(f) if item.and_or.rest.is_empty() => Some(f.clone()),
        _ => None,
    }
}
