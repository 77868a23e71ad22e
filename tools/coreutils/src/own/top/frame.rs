//! One look at the processes, and its lines as procps-ng prints them.

use std::cmp::Ordering;
use std::time::Instant;

use box_applet::Ctx;
use box_sys::AccountNames;

use super::super::processes::{self, ProcessInfo};
use super::super::system;

/// The field by which processes are sorted.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub(super) enum SortField {
    Cpu,
    Memory,
    Time,
    Pid,
    Command,
}

impl SortField {
    /// Returns the field of a heading.
    pub(super) fn from_name(name: &str) -> Option<SortField> {
        Some(match name {
            "%CPU" => SortField::Cpu,
            "%MEM" => SortField::Memory,
            "TIME" | "TIME+" => SortField::Time,
            "PID" => SortField::Pid,
            "COMMAND" => SortField::Command,
            _ => return None,
        })
    }
}

/// What of a frame is shown.
pub(super) struct FrameOptions {
    pub(super) sort: SortField,
    pub(super) is_ascending: bool,
    pub(super) has_command_line: bool,
    pub(super) without_idle: bool,
    /// The only processes that are shown; all if there are none.
    pub(super) pids: Vec<u32>,
    pub(super) width: usize,
}

/// A process in a frame.
struct TopProcess {
    info: ProcessInfo,
    /// Percent of a processor.
    cpu: f64,
    is_running: bool,
}

/// The session at one time.
pub(super) struct Frame {
    at: Instant,
    heading: String,
    user: String,
    memory: [u64; 5],
    /// Percent of the processor that all processes use.
    busy: f64,
    processes: Vec<TopProcess>,
}

impl Frame {
    /// Looks at the processes. Shares are of the time since the frame before, or without one of the
    /// time since the session began.
    pub(super) fn take(ctx: &Ctx<'_>, before: Option<&Frame>) -> Frame {
        let at = Instant::now();
        let elapsed = match before {
            Some(before) => at.duration_since(before.at).as_secs_f64(),
            None => system::up_seconds() as f64,
        };
        let own = ctx.procs.pid();
        let shares = |info: ProcessInfo| {
            let known = before.and_then(|frame| frame.find_process(info.pid));
            let used = info.time.saturating_sub(known.map_or(0, |known| known.info.time));
            let cpu = percent(used as f64 / 1000.0, elapsed);
            let is_running = info.pid == own || before.is_some() && cpu >= 1.0;
            TopProcess { info, cpu, is_running }
        };
        let processes: Vec<_> = processes::all_processes(ctx).into_iter().map(shares).collect();
        let busy = processes.iter().map(|process| process.cpu).sum::<f64>().min(100.0);
        let user = AccountNames::load().show_user(box_sys::meta::ids().0);
        let heading = format!("top -{}", system::uptime_line(ctx));
        Frame { at, heading, user, memory: read_memory(), busy, processes }
    }

    fn find_process(&self, pid: u32) -> Option<&TopProcess> {
        self.processes.iter().find(|process| process.info.pid == pid)
    }

    /// Returns the number of the process that is listed first.
    pub(super) fn first_pid(&self, options: &FrameOptions) -> Option<u32> {
        self.shown(options).first().map(|process| process.info.pid)
    }

    /// Returns the processes that are shown, in their order.
    fn shown(&self, options: &FrameOptions) -> Vec<&TopProcess> {
        let is_wanted = |process: &&TopProcess| {
            Frame::is_chosen(process, options)
                && (!options.without_idle || process.cpu > 0.0 || process.is_running)
        };
        let mut shown: Vec<_> = self.processes.iter().filter(is_wanted).collect();
        shown.sort_by(|a, b| {
            let order = match options.sort {
                SortField::Cpu => b.cpu.total_cmp(&a.cpu),
                SortField::Memory => Ordering::Equal,
                SortField::Time => b.info.time.cmp(&a.info.time),
                SortField::Pid => b.info.pid.cmp(&a.info.pid),
                SortField::Command => b.info.command.cmp(&a.info.command),
            };
            if options.is_ascending { order.reverse() } else { order }
        });
        shown
    }

    /// Returns the lines: five about the session, an empty one, the heading, the processes.
    pub(super) fn lines(&self, options: &FrameOptions) -> Vec<String> {
        let mut lines = self.summary(options);
        lines.push(String::new());
        lines.push(
            "  PID USER      PR  NI    VIRT    RES    SHR S  %CPU  %MEM     TIME+ COMMAND".into(),
        );
        for line in &mut lines {
            *line = line.chars().take(options.width).collect();
        }
        lines.extend(self.shown(options).into_iter().map(|process| {
            let TopProcess { info, cpu, is_running } = process;
            let user = cut(&self.user, 8);
            let state = if *is_running { 'R' } else { 'S' };
            let time = show_time(info.time);
            let command = if options.has_command_line { &info.args } else { &info.command };
            let line = format!(
                "{:>5} {user:<8} {:>3} {:>3} {:>7} {:>6} {:>6} {state} {cpu:>5.1} {:>5.1} {time:>9} \
                 {command}",
                info.pid, 20, 0, 0, 0, 0, 0.0
            );
            cut(&line, options.width)
        }));
        lines
    }

    /// Returns whether a process is among those that were asked for.
    fn is_chosen(process: &TopProcess, options: &FrameOptions) -> bool {
        options.pids.is_empty() || options.pids.contains(&process.info.pid)
    }

