//! `pgrep` and `pkill` (procps): find processes by name.

use std::io::Write;

use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::signal;
use box_text::regex::{MatchBound, Regex, RegexOptions, RegexSyntax};

use super::processes::{self, ProcessInfo};
use crate::common::{input, number};

/// An option of `pgrep`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum PgrepFlag {
    Count,
    Delimiter,
    Echo,
    Euid,
    Exact,
    Full,
    IgnoreCase,
    Inverse,
    ListFull,
    ListName,
    Newest,
    Oldest,
    Parent,
    Pgroup,
    Session,
    Signal,
}

const SPEC: Spec<PgrepFlag> = Spec::new(
    "[OPTION]... PATTERN",
    "List or signal the processes whose name matches PATTERN.",
    &[
        Opt::long(PgrepFlag::Signal, "signal")
            .with_argument("SIG", "With pkill: the signal to send (TERM)"),
        Opt::new(PgrepFlag::Delimiter, 'd', "delimiter")
            .with_argument("STRING", "Put STRING between numbers instead of a newline"),
        Opt::new(PgrepFlag::ListName, 'l', "list-name").with_help("Add the name"),
        Opt::new(PgrepFlag::ListFull, 'a', "list-full").with_help("Add the whole command line"),
        Opt::new(PgrepFlag::Inverse, 'v', "inverse").with_help("Take those that do not match"),
        Opt::new(PgrepFlag::Count, 'c', "count").with_help("Print how many there are"),
        Opt::new(PgrepFlag::Full, 'f', "full").with_help("Match the whole command line"),
        Opt::new(PgrepFlag::IgnoreCase, 'i', "ignore-case")
            .with_help("Take upper and lower case as equal"),
        Opt::new(PgrepFlag::Newest, 'n', "newest").with_help("Take only the youngest"),
        Opt::new(PgrepFlag::Oldest, 'o', "oldest").with_help("Take only the oldest"),
        Opt::new(PgrepFlag::Parent, 'P', "parent")
            .with_argument("PPID,...", "Take only children of these processes"),
        Opt::new(PgrepFlag::Pgroup, 'g', "pgroup")
            .with_argument("PGID,...", "Take only members of these groups"),
        Opt::new(PgrepFlag::Session, 's', "session")
            .with_argument("SID,...", "Take only members of these sessions; 0 is the own one"),
        Opt::new(PgrepFlag::Euid, 'u', "euid")
            .with_argument("ID,...", "Accepted: all processes are of one user"),
        Opt::new(PgrepFlag::Exact, 'x', "exact").with_help("Match the whole name"),
        Opt::new(PgrepFlag::Echo, 'e', "echo").with_help("Print each process that gets a signal"),
    ],
);

/// The criteria that select processes.
struct Criteria {
    regex: Regex,
    /// Whether the pattern applies to the whole command line.
    full: bool,
    inverse: bool,
    parents: Option<Vec<u64>>,
    groups: Option<Vec<u64>>,
    sessions: Option<Vec<u64>>,
}

pub(crate) fn run_pgrep(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    Ok(find_processes(ctx, args)
        .map_or_else(|exit| exit, |(p, found)| list_processes(ctx, &p, &found)))
}

pub(crate) fn run_pkill(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let mut signal = signal::TERM;
    let mut args = args;
    if let Some((first, rest)) = args.split_first()
        && let Some(given) = first.strip_prefix(b"-").and_then(signal::parse)
    {
        (signal, args) = (given, rest);
    }
    let (p, found) = find_processes(ctx, args)?;
    if let Some(given) = p.last_value(PgrepFlag::Signal).and_then(signal::parse) {
        signal = given;
    }
    for x in &found {
        match ctx.procs.kill(x.pid, signal) {
            Ok(()) if p.has_option(PgrepFlag::Echo) => {
                let text = format!("{} killed (pid {})\n", x.command, x.pid);
                let _ = ctx.stdout.write_all(text.as_bytes());
            }
            Ok(()) => {}
            Err(e) => {
                let why = box_sys::error_text(&e);
                ctx.error(format_args!("killing pid {} failed: {why}", x.pid));
            }
        }
    }
    Ok(if found.is_empty() { Exit::FAILURE } else { Exit::SUCCESS })
}

