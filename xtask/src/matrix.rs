//! `cargo xtask matrix`: writes `tests/cases/shell/places.toml`, the product of constructs, places and first commands, with
//! bash's output for each.
//!
//! A function whose first command has a redirection was right alone and right in a pipeline of groups, and lost its output as a
//! stage of a pipeline, because no case had both. So here each construct is tested in each place.

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
    ("group", "", "{ BODY; }"),
    ("subshell", "", "( BODY )"),
    ("loop", "", "for i in 1 2; do BODY; done"),
    ("alias", "shopt -s expand_aliases\nalias a='BODY'", "a"),
    ("substitution", "", "echo \"<$(BODY)>\""),
    ("function in a function", "g() { BODY; }; f() { g; echo f; }", "f"),
    ("condition", "", "if BODY; then echo yes; fi"),
];

/// Places: a name and the text around `COMMAND`.
const PLACES: &[(&str, &str)] = &[
    ("first stage", "COMMAND | cat"),
    ("middle stage", "echo in | COMMAND | cat"),
    ("last stage", "echo in | COMMAND"),
    ("background", "COMMAND & wait $!"),
    ("command substitution", "x=$(COMMAND); echo \"$? $x\""),
    ("process substitution", "cat <(COMMAND; echo sub)"),
    // With `wait`, because bash forgets the descriptors of a coprocess that has ended.
    (
        "coproc",
        "coproc { read -r go; COMMAND; }; exec 5<&\"${COPROC[0]}\"; echo >&\"${COPROC[1]}\"; cat <&5",
    ),
    ("EXIT trap", "trap 'trap - EXIT\nCOMMAND' EXIT; echo main"),
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
const RETURNING: &[&str] = &["function", "source", "function in a function"];

/// Writes the cases.
pub fn run(args: &[String]) -> Result<ExitCode> {
    if !args.is_empty() {
        eprintln!("usage: cargo xtask matrix");
        return Ok(ExitCode::from(2));
    }
    let version = env::command_output(Command::new("bash").args(["-c", "echo $BASH_VERSION"]))?;
    ensure!(version.starts_with(BASH), "bash {BASH} is the authority; this is {version}");
    let mut out = String::from(
        "# Each construct in each place, with each first command: made by `cargo xtask matrix` (xtask/src/matrix.rs).\n\
         authority = \"bash 5.2\"\n",
    );
    let mut count = 0;
    for (construct, before, command) in CONSTRUCTS {
        for (place, around) in PLACES {
            let script = matrix_script(construct, before, &around.replace("COMMAND", command));
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

/// Returns a script that runs a command line with each first command in a shell of its own.
fn matrix_script(construct: &str, before: &str, line: &str) -> String {
    let mut script = String::from("r() { bash -c \"$1\" 2> /dev/null; echo \"= $?\"; }\n");
    for (name, first) in FIRST {
        if *name == "return" && !RETURNING.contains(&construct) {
            continue;
        }
        let body = format!("{first}; echo on");
        let text = format!("{before}\n{line}\necho \"end $?\"").replace("BODY", &body);
        let _ = writeln!(script, "r '{}'", text.trim_start().replace('\'', "'\\''"));
    }
    script
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

/// Returns a text of whole lines, without three quotes in a row, as a multi-line basic string of TOML.
fn quote_text(text: &str) -> String {
    format!("\"\"\"\n{}\"\"\"", text.replace('\\', "\\\\"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn scripts_have_each_first_command_once() {
        let script = matrix_script("group", "", "{ BODY; } | cat");
        assert_eq!(script.lines().filter(|l| l.starts_with("r '")).count(), FIRST.len() - 1);
        assert!(script.contains("r '{ ls > /dev/null; echo on; } | cat\necho \"end $?\"'\n"));
        assert_eq!(quote_text("a\"\\\n"), "\"\"\"\na\"\\\\\n\"\"\"");
    }
}
