//! Columns of `ps`: names, widths and contents.

use super::super::processes::ProcessInfo;

/// The value that a column shows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum PsContent {
    Pid,
    Parent,
    Group,
    Session,
    UserName,
    UserNumber,
    GroupName,
    GroupNumber,
    State,
    /// The processor time as days, hours, minutes and seconds.
    Time,
    /// The processor time as minutes and seconds.
    Minutes,
    /// The processor time in seconds.
    Seconds,
    /// The program's name.
    Command,
    /// The whole command line.
    Arguments,
    /// A text that is the same for every process, because the value is not known here.
    Same(&'static str),
}

use PsContent::{
    Arguments, Command, Group, GroupName, GroupNumber, Minutes, Parent, Pid, Same, Seconds,
    Session, State, Time, UserName, UserNumber,
};

/// A column that the user-defined format can name.
struct KnownColumn {
    names: &'static [&'static str],
    title: &'static str,
    /// The width in characters; texts are aligned left if it is negative.
    width: i8,
    content: PsContent,
}

const fn known_column(
    names: &'static [&'static str],
    title: &'static str,
    width: i8,
    content: PsContent,
) -> KnownColumn {
    KnownColumn { names, title, width, content }
}

/// The columns of the user-defined format, with the headings and widths of procps 4.0.2.
const KNOWN: &[KnownColumn] = &[
    known_column(&["pid"], "PID", 7, Pid),
    known_column(&["tgid"], "TGID", 7, Pid),
    known_column(&["lwp"], "LWP", 7, Pid),
    known_column(&["tid"], "TID", 7, Pid),
    known_column(&["spid"], "SPID", 7, Pid),
    known_column(&["ppid"], "PPID", 7, Parent),
    known_column(&["pgid"], "PGID", 7, Group),
    known_column(&["pgrp"], "PGRP", 7, Group),
    known_column(&["sid"], "SID", 7, Session),
    known_column(&["sess", "session"], "SESS", 7, Session),
    known_column(&["tpgid"], "TPGID", 7, Same("-1")),
    known_column(&["user", "uname"], "USER", -8, UserName),
    known_column(&["euser"], "EUSER", -8, UserName),
    known_column(&["ruser"], "RUSER", -8, UserName),
    known_column(&["suser"], "SUSER", -8, UserName),
    known_column(&["fuser"], "FUSER", -8, UserName),
    known_column(&["uid_hack"], "UID", -8, UserName),
    known_column(&["uid"], "UID", 5, UserNumber),
    known_column(&["euid"], "EUID", 5, UserNumber),
    known_column(&["ruid"], "RUID", 5, UserNumber),
    known_column(&["suid"], "SUID", 5, UserNumber),
    known_column(&["fuid"], "FUID", 5, UserNumber),
    known_column(&["group"], "GROUP", -8, GroupName),
    known_column(&["egroup"], "EGROUP", -8, GroupName),
    known_column(&["rgroup"], "RGROUP", -8, GroupName),
    known_column(&["sgroup"], "SGROUP", -8, GroupName),
    known_column(&["gid"], "GID", 5, GroupNumber),
    known_column(&["egid"], "EGID", 5, GroupNumber),
    known_column(&["rgid"], "RGID", 5, GroupNumber),
    known_column(&["sgid"], "SGID", 5, GroupNumber),
    known_column(&["comm", "ucomm"], "COMMAND", -15, Command),
    known_column(&["ucmd"], "CMD", -15, Command),
    known_column(&["fname"], "COMMAND", -8, Command),
    known_column(&["args", "command"], "COMMAND", -27, Arguments),
    known_column(&["cmd"], "CMD", -27, Arguments),
    known_column(&["stat"], "STAT", -4, State),
    known_column(&["s", "state"], "S", -1, State),
    known_column(&["tty", "tt"], "TT", -8, Same("?")),
    known_column(&["tname", "longtname", "tty8"], "TTY", -8, Same("?")),
    known_column(&["tty4"], "TTY", -4, Same("?")),
    known_column(&["time", "cputime", "atime"], "TIME", 8, Time),
    known_column(&["times", "cputimes"], "TIME", 8, Seconds),
    known_column(&["bsdtime"], "TIME", 6, Minutes),
    known_column(&["etime"], "ELAPSED", 11, Same("00:00")),
    known_column(&["etimes"], "ELAPSED", 7, Same("0")),
    known_column(&["stime"], "STIME", -5, Same("00:00")),
    known_column(&["start_time"], "START", -5, Same("00:00")),
    known_column(&["bsdstart"], "START", 6, Same("00:00")),
    known_column(&["start"], "STARTED", 8, Same("00:00:00")),
    known_column(&["lstart"], "STARTED", 24, Same("-")),
    known_column(&["pcpu", "%cpu"], "%CPU", 4, Same("0.0")),
    known_column(&["pmem", "%mem"], "%MEM", 4, Same("0.0")),
    known_column(&["c", "util"], "C", 2, Same("0")),
    known_column(&["cp"], "CP", 3, Same("0")),
    known_column(&["vsz", "vsize"], "VSZ", 6, Same("0")),
    known_column(&["sz"], "SZ", 5, Same("0")),
    known_column(&["size"], "SIZE", 5, Same("0")),
    known_column(&["rss", "rssize"], "RSS", 5, Same("0")),
    known_column(&["rsz"], "RSZ", 5, Same("0")),
    known_column(&["drs"], "DRS", 5, Same("0")),
    known_column(&["trs"], "TRS", 4, Same("0")),
    known_column(&["m_trs"], "TRS", 5, Same("0")),
    known_column(&["maj_flt"], "MAJFL", 6, Same("0")),
    known_column(&["majflt"], "MAJFLT", 6, Same("0")),
    known_column(&["min_flt"], "MINFL", 6, Same("0")),
    known_column(&["minflt"], "MINFLT", 6, Same("0")),
    known_column(&["ni", "nice"], "NI", 3, Same("0")),
    known_column(&["pri"], "PRI", 3, Same("19")),
    known_column(&["priority"], "PRI", 3, Same("20")),
    known_column(&["opri", "intpri"], "PRI", 3, Same("80")),
    known_column(&["rtprio"], "RTPRIO", 6, Same("-")),
    known_column(&["cls", "policy"], "CLS", 3, Same("TS")),
    known_column(&["class"], "CLS", -3, Same("TS")),
    known_column(&["psr"], "PSR", 3, Same("0")),
    known_column(&["cpuid"], "CPUID", 5, Same("0")),
    known_column(&["nlwp"], "NLWP", 4, Same("1")),
    known_column(&["thcount"], "THCNT", 5, Same("1")),
    known_column(&["f", "flag", "flags"], "F", 1, Same("0")),
    known_column(&["addr"], "ADDR", -4, Same("-")),
    known_column(&["wchan", "wname"], "WCHAN", -6, Same("-")),
    known_column(&["label", "context"], "LABEL", -31, Same("-")),
    known_column(&["pending", "sig"], "PENDING", 16, Same("0000000000000000")),
    known_column(&["blocked", "sigmask"], "BLOCKED", 16, Same("0000000000000000")),
    known_column(&["ignored", "sigignore"], "IGNORED", 16, Same("0000000000000000")),
    known_column(&["caught", "sigcatch"], "CAUGHT", 16, Same("0000000000000000")),
];

