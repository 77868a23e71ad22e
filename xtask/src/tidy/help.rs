//! Checks that help texts are in words of our own: no description of an option, sentence or clause
//! of four words or more may equal one in the help of the GNU tools, which is under the GPL. The
//! printed help is compared, so that texts of libraries count, too.
//!
//! The GNU texts are not in this repository, only digests of them (`gnu_help.txt`). On a machine
//! that has the tools, `cargo xtask tidy --gnu-help > xtask/src/tidy/gnu_help.txt` regenerates the
//! file.

use std::collections::BTreeSet;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::Result;

use crate::env::sha256;

/// The digests, sorted, several on a line. A digest is the first characters of a unit's SHA-256 in
/// hexadecimal.
const GNU_HELP: &str = include_str!("gnu_help.txt");

/// The length of a digest, in characters.
const DIGEST: usize = 12;
/// The number of digests on a line of the file.
const IN_LINE: usize = 7;
/// The minimum number of words of a unit that can be copied. Shorter units often cannot be worded
/// differently.
const FEWEST_WORDS: usize = 4;

/// Units that have only one possible wording, normalised.
const ONE_WORDING: &[&str] = &[];

/// Adds to `out` the units of a tool's help that equal one in the help of a GNU tool. Examples,
/// which are at the end, are left out.
pub fn find_copies(tool: &str, help: &str, out: &mut Vec<String>) {
    let help = help.split_once("\nExamples:\n").map_or(help, |(before, _)| before);
    let gnu: BTreeSet<&str> = GNU_HELP.split_ascii_whitespace().collect();
    out.extend(copies_in(&gnu, help).map(|unit| format!("{tool}: help in GNU's words: {unit}")));
}

fn copies_in<'t>(gnu: &'t BTreeSet<&str>, help: &str) -> impl Iterator<Item = String> + use<'t> {
    let units = units_of(help).into_iter().filter(|unit| !ONE_WORDING.contains(&unit.as_str()));
    units.filter(|unit| gnu.contains(digest_of(unit).as_str()))
}

/// Returns the help of all builtins of this shell.
pub fn builtin_help(shell: &mut Command) -> Result<String> {
    let script = "for name in $(compgen -b); do help \"$name\"; done";
    let output = shell.args(["-c", script]).stdin(Stdio::null()).output()?;
    let text = String::from_utf8_lossy(&output.stdout).into_owned();
    // The synopsis is left out, like the usage line of a tool, because it is the interface.
    let is_text = |line: &&str| line.starts_with(' ') || line.is_empty();
    Ok(text.lines().filter(is_text).map(|line| format!("{line}\n")).collect())
}

/// Prints the digests of the help of this machine's GNU tools, as far as `box` has applets of the
/// same names, and of bash's builtins.
pub fn print_gnu_help(binary: &Path, names: &[&str]) -> Result<()> {
    let mut units = BTreeSet::new();
    let ours = binary.parent().map(Path::to_path_buf);
    for name in names {
        if std::env::var_os("PATH").is_some_and(|path| {
            let mut folders = std::env::split_paths(&path);
            folders.any(|folder| Some(&folder) != ours.as_ref() && folder.join(name).is_file())
        }) && is_gnu(&tool_output(name, "--version")?)
        {
            units.extend(units_of(&tool_output(name, "--help")?));
        }
    }
    units.extend(units_of(&builtin_help(&mut Command::new("bash"))?));
    let digests: BTreeSet<String> = units.iter().map(|unit| digest_of(unit)).collect();
    let digests: Vec<&str> = digests.iter().map(String::as_str).collect();
    for line in digests.chunks(IN_LINE) {
        println!("{}", line.join(" "));
    }
    Ok(())
}

fn tool_output(name: &str, option: &str) -> Result<String> {
    let output = Command::new(name).arg(option).stdin(Stdio::null()).output()?;
    Ok(String::from_utf8_lossy(&output.stdout).into_owned())
}

/// Returns whether the output of `--version` is that of a tool of GNU, util-linux or procps, which
/// are under the GPL.
fn is_gnu(version: &str) -> bool {
    ["GNU", "util-linux", "procps", "Free Software"].iter().any(|word| version.contains(word))
}

