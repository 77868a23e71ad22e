//! `kill`, `pgrep`, `pkill`, `ps`: processes, as far as the guest knows of them.

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::signal;
use box_text::regex::{Bound, Options, Regex, Syntax};

use crate::common::{input, number, quote};

const KILL_HELP: &str = "Usage: kill [-s SIGNAL | -SIGNAL] PID...
  or:  kill -l [SIGNAL]...
  or:  kill -t [SIGNAL]...
Send signals to processes, or list signals.

  -s, --signal=SIGNAL, -SIGNAL   specify the name or number of the signal to be sent
  -l, --list      list signal names, or convert signal names to/from numbers
  -t, --table     print a table of signal information
      --help      display this help and exit
      --version   output version information and exit
";

pub(crate) fn kill(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let mut chosen: Option<u8> = None;
    let mut list: Option<u8> = None;
    let mut at = 0;
    while let Some(a) = args.get(at) {
        let mut name: Option<Vec<u8>> = None;
        match a.as_slice() {
            b"--" => {
                at += 1;
                break;
            }
            b"--help" => {
                let _ = ctx.stdout.write_all(KILL_HELP.as_bytes());
                return Exit::SUCCESS;
            }
            b"--version" => {
                let text = format!("kill (Wasibox) {}\n", env!("CARGO_PKG_VERSION"));
                let _ = ctx.stdout.write_all(text.as_bytes());
                return Exit::SUCCESS;
            }
            b"-l" | b"--list" | b"-L" => list = Some(b'l'),
            b"-t" | b"--table" => list = Some(b't'),
            b"-s" | b"-n" | b"--signal" => {
                at += 1;
                match args.get(at) {
                    Some(s) => name = Some(s.clone()),
                    None => {
                        input::usage_error(ctx, &[b"option requires an argument -- 's'"]);
                        return Exit::FAILURE;
                    }
                }
            }
            _ if a.starts_with(b"--signal=") => name = Some(a[9..].to_vec()),
            [b'-', b's', rest @ ..]
                if chosen.is_none() && list.is_none() && signal::parse(&a[1..]).is_none() =>
            {
                name = Some(rest.to_vec())
            }
            // A second dashed word is a process group.
            [b'-', _, ..] if chosen.is_none() && list.is_none() => name = Some(a[1..].to_vec()),
            _ => break,
        }
        if let Some(n) = name {
            match signal::parse(&n) {
                Some(s) => chosen = Some(s),
                None => {
                    input::usage_error(ctx, &[&quote::always(&n), b": invalid signal"]);
                    return Exit::FAILURE;
                }
            }
        }
        at += 1;
    }
    let operands = args.get(at..).unwrap_or_default();
    if let Some(how) = list {
        return list_signals(ctx, operands, how == b't');
    }
    if operands.is_empty() {
        input::usage_error(ctx, &[b"no process ID specified"]);
        return Exit::FAILURE;
    }
    let mut exit = Exit::SUCCESS;
    for o in operands {
        let digits = o.strip_prefix(b"-").unwrap_or(o);
        let Some(pid) = number::decimal(digits).and_then(|n| u32::try_from(n).ok()) else {
            ctx.error_bytes(&[&quote::always(o), b": invalid process id"]);
            exit = Exit::FAILURE;
            continue;
        };
        let number = chosen.unwrap_or(signal::TERM);
        let group = pid == 0 || o.starts_with(b"-");
        let sent = match group {
            true => ctx.procs.kill_group(pid, number),
            false => ctx.procs.kill(pid, number),
        };
        if let Err(e) = sent {
            ctx.error_bytes(&[&quote::always(o), b": ", box_sys::strerror(&e).as_bytes()]);
            exit = Exit::FAILURE;
        }
    }
    exit
}

/// Signal descriptions as `strsignal(3)` gives them.
const DESCRIPTIONS: [&str; 32] = [
    "EXIT",
    "Hangup",
    "Interrupt",
    "Quit",
    "Illegal instruction",
    "Trace/breakpoint trap",
    "Aborted",
    "Bus error",
    "Floating point exception",
    "Killed",
    "User defined signal 1",
    "Segmentation fault",
    "User defined signal 2",
    "Broken pipe",
    "Alarm clock",
    "Terminated",
    "Stack fault",
    "Child exited",
    "Continued",
    "Stopped (signal)",
    "Stopped",
    "Stopped (tty input)",
    "Stopped (tty output)",
    "Urgent I/O condition",
    "CPU time limit exceeded",
    "File size limit exceeded",
    "Virtual timer expired",
    "Profiling timer expired",
    "Window changed",
    "I/O possible",
    "Power failure",
    "Bad system call",
];

