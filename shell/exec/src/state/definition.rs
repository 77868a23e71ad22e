//! The definition of a function: its syntax tree, or the source that is parsed into one on first
//! use. It is parsed late because a spawned shell or a later call of a session receives all
//! functions of the previous shell, but calls only a few.

use std::cell::OnceCell;
use std::rc::Rc;

use serde::{Deserialize, Deserializer, Serialize, Serializer};
use sh_syntax::ast::{CommandKind, CommandList, FunctionCommand};
use sh_syntax::error::SyntaxError;
use sh_syntax::parse::{ParseOptions, parse_all};

use super::lines;

/// The definition of a function. Clones share it.
#[derive(Clone, Debug)]
pub struct FunctionDefinition(Rc<LazyDefinition>);

#[derive(Debug)]
struct LazyDefinition {
    tree: OnceCell<Rc<FunctionCommand>>,
    /// The tree as bytes, once it was received or sent.
    bytes: OnceCell<Rc<Vec<u8>>>,
    /// A definition that a session has stored.
    code: Option<DefinitionCode>,
}

/// A definition as a session stores it: text, which any later shell can parse.
#[derive(Clone, Debug, Default, Serialize, Deserialize)]
pub struct DefinitionCode {
    pub text: Vec<u8>,
    /// The lines of its commands.
    pub lines: Vec<u32>,
}

/// A definition on its way to a spawned shell.
#[derive(Serialize, Deserialize)]
enum ShippedDefinition {
    Tree(Rc<Vec<u8>>),
    Code(DefinitionCode),
}

/// The error for text or bytes that do not define a function.
#[derive(Debug, thiserror::Error)]
pub enum NoFunction {
    #[error("syntax error")]
    Syntax(SyntaxError),
    #[error("not a function definition")]
    Other,
}

impl From<Rc<FunctionCommand>> for FunctionDefinition {
    fn from(function: Rc<FunctionCommand>) -> FunctionDefinition {
        let tree = OnceCell::from(function);
        FunctionDefinition(Rc::new(LazyDefinition { tree, bytes: OnceCell::new(), code: None }))
    }
}

impl From<DefinitionCode> for FunctionDefinition {
    fn from(code: DefinitionCode) -> FunctionDefinition {
        let (tree, bytes) = (OnceCell::new(), OnceCell::new());
        FunctionDefinition(Rc::new(LazyDefinition { tree, bytes, code: Some(code) }))
    }
}

impl FunctionDefinition {
    /// Returns the tree.
    ///
    /// # Errors
    /// Fails if the stored or received text is not a definition, which no shell has written.
    pub fn get(&self) -> Result<&Rc<FunctionCommand>, NoFunction> {
        if let Some(tree) = self.0.tree.get() {
            return Ok(tree);
        }
        let function = match (self.0.bytes.get(), &self.0.code) {
            (Some(bytes), _) => postcard::from_bytes(bytes).map_err(|_| NoFunction::Other)?,
            (None, Some(code)) => {
                let list = code.parse().map_err(NoFunction::Syntax)?;
                only_function(&list).ok_or(NoFunction::Other)?
            }
            (None, None) => return Err(NoFunction::Other),
        };
        Ok(self.0.tree.get_or_init(|| function))
    }

    /// Returns the definition as a session stores it; `line` is the line of the definition.
    pub fn code(&self, line: u32) -> DefinitionCode {
        match (&self.0.code, self.get()) {
            (Some(code), _) => code.clone(),
            (None, Ok(function)) => {
                let mut all = vec![line];
                lines::of_command(&function.body, &mut all);
                DefinitionCode { text: sh_syntax::print::function_kept(function), lines: all }
            }
            (None, Err(_)) => DefinitionCode::default(),
        }
    }

    /// Returns the text that a session has stored.
    pub fn text(&self) -> Option<&[u8]> {
        self.0.code.as_ref().map(|c| c.text.as_slice())
    }

    /// Returns whether both are the same definition.
    pub fn is_same(&self, other: &FunctionDefinition) -> bool {
        Rc::ptr_eq(&self.0, &other.0)
    }
}

impl Serialize for FunctionDefinition {
    fn serialize<S: Serializer>(&self, to: S) -> Result<S::Ok, S::Error> {
        let lazy = &*self.0;
        let shipped = match (lazy.bytes.get(), lazy.tree.get(), &lazy.code) {
            (Some(bytes), _, _) => ShippedDefinition::Tree(bytes.clone()),
            (None, Some(tree), _) => {
                let bytes = postcard::to_stdvec(tree).map_err(serde::ser::Error::custom)?;
                ShippedDefinition::Tree(lazy.bytes.get_or_init(|| Rc::new(bytes)).clone())
            }
            (None, None, Some(code)) => ShippedDefinition::Code(code.clone()),
            // One of the three is always present.
            (None, None, None) => ShippedDefinition::Code(DefinitionCode::default()),
        };
        shipped.serialize(to)
    }
}

impl<'de> Deserialize<'de> for FunctionDefinition {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<FunctionDefinition, D::Error> {
        Ok(match ShippedDefinition::deserialize(from)? {
            ShippedDefinition::Code(code) => code.into(),
            ShippedDefinition::Tree(bytes) => {
                let (tree, bytes) = (OnceCell::new(), OnceCell::from(bytes));
                FunctionDefinition(Rc::new(LazyDefinition { tree, bytes, code: None }))
            }
        })
    }
}

impl DefinitionCode {
    /// Parses the text again and restores its line numbers.
    fn parse(&self) -> Result<CommandList, SyntaxError> {
        let options = ParseOptions { extglob: true, ..ParseOptions::default() };
        let mut list = parse_all(&self.text, &options)?;
        lines::restore_lines(&mut list, &self.lines);
        Ok(list)
    }
}

/// Returns the function that a text defines, or `None` if the text contains any other command,
/// because that would be run.
pub fn only_function(list: &CommandList) -> Option<Rc<FunctionCommand>> {
    let [item] = list.items.as_slice() else { return None };
    let [stage] = item.and_or.first.stages.as_slice() else { return None };
    match &stage.command.kind {
        CommandKind::Function(f) if item.and_or.rest.is_empty() => Some(f.clone()),
        _ => None,
    }
}
