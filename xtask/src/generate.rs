//! `cargo xtask generate`: writes what other languages and the documents say about the protocol,
//! from the types of `wasibox-protocol`.
//!
//! | file | contents | made by |
//! |---|---|---|
//! | `docs/protocol.schema.json` | JSON Schemas of calls, outcomes, commits, requests about files and their answers | `schema.rs` |
//! | `docs/protocol.md` | the same as tables, for people | `tables.rs` |
//! | `sdk/typescript/protocol.ts` | the types in JSON, and records of the packages for Node and pages | `typescript.rs` |
//! | `sdk/python/python/wasibox/_protocol.py` | records of the package for Python | `python.rs` |
//! | `sdk/python/python/wasibox/_coroutines.py` | the methods of `AsyncSession` that wait for one of `Session` | `coroutines.rs` |
//! | the packages' `package.json`, `pyproject.toml`, `__init__.py` | version and address, from Cargo.toml | `packages.rs` |
//!
//! `cargo xtask tidy` fails if one of them is stale.

mod coroutines;
mod packages;
mod python;
mod schema;
mod tables;
mod typescript;

use std::path::PathBuf;
use std::process::ExitCode;

use anyhow::Result;

use crate::env;

/// Returns each generated file with its text.
fn generated_files() -> Result<Vec<(PathBuf, String)>> {
    let protocol = schema::ProtocolSchema::new();
    let session = env::read(&env::root().join("sdk/python/python/wasibox/_session.py"))?;
    let processes = env::read(&env::root().join("sdk/python/python/wasibox/_processes.py"))?;
    let texts = (String::from_utf8_lossy(&session), String::from_utf8_lossy(&processes));
    let files = [
        ("docs/protocol.schema.json", protocol.json_text()),
        ("docs/protocol.md", tables::document(&protocol)),
        ("sdk/typescript/protocol.ts", typescript::module(&protocol)),
        ("sdk/python/python/wasibox/_protocol.py", python::module(&protocol)),
        ("sdk/python/python/wasibox/_coroutines.py", coroutines::module(&texts.0, &texts.1)?),
    ];
    let mut files: Vec<_> = files.map(|(path, text)| (env::root().join(path), text)).into();
    for name in packages::FILES {
        let path = env::root().join(name);
        let text = String::from_utf8(env::read(&path)?)?;
        files.push((path, packages::completed(name, &text)?));
    }
    Ok(files)
}

/// Writes the files.
pub fn run() -> Result<ExitCode> {
    for (path, text) in generated_files()? {
        env::write(&path, text.as_bytes())?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Adds a breach for each file that is not what would be generated.
pub fn check_generated(breaches: &mut Vec<String>) -> Result<()> {
    for (path, text) in generated_files()? {
        if std::fs::read(&path).ok().as_deref() != Some(text.as_bytes()) {
            breaches.push(format!("{} is stale: cargo xtask generate", path.display()));
        }
    }
    Ok(())
}

/// Splits a text into lines of at most `width` characters, at blanks.
fn wrap_text(text: &str, width: usize) -> Vec<String> {
    let mut lines = vec![String::new()];
    for word in text.split_whitespace() {
        let line = lines.last_mut().unwrap_or_else(|| unreachable!("there is a line"));
        if !line.is_empty() && line.chars().count() + 1 + word.chars().count() > width {
            lines.push(word.to_owned());
        } else {
            if !line.is_empty() {
                line.push(' ');
            }
            line.push_str(word);
        }
    }
    lines
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn long_texts_are_wrapped_at_blanks() {
        assert_eq!(wrap_text("one two\n three", 7), ["one two", "three"]);
        assert_eq!(wrap_text("longer-than-that is", 4), ["longer-than-that", "is"]);
    }
}