/// A column of a table.
#[derive(Clone, Debug)]
pub(super) struct PsColumn {
    pub title: String,
    pub width: usize,
    is_text: bool,
    pub content: PsContent,
}

impl PsColumn {
    /// Parses a column of a user-defined format, which may have a width and a title, for example
    /// `args:40=WHAT`.
    pub(super) fn parse(text: &str) -> Option<PsColumn> {
        const WIDEST: usize = 10_000;
        let (name, title) = match text.split_once('=') {
            Some((name, title)) => (name, Some(title)),
            None => (text, None),
        };
        let (name, width) = match name.split_once(':') {
            Some((name, width)) => (name, Some(width.parse::<usize>().ok().filter(|w| *w > 0)?)),
            None => (name, None),
        };
        let known = KNOWN.iter().find(|known| known.names.contains(&name))?;
        let title = title.unwrap_or(known.title).to_string();
        let own = usize::from(known.width.unsigned_abs()).max(title.chars().count());
        let width = width.map_or(own, |w| w.min(WIDEST));
        Some(PsColumn { width, title, is_text: known.width < 0, content: known.content })
    }

    /// Formats a text as a cell of the column. The last cell of a row is neither padded nor cut if
    /// it is aligned left.
    pub(super) fn cell(&self, text: &str, is_last: bool) -> String {
        let width = self.width;
        match (self.is_text, is_last) {
            (true, true) => text.to_string(),
            (true, false) => {
                let cut = match self.content {
                    // A cut name ends with a plus sign.
                    UserName | GroupName if text.chars().count() > width => {
                        text.chars().take(width.saturating_sub(1)).chain(['+']).collect()
                    }
                    _ => text.chars().take(width).collect::<String>(),
                };
                format!("{cut:<width$}")
            }
            (false, _) => format!("{text:>width$}"),
        }
    }
}

/// The `ps` process itself, with its user and group, to which all processes belong.
pub(super) struct Viewer {
    pub pid: u32,
    pub user: (u32, String),
    pub group: (u32, String),
}

impl PsContent {
    /// Returns the text that this column shows of a process.
    pub(super) fn of(self, process: &ProcessInfo, viewer: &Viewer) -> String {
        match self {
            Pid => process.pid.to_string(),
            Parent => process.parent.to_string(),
            Group => process.group.to_string(),
            Session => process.session.to_string(),
            UserName => viewer.user.1.clone(),
            UserNumber => viewer.user.0.to_string(),
            GroupName => viewer.group.1.clone(),
            GroupNumber => viewer.group.0.to_string(),
            State => (if process.pid == viewer.pid { "R" } else { "S" }).to_string(),
            Time => {
                let seconds = process.time / 1000;
                let (days, hours) = (seconds / 86_400, seconds / 3600 % 24);
                let clock = format!("{hours:02}:{:02}:{:02}", seconds / 60 % 60, seconds % 60);
                if days > 0 { format!("{days}-{clock}") } else { clock }
            }
            Minutes => format!("{}:{:02}", process.time / 60_000, process.time / 1000 % 60),
            Seconds => (process.time / 1000).to_string(),
            Command => process.command.clone(),
            Arguments => process.args.clone(),
            Same(text) => text.to_string(),
        }
    }

    /// Compares two processes by the values of this column. Numbers are compared as numbers.
    pub(super) fn compare(
        self,
        a: &ProcessInfo,
        b: &ProcessInfo,
        viewer: &Viewer,
    ) -> std::cmp::Ordering {
        let number = |text: &str| text.parse::<u64>().ok();
        if matches!(self, Time | Minutes | Seconds) {
            return a.time.cmp(&b.time);
        }
        let (a, b) = (self.of(a, viewer), self.of(b, viewer));
        match (number(&a), number(&b)) {
            (Some(a), Some(b)) => a.cmp(&b),
            _ => a.cmp(&b),
        }
    }
}
