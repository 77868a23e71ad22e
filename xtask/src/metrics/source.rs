//! The counted source, without tests, comments and literals.

use std::path::{Path, PathBuf};

use anyhow::Result;

use crate::env;

/// A source file without tests, comments and literals, and its full text.
pub struct SourceFile {
    pub path: PathBuf,
    pub area: &'static str,
    /// The folder of its crate.
    pub owner: String,
    pub code: String,
    pub text: String,
}

/// Adds every Rust file of an area, except tests.
pub fn read(area: &'static str, dir: &Path, out: &mut Vec<SourceFile>) -> Result<()> {
    let mut entries: Vec<PathBuf> =
        std::fs::read_dir(dir)?.map(|e| e.map(|e| e.path())).collect::<Result<_, _>>()?;
    entries.sort();
    for path in entries {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && !["tests", "examples", "benches", "target"].contains(&name.as_str()) {
            read(area, &path, out)?;
        } else if name.ends_with(".rs") && name != "tests.rs" {
            let text = without_tests(&String::from_utf8_lossy(&env::read(&path)?));
            let path = path.strip_prefix(env::root()).unwrap_or(&path).to_path_buf();
            let owner =
                path.to_string_lossy().split("/src/").next().unwrap_or_default().to_string();
            out.push(SourceFile { path, area, owner, code: strip_source(&text), text });
        }
    }
    Ok(())
}

/// Returns the text up to the tests at its end.
fn without_tests(text: &str) -> String {
    match text.find("\n#[cfg(test)]\nmod ") {
        // A module in a file of its own takes only two lines; code may follow.
        Some(at) if !text[at..].lines().nth(2).unwrap_or_default().ends_with(';') => {
            text[..=at].to_string()
        }
        _ => text.to_string(),
    }
}

/// Removes comments and the contents of literals from the text; line breaks stay.
pub fn strip_source(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut chars = text.chars().peekable();
    let mut before = ' ';
    while let Some(c) = chars.next() {
        match c {
            '/' if chars.peek() == Some(&'/') => {
                while chars.next_if(|c| *c != '\n').is_some() {}
                while out.ends_with(' ') {
                    out.pop();
                }
            }
            'r' if !before.is_alphanumeric() && before != '_' || before == 'b' && c == 'r' => {
                out.push(c);
                let mut marks = 0;
                while chars.next_if_eq(&'#').is_some() {
                    marks += 1;
                }
                if chars.next_if_eq(&'"').is_some() {
                    let end = format!("\"{}", "#".repeat(marks));
                    let mut inside = String::new();
                    while !inside.ends_with(&end) {
                        let Some(c) = chars.next() else { break };
                        inside.push(c);
                    }
                    out.extend(std::iter::repeat_n('\n', inside.matches('\n').count()));
                }
            }
            '"' => {
                out.push('"');
                while let Some(c) = chars.next() {
                    match c {
                        '\\' => {
                            if chars.next() == Some('\n') {
                                out.push('\n');
                            }
                        }
                        '"' => break,
                        '\n' => out.push('\n'),
                        _ => {}
                    }
                }
                out.push('"');
            }
            '\'' => {
                // A character literal has its closing quote after one character or an escape; a
                // lifetime has none.
                let mut ahead = chars.clone();
                let first = ahead.next();
                if first == Some('\\') || ahead.next() == Some('\'') {
                    if chars.next() == Some('\\') {
                        chars.next();
                    }
                    while chars.next().is_some_and(|c| c != '\'') {}
                    out.push_str("''");
                } else {
                    out.push(c);
                }
            }
            c => out.push(c),
        }
        before = c;
    }
    out
}
