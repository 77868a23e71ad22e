//! Generates a test for each block of Rust in `README.md` and `docs/`; `tests/documents.rs`
//! includes them.

use std::fmt::Write as _;
use std::path::{Path, PathBuf};

fn main() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("../..");
    println!("cargo::rerun-if-changed={}", root.join("README.md").display());
    println!("cargo::rerun-if-changed={}", root.join("docs").display());
    let entries = std::fs::read_dir(root.join("docs")).expect("docs");
    let mut pages: Vec<PathBuf> = entries.map(|e| e.expect("entry").path()).collect();
    pages.retain(|page| page.extension().is_some_and(|e| e == "md"));
    pages.push(root.join("README.md"));
    pages.sort();
    let (mut tests, mut names) = (String::new(), String::new());
    for page in pages {
        let stem = page.file_stem().and_then(|s| s.to_str()).expect("a name").to_lowercase();
        let text = std::fs::read_to_string(&page).expect("a page");
        for (line, code) in blocks(&text) {
            let name = format!("{}_line_{line}", stem.replace('-', "_"));
            let _ = writeln!(names, "    {name:?},");
            let _ = writeln!(
                tests,
                "#[test]\n#[ignore = \"run by blocks_of_rust_run\"]\n#[allow(unused, reason = \"as rustdoc's\")]\n\
                 fn {name}() {{\ncheck(|| {{\n{code}}});\n}}\n"
            );
        }
    }
    let out = std::env::var_os("OUT_DIR").expect("OUT_DIR");
    let all = format!("const BLOCKS: &[&str] = &[\n{names}];\n\n{tests}");
    std::fs::write(Path::new(&out).join("documents.rs"), all).expect("documents.rs");
}

/// Returns the blocks of Rust with their line numbers. As for rustdoc, lines that begin with `# `
/// are hidden from readers.
fn blocks(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    let mut block: Option<(usize, String)> = None;
    for (n, line) in text.lines().enumerate() {
        match &mut block {
            None if line == "```rust" => block = Some((n + 1, String::new())),
            None => {}
            Some(_) if line == "```" => found.extend(block.take()),
            Some((_, code)) => {
                let _ = writeln!(code, "{}", line.strip_prefix("# ").unwrap_or(line));
            }
        }
    }
    found
}
