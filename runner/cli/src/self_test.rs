//! `runner self-test`: checks on this machine that the program and its image work together.
//!
//! Each check runs this program as a user would, because the installation can be at fault here:
//! the image and its machine code, walls of the kernel, folders that cannot be written.

use crate::args::stored::ImageArg;
use crate::message::escape_text;
use crate::{CliFailure, print_text};
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::Instant;

/// A check: its name, a command line without the program's name, and the outcome that is right. In
/// arguments, `{store}`, `{dir}` and `{snapshot}` are paths of a temporary folder.
struct Check {
    name: &'static str,
    args: &'static [&'static str],
    expected: Expectation,
}

enum Expectation {
    /// Status 0 and this standard output.
    Output(&'static str),
    /// This status, whatever was printed.
    Status(i32),
}
use Expectation::{Output, Status};

const fn check(name: &'static str, args: &'static [&'static str], expected: Expectation) -> Check {
    Check { name, args, expected }
}

/// The number of lines that are shown of a failed check.
const LINES: usize = 20;

/// The content of the file in `{dir}`.
const SECRET: &str = "of the host\n";

const CHECKS: &[Check] = &[
    check(
        "shell and tools",
        &["exec", "--", "bash", "-c", "seq 10 | sort -rn | head -1"],
        Output("10\n"),
    ),
    check("Python", &["exec", "--", "python3", "-c", "print(sum(range(10)))"], Output("45\n")),
    check(
        "JavaScript",
        &["exec", "--", "node", "-p", "[3, 1, 2].sort().join()"],
        Output("1,2,3\n"),
    ),
    check("status of a command", &["exec", "--", "bash", "-c", "exit 7"], Status(7)),
    check(
        "time limit",
        &["exec", "--timeout", "1", "--", "bash", "-c", "while :; do :; done"],
        Status(124),
    ),
    check(
        "memory limit",
        &[
            "exec",
            "--memory",
            "256M",
            "--",
            "bash",
            "-c",
            "head -c 512M /dev/zero > /tmp/f && exit; exit 9",
        ],
        Status(9),
    ),
    check("files of the host hidden", &["exec", "--", "cat", "{dir}/file"], Status(1)),
    check(
        "a mount is read",
        &["exec", "--mount", "{dir}:/m", "--", "cat", "/m/file"],
        Output(SECRET),
    ),
    check(
        "a read-only mount is not written",
        &["exec", "--mount", "{dir}:/m:ro", "--", "bash", "-c", "echo x > /m/file"],
        Status(1),
    ),
    check(
        "no network",
        &["exec", "--", "curl", "--silent", "--max-time", "5", "http://192.0.2.1/"],
        Status(7),
    ),
    check("a session", &["session", "create", "--store", "{store}", "a"], Output("a\n")),
    check(
        "a session keeps files",
        &["session", "exec", "--store", "{store}", "a", "--", "bash", "-c", "echo 1 > f"],
        Output(""),
    ),
    check(
        "a session keeps them",
        &["session", "exec", "--store", "{store}", "a", "--", "bash", "-c", "echo 2 >> f"],
        Output(""),
    ),
    check("undo", &["session", "undo", "--store", "{store}", "a"], Status(0)),
    check(
        "the undone file",
        &["session", "exec", "--store", "{store}", "a", "--", "cat", "f"],
        Output("1\n"),
    ),
    check("fork", &["session", "fork", "--store", "{store}", "a", "b"], Status(0)),
    check("snapshot", &["snapshot", "export", "--store", "{store}", "b", "{snapshot}"], Status(0)),
    check(
        "a snapshot is taken in",
        &["snapshot", "import", "--store", "{store}", "--name", "c", "{snapshot}"],
        Status(0),
    ),
    check(
        "its files",
        &["session", "exec", "--store", "{store}", "c", "--", "cat", "f"],
        Output("1\n"),
    ),
    check("the store is whole", &["session", "check", "--store", "{store}"], Status(0)),
];

/// Runs all checks and prints a line for each. The status is 1 if one of them fails.
pub fn run(image: &ImageArg) -> Result<u8, CliFailure> {
    let failed = |e: std::io::Error| CliFailure::new(125, e);
    let image = image.path()?;
    let own = std::env::current_exe().map_err(failed)?;
    let folder = tempfile::tempdir().map_err(failed)?;
    std::fs::write(folder.path().join("file"), SECRET).map_err(failed)?;
    let mut status = 0;
    for check in CHECKS {
        let begun = Instant::now();
        let mut command = Command::new(&own);
        command.args(check.args.iter().map(|arg| fill_in(arg, folder.path())));
        command.env("WASIBOX_IMAGE", &image).env_remove("WASIBOX_STORE").stdin(Stdio::null());
        let out = command.output().map_err(failed)?;
        let is_right = match check.expected {
            Output(text) => out.status.success() && out.stdout == text.as_bytes(),
            Status(status) => out.status.code() == Some(status),
        };
        let word = if is_right { "ok" } else { "FAILED" };
        let millis = begun.elapsed().as_millis();
        print_text(&format!("{word:<7} {:<34} {millis:>6} ms\n", check.name))?;
        if !is_right {
            status = 1;
            print_text(&report(check, &out))?;
        }
    }
    Ok(status)
}

/// Returns an argument with the paths in it.
fn fill_in(arg: &str, folder: &Path) -> String {
    let path = |name: &str| folder.join(name).to_string_lossy().into_owned();
    let arg = arg.replace("{store}", &path("store.wbx"));
    arg.replace("{snapshot}", &path("snapshot.wbs")).replace("{dir}", &folder.to_string_lossy())
}

/// Returns the command and the output of a failed check, each line indented.
fn report(check: &Check, out: &std::process::Output) -> String {
    let mut text = format!("command: runner {}\n{}\n", check.args.join(" "), out.status);
    for stream in [&out.stdout, &out.stderr] {
        text.push_str(&String::from_utf8_lossy(stream));
    }
    let shown = text.lines().take(LINES).map(|line| format!("        {}\n", escape_text(line)));
    shown.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn arguments_get_their_paths() {
        let folder = Path::new("/t");
        assert_eq!(fill_in("{dir}:/m:ro", folder), "/t:/m:ro");
        assert_eq!(fill_in("{store}", folder), "/t/store.wbx");
        // No other braces, such as a misspelled name.
        for arg in CHECKS.iter().flat_map(|check| check.args) {
            assert!(!fill_in(arg, folder).contains('{'), "{arg}");
        }
    }

    #[test]
    fn each_check_is_a_command_line() {
        for check in CHECKS {
            let args = check.args.iter().map(|arg| fill_in(arg, Path::new("/t")).into());
            assert!(crate::args::parse(args).is_ok(), "{}", check.name);
        }
    }
}
