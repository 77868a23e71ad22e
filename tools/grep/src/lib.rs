//! `grep`, `egrep`, `fgrep`, `rgrep` after POSIX XCU "grep" and GNU grep 3.8.
//!
//! | step | file |
//! |---|---|
//! | command line to [`config::GrepConfig`] | `cli`, `config` |
//! | patterns to one matcher | `pattern`, `perl` (-P), `recursion` (-P with subroutine calls) |
//! | operands and directories to inputs | `walk` |
//! | one input: buffer, lines, context, limits | `search`, `buffer` |
//! | the output and its colours | `output`, `colors` |
//!
//! # Invariants
//! - The matcher runs over whole buffers, not line by line; the bounds of a line are looked up only
//!   around a match. Lines without a match cost nothing but the scan.
//! - The memory in use is one buffer, the longest line and the lines of leading context.
//!
//! Deliberately absent: `-u` and `-X`. `-P` uses the engine `fancy-regex`, without callouts or
//! backtracking verbs other than `(*FAIL)`.
#![forbid(unsafe_code)]

mod buffer;
mod cli;
mod colors;
mod config;
mod output;
mod pattern;
mod perl;
mod recursion;
mod search;
mod walk;

use box_applet::{Applet, Ctx, Ended, Exit};

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] = &[
    Applet::new("egrep", run, "print lines that match extended regular expressions"),
    Applet::new("fgrep", run, "print lines that contain fixed strings"),
    Applet::new("grep", run, "search text for patterns"),
    Applet::new("rgrep", run, "search directories for lines that match patterns"),
];

fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let cli::GrepRequest { config, patterns, operands } = cli::parse(ctx, args)?;
    // As in GNU grep, nothing is read if no line can be selected.
    let selects_nothing = config.max_count == Some(0)
        || patterns.is_empty() && !config.invert
        || config.invert
            && !config.words
            && !config.whole_lines
            && matches!(patterns.as_slice(), [p] if p.is_empty());
    if selects_nothing && config.mode != config::GrepMode::FilesWithout {
        return Ok(Exit::FAILURE);
    }
    let matcher = match pattern::GrepMatcher::new(&patterns, &config) {
        Ok(m) => m,
        Err(message) => {
            ctx.error(message);
            return Ok(Exit::USAGE);
        }
    };
    Ok(walk::search_all(ctx, &config, matcher, operands))
}