fn list_signals(ctx: &mut Ctx<'_>, operands: &[Vec<u8>], table: bool) -> Exit {
    let mut out = String::new();
    let mut exit = Exit::SUCCESS;
    let row = |n: u8| {
        let name = signal::name(n).unwrap_or_default();
        let text = DESCRIPTIONS.get(usize::from(n)).map_or_else(
            || format!("Real-time signal {}", n.saturating_sub(34)),
            |d| (*d).to_string(),
        );
        format!("{n:2} {name:<8} {text}\n")
    };
    if operands.is_empty() {
        for n in (1..=31).chain(34..=64) {
            match (table, signal::name(n)) {
                (true, _) => out.push_str(&row(n)),
                (false, Some(name)) => {
                    out.push_str(&name);
                    out.push('\n');
                }
                _ => {}
            }
        }
    }
    for o in operands {
        // A number may be a status: 128 more than the signal.
        let n = match number::decimal(o) {
            Some(n) => u8::try_from(n & 0x7f).ok().filter(|_| n < 256),
            None => signal::parse(o),
        };
        match n.and_then(|n| signal::name(n).map(|s| (n, s))) {
            Some((n, _)) if table => out.push_str(&row(n)),
            Some((_, name)) if o.first().is_some_and(u8::is_ascii_digit) => {
                out.push_str(&format!("{name}\n"))
            }
            Some((n, _)) => out.push_str(&format!("{n}\n")),
            None => {
                ctx.error_bytes(&[&quote::always(o), b": invalid signal"]);
                exit = Exit::FAILURE;
            }
        }
    }
    let _ = ctx.stdout.write_all(out.as_bytes());
    exit
}

/// A running process.
struct Process {
    pid: u32,
    parent: u32,
    group: u32,
    session: u32,
    command: String,
    args: String,
}

/// The list that our host gives ([`box_sys::PROCESSES`]).
fn listed(mut text: &[u8]) -> Vec<Process> {
    let mut list = Vec::new();
    while let Some(end) = text.iter().position(|b| *b == b'\n') {
        let (head, rest) = (&text[..end], &text[end + 1..]);
        let fields: Vec<usize> = head
            .split(|b| *b == b' ')
            .filter_map(|f| std::str::from_utf8(f).ok()?.parse().ok())
            .collect();
        let [pid, parent, group, session, _, length] = fields[..] else { break };
        let Some(args) = rest.get(..length) else { break };
        text = &rest[length..];
        let first = args.split(|b| *b == 0).next().unwrap_or_default();
        let name = first.rsplit(|b| *b == b'/').next().unwrap_or_default();
        let args = String::from_utf8_lossy(args).trim_end_matches('\0').replace('\0', " ");
        list.push(Process {
            pid: pid as u32,
            parent: parent as u32,
            group: group as u32,
            session: session as u32,
            command: String::from_utf8_lossy(name).chars().take(15).collect(),
            args,
        });
    }
    list
}

/// The numbers of the processes that have not ended, where our host lists them. Signal 0 also reaches
/// one that has ended and that its parent has not waited for.
pub(super) fn living() -> Option<Vec<u32>> {
    let text = std::fs::read(box_sys::PROCESSES).ok()?;
    let list: Vec<u32> = listed(&text).iter().map(|p| p.pid).collect();
    (!list.is_empty()).then_some(list)
}

