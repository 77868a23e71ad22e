//! `find`: walks trees and evaluates an expression for every file.
//!
//! | stage | file |
//! |---|---|
//! | leading options, starting points | here |
//! | words to [`expr::FindExpr`] | `parse` (operators), `primary` (tests and actions), `expr` |
//! | arguments of tests | `number`, `perm` |
//! | trees to entries, without recursion | `walk`, `entry` |
//! | an expression about an entry | `eval` |
//! | actions with output | `format` (-printf), `list` (-ls), `sinks` |
//! | actions with commands | `command` |
//!
//! # Invariants
//! - Metadata is read only when a test needs it: `-name` and `-type` come from the
//!   directory alone.
//! - Neither deep trees nor deep expressions exhaust the stack: the walk keeps a stack of its own,
//!   and the nesting of parentheses is limited.
//!
//! Deliberately absent: SELinux contexts, birth times, file system types, and the output of `-D`.

mod command;
mod entry;
mod eval;
mod expr;
mod format;
mod list;
mod number;
mod parse;
mod perm;
mod primary;
mod sinks;
mod walk;

use box_applet::help::{HelpPage, HelpSection, words};
use box_applet::{Ctx, Ended, Exit};

use expr::{FindSettings, Question};

const HELP: HelpPage = HelpPage::new(
    "[-H] [-L] [-P] [-O LEVEL] [-D WORDS] [PATH]... [EXPRESSION]",
    "Walk directories (the current one) and test each file by EXPRESSION (-print).",
    &[
        HelpSection::new(
            "Operators, from the strongest to the weakest",
            &[
                ("  ( E )", "Grouping; the shell needs \\( \\)"),
                ("  ! E, -not E", "E is false"),
                ("  E1 E2, E1 -a E2, -and", "Both are true; E2 is skipped if E1 is false"),
                ("  E1 -o E2, -or", "One is true; E2 is skipped if E1 is true"),
                ("  E1 , E2", "Do both; the value is that of E2"),
            ],
        ),
        HelpSection::new(
            "Options",
            &[
                (
                    "  -H, -L, -P",
                    "Before the paths: follow links that are paths, all links, no links",
                ),
                (
                    "  -maxdepth N, -mindepth N",
                    "Go down at most N levels; test nothing above level N",
                ),
                ("  -depth, -d", "Test what is in a directory before the directory"),
                ("  -xdev, -mount", "Stay on one file system"),
                ("  -follow", "As -L"),
                ("  -regextype TYPE", "Kind of -regex: posix-extended, posix-basic, emacs, ..."),
                ("  -files0-from FILE", "Read the paths from FILE, where NUL bytes end them"),
                ("  -daystart", "Count days from midnight, not from now"),
                ("  -warn, -nowarn, -noleaf, -D WORDS", words::IGNORED),
                ("  -ignore_readdir_race, -noignore_readdir_race", words::IGNORED),
                ("      --help, -help", words::HELP),
                ("      --version, -version", words::VERSION),
            ],
        ),
        HelpSection::new(
            "Tests; N is exact, +N more, -N less",
            &[
                ("  -name GLOB, -iname GLOB", "The name matches; in upper or lower case"),
                ("  -path GLOB, -wholename, -ipath, -iwholename", "The whole path matches"),
                ("  -regex RE, -iregex RE", "The whole path matches a regular expression"),
                ("  -lname GLOB, -ilname GLOB", "The target of the symbolic link matches"),
                ("  -type LETTERS", "f file, d directory, l link, p pipe, s socket, b or c device"),
                ("  -xtype LETTERS", "The same, of what a link points to"),
                ("  -size N[bcwkMG]", "Size in blocks of 512 bytes, or in a unit; c is bytes"),
                ("  -empty", "An empty file or directory"),
                ("  -mtime N, -atime N, -ctime N", "Modified, read, changed N*24 hours ago"),
                ("  -mmin N, -amin N, -cmin N", "The same, in minutes"),
                (
                    "  -newer FILE, -anewer, -cnewer",
                    "Modified, read or changed after FILE was modified",
                ),
                (
                    "  -newerXY REF",
                    "Compare times: X and Y are a, B, c or m; if Y is t, REF is a date: -newermt yesterday",
                ),
                ("  -used N", "Read N days after it was changed"),
                ("  -perm MODE, -MODE, /MODE", "Exactly these bits; all of them; any of them"),
                ("  -readable, -writable, -executable", "This user may read, write, execute it"),
                ("  -user NAME, -uid N, -nouser", "This is its owner; it has no owner"),
                ("  -group NAME, -gid N, -nogroup", "This is its group; it has no group"),
                (
                    "  -links N, -inum N, -samefile FILE",
                    "Its hard links, its inode, the same file as FILE",
                ),
                ("  -fstype TYPE", "Kind of its file system"),
                ("  -true, -false", "Always, never"),
            ],
        ),
        HelpSection::new(
            "Actions",
            &[
                ("  -print, -print0", "Print the path, and a newline or a NUL byte"),
                (
                    "  -printf FORMAT",
                    "Print by FORMAT: %p path, %f name, %s size, %TY-%Tm-%Td date, ...",
                ),
                ("  -ls", "Print as ls -dils does"),
                ("  -fprint FILE, -fprint0, -fprintf, -fls", "The same, to FILE"),
                ("  -delete", "Remove it; implies -depth"),
                ("  -exec COMMAND ;", "Run COMMAND with the path for {}; true if it succeeds"),
                ("  -exec COMMAND {} +", "Run COMMAND with many paths at once"),
                ("  -execdir COMMAND ; or {} +", "The same, in the directory of the file"),
                ("  -ok COMMAND ;, -okdir", "The same, after a question"),
                ("  -prune", "Do not go into this directory"),
                ("  -quit", "End now"),
            ],
        ),
    ],
)
.with_examples(&[
    ("find . -name '*.py' -not -path './venv/*'", "Files by name, without a folder"),
    ("find . -type f -size +1M -mtime -7", "Large files of the last week"),
    ("find . -name '*.log' -exec gzip {} +", "Run a command on all of them"),
]);