fn digest_of(unit: &str) -> String {
    let mut digest = sha256(unit.as_bytes());
    digest.truncate(DIGEST);
    digest
}

/// Returns the units of a help text: each description or paragraph, each line of one, and each
/// clause of one.
fn units_of(help: &str) -> BTreeSet<String> {
    let mut units = BTreeSet::new();
    for block in blocks_of(help) {
        let whole = block.join(" ");
        let clauses = whole.split(['.', ';', ':', ',', '(', ')']);
        let texts = block.iter().map(String::as_str).chain(clauses).chain([whole.as_str()]);
        let words = texts.map(normal_words).filter(|words| words.len() >= FEWEST_WORDS);
        units.extend(words.map(|words| words.join(" ")));
    }
    units
}

/// Returns the words of a text in lower case, without punctuation around them.
fn normal_words(text: &str) -> Vec<String> {
    let words = text
        .split_whitespace()
        .map(|word| word.trim_matches(|c: char| !c.is_alphanumeric()).to_lowercase());
    words.filter(|word| !word.is_empty()).collect()
}

/// Returns the descriptions of options and the paragraphs, each as the lines it is printed in.
/// Usage lines are left out, because an interface has no other wording.
fn blocks_of(help: &str) -> Vec<Vec<String>> {
    let mut blocks: Vec<Vec<String>> = vec![Vec::new()];
    let mut is_usage = false;
    for line in help.lines() {
        let text = line.trim();
        is_usage = text.starts_with("Usage:")
            || is_usage && (text.starts_with("or:") || text.starts_with("or "));
        if is_usage || text.is_empty() {
            blocks.push(Vec::new());
            continue;
        }
        // At least two spaces follow the left cell of a row.
        let cells = text.split_once("  ").filter(|_| line.starts_with(' '));
        match (cells, text.starts_with('-')) {
            (Some((_, right)), _) => blocks.push(vec![right.trim().to_string()]),
            (None, true) => blocks.push(Vec::new()),
            (None, false) => {
                if let Some(block) = blocks.last_mut() {
                    block.push(text.to_string());
                }
            }
        }
    }
    blocks.retain(|block| !block.is_empty());
    blocks
}

#[cfg(test)]
mod tests {
    use super::{blocks_of, copies_in, digest_of, units_of};

    const HELP: &str = "\
Usage: paint [OPTION]... FILE of any kind
  or:  paint --all of the files here
Put paint onto files. They are dry (or nearly so) by noon.

  -c, --color=NAME  choose the paint by its name; it is
                    mixed if there is none
  -l                leave it
";

    #[test]
    fn units_are_descriptions_lines_and_clauses() {
        assert_eq!(blocks_of(HELP).len(), 3);
        let units: Vec<String> = units_of(HELP).into_iter().collect();
        assert_eq!(
            units,
            [
                "choose the paint by its name",
                "choose the paint by its name it is",
                "choose the paint by its name it is mixed if there is none",
                "it is mixed if there is none",
                "mixed if there is none",
                "put paint onto files",
                "put paint onto files they are dry or nearly so by noon",
            ]
        );
    }

    #[test]
    fn a_copy_is_found_however_it_is_laid_out() {
        let digests: Vec<String> = units_of(HELP).iter().map(|unit| digest_of(unit)).collect();
        let gnu = digests.iter().map(String::as_str).collect();
        let copies = |help: &str| copies_in(&gnu, help).collect::<Vec<_>>();
        let copy = "Options:\n  -c  Choose the paint\n      by its name\n";
        assert_eq!(copies(copy), ["choose the paint by its name"]);
        assert_eq!(copies("  -c, --color=NAME  Take the paint of this name\n"), [""; 0]);
        // This unit is too short to be a copy.
        assert_eq!(copies("  -l  leave it\n"), [""; 0]);
    }

    #[test]
    fn the_list_is_there() {
        let digests: Vec<&str> = super::GNU_HELP.split_ascii_whitespace().collect();
        assert!(digests.len() > 1000);
        assert!(digests.iter().all(|digest| digest.len() == super::DIGEST));
        assert!(digests.windows(2).all(|pair| pair[0] < pair[1]));
    }
}