/// All processes: as our host lists them, or from `/proc` where there is one, else this one and its
/// parent, which are all that WASIX tells of.
fn processes(ctx: &Ctx<'_>) -> Vec<Process> {
    let mut list = match std::fs::read(box_sys::PROCESSES) {
        Ok(text) => listed(&text),
        Err(_) => Vec::new(),
    };
    if !list.is_empty() {
        return list;
    }
    if let Ok(dir) = std::fs::read_dir("/proc") {
        for e in dir.flatten() {
            let Some(pid) = e.file_name().to_str().and_then(|n| n.parse::<u32>().ok()) else {
                continue;
            };
            let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap_or_default();
            let (Some(open), Some(close)) = (stat.find('('), stat.rfind(')')) else { continue };
            let command = stat.get(open + 1..close).unwrap_or_default().to_string();
            let number = |n: usize| -> u32 {
                let fields = stat.get(close + 1..).unwrap_or_default();
                fields.split_whitespace().nth(n).and_then(|f| f.parse().ok()).unwrap_or(0)
            };
            let (parent, group, session) = (number(1), number(2), number(3));
            let raw = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            let args = String::from_utf8_lossy(&raw).trim_end_matches('\0').replace('\0', " ");
            let args = if args.is_empty() { format!("[{command}]") } else { args };
            list.push(Process { pid, parent, group, session, command, args });
        }
    }
    if list.is_empty() {
        let (pid, parent) = (ctx.procs.pid(), ctx.procs.parent_pid());
        if parent != 0 {
            list.push(Process {
                pid: parent,
                parent: 0,
                group: parent,
                session: parent,
                command: "sh".to_string(),
                args: "sh".to_string(),
            });
        }
        let (command, args) = (ctx.name.clone(), ctx.name.clone());
        list.push(Process { pid, parent, group: parent, session: parent, command, args });
    }
    list.sort_by_key(|p| p.pid);
    list
}

const PS: Spec = Spec {
    usage: "[OPTION]...",
    about: "Report a snapshot of the current processes.",
    options: &[
        Opt::flag('e', "", "all processes"),
        Opt::flag('A', "", "all processes"),
        Opt::flag('a', "", "all processes with a terminal"),
        Opt::flag('d', "", "all processes except session leaders"),
        Opt::flag('x', "", "processes without a terminal too"),
        Opt::flag('f', "", "full format"),
        Opt::flag('l', "", "long format"),
        Opt::flag('u', "", "user-oriented format"),
        Opt::flag('w', "", "wide output"),
        Opt::value('p', "pid", "PID", "select by process ID"),
        Opt::value('o', "format", "FIELDS", "pid, ppid, comm, args, user, stat, ..."),
        Opt::flag('\u{1}', "no-headers", "print no header line").long_only(),
    ],
    after: "",
    posix_order: false,
};

