//! `ps` (POSIX XCU ps; procps): a snapshot of the processes.
//!
//! | file | contents |
//! |---|---|
//! | `options` | options in their three syntaxes |
//! | `columns` | the columns that can be shown |
//! | `forest` | processes below their parents |

mod columns;
mod forest;
mod options;

use std::io::Write;

use box_applet::help::{HelpPage, HelpSection};
use box_applet::{Ctx, Ended, Exit};
use box_sys::AccountNames;

use super::processes::{self, ProcessInfo};
use columns::{PsColumn, PsContent, Viewer};
use options::{PsAnswer, PsOptions, Selection};

const HELP: HelpPage = HelpPage::new(
    "[OPTION]...",
    "List processes: all, unless some are chosen.",
    &[
        HelpSection::new(
            "Which processes",
            &[
                ("  -e, -A, ax", "All"),
                ("  -p, p, --pid PIDS", "Those with these numbers"),
                ("      --ppid PIDS", "Those that these processes have started"),
                ("  -C NAMES", "Those of commands with these names"),
                ("  -u, U, --user USERS", "Those of these users"),
                ("  -s, --sid IDS", "Those of these sessions"),
                ("  -N, --deselect", "All but those that are chosen"),
            ],
        ),
        HelpSection::new(
            "What is printed",
            &[
                ("  -f, -F, -l, -j, u, l, j, v", "More columns"),
                ("  -o, o, --format LIST", "These columns: pid, ppid, user, comm, args, stat, ..."),
                ("  -O, O LIST", "These columns besides the usual ones"),
                ("      --sort, k KEYS", "Sort by columns; with - before one in descending order"),
                ("      --forest, f, -H", "Print processes as a tree, below their parents"),
                ("      --no-headers, h", "No line with the names of columns"),
                ("      --cols N", "Cut lines to N characters"),
            ],
        ),
    ],
)
.with_examples(&[("ps -o pid,args", "Number and command line of each")]);

/// The hint after an error in the command line.
const USAGE: &str = "\nUsage:\n ps [options]\n\nTry 'ps --help' for more information.";

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let options = match PsOptions::parse(args) {
        Ok(options) => options,
        Err(PsAnswer::Help) => return Ok(ctx.print(&HELP.text(&ctx.name))),
        Err(PsAnswer::Version) => return Ok(ctx.print(&ctx.version())),
        Err(PsAnswer::Error(why) | PsAnswer::ErrorOrBsd(why)) => {
            let _ = writeln!(ctx.stderr, "error: {why}\n{USAGE}");
            return Ok(Exit::FAILURE);
        }
    };
    let viewer = find_viewer(ctx);
    let mut list = processes::all_processes(ctx);
    list.retain(|process| options.selects(process, &viewer));
    list.sort_by(|a, b| {
        let keys = options.sort.iter().map(|key| {
            let order = key.column.content.compare(a, b, &viewer);
            if key.is_reverse { order.reverse() } else { order }
        });
        keys.fold(std::cmp::Ordering::Equal, std::cmp::Ordering::then)
    });
    let (list, branches) = match options.forest {
        Some(kind) => forest::arrange_forest(list, kind),
        None => {
            let none = list.iter().map(|_| String::new()).collect();
            (list, none)
        }
    };
    let columns = options.columns();
    let mut lines = Vec::new();
    let heading = format_line(&columns, |column| column.title.clone());
    // A line is never cut to less than the heading, so only the last column loses text.
    let width = options.line_width.map_or(usize::MAX, |width| width.max(heading.chars().count()));
    if !options.no_heading && columns.iter().any(|column| !column.title.is_empty()) {
        lines.push(heading);
    }
    lines.extend(list.iter().zip(&branches).map(|(process, branch)| {
        format_line(&columns, |column| {
            let text = column.content.of(process, &viewer);
            let is_command = matches!(column.content, PsContent::Command | PsContent::Arguments);
            if is_command { format!("{branch}{text}") } else { text }
        })
    }));
    for line in lines {
        let cut: String = line.chars().take(width).collect();
        let _ = writeln!(ctx.stdout, "{cut}");
    }
    Ok(if list.is_empty() { Exit::FAILURE } else { Exit::SUCCESS })
}

fn find_viewer(ctx: &Ctx<'_>) -> Viewer {
    let (uid, gid) = box_sys::meta::ids();
    let names = AccountNames::load();
    Viewer {
        pid: ctx.procs.pid(),
        user: (uid, names.show_user(uid)),
        group: (gid, names.show_group(gid)),
    }
}

/// Formats a line of the table.
fn format_line(columns: &[PsColumn], text: impl Fn(&PsColumn) -> String) -> String {
    let last = columns.len().saturating_sub(1);
    let cells = columns.iter().enumerate();
    cells.map(|(at, column)| column.cell(&text(column), at == last)).collect::<Vec<_>>().join(" ")
}

impl PsOptions {
    /// Returns whether a process is shown.
    fn selects(&self, process: &ProcessInfo, viewer: &Viewer) -> bool {
        let fits = |selection: &Selection| match selection {
            Selection::All => true,
            Selection::NoLeaders => process.pid != process.session,
            Selection::Running => process.pid == viewer.pid,
            Selection::Pid(pid) => process.pid == *pid,
            Selection::Parent(pid) => process.parent == *pid,
            Selection::Session(session) => process.session == *session,
            Selection::User(user) => viewer.user.0 == *user,
            Selection::Group(group) => viewer.group.0 == *group,
            Selection::Command(name) => process.command == *name,
            Selection::Terminal => false,
        };
        let is_found = self.selections.is_empty() || self.selections.iter().any(fits);
        is_found != self.is_negated
    }
}
