//! `pgrep` and `pkill` (procps): processes found by name.

use std::io::Write;

use box_applet::opts::{Opt, Parsed, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::signal;
use box_text::regex::{Bound, Options, Regex, Syntax};

use super::processes::{self, Process};
use crate::common::{input, number};

/// What may be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
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
    Signal,
}

const SPEC: Spec<Flag> = Spec::new(
    "[options] <pattern>",
    "Look up or signal processes based on name.",
    &[
        Opt::new(Flag::Signal, 's', "signal").takes("SIG", "signal to send (pkill)"),
        Opt::new(Flag::Delimiter, 'd', "delimiter").takes("STRING", "specify output delimiter"),
        Opt::new(Flag::ListName, 'l', "list-name").says("list PID and process name"),
        Opt::new(Flag::ListFull, 'a', "list-full").says("list PID and full command line"),
        Opt::new(Flag::Inverse, 'v', "inverse").says("negates the matching"),
        Opt::new(Flag::Count, 'c', "count").says("count of matching processes"),
        Opt::new(Flag::Full, 'f', "full").says("use full process name to match"),
        Opt::new(Flag::IgnoreCase, 'i', "ignore-case").says("match case insensitively"),
        Opt::new(Flag::Newest, 'n', "newest").says("select most recently started"),
        Opt::new(Flag::Oldest, 'o', "oldest").says("select least recently started"),
        Opt::new(Flag::Parent, 'P', "parent")
            .takes("PPID,...", "match only child processes of the given parent"),
        Opt::new(Flag::Pgroup, 'g', "pgroup").takes("PGID,...", "match by process groups"),
        Opt::new(Flag::Euid, 'u', "euid").takes("ID,...", "match by effective IDs (one user: all)"),
        Opt::new(Flag::Exact, 'x', "exact").says("match exactly with the command name"),
        Opt::new(Flag::Echo, 'e', "echo").says("display what is killed"),
    ],
);

/// Which processes are meant.
struct Criteria {
    regex: Regex,
    /// The pattern is about the whole command line.
    full: bool,
    inverse: bool,
    parents: Option<Vec<u64>>,
    groups: Option<Vec<u64>>,
}

pub(crate) fn pgrep(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    Ok(find(ctx, args).map_or_else(|exit| exit, |(p, found)| list(ctx, &p, &found)))
}

pub(crate) fn pkill(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let mut signal = signal::TERM;
    let mut args = args;
    if let Some((first, rest)) = args.split_first()
        && let Some(given) = first.strip_prefix(b"-").and_then(signal::parse)
    {
        (signal, args) = (given, rest);
    }
    let (p, found) = find(ctx, args)?;
    if let Some(given) = p.last(Flag::Signal).and_then(signal::parse) {
        signal = given;
    }
    for x in &found {
        match ctx.procs.kill(x.pid, signal) {
            Ok(()) if p.has(Flag::Echo) => {
                let text = format!("{} killed (pid {})\n", x.command, x.pid);
                let _ = ctx.stdout.write_all(text.as_bytes());
            }
            Ok(()) => {}
            Err(e) => {
                let why = box_sys::strerror(&e);
                ctx.error(format_args!("killing pid {} failed: {why}", x.pid));
            }
        }
    }
    Ok(if found.is_empty() { Exit::FAILURE } else { Exit::SUCCESS })
}

/// What was written, and the processes that fit.
fn find(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<(Parsed<Flag>, Vec<Process>), Exit> {
    let p = SPEC.parse_or_exit(ctx, args, Exit::USAGE)?;
    let criteria = criteria(ctx, &p)?;
    let own = ctx.procs.pid();
    let mut found = processes::all(ctx);
    found.retain(|x| x.pid != own && criteria.fit(x));
    if p.has(Flag::Newest) {
        found.drain(..found.len().saturating_sub(1));
    } else if p.has(Flag::Oldest) {
        found.truncate(1);
    }
    Ok((p, found))
}

fn criteria(ctx: &mut Ctx<'_>, p: &Parsed<Flag>) -> Result<Criteria, Exit> {
    let others = [Flag::Parent, Flag::Euid, Flag::Pgroup];
    let pattern: &[u8] = match p.operands.as_slice() {
        [one] => one,
        [] if others.iter().any(|flag| p.has(*flag)) => b"",
        operands => {
            let what: &[u8] = match operands {
                [] => b"no matching criteria specified",
                _ => b"only one pattern can be provided",
            };
            input::usage_error(ctx, &[what]);
            return Err(Exit::USAGE);
        }
    };
    let mut options = Options::new(Syntax::EreRegcomp).icase(p.has(Flag::IgnoreCase));
    if p.has(Flag::Exact) {
        options = options.bound(Bound::Line);
    }
    let regex = Regex::new(pattern, &options).map_err(|e| {
        ctx.error(e);
        Exit::USAGE
    })?;
    let numbers = |flag: Flag| {
        let list = p.last(flag)?;
        Some(list.split(|c| *c == b',').filter_map(number::decimal).collect())
    };
    Ok(Criteria {
        regex,
        full: p.has(Flag::Full),
        inverse: p.has(Flag::Inverse),
        parents: numbers(Flag::Parent),
        groups: numbers(Flag::Pgroup),
    })
}

impl Criteria {
    fn fit(&self, x: &Process) -> bool {
        let text = if self.full { &x.args } else { &x.command };
        let among = |list: &Option<Vec<u64>>, n: u32| {
            list.as_ref().is_none_or(|l| l.contains(&u64::from(n)))
        };
        let fits = self.regex.is_match(text.as_bytes())
            && among(&self.parents, x.parent)
            && among(&self.groups, x.group);
        fits != self.inverse
    }
}

/// What `pgrep` prints.
fn list(ctx: &mut Ctx<'_>, p: &Parsed<Flag>, found: &[Process]) -> Exit {
    let item = |x: &Process| {
        if p.has(Flag::ListFull) {
            format!("{} {}", x.pid, x.args)
        } else if p.has(Flag::ListName) {
            format!("{} {}", x.pid, x.command)
        } else {
            x.pid.to_string()
        }
    };
    if p.has(Flag::Count) {
        let _ = ctx.stdout.write_all(format!("{}\n", found.len()).as_bytes());
    } else if !found.is_empty() {
        let delimiter = String::from_utf8_lossy(p.last(Flag::Delimiter).unwrap_or(b"\n"));
        let items: Vec<String> = found.iter().map(item).collect();
        let _ = ctx.stdout.write_all(format!("{}\n", items.join(&delimiter)).as_bytes());
    }
    if found.is_empty() { Exit::FAILURE } else { Exit::SUCCESS }
}