pub(crate) fn ps(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    // BSD options come without a dash: `ps aux`.
    let args: Vec<Vec<u8>> = args
        .iter()
        .enumerate()
        .map(|(i, a)| {
            if i == 0
                && !a.starts_with(b"-")
                && a.iter().all(u8::is_ascii_lowercase)
                && !a.is_empty()
            {
                [b"-", a.as_slice()].concat()
            } else {
                a.clone()
            }
        })
        .collect();
    let p = match PS.parse_or_exit(ctx, &args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut fields: Vec<(String, Option<String>)> = Vec::new();
    for list in p.all('o') {
        for f in String::from_utf8_lossy(list).split([',', ' ']).filter(|f| !f.is_empty()) {
            match f.split_once('=') {
                Some((n, title)) => fields.push((n.to_string(), Some(title.to_string()))),
                None => fields.push((f.to_string(), None)),
            }
        }
    }
    let mut names = crate::common::names::Names::load();
    let (uid, _) = box_sys::meta::ids();
    let user = names.show_user(uid);
    if fields.is_empty() {
        let default: &[&str] = if p.has('u') {
            &["user", "pid", "pcpu", "pmem", "vsz", "rss", "tty", "stat", "stime", "time", "args"]
        } else if p.has('f') || p.has('l') {
            &["user=UID", "pid", "ppid", "c", "stime=STIME", "tty", "time", "args=CMD"]
        } else {
            &["pid", "tty", "time", "comm"]
        };
        let titled = |f: &&str| match f.split_once('=') {
            Some((field, title)) => (field.to_string(), Some(title.to_string())),
            None => ((*f).to_string(), None),
        };
        fields = default.iter().map(titled).collect();
    }
    let mut list = processes(ctx);
    if let Some(pids) = p.last('p') {
        let wanted: Vec<u64> =
            pids.split(|c| matches!(c, b',' | b' ')).filter_map(number::decimal).collect();
        list.retain(|x| wanted.contains(&u64::from(x.pid)));
    }
    let title = |f: &str| -> &'static str {
        match f {
            "pid" => "PID",
            "ppid" => "PPID",
            "pgid" | "pgrp" => "PGID",
            "sid" | "sess" | "session" => "SID",
            "user" | "uname" => "USER",
            "uid" => "UID",
            "comm" | "ucmd" => "COMMAND",
            "args" | "cmd" | "command" => "COMMAND",
            "stat" | "state" | "s" => "STAT",
            "tty" | "tt" => "TTY",
            "time" | "cputime" => "TIME",
            "etime" => "ELAPSED",
            "pcpu" | "%cpu" => "%CPU",
            "pmem" | "%mem" => "%MEM",
            "vsz" => "VSZ",
            "rss" => "RSS",
            "stime" | "start" => "START",
            "c" => "C",
            "ni" | "nice" => "NI",
            _ => "",
        }
    };
    for (f, _) in &fields {
        if title(f).is_empty() {
            ctx.error(format_args!("error: unknown user-defined format specifier \"{f}\""));
            return Exit::FAILURE;
        }
    }
    let cell = |f: &str, x: &Process| -> String {
        match f {
            "pid" => x.pid.to_string(),
            "ppid" => x.parent.to_string(),
            "pgid" | "pgrp" => x.group.to_string(),
            "sid" | "sess" | "session" => x.session.to_string(),
            "user" | "uname" => user.clone(),
            "uid" => uid.to_string(),
            "comm" | "ucmd" => x.command.clone(),
            "args" | "cmd" | "command" => x.args.clone(),
            "stat" | "state" | "s" => "S".to_string(),
            "tty" | "tt" => "?".to_string(),
            "time" | "cputime" | "etime" => "00:00:00".to_string(),
            "pcpu" | "%cpu" | "pmem" | "%mem" => "0.0".to_string(),
            "stime" | "start" => "00:00".to_string(),
            _ => "0".to_string(),
        }
    };
    let headers: Vec<String> =
        fields.iter().map(|(f, t)| t.clone().unwrap_or_else(|| title(f).to_string())).collect();
    let rows: Vec<Vec<String>> =
        list.iter().map(|x| fields.iter().map(|(f, _)| cell(f, x)).collect()).collect();
    let text = |f: &str| {
        matches!(
            f,
            "user"
                | "uname"
                | "comm"
                | "ucmd"
                | "args"
                | "cmd"
                | "command"
                | "stat"
                | "state"
                | "s"
                | "tty"
                | "tt"
        )
    };
    let mut out = String::new();
    let show_header = !p.has('\u{1}') && headers.iter().any(|h| !h.is_empty());
    for row in show_header.then_some(&headers).into_iter().chain(&rows) {
        let mut line = String::new();
        for (i, (cell, (f, _))) in row.iter().zip(&fields).enumerate() {
            let width = rows
                .iter()
                .map(|r| r[i].len())
                .chain([headers[i].len()])
                .max()
                .unwrap_or(0)
                .max(if f == "pid" || f == "ppid" { 7 } else { 0 });
            if i > 0 {
                line.push(' ');
            }
            if i + 1 == row.len() && text(f) {
                line.push_str(cell);
            } else if text(f) {
                line.push_str(&format!("{cell:<width$}"));
            } else {
                line.push_str(&format!("{cell:>width$}"));
            }
        }
        out.push_str(line.trim_end());
        out.push('\n');
    }
    let _ = ctx.stdout.write_all(out.as_bytes());
    if list.is_empty() { Exit::FAILURE } else { Exit::SUCCESS }
}

const PGREP: Spec = Spec {
    usage: "[options] <pattern>",
    about: "Look up or signal processes based on name.",
    options: &[
        Opt::value('s', "signal", "SIG", "signal to send (pkill)"),
        Opt::value('d', "delimiter", "STRING", "specify output delimiter"),
        Opt::flag('l', "list-name", "list PID and process name"),
        Opt::flag('a', "list-full", "list PID and full command line"),
        Opt::flag('v', "inverse", "negates the matching"),
        Opt::flag('c', "count", "count of matching processes"),
        Opt::flag('f', "full", "use full process name to match"),
        Opt::flag('i', "ignore-case", "match case insensitively"),
        Opt::flag('n', "newest", "select most recently started"),
        Opt::flag('o', "oldest", "select least recently started"),
        Opt::value('P', "parent", "PPID,...", "match only child processes of the given parent"),
        Opt::value('g', "pgroup", "PGID,...", "match by process groups"),
        Opt::value('u', "euid", "ID,...", "match by effective IDs (one user: all)"),
        Opt::flag('x', "exact", "match exactly with the command name"),
        Opt::flag('e', "echo", "display what is killed"),
    ],
    after: "",
    posix_order: false,
};

