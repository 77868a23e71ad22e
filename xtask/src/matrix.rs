//! `cargo xtask matrix`: writes `tests/cases/shell/places.toml`, the product of constructs, places
//! and first commands, with bash's output for each.
//!
//! Once, a function whose first command has a redirection lost its output as a stage of a pipeline.
//! The function alone was correct, and so were groups in a pipeline, but no case combined the two.
//! So here each construct is tested in each place.

use std::fmt::Write as _;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};

use crate::env;

/// The version whose output is recorded.
const BASH: &str = "5.2";

/// Constructs: a name, the text before, and the command. `BODY` is a list of commands.
const CONSTRUCTS: &[(&str, &str, &str)] = &[
    ("function", "f() { BODY; }", "f"),
    ("eval", "", "eval 'BODY'"),
    ("source", "printf '%s\\n' 'BODY' > s.sh", ". ./s.sh"),
    ("source in a function", "printf '%s\\n' 'BODY' > s.sh; f() { . ./s.sh; echo f; }", "f"),
    ("group", "", "{ BODY; }"),
    ("subshell", "", "( BODY )"),
    ("loop", "", "for i in 1 2; do BODY; done"),
    ("alias", "shopt -s expand_aliases\nalias a='BODY'", "a"),
    ("substitution", "", "echo \"<$(BODY)>\""),
    ("function in a function", "g() { BODY; }; f() { g; echo f; }", "f"),
    ("condition", "", "if BODY; then echo yes; fi"),
];

/// Places: a name and the text around `COMMAND`, which is `QUOTED` where it is in single quotes.
const PLACES: &[(&str, &str)] = &[
    ("first stage", "COMMAND | cat"),
    ("middle stage", "echo in | COMMAND | cat"),
    ("last stage", "echo in | COMMAND"),
    ("background", "COMMAND & wait $!"),
    ("background and wait for all", "COMMAND & wait"),
    ("command substitution", "x=$(COMMAND); echo \"$? $x\""),
    ("process substitution", "cat <(COMMAND; echo sub)"),
    ("all of a process substitution", "cat <(COMMAND)"),
    // The writer is `:`, which writes nothing: a program that writes would sometimes get SIGPIPE.
    ("output process substitution", ": > >(COMMAND; echo sub); wait $!"),
    ("all of an output process substitution", ": > >(COMMAND); wait $!"),
    // The coprocess waits for a line, because bash forgets the descriptors of a coprocess that has
    // ended.
    (
        "coproc",
        "coproc { read -r go; COMMAND; }; exec 5<&\"${COPROC[0]}\"; echo >&\"${COPROC[1]}\"; cat <&5",
    ),
    ("EXIT trap", "trap 'trap - EXIT\nQUOTED' EXIT; echo main"),
    ("ERR trap", "trap 'QUOTED' ERR; false; echo \"main $?\""),
    ("DEBUG trap", "trap 'trap - DEBUG\nQUOTED' DEBUG; echo main"),
    ("RETURN trap", "h() { echo h; }; declare -ft h; trap 'QUOTED' RETURN; h"),
    ("signal trap", "trap 'QUOTED' USR1; kill -USR1 $$; echo \"main $?\""),
    ("plain", "COMMAND"),
];

/// First commands of `BODY`; `echo on` follows.
const FIRST: &[(&str, &str)] = &[
    ("redirection of a program", "ls > /dev/null"),
    ("redirection of a builtin", "echo hidden > /dev/null"),
    ("assignment before a program", "V=1 env > /dev/null"),
    ("assignment before a builtin", "IFS=: read -r a b <<< 1:2"),
    ("failing", "ls /nowhere 2> /dev/null"),
    ("exec with redirections", "exec 2> /dev/null"),
    ("exec of a program", "exec echo replaced"),
    ("return", "return 3"),
    ("exit", "exit 4"),
];

/// Constructs that `return` leaves.
const RETURNING: &[&str] =
    &["function", "source", "source in a function", "function in a function"];

