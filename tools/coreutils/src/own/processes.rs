//! The list of running processes, for `ps`, `pgrep`, `pkill` and `flock`.

use box_applet::Ctx;

/// A running process.
pub(super) struct ProcessInfo {
    pub pid: u32,
    pub parent: u32,
    pub group: u32,
    pub session: u32,
    /// The processor time used, in milliseconds.
    pub time: u64,
    pub command: String,
    pub args: String,
}

/// Parses the list of processes that our host provides ([`box_sys::PROCESSES`]).
fn parse_processes(mut text: &[u8]) -> Vec<ProcessInfo> {
    let mut list = Vec::new();
    while let Some(end) = text.iter().position(|b| *b == b'\n') {
        let (head, rest) = (&text[..end], &text[end + 1..]);
        let fields: Vec<usize> = head
            .split(|b| *b == b' ')
            .filter_map(|f| std::str::from_utf8(f).ok()?.parse().ok())
            .collect();
        let [pid, parent, group, session, time, length] = fields[..] else { break };
        let Some(args) = rest.get(..length) else { break };
        text = &rest[length..];
        let first = args.split(|b| *b == 0).next().unwrap_or_default();
        let name = first.rsplit(|b| *b == b'/').next().unwrap_or_default();
        let args = String::from_utf8_lossy(args).trim_end_matches('\0').replace('\0', " ");
        list.push(ProcessInfo {
            pid: pid as u32,
            parent: parent as u32,
            group: group as u32,
            session: session as u32,
            time: time as u64,
            command: String::from_utf8_lossy(name).chars().take(15).collect(),
            args,
        });
    }
    list
}

/// Returns the numbers of the processes that have not ended, or `None` if there is no list from our
/// host. Signal 0 is not enough to find them, because it also reaches a process that has ended but
/// that its parent has not waited for.
pub(super) fn living_pids() -> Option<Vec<u32>> {
    let text = std::fs::read(box_sys::PROCESSES).ok()?;
    let list: Vec<u32> = parse_processes(&text).iter().map(|p| p.pid).collect();
    (!list.is_empty()).then_some(list)
}

/// Returns all processes, sorted by number. They come from our host's list, or from `/proc` if
/// there is no list. Without both, only this process and its parent are returned, because WASIX
/// knows no others.
pub(super) fn all_processes(ctx: &Ctx<'_>) -> Vec<ProcessInfo> {
    let mut list = match std::fs::read(box_sys::PROCESSES) {
        Ok(text) => parse_processes(&text),
        Err(_) => Vec::new(),
    };
    if !list.is_empty() {
        return list;
    }
    if let Ok(dir) = std::fs::read_dir("/proc") {
        let numbers = dir.flatten().filter_map(|e| e.file_name().to_str()?.parse::<u32>().ok());
        list.extend(numbers.filter_map(of_proc));
    }
    if list.is_empty() {
        let (pid, parent) = (ctx.procs.pid(), ctx.procs.parent_pid());
        if parent != 0 {
            list.push(ProcessInfo {
                pid: parent,
                parent: 0,
                group: parent,
                session: parent,
                time: 0,
                command: "sh".to_string(),
                args: "sh".to_string(),
            });
        }
        let (command, args) = (ctx.name.clone(), ctx.name.clone());
        list.push(ProcessInfo {
            pid,
            parent,
            group: parent,
            session: parent,
            time: 0,
            command,
            args,
        });
    }
    list.sort_by_key(|p| p.pid);
    list
}

/// Reads a process from its files in `/proc` (`proc(5)`).
fn of_proc(pid: u32) -> Option<ProcessInfo> {
    let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).ok()?;
    let (open, close) = (stat.find('(')?, stat.rfind(')')?);
    let command = stat.get(open + 1..close).unwrap_or_default().to_string();
    let fields: Vec<&str> = stat.get(close + 1..).unwrap_or_default().split_whitespace().collect();
    let number = |n: usize| fields.get(n).and_then(|f| f.parse().ok()).unwrap_or(0);
    let (parent, group, session) = (number(1), number(2), number(3));
    // A tick is a hundredth of a second.
    let time = (u64::from(number(11)) + u64::from(number(12))) * 10;
    let raw = std::fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
    let args = String::from_utf8_lossy(&raw).trim_end_matches('\0').replace('\0', " ");
    let args = if args.is_empty() { format!("[{command}]") } else { args };
    Some(ProcessInfo { pid, parent, group, session, time, command, args })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_list_of_the_host() {
        let list =
            parse_processes(b"2 1 2 2 90 8\nbash\0-c\x003 2 3 2 0 17\n/usr/bin/sleep\x009\0junk");
        let [shell, sleep] = list.as_slice() else { panic!("two processes") };
        assert_eq!((shell.pid, shell.parent, shell.args.as_str()), (2, 1, "bash -c"));
        assert_eq!((sleep.group, sleep.session, sleep.command.as_str()), (3, 2, "sleep"));
        assert_eq!((shell.time, sleep.time), (90, 0));
        assert_eq!(sleep.args, "/usr/bin/sleep 9");
    }
}