pub(crate) fn pgrep(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    matching(ctx, args, false)
}

pub(crate) fn pkill(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    matching(ctx, args, true)
}

fn matching(ctx: &mut Ctx<'_>, args: &[Vec<u8>], send: bool) -> Exit {
    let mut args = args.to_vec();
    let mut number_chosen = signal::TERM;
    if let Some(n) =
        args.first().and_then(|a| a.strip_prefix(b"-")).filter(|_| send).and_then(signal::parse)
    {
        number_chosen = n;
        args.remove(0);
    }
    let p = match PGREP.parse_or_exit(ctx, &args, Exit::USAGE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    if let Some(n) = p.last('s').and_then(signal::parse) {
        number_chosen = n;
    }
    let pattern = match p.operands.as_slice() {
        [one] => one.clone(),
        [] if p.has('P') || p.has('u') || p.has('g') => Vec::new(),
        [] => {
            input::usage_error(ctx, &[b"no matching criteria specified"]);
            return Exit::USAGE;
        }
        _ => {
            input::usage_error(ctx, &[b"only one pattern can be provided"]);
            return Exit::USAGE;
        }
    };
    let mut options = Options::new(Syntax::EreRegcomp).icase(p.has('i'));
    if p.has('x') {
        options = options.bound(Bound::Line);
    }
    let regex = match Regex::new(&pattern, &options) {
        Ok(r) => r,
        Err(e) => {
            ctx.error(e);
            return Exit::USAGE;
        }
    };
    let own = ctx.procs.pid();
    let parents: Option<Vec<u64>> =
        p.last('P').map(|t| t.split(|c| *c == b',').filter_map(number::decimal).collect());
    let groups: Option<Vec<u64>> =
        p.last('g').map(|t| t.split(|c| *c == b',').filter_map(number::decimal).collect());
    let mut found: Vec<Process> = processes(ctx)
        .into_iter()
        .filter(|x| x.pid != own)
        .filter(|x| {
            let text = if p.has('f') { &x.args } else { &x.command };
            let fits = regex.is_match(text.as_bytes())
                && parents.as_ref().is_none_or(|l| l.contains(&u64::from(x.parent)))
                && groups.as_ref().is_none_or(|l| l.contains(&u64::from(x.group)));
            fits != p.has('v')
        })
        .collect();
    if p.has('n') {
        found = found.pop().into_iter().collect();
    } else if p.has('o') {
        found.truncate(1);
    }
    let any = !found.is_empty();
    if send {
        for x in &found {
            match ctx.procs.kill(x.pid, number_chosen) {
                Ok(()) if p.has('e') => {
                    let text = format!("{} killed (pid {})\n", x.command, x.pid);
                    let _ = ctx.stdout.write_all(text.as_bytes());
                }
                Ok(()) => {}
                Err(e) => ctx.error(format_args!(
                    "killing pid {} failed: {}",
                    x.pid,
                    box_sys::strerror(&e)
                )),
            }
        }
    } else if p.has('c') {
        let _ = ctx.stdout.write_all(format!("{}\n", found.len()).as_bytes());
    } else if any {
        let delimiter = p
            .last('d')
            .map_or_else(|| "\n".to_string(), |d| String::from_utf8_lossy(d).into_owned());
        let items: Vec<String> = found
            .iter()
            .map(|x| {
                if p.has('a') {
                    format!("{} {}", x.pid, x.args)
                } else if p.has('l') {
                    format!("{} {}", x.pid, x.command)
                } else {
                    x.pid.to_string()
                }
            })
            .collect();
        let _ = ctx.stdout.write_all(format!("{}\n", items.join(&delimiter)).as_bytes());
    }
    if any { Exit::SUCCESS } else { Exit::FAILURE }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_the_host() {
        let list = listed(b"2 1 2 2 0 8\nbash\0-c\x003 2 3 2 0 17\n/usr/bin/sleep\x009\0junk");
        let [shell, sleep] = list.as_slice() else { panic!("two processes") };
        assert_eq!((shell.pid, shell.parent, shell.args.as_str()), (2, 1, "bash -c"));
        assert_eq!((sleep.group, sleep.session, sleep.command.as_str()), (3, 2, "sleep"));
        assert_eq!(sleep.args, "/usr/bin/sleep 9");
    }
}
