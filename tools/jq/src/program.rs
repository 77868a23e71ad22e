//! Loading and compiling a filter: our definitions over jaq's, modules from the library path,
//! and messages for what does not compile.

use std::path::PathBuf;

use jaq_core::load::{Arena, File, Loader, import};
use jaq_core::{Compiler, Filter, compile, load};
use jaq_json::Val;

use crate::functions::{self, Kind};

/// A compiled filter with the values of its global variables.
pub struct Program {
    pub filter: Filter<Kind>,
    pub variables: Vec<Val>,
}

const DEFS: &str = include_str!("defs.jq");

/// Compiles `code`. `globals` are variables by name without `$`; `library` are directories of
/// modules. The error is jq's text, one line per problem.
pub fn compile(
    code: &str,
    globals: Vec<(String, Val)>,
    library: Vec<PathBuf>,
) -> Result<Program, String> {
    let ours = load::parse(DEFS, |p| p.defs()).unwrap_or_default();
    // Later definitions win over earlier ones of the same name.
    let defs = jaq_core::defs().chain(jaq_std::defs()).chain(jaq_json::defs()).chain(ours);
    let arena = Arena::default();
    let loader = Loader::new(defs).with_std_read(&library);
    let file = File { path: PathBuf::from("<command-line>"), code };
    let modules = loader.load(&arena, file).map_err(load_error)?;
    let mut variables: Vec<Val> = globals.iter().map(|(_, v)| v.clone()).collect();
    import(&modules, |p| {
        let path = p.find(&library, "json")?;
        let data = std::fs::read(&path).map_err(|e| e.to_string())?;
        let values: Result<Vec<Val>, _> = jaq_json::read::parse_many(&data).collect();
        variables.push(values.map_err(|e| e.to_string())?.into_iter().collect());
        Ok(())
    })
    .map_err(load_error)?;
    let names: Vec<String> = globals.iter().map(|(n, _)| format!("${n}")).collect();
    let filter = Compiler::default()
        .with_funs(functions::all())
        .with_global_vars(names.iter().map(String::as_str))
        .compile(modules)
        .map_err(compile_error)?;
    Ok(Program { filter, variables })
}

/// Line of `part` in `code`, counted from 1.
fn line(code: &str, part: &str) -> usize {
    let at = load::span(code, part).start.min(code.len());
    code.as_bytes()[..at].iter().filter(|c| **c == b'\n').count() + 1
}

fn load_error<P>(errors: load::Errors<&str, P>) -> String {
    let mut out = Vec::new();
    for (file, error) in errors {
        let at = |part: &str, what: String| {
            format!(
                "syntax error, {what} at <top-level>, line {}:\n    {}",
                line(file.code, part),
                file.code.trim_end()
            )
        };
        match error {
            load::Error::Io(list) => out
                .extend(list.into_iter().map(|(path, e)| format!("module not found: {path}: {e}"))),
            load::Error::Lex(list) => {
                out.extend(
                    list.into_iter()
                        .map(|(e, found)| at(found, format!("expected {}", e.as_str()))),
                );
            }
            load::Error::Parse(list) => out.extend(list.into_iter().map(|(e, found)| {
                let found_text = if found.is_empty() {
                    "end of file".to_string()
                } else {
                    format!("'{}'", first_word(found))
                };
                at(found, format!("unexpected {found_text}, expected {}", e.as_str()))
            })),
        }
    }
    out.join("\njq: error: ")
}

/// The first few characters of what could not be parsed.
fn first_word(text: &str) -> &str {
    let end = text.char_indices().nth(12).map_or(text.len(), |(i, _)| i);
    text[..end].split_whitespace().next().unwrap_or(text)
}

fn compile_error<P>(errors: compile::Errors<&str, P>) -> String {
    let mut out = Vec::new();
    for (file, list) in errors {
        for (name, undefined) in list {
            let what = match undefined {
                compile::Undefined::Filter(arity) => format!("{name}/{arity} is not defined"),
                other => format!("{name} is not defined ({})", other.as_str()),
            };
            out.push(format!(
                "{what} at <top-level>, line {}:\n    {}",
                line(file.code, name),
                file.code.trim_end()
            ));
        }
    }
    out.join("\njq: error: ")
}
