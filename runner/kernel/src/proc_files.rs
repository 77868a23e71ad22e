//! The files of `/proc` (`proc(5)`), of one process's view.
//!
//! They describe the session and never the machine below it: memory is the session's limit and the
//! used part of it, there is one processor, because that is how many a program can use, and the time
//! since the start counts from the session's start or from when it was last woken up. Processes of
//! earlier calls that continue are listed too. What the kernel does not measure is 0 where the
//! format needs a number, and left out where it does not.

use super::border::Fd;
use super::host::Host;
use super::process::{Membership, Process, ProcessStart};
use super::search::find_program;
use crate::lock_mutex;
use box_abi::{SYSTEM, Uname};
use std::fmt::Write;
use std::sync::Arc;
use std::time::Duration;
use wasibox_vfs::{
    FileKind, GID, Loc, OpenFlags, OpenResult, ProcGuard, ProcNode, ProcSource, UID, now_ns,
};

/// The names in `/proc`, without those of processes.
const NAMES: &[&str] = &[
    "cpuinfo",
    "filesystems",
    "loadavg",
    "meminfo",
    "mounts",
    "self",
    "stat",
    "sys",
    "uptime",
    "version",
    "wasibox",
];
/// The names in the directory of a process.
const OF_PROCESS: &[&str] =
    &["cmdline", "comm", "cwd", "environ", "exe", "fd", "mounts", "stat", "status"];
/// The name of a machine without `/etc/hostname`.
const HOST_NAME: &str = "wasibox";
/// The maximum number of bytes of a process's short name.
const COMM: usize = 15;
/// Where programs are found that were started by a bare name without `PATH`.
const PROGRAMS: &str = "/usr/local/bin:/usr/bin:/bin";

/// Makes the calling thread see `/proc` as `process` does.
pub fn show_proc<H: Host>(process: &Arc<Process<H>>) -> ProcGuard {
    wasibox_vfs::show_proc(Arc::new(ProcView(process.clone())))
}

struct ProcView<H: Host>(Arc<Process<H>>);

impl<H: Host> ProcSource for ProcView<H> {
    fn find_node(&self, path: &[u8]) -> Option<ProcNode> {
        let path = std::str::from_utf8(path).ok()?;
        let (first, rest) = path.split_once('/').map_or((path, None), |(a, b)| (a, Some(b)));
        if first.starts_with(|c: char| c.is_ascii_digit()) {
            return self.of_process(first, rest);
        }
        let text = match path {
            "" => {
                let numbers = self.processes().into_iter().map(|p| p.pid.to_string());
                return Some(dir(NAMES.iter().map(|n| n.to_string()).chain(numbers)));
            }
            "self" => return Some(ProcNode::Link(self.0.pid.to_string().into())),
            "mounts" => return Some(ProcNode::Link(b"self/mounts".to_vec())),
            "sys" => return Some(names(&["kernel"])),
            "sys/kernel" => {
                return Some(names(&["hostname", "osrelease", "ostype", "random", "version"]));
            }
            "sys/kernel/random" => return Some(names(&["uuid"])),
            "sys/kernel/hostname" => format!("{}\n", self.host_name()),
            "sys/kernel/osrelease" => format!("{}\n", SYSTEM.release),
            "sys/kernel/ostype" => format!("{}\n", SYSTEM.kernel),
            "sys/kernel/random/uuid" => random_uuid()?,
            "sys/kernel/version" => format!("{}\n", SYSTEM.version),
            "cpuinfo" => {
                format!("processor\t: 0\nmodel name\t: WebAssembly ({})\n\n", SYSTEM.machine)
            }
            "filesystems" => "nodev\tproc\nnodev\tdevtmpfs\nnodev\twasibox\n".to_string(),
            "loadavg" => self.load_average(),
            "meminfo" => self.memory_info(),
            "stat" => self.machine_stat(),
            "uptime" => {
                let up = self.0.kernel.vfs.age();
                let idle = up.saturating_sub(self.cpu_time());
                format!("{} {}\n", seconds(up), seconds(idle))
            }
            "wasibox" => return Some(names(&["space"])),
            // For statvfs(3), `df` and `stat -f`.
            "wasibox/space" => {
                let space = self.0.kernel.vfs.disk_space();
                format!(
                    "{} {} {} {}\n",
                    space.limits.bytes, space.bytes, space.limits.entries, space.entries
                )
            }
            "version" => {
                let Uname { kernel, release, version, machine } = SYSTEM;
                format!("{kernel} version {release} (wasibox@wasibox) ({machine}) {version}\n")
            }
            _ => return None,
        };
        Some(ProcNode::Text(text.into_bytes()))
    }
}