/// Combinations of a construct and a place in which bash 5.2 dumps core at `return`.
const CRASHES: &[(&str, &str)] = &[("source", "ERR trap"), ("source", "RETURN trap")];

/// The number of first commands on one line of a script.
const WORDS: usize = 4;

/// Runs the text of each first command in a separate shell, and prints its output as one line.
const RUN: &str = r#"do
  out=$(bash -c "${text//BODY/"$first; echo on"}" 2> /dev/null)
  echo "${out//$'\n'/ } = $?"
done
"#;

/// Writes the cases.
pub fn run() -> Result<ExitCode> {
    let version = env::command_output(Command::new("bash").args(["-c", "echo $BASH_VERSION"]))?;
    ensure!(version.starts_with(BASH), "bash {BASH} is the authority; this is {version}");
    let mut out = String::from(
        "# Each construct in each place, with each first command: made by `cargo xtask matrix` (xtask/src/matrix.rs).\n\
         authority = \"bash 5.2\"\n",
    );
    let mut count = 0;
    for (construct, before, command) in CONSTRUCTS {
        for (place, around) in PLACES {
            let quoted = command.replace('\'', "'\\''");
            let line = around.replace("COMMAND", command).replace("QUOTED", &quoted);
            let returns = RETURNING.contains(construct) && !CRASHES.contains(&(construct, place));
            let script = matrix_script(before, &line, returns);
            let stdout = run_bash(&script)?;
            write!(
                out,
                "\n[[case]]\nname = \"{construct}: {place}\"\nscript = {}\nstdout = {}\n",
                quote_text(&script),
                quote_text(&stdout)
            )?;
            count += 1;
        }
    }
    env::write(&env::root().join("tests/cases/shell/places.toml"), out.as_bytes())?;
    eprintln!("{count} cases");
    Ok(ExitCode::SUCCESS)
}

/// Returns a script that runs a command line once for each first command, in a new shell each time.
/// `return` is one of them only if `returns` is true.
fn matrix_script(before: &str, line: &str, returns: bool) -> String {
    let text = format!("{before}\n{line}\necho \"end $?\"");
    let mut script = format!("text={}\nfor first in", quote_word(text.trim_start()));
    let first: Vec<String> = FIRST
        .iter()
        .filter(|(name, _)| *name != "return" || returns)
        .map(|(_, first)| quote_word(first))
        .collect();
    for words in first.chunks(WORDS) {
        let _ = write!(script, " \\\n  {}", words.join(" "));
    }
    script.push('\n');
    script.push_str(RUN);
    script
}

/// Returns a text as a word of the shell.
fn quote_word(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}

/// Returns bash's output for a script in a folder of its own.
fn run_bash(script: &str) -> Result<String> {
    let dir = std::env::temp_dir().join(format!("wasibox-matrix-{}", std::process::id()));
    std::fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    let mut command = Command::new("bash");
    let output = command
        .args(["-c", script])
        .current_dir(&dir)
        .stdin(Stdio::null())
        .output()
        .context("bash")?;
    std::fs::remove_dir_all(&dir).with_context(|| dir.display().to_string())?;
    String::from_utf8(output.stdout).context("bash's output is UTF-8")
}

/// Returns a text of whole lines, without three quotes in a row, as a multi-line basic string of
/// TOML.
fn quote_text(text: &str) -> String {
    format!("\"\"\"\n{}\"\"\"", text.replace('\\', "\\\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_each_first_command_once() {
        let script = matrix_script("", "{ BODY; } | cat", false);
        assert_eq!(script.matches("' \\\n").count(), (FIRST.len() - 1).div_ceil(WORDS) - 1);
        assert!(
            script.starts_with("text='{ BODY; } | cat\necho \"end $?\"'\nfor first in \\\n  'ls")
        );
        assert_eq!(quote_word("a'b"), "'a'\\''b'");
        assert_eq!(quote_text("a\"\\\n"), "\"\"\"\na\"\\\\\n\"\"\"");
    }
}
