//! Helpers that the tests share.
#![allow(dead_code)]

pub mod canonical;

use sh_syntax::ast::CommandList;
use sh_syntax::error::SyntaxError;
use sh_syntax::parse::{Aliases, ParseOptions, Parser};

/// An alias table.
#[derive(Default)]
pub struct Table(pub Vec<(&'static str, &'static str)>);

impl Aliases for Table {
    fn get(&self, name: &[u8]) -> Option<std::rc::Rc<[u8]>> {
        self.0.iter().find(|(n, _)| n.as_bytes() == name).map(|(_, v)| v.as_bytes().into())
    }
}

/// Returns every command of a text.
pub fn parse(
    text: &str,
    options: &ParseOptions,
    aliases: &Table,
) -> Result<CommandList, SyntaxError> {
    let mut parser = Parser::new(text, options.clone());
    let mut list = CommandList::default();
    while let Some(l) = parser.next_command(aliases)? {
        list.items.extend(l.items);
    }
    Ok(list)
}

/// Returns every command of a text, with default options and no aliases.
pub fn plain(text: &str) -> CommandList {
    match parse(text, &ParseOptions::default(), &Table::default()) {
        Ok(l) => l,
        Err(e) => panic!("{text:?}: {e}"),
    }
}