fn dir(names: impl Iterator<Item = String>) -> ProcNode {
    ProcNode::Dir(names.map(String::into_bytes).collect())
}

fn names(names: &[&str]) -> ProcNode {
    dir(names.iter().map(|n| n.to_string()))
}

/// Formats a time as seconds with two digits after the point.
fn seconds(time: Duration) -> String {
    format!("{}.{:02}", time.as_secs(), time.subsec_millis() / 10)
}

/// Returns a time in ticks, of which a second has 100 (`sysconf(_SC_CLK_TCK)`).
fn ticks(time: Duration) -> u128 {
    time.as_millis() / 10
}

/// Returns a random UUID (RFC 9562, version 4) and a line's end.
fn random_uuid() -> Option<String> {
    let mut bytes = [0u8; 16];
    getrandom::fill(&mut bytes).ok()?;
    bytes[6] = bytes[6] & 0x0f | 0x40;
    bytes[8] = bytes[8] & 0x3f | 0x80;
    let mut text = String::new();
    for (i, byte) in bytes.iter().enumerate() {
        if matches!(i, 4 | 6 | 8 | 10) {
            text.push('-');
        }
        let _ = write!(text, "{byte:02x}");
    }
    Some(text + "\n")
}

/// Returns the short name of a process: the last part of its program's name.
fn short_name(start: &ProcessStart) -> Vec<u8> {
    let first = start.argv.first().map_or(&[][..], Vec::as_slice);
    let name = first.rsplit(|b| *b == b'/').next().unwrap_or_default();
    name[..name.len().min(COMM)].to_vec()
}

/// Returns whether a variable only passes something from the kernel to a program.
fn is_internal(variable: &[u8]) -> bool {
    [box_abi::PROGRAM_VARIABLE, box_abi::UMASK_VARIABLE, box_abi::TASK_VARIABLE]
        .iter()
        .any(|name| variable.strip_prefix(name.as_bytes()).is_some_and(|v| v.starts_with(b"=")))
}

/// Joins strings, each with a NUL after it.
fn join_nul<'a>(strings: impl Iterator<Item = &'a Vec<u8>>) -> Vec<u8> {
    let mut out = Vec::new();
    for text in strings {
        out.extend_from_slice(text);
        out.push(0);
    }
    out
}

/// Writes a path as a field of `mounts`, where spaces and the like are octal (`getmntent(3)`).
fn mount_field(path: &[u8]) -> String {
    let mut out = Vec::new();
    for byte in path {
        match byte {
            b' ' | b'\t' | b'\n' | b'\\' => out.extend(format!("\\{byte:03o}").into_bytes()),
            _ => out.push(*byte),
        }
    }
    String::from_utf8_lossy(&out).into_owned()
}

impl<H: Host> ProcView<H> {
    /// Returns all processes, by number.
    fn processes(&self) -> Vec<Arc<Process<H>>> {
        let mut all = self.0.kernel.all_processes();
        all.sort_unstable_by_key(|p| p.pid);
        all
    }

    fn cpu_time(&self) -> Duration {
        self.0.kernel.ended_cpu() + Duration::from_nanos(self.0.own_cpu_ns())
    }

    fn host_name(&self) -> String {
        let how = OpenFlags { read: true, follow: true, ..OpenFlags::default() };
        let root = Loc::Tree(wasibox_vfs::ROOT);
        let mut buf = [0; 256];
        let n = match self.0.kernel.vfs.open(&root, b"/etc/hostname", how, 0) {
            Ok(OpenResult::File(file)) => file.read(0, &mut buf).unwrap_or(0),
            _ => 0,
        };
        match String::from_utf8_lossy(&buf[..n]).trim() {
            "" => HOST_NAME.to_string(),
            name => name.to_string(),
        }
    }