/// Runs `find`.
pub fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let mut settings = FindSettings::new(ctx);
    let mut rest = args;
    // -H, -L and -P count only before the first starting point.
    loop {
        match rest {
            [option, tail @ ..] if matches!(option.as_slice(), b"-H" | b"-L" | b"-P") => {
                settings.set_follow(option[1]);
                rest = tail;
            }
            [option, tail @ ..] if option.starts_with(b"-O") => rest = tail,
            [option, _, tail @ ..] if option == b"-D" => rest = tail,
            [option, tail @ ..] if option == b"--" => {
                rest = tail;
                break;
            }
            _ => break,
        }
    }
    let split = rest.iter().position(|a| begins_expression(a)).unwrap_or(rest.len());
    let (points, words) = rest.split_at(split);
    let mut expr = match parse::parse(ctx, words, &mut settings) {
        Ok(expr) => expr,
        Err(message) => {
            return Ok(match settings.question {
                Some(Question::Help) => ctx.print(&HELP.text(&ctx.name)),
                Some(Question::Version) => ctx.print(&ctx.version()),
                None => {
                    ctx.error_bytes(&[&message]);
                    Exit::FAILURE
                }
            });
        }
    };
    let points = starting_points(ctx, points, &settings)?;
    let mut state = eval::EvalState::default();
    walk::walk_points(ctx, &mut settings, &points, &mut expr, &mut state);
    state.run_batches(ctx, &mut expr);
    settings.sinks.flush();
    Ok(if state.failed { Exit::FAILURE } else { Exit::SUCCESS })
}

/// Returns whether a word belongs to the expression rather than to the starting points.
fn begins_expression(word: &[u8]) -> bool {
    matches!(word, [b'-', _, ..] | b"(" | b"!" | b")")
}

fn starting_points(
    ctx: &mut Ctx<'_>,
    given: &[Vec<u8>],
    settings: &FindSettings,
) -> Result<Vec<Vec<u8>>, Exit> {
    let Some(from) = &settings.files_from else {
        return Ok(if given.is_empty() { vec![b".".to_vec()] } else { given.to_vec() });
    };
    if let Some(extra) = given.first() {
        ctx.error_bytes(&[b"extra operand \xe2\x80\x98", extra, b"\xe2\x80\x99"]);
        ctx.error("file operands cannot be combined with -files0-from");
        return Err(Exit::FAILURE);
    }
    let text = ctx.read(from).map_err(|e| {
        let reason = box_sys::error_text(&e);
        let quoted = entry::quote_name(from);
        ctx.error_bytes(&[b"cannot open ", &quoted, b" for reading: ", reason.as_bytes()]);
        Exit::FAILURE
    })?;
    Ok(text.split(|&b| b == 0).filter(|p| !p.is_empty()).map(<[u8]>::to_vec).collect())
}
