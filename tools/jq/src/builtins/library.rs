//! All built-in functions by name.

use std::collections::{HashMap, HashSet};
use std::rc::Rc;

use super::{Native, arith, arrays, convert, format, host, math, objects, regex, strings, time};
use crate::lang::ast::Def;
use crate::lang::{JqSyntaxError, parse_defs};

/// The definitions, each of which begins with a line that starts with `def`.
const DEFS: &str = include_str!("defs.jq");

const NATIVES: &[&[Native]] = &[
    arith::NATIVES,
    arrays::NATIVES,
    convert::NATIVES,
    format::NATIVES,
    host::NATIVES,
    math::NATIVES,
    objects::NATIVES,
    regex::NATIVES,
    strings::NATIVES,
    time::NATIVES,
];

/// Functions that are instructions.
const SPECIAL: &[&str] = &[
    "empty/0",
    "error/1",
    "select/1",
    "first/1",
    "path/1",
    "getpath/1",
    "range/2",
    "range/3",
    "recurse/0",
    "builtins/0",
];

/// The built-in functions that a program can need.
pub struct BuiltinLibrary {
    defs: HashMap<(&'static str, usize), Rc<Def>>,
}

impl BuiltinLibrary {
    /// Parses only the definitions whose names occur in `code`, because parsing all would take
    /// longer than most programs run.
    pub fn new<'c>(code: impl IntoIterator<Item = &'c str>) -> BuiltinLibrary {
        let sources: Vec<(&'static str, &'static str)> =
            definition_chunks().map(|c| (definition_head(c).0, c)).collect();
        let mut wanted: HashSet<&str> = code.into_iter().flat_map(program_names).collect();
        let mut taken = vec![false; sources.len()];
        loop {
            let before = wanted.len();
            for ((name, chunk), taken) in sources.iter().zip(&mut taken) {
                if !*taken && wanted.contains(name) {
                    *taken = true;
                    wanted.extend(program_names(chunk));
                }
            }
            if wanted.len() == before {
                break;
            }
        }
        let mut defs = HashMap::new();
        for ((_, chunk), _) in sources.iter().zip(taken).filter(|(_, t)| *t) {
            for def in parse(chunk).unwrap_or_default() {
                defs.insert(definition_head(chunk), def);
            }
        }
        BuiltinLibrary { defs }
    }

    /// Returns the native function of that name.
    pub fn find_native(&self, name: &str, arity: usize) -> Option<Native> {
        let found = |n: &&Native| n.arity == arity && n.name == name;
        NATIVES.iter().find_map(|all| all.iter().find(found)).copied()
    }

    /// Returns the definition of that name, if it is written in jq.
    pub fn find_def(&self, name: &str, arity: usize) -> Option<&Def> {
        // The keys are static texts, but `name` need not be one.
        self.defs.iter().find(|(k, _)| **k == (name, arity)).map(|(_, d)| &**d)
    }

    /// Returns `name/arity` for all functions except internal ones.
    pub fn function_names(&self) -> Vec<String> {
        let natives = NATIVES.iter().flat_map(|all| all.iter()).map(|n| (n.name, n.arity));
        natives
            .chain(definition_chunks().map(definition_head))
            .filter(|(name, _)| !name.starts_with('_'))
            .map(|(name, arity)| format!("{name}/{arity}"))
            .chain(SPECIAL.iter().map(|s| s.to_string()))
            .collect()
    }
}

/// Returns the definitions, without their `def`.
fn definition_chunks() -> impl Iterator<Item = &'static str> {
    DEFS.split("\ndef ").skip(1)
}

fn parse(chunk: &str) -> Result<Vec<Rc<Def>>, JqSyntaxError> {
    parse_defs(&format!("def {chunk}"))
}

/// Returns name and number of parameters of a definition.
fn definition_head(chunk: &'static str) -> (&'static str, usize) {
    let end = chunk.find([':', '(']).unwrap_or(chunk.len());
    let params = match chunk[end..].strip_prefix('(').and_then(|p| p.split_once(')')) {
        Some((p, _)) => p.split(';').count(),
        None => 0,
    };
    (&chunk[..end], params)
}

/// Returns the names in a program's text.
fn program_names(code: &str) -> impl Iterator<Item = &str> {
    code.split(|c: char| !c.is_ascii_alphanumeric() && c != '_').filter(|w| !w.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_definition_parses() {
        for chunk in definition_chunks() {
            let defs = parse(chunk).unwrap_or_else(|e| panic!("{chunk}: {}", e.message));
            assert_eq!(defs.len(), 1, "{chunk}");
            assert_eq!((defs[0].name.as_str(), defs[0].params.len()), definition_head(chunk));
        }
        assert!(definition_chunks().count() > 40);
    }

    #[test]
    fn every_name_is_defined_once() {
        let mut all = BuiltinLibrary::new([""]).function_names();
        let count = all.len();
        all.sort();
        all.dedup();
        assert_eq!(all.len(), count);
    }
}