    fn load_average(&self) -> String {
        let all = self.processes();
        let last = all.last().map_or(0, |p| p.pid);
        format!("0.00 0.00 0.00 1/{} {last}\n", all.len())
    }

    fn memory_info(&self) -> String {
        let budget = &self.0.kernel.budget;
        let total = budget.limit();
        let free = total.saturating_sub(budget.used_bytes());
        let rows = [
            ("MemTotal", total),
            ("MemFree", free),
            ("MemAvailable", free),
            ("Buffers", 0),
            ("Cached", 0),
            ("SwapCached", 0),
            ("Active", 0),
            ("Inactive", 0),
            ("SwapTotal", 0),
            ("SwapFree", 0),
            ("Shmem", 0),
            ("Slab", 0),
            ("SReclaimable", 0),
        ];
        let mut text = String::new();
        for (name, bytes) in rows {
            let _ = writeln!(text, "{:<16}{:>8} kB", format!("{name}:"), bytes >> 10);
        }
        text
    }

    fn machine_stat(&self) -> String {
        let up = self.0.kernel.vfs.age();
        let cpu = self.cpu_time();
        let times = format!("{} 0 0 {} 0 0 0 0 0 0", ticks(cpu), ticks(up.saturating_sub(cpu)));
        let began = Duration::from_nanos(now_ns()).saturating_sub(up).as_secs();
        let last = self.processes().last().map_or(0, |p| p.pid);
        format!(
            "cpu  {times}\ncpu0 {times}\nintr 0\nctxt 0\nbtime {began}\nprocesses {last}\n\
             procs_running 1\nprocs_blocked 0\n"
        )
    }

    fn mounts(&self) -> String {
        let mut text = "wasibox / wasibox rw 0 0\nproc /proc proc ro 0 0\n\
                        devtmpfs /dev devtmpfs rw 0 0\n"
            .to_string();
        for (path, writable) in self.0.kernel.vfs.mount_points() {
            let how = if writable { "rw" } else { "ro" };
            let _ = writeln!(text, "mount {} wasibox {how} 0 0", mount_field(&path));
        }
        text
    }

    /// Returns a file of the process whose number is `pid`, or its directory.
    fn of_process(&self, pid: &str, name: Option<&str>) -> Option<ProcNode> {
        // `proc(5)` has each number in one form only.
        let pid: u32 = pid.parse().ok().filter(|n: &u32| n.to_string() == pid)?;
        let process = self.0.kernel.find_process(pid)?;
        let is_own = pid == self.0.pid;
        let start = lock_mutex(&process.start).clone();
        let text = match name {
            None => return Some(names(OF_PROCESS)),
            Some("fd") if is_own => return Some(ProcNode::OwnDescriptors),
            Some("fd") => {
                let numbers = lock_mutex(&process.fds).fd_names();
                return Some(dir(numbers.into_iter().map(|n| n.0.to_string())));
            }
            Some("cwd") => return Some(ProcNode::Link(lock_mutex(&process.cwd).path.clone())),
            Some("exe") => return executable(&process, &start).map(ProcNode::Link),
            Some("cmdline") => join_nul(start.argv.iter()),
            Some("comm") => [short_name(&start), b"\n".to_vec()].concat(),
            Some("environ") => join_nul(start.env.iter().filter(|v| !is_internal(v))),
            Some("mounts") => self.mounts().into_bytes(),
            Some("stat") => self.process_stat(&process, &start),
            Some("status") => self.process_status(&process, &start),
            Some(name) => {
                let number = name.strip_prefix("fd/").filter(|_| !is_own)?;
                return descriptor_link(&process, number).map(ProcNode::Link);
            }
        };
        Some(ProcNode::Text(text))
    }

    /// Returns the letter of a process's state. The kernel does not know which others wait.
    fn state(&self, process: &Process<H>) -> char {
        if process.pid == self.0.pid { 'R' } else { 'S' }
    }

