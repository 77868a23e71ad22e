//! `ps` (POSIX XCU ps; procps): a snapshot of the processes.

use std::io::Write;

use box_applet::opts::{Opt, Parsed, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::Names;

use super::processes::{self, Process};
use crate::common::number;

/// What may be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    All,
    ByUser,
    Format,
    Full,
    Long,
    NoHeaders,
    NoLeaders,
    Pid,
    Wide,
    WithTerminal,
    WithoutTerminal,
}

const SPEC: Spec<Flag> = Spec::new(
    "[OPTION]...",
    "Report a snapshot of the current processes.",
    &[
        Opt::new(Flag::All, 'e', "").says("all processes"),
        Opt::new(Flag::All, 'A', "").says("all processes"),
        Opt::new(Flag::WithTerminal, 'a', "").says("all processes with a terminal"),
        Opt::new(Flag::NoLeaders, 'd', "").says("all processes except session leaders"),
        Opt::new(Flag::WithoutTerminal, 'x', "").says("processes without a terminal too"),
        Opt::new(Flag::Full, 'f', "").says("full format"),
        Opt::new(Flag::Long, 'l', "").says("long format"),
        Opt::new(Flag::ByUser, 'u', "").says("user-oriented format"),
        Opt::new(Flag::Wide, 'w', "").says("wide output"),
        Opt::new(Flag::Pid, 'p', "pid").takes("PID", "select by process ID"),
        Opt::new(Flag::Format, 'o', "format")
            .takes("FIELDS", "pid, ppid, comm, args, user, stat, ..."),
        Opt::long(Flag::NoHeaders, "no-headers").says("print no header line"),
    ],
);

/// A column: the field's name, and its title.
struct Column {
    field: String,
    title: String,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, &modern(args), Exit::FAILURE)?;
    let columns = match columns(&p) {
        Ok(columns) => columns,
        Err(field) => {
            ctx.error(format_args!("error: unknown user-defined format specifier \"{field}\""));
            return Ok(Exit::FAILURE);
        }
    };
    let mut list = processes::all(ctx);
    if let Some(pids) = p.last(Flag::Pid) {
        let wanted: Vec<u64> =
            pids.split(|c| matches!(c, b',' | b' ')).filter_map(number::decimal).collect();
        list.retain(|x| wanted.contains(&u64::from(x.pid)));
    }
    let (uid, _) = box_sys::meta::ids();
    let user = Names::load().show_user(uid);
    let row = |x: &Process| columns.iter().map(|c| cell(&c.field, x, &user, uid)).collect();
    let rows: Vec<Vec<String>> = list.iter().map(row).collect();
    let text = table(&columns, &rows, !p.has(Flag::NoHeaders));
    let _ = ctx.stdout.write_all(text.as_bytes());
    Ok(if list.is_empty() { Exit::FAILURE } else { Exit::SUCCESS })
}

/// BSD options come without a dash: `ps aux`.
fn modern(args: &[Vec<u8>]) -> Vec<Vec<u8>> {
    let mut args = args.to_vec();
    if let Some(first) = args.first_mut()
        && !first.is_empty()
        && first.iter().all(u8::is_ascii_lowercase)
    {
        first.insert(0, b'-');
    }
    args
}

/// The columns to show. `Err` holds a field that is none.
fn columns(p: &Parsed<Flag>) -> Result<Vec<Column>, String> {
    let lists: Vec<String> =
        p.all(Flag::Format).map(|l| String::from_utf8_lossy(l).into_owned()).collect();
    let mut fields: Vec<&str> = lists.iter().flat_map(|l| l.split([',', ' '])).collect();
    fields.retain(|f| !f.is_empty());
    if fields.is_empty() {
        fields = if p.has(Flag::ByUser) {
            vec![
                "user", "pid", "pcpu", "pmem", "vsz", "rss", "tty", "stat", "stime", "time", "args",
            ]
        } else if p.has(Flag::Full) || p.has(Flag::Long) {
            vec!["user=UID", "pid", "ppid", "c", "stime=STIME", "tty", "time", "args=CMD"]
        } else {
            vec!["pid", "tty", "time", "comm"]
        };
    }
    let column = |field: &str| {
        let (field, given) = match field.split_once('=') {
            Some((field, title)) => (field, Some(title)),
            None => (field, None),
        };
        let title = title(field).ok_or_else(|| field.to_string())?;
        Ok(Column { field: field.to_string(), title: given.unwrap_or(title).to_string() })
    };
    fields.into_iter().map(column).collect()
}

/// What a column is called; `None` for an unknown field.
fn title(field: &str) -> Option<&'static str> {
    Some(match field {
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
        _ => return None,
    })
}

fn cell(field: &str, x: &Process, user: &str, uid: u32) -> String {
    match field {
        "pid" => x.pid.to_string(),
        "ppid" => x.parent.to_string(),
        "pgid" | "pgrp" => x.group.to_string(),
        "sid" | "sess" | "session" => x.session.to_string(),
        "user" | "uname" => user.to_string(),
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
}

/// Whether a column is text, which stands at the left.
fn is_text(field: &str) -> bool {
    let names = ["user", "uname", "comm", "ucmd", "args", "cmd", "command"];
    names.contains(&field) || ["stat", "state", "s", "tty", "tt"].contains(&field)
}

/// Rows as lines, columns lined up.
fn table(columns: &[Column], rows: &[Vec<String>], with_titles: bool) -> String {
    let titles: Vec<String> = columns.iter().map(|c| c.title.clone()).collect();
    let width = |i: usize| {
        let widest = rows.iter().chain([&titles]).map(|r| r[i].len()).max().unwrap_or(0);
        widest.max(if matches!(columns[i].field.as_str(), "pid" | "ppid") { 7 } else { 0 })
    };
    let widths: Vec<usize> = (0..columns.len()).map(width).collect();
    let mut out = String::new();
    let show_titles = with_titles && titles.iter().any(|t| !t.is_empty());
    for row in show_titles.then_some(&titles).into_iter().chain(rows) {
        let cells = row.iter().zip(columns).zip(&widths).enumerate();
        let cells = cells.map(|(i, ((cell, column), width))| {
            match (is_text(&column.field), i + 1 == row.len()) {
                (true, true) => cell.clone(),
                (true, false) => format!("{cell:<width$}"),
                (false, _) => format!("{cell:>width$}"),
            }
        });
        out.push_str(cells.collect::<Vec<_>>().join(" ").trim_end());
        out.push('\n');
    }
    out
}