    fn summary(&self, options: &FrameOptions) -> Vec<String> {
        let chosen = || self.processes.iter().filter(|process| Frame::is_chosen(process, options));
        let (total, running) = (chosen().count(), chosen().filter(|p| p.is_running).count());
        let sleeping = total - running;
        let (busy, idle) = (self.busy, 100.0 - self.busy);
        let [memory, free, available, swap, swap_free] = self.memory.map(|kib| kib as f64 / 1024.0);
        let (used, swap_used) = (memory - free, swap - swap_free);
        vec![
            self.heading.clone(),
            format!(
                "Tasks: {total:>3} total, {running:>3} running, {sleeping:>3} sleeping,   0 stopped,   0 zombie"
            ),
            format!(
                "%Cpu(s):{busy:>5.1} us,  0.0 sy,  0.0 ni,{idle:>5.1} id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st "
            ),
            format!(
                "MiB Mem : {memory:>8.1} total, {free:>8.1} free, {used:>8.1} used, {:>8.1} buff/cache     ",
                0.0
            ),
            format!(
                "MiB Swap: {swap:>8.1} total, {swap_free:>8.1} free, {swap_used:>8.1} used. {available:>8.1} avail Mem "
            ),
        ]
    }
}

fn percent(part: f64, whole: f64) -> f64 {
    if whole > 0.0 { (part / whole * 100.0).min(100.0) } else { 0.0 }
}

/// Shows milliseconds as minutes, seconds and hundredths.
fn show_time(time: u64) -> String {
    format!("{}:{:02}.{:02}", time / 60_000, time / 1000 % 60, time / 10 % 100)
}

/// Cuts a line, and marks that with a plus sign.
fn cut(text: &str, width: usize) -> String {
    if text.chars().count() <= width {
        return text.to_owned();
    }
    text.chars().take(width.saturating_sub(1)).chain(['+']).collect()
}

/// Returns KiB of `/proc/meminfo`: memory, free, available, swap, free swap.
fn read_memory() -> [u64; 5] {
    let text = std::fs::read_to_string("/proc/meminfo").unwrap_or_default();
    ["MemTotal:", "MemFree:", "MemAvailable:", "SwapTotal:", "SwapFree:"].map(|name| {
        let line = text.lines().find_map(|line| line.strip_prefix(name));
        let number = line.and_then(|rest| rest.split_whitespace().next());
        number.and_then(|number| number.parse().ok()).unwrap_or(0)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn process(pid: u32, time: u64, cpu: f64, command: &str) -> TopProcess {
        let (command, args) = (command.to_owned(), format!("/bin/{command} -x"));
        let info = ProcessInfo { pid, parent: 1, group: pid, session: pid, time, command, args };
        TopProcess { info, cpu, is_running: false }
    }

    fn frame() -> Frame {
        Frame {
            at: Instant::now(),
            heading: "top - 17:22:01 up 13:13,  0 user,  load average: 4.94, 4.41, 4.82".into(),
            user: "root".into(),
            memory: [24_684_134, 5_517_414, 22_324_429, 0, 0],
            busy: 53.3,
            processes: vec![
                process(7348, 40_880, 46.7, "rustc"),
                process(9320, 15_390, 53.3, "rustc"),
                process(1, 0, 0.0, "sh"),
            ],
        }
    }

    fn options() -> FrameOptions {
        FrameOptions {
            sort: SortField::Cpu,
            is_ascending: false,
            has_command_line: false,
            without_idle: false,
            pids: Vec::new(),
            width: 512,
        }
    }

    /// As `top -b -n 1` of procps-ng 4.0.2 prints these numbers.
    #[test]
    fn lines_are_those_of_procps() {
        let lines = frame().lines(&options());
        assert_eq!(
            lines[1],
            "Tasks:   3 total,   0 running,   3 sleeping,   0 stopped,   0 zombie"
        );
        assert_eq!(
            lines[2],
            "%Cpu(s): 53.3 us,  0.0 sy,  0.0 ni, 46.7 id,  0.0 wa,  0.0 hi,  0.0 si,  0.0 st "
        );
        assert_eq!(
            lines[3],
            "MiB Mem :  24105.6 total,   5388.1 free,  18717.5 used,      0.0 buff/cache     "
        );
        assert_eq!(
            lines[4],
            "MiB Swap:      0.0 total,      0.0 free,      0.0 used.  21801.2 avail Mem "
        );
        assert_eq!(lines[5], "");
        assert_eq!(
            lines[7],
            " 9320 root      20   0       0      0      0 S  53.3   0.0   0:15.39 rustc"
        );
        assert_eq!(lines.len(), 10);
    }

    #[test]
    fn processes_are_sorted_and_chosen() {
        let pids = |options: &FrameOptions| {
            let frame = frame();
            frame.shown(options).iter().map(|process| process.info.pid).collect::<Vec<_>>()
        };
        assert_eq!(pids(&options()), [9320, 7348, 1]);
        assert_eq!(pids(&FrameOptions { sort: SortField::Time, ..options() }), [7348, 9320, 1]);
        assert_eq!(pids(&FrameOptions { sort: SortField::Pid, ..options() }), [9320, 7348, 1]);
        assert_eq!(pids(&FrameOptions { is_ascending: true, ..options() }), [1, 7348, 9320]);
        assert_eq!(pids(&FrameOptions { without_idle: true, ..options() }), [9320, 7348]);
        assert_eq!(pids(&FrameOptions { pids: vec![1], ..options() }), [1]);
    }

    #[test]
    fn lines_are_cut() {
        assert_eq!((cut("abc", 3), cut("abcd", 3)), ("abc".to_owned(), "ab+".to_owned()));
        assert_eq!(show_time(3_725_430), "62:05.43");
    }
}
