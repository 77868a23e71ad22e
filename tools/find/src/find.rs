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
//! - Neither deep trees nor deep expressions use the stack: the walk keeps its own, nesting
//!   of parentheses is limited.
//!
//! Absent: SELinux contexts, birth times, `-D`'s output; file system types are not known.

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

use box_applet::{Ctx, Ended, Exit};

use expr::{FindSettings, Question};

const HELP: &str = "\
Usage: find [-H] [-L] [-P] [-Olevel] [-D debugopts] [path...] [expression]

Default path is the current directory; default expression is -print.
Expression may consist of: operators, options, tests, and actions.

Operators (decreasing precedence; -and is implicit where no others are given):
      ( EXPR )   ! EXPR   -not EXPR   EXPR1 -a EXPR2   EXPR1 -and EXPR2
      EXPR1 -o EXPR2   EXPR1 -or EXPR2   EXPR1 , EXPR2

Positional options (always true):
      -daystart -follow -nowarn -regextype -warn

Normal options (always true, specified before other expressions):
      -depth -files0-from FILE -maxdepth LEVELS -mindepth LEVELS
      -mount -noleaf -xdev -ignore_readdir_race -noignore_readdir_race

Tests (N can be +N or -N or N):
      -amin N -anewer FILE -atime N -cmin N -cnewer FILE -ctime N -empty -false
      -fstype TYPE -gid N -group NAME -ilname PATTERN -iname PATTERN -inum N
      -iwholename PATTERN -iregex PATTERN -links N -lname PATTERN -mmin N
      -mtime N -name PATTERN -newer FILE -newerXY REF -nouser -nogroup
      -path PATTERN -perm [-/]MODE -regex PATTERN -readable -writable
      -executable -samefile FILE -size N[bcwkMG] -true -type [bcdpfls] -uid N
      -used N -user NAME -wholename PATTERN -xtype [bcdpfls]

Actions:
      -delete -print0 -printf FORMAT -fprintf FILE FORMAT -print
      -fprint0 FILE -fprint FILE -ls -fls FILE -prune -quit
      -exec COMMAND ; -exec COMMAND {} + -ok COMMAND ;
      -execdir COMMAND ; -execdir COMMAND {} + -okdir COMMAND ;
";

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
                Some(Question::Help) => ctx.print(HELP),
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