/// Returns the parsed options and the processes that match.
fn find_processes(
    ctx: &mut Ctx<'_>,
    args: &[Vec<u8>],
) -> Result<(ParsedOptions<PgrepFlag>, Vec<ProcessInfo>), Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit::USAGE)?;
    let mut criteria = parse_criteria(ctx, &p)?;
    let own = ctx.procs.pid();
    let mut found = processes::all_processes(ctx);
    if let Some(me) = found.iter().find(|x| x.pid == own) {
        // The number 0 stands for that of this process.
        let lists = [(&mut criteria.groups, me.group), (&mut criteria.sessions, me.session)];
        for (list, mine) in lists {
            for number in list.iter_mut().flatten().filter(|number| **number == 0) {
                *number = mine.into();
            }
        }
    }
    found.retain(|x| x.pid != own && criteria.fits_process(x));
    if p.has_option(PgrepFlag::Newest) {
        found.drain(..found.len().saturating_sub(1));
    } else if p.has_option(PgrepFlag::Oldest) {
        found.truncate(1);
    }
    Ok((p, found))
}

fn parse_criteria(ctx: &mut Ctx<'_>, p: &ParsedOptions<PgrepFlag>) -> Result<Criteria, Exit> {
    let others = [PgrepFlag::Parent, PgrepFlag::Euid, PgrepFlag::Pgroup, PgrepFlag::Session];
    let pattern: &[u8] = match p.operands.as_slice() {
        [one] => one,
        [] if others.iter().any(|flag| p.has_option(*flag)) => b"",
        operands => {
            let what: &[u8] = match operands {
                [] => b"no matching criteria specified",
                _ => b"only one pattern can be provided",
            };
            input::usage_error(ctx, &[what]);
            return Err(Exit::USAGE);
        }
    };
    let mut options =
        RegexOptions::new(RegexSyntax::EreRegcomp).icase(p.has_option(PgrepFlag::IgnoreCase));
    if p.has_option(PgrepFlag::Exact) {
        options = options.bound(MatchBound::Line);
    }
    let regex = Regex::new(pattern, &options).map_err(|e| {
        ctx.error(e);
        Exit::USAGE
    })?;
    let numbers = |flag: PgrepFlag| {
        let list = p.last_value(flag)?;
        Some(list.split(|c| *c == b',').filter_map(number::parse_decimal).collect())
    };
    Ok(Criteria {
        regex,
        full: p.has_option(PgrepFlag::Full),
        inverse: p.has_option(PgrepFlag::Inverse),
        parents: numbers(PgrepFlag::Parent),
        groups: numbers(PgrepFlag::Pgroup),
        sessions: numbers(PgrepFlag::Session),
    })
}

impl Criteria {
    fn fits_process(&self, x: &ProcessInfo) -> bool {
        let text = if self.full { &x.args } else { &x.command };
        let among = |list: &Option<Vec<u64>>, n: u32| {
            list.as_ref().is_none_or(|l| l.contains(&u64::from(n)))
        };
        let fits = self.regex.is_match(text.as_bytes())
            && among(&self.parents, x.parent)
            && among(&self.groups, x.group)
            && among(&self.sessions, x.session);
        fits != self.inverse
    }
}

/// Prints the matching processes, as `pgrep` does.
fn list_processes(ctx: &mut Ctx<'_>, p: &ParsedOptions<PgrepFlag>, found: &[ProcessInfo]) -> Exit {
    let item = |x: &ProcessInfo| {
        if p.has_option(PgrepFlag::ListFull) {
            format!("{} {}", x.pid, x.args)
        } else if p.has_option(PgrepFlag::ListName) {
            format!("{} {}", x.pid, x.command)
        } else {
            x.pid.to_string()
        }
    };
    if p.has_option(PgrepFlag::Count) {
        let _ = ctx.stdout.write_all(format!("{}\n", found.len()).as_bytes());
    } else if !found.is_empty() {
        let delimiter =
            String::from_utf8_lossy(p.last_value(PgrepFlag::Delimiter).unwrap_or(b"\n"));
        let items: Vec<String> = found.iter().map(item).collect();
        let _ = ctx.stdout.write_all(format!("{}\n", items.join(&delimiter)).as_bytes());
    }
    if found.is_empty() { Exit::FAILURE } else { Exit::SUCCESS }
}