    fn process_stat(&self, process: &Process<H>, start: &ProcessStart) -> Vec<u8> {
        let Membership { group, session } = *lock_mutex(&process.membership);
        let parent = process.kernel.parent_seen(process.parent);
        let own = if process.pid == self.0.pid { process.cpu() } else { Default::default() };
        let children = *lock_mutex(&process.children_cpu);
        let of = |ns: u64| ticks(Duration::from_nanos(ns));
        let times = [own.user, own.system, children.user, children.system].map(of);
        let [user, system, children_user, children_system] = times;
        let threads = process.threads.count();
        // From field 22 on: the start, memory, and addresses, which are not known.
        let rest = " 0".repeat(31);
        let mut out = format!("{} (", process.pid).into_bytes();
        out.extend(short_name(start));
        out.extend(
            format!(
                ") {} {parent} {group} {session} 0 -1 0 0 0 0 0 {user} {system} {children_user} \
                 {children_system} 20 0 {threads} 0{rest}\n",
                self.state(process)
            )
            .into_bytes(),
        );
        out
    }

    fn process_status(&self, process: &Process<H>, start: &ProcessStart) -> Vec<u8> {
        let state = match self.state(process) {
            'R' => "R (running)",
            _ => "S (sleeping)",
        };
        let pid = process.pid;
        let parent = process.kernel.parent_seen(process.parent);
        let ignored = process.ignored.load(std::sync::atomic::Ordering::SeqCst) >> 1;
        let threads = process.threads.count();
        let mut out = b"Name:\t".to_vec();
        out.extend(short_name(start));
        out.extend(
            format!(
                "\nUmask:\t{:04o}\nState:\t{state}\nTgid:\t{pid}\nNgid:\t0\nPid:\t{pid}\n\
                 PPid:\t{parent}\nTracerPid:\t0\nUid:\t{UID}\t{UID}\t{UID}\t{UID}\n\
                 Gid:\t{GID}\t{GID}\t{GID}\t{GID}\nThreads:\t{threads}\n\
                 SigIgn:\t{ignored:016x}\n",
                process.umask()
            )
            .into_bytes(),
        );
        out
    }
}

/// Returns the text of the link for another process's descriptor: the path if the kernel knows it,
/// and otherwise only the kind, because an open file does not keep its name.
fn descriptor_link<H: Host>(process: &Process<H>, number: &str) -> Option<Vec<u8>> {
    let number = Fd(number.parse().ok().filter(|n: &u32| n.to_string() == number)?);
    let open = lock_mutex(&process.fds).resolve_name(number).ok()?.open.clone();
    if let Some(name) = open.name() {
        return Some(name.to_vec());
    }
    if let Some(loc) = open.file.loc() {
        return process.kernel.vfs.chdir(loc, b".").ok().map(|(_, path)| path);
    }
    let stat = open.file.stat().ok()?;
    let kind = match stat.kind {
        FileKind::Fifo => "pipe",
        FileKind::Socket => "socket",
        FileKind::CharDevice => "device",
        _ => "file",
    };
    Some(format!("{kind}:[{}]", stat.ino).into_bytes())
}

/// Returns the path of a process's program; `None` if it is not known any more.
fn executable<H: Host>(process: &Process<H>, start: &ProcessStart) -> Option<Vec<u8>> {
    let value = |name: &str| {
        let of =
            |v: &Vec<u8>| v.strip_prefix(name.as_bytes())?.strip_prefix(b"=").map(<[u8]>::to_vec);
        start.env.iter().rev().find_map(of)
    };
    let cwd = lock_mutex(&process.cwd).clone();
    let name = value(box_abi::PROGRAM_VARIABLE).or_else(|| start.argv.first().cloned())?;
    let name = name.strip_prefix(b"-").unwrap_or(&name);
    let at = |dir: &[u8], name: &[u8]| match dir {
        b"/" => [dir, name].concat(),
        _ => [dir, b"/", name].concat(),
    };
    let candidates: Vec<Vec<u8>> = if name.starts_with(b"/") {
        vec![name.to_vec()]
    } else if name.contains(&b'/') {
        vec![at(&cwd.path, name)]
    } else {
        let path = value("PATH").unwrap_or_default();
        let dirs = path.split(|b| *b == b':').chain(PROGRAMS.as_bytes().split(|b| *b == b':'));
        dirs.filter(|d| d.starts_with(b"/")).map(|d| at(d, name)).collect()
    };
    candidates.into_iter().find(|path| {
        let found = find_program(&process.kernel.vfs, &cwd.loc, path);
        found.is_ok_and(|found| found.program == start.program)
    })
}
