//! `cargo xtask book`: builds a book from the pages of `docs/`, in `dist/book/`.
//!
//! `tests/harness/tests/documents.rs` tests, without building the book, that it contains every
//! page, that links have targets, and that the commands run.

use std::process::{Command, ExitCode};

use anyhow::{Context, Result};

use crate::{env, sdk};

/// Builds the book.
pub fn run() -> Result<ExitCode> {
    let python = sdk::make_venv("docs/book-requirements.txt")?;
    let program = python.parent().context("the environment has no folder")?.join("mdbook");
    let out = env::dist().join("book");
    let mut book = Command::new(program);
    book.arg("build").arg(env::root().join("docs")).arg("--dest-dir").arg(&out);
    env::run(&mut book)?;
    println!("{}", out.join("index.html").display());
    Ok(ExitCode::SUCCESS)
}
