//! Small tools about the system: `uname arch hostname nproc uptime tty logname sync clear`. They
//! describe the guest as a small Linux machine, so that scripts take their usual path.

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit, InputSource, clock};
use box_sys::{AccountNames, SYSTEM, Uname};
use box_text::time::strftime;

use crate::common::input;
use crate::common::number::CountError;

#[derive(Clone, Copy, PartialEq, Eq)]
enum UnameFlag {
    All,
    HardwarePlatform,
    KernelName,
    KernelRelease,
    KernelVersion,
    Machine,
    Nodename,
    OperatingSystem,
    Processor,
}

const UNAME: Spec<UnameFlag> = Spec::new(
    "[OPTION]...",
    "Print what system this is: its name, unless an option says otherwise.",
    &[
        Opt::new(UnameFlag::All, 'a', "all").with_help("Print everything"),
        Opt::new(UnameFlag::KernelName, 's', "kernel-name").with_help("Name of the kernel"),
        Opt::new(UnameFlag::Nodename, 'n', "nodename").with_help("Name of the host"),
        Opt::new(UnameFlag::KernelRelease, 'r', "kernel-release")
            .with_help("Release of the kernel"),
        Opt::new(UnameFlag::KernelVersion, 'v', "kernel-version")
            .with_help("Version of the kernel"),
        Opt::new(UnameFlag::Machine, 'm', "machine").with_help("Kind of machine"),
        Opt::new(UnameFlag::Processor, 'p', "processor").with_help("Kind of processor, or unknown"),
        Opt::new(UnameFlag::HardwarePlatform, 'i', "hardware-platform")
            .with_help("Kind of hardware, or unknown"),
        Opt::new(UnameFlag::OperatingSystem, 'o', "operating-system")
            .with_help("Name of the operating system"),
    ],
);

/// Returns the name of the host, from `/etc/hostname` if it has one.
pub(super) fn host_name() -> String {
    let file = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let name = file.trim();
    if name.is_empty() { "wasibox".to_string() } else { name.to_string() }
}

fn print_line(ctx: &mut Ctx<'_>, text: &str) -> Exit {
    let _ = ctx.stdout.write_all(format!("{text}\n").as_bytes());
    Exit::SUCCESS
}

pub(crate) fn run_uname(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = UNAME.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some(extra) = p.operands.first() {
        return Err(input::extra_operand(ctx, extra));
    }
    let all = p.has_option(UnameFlag::All);
    let Uname { kernel, release, version, machine } = SYSTEM;
    let host = host_name();
    let want =
        |c: UnameFlag| all || p.has_option(c) || c == UnameFlag::KernelName && p.options.is_empty();
    let mut words: Vec<&str> = Vec::new();
    for (c, text) in [
        (UnameFlag::KernelName, kernel),
        (UnameFlag::Nodename, &host),
        (UnameFlag::KernelRelease, release),
        (UnameFlag::KernelVersion, version),
        (UnameFlag::Machine, machine),
    ] {
        if want(c) {
            words.push(text);
        }
    }
    // `-a` leaves out values that are unknown, so these two need their own options.
    if p.has_option(UnameFlag::Processor) {
        words.push("unknown");
    }
    if p.has_option(UnameFlag::HardwarePlatform) {
        words.push("unknown");
    }
    if want(UnameFlag::OperatingSystem) {
        words.push("GNU/Linux");
    }
    Ok(print_line(ctx, &words.join(" ")))
}

const ARCH: Spec = Spec::new("[OPTION]...", "Print the kind of machine, as uname -m does.", &[]);

pub(crate) fn run_arch(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = ARCH.parse_or_exit(ctx, args, Exit::FAILURE)?;
    Ok(match p.operands.first() {
        Some(extra) => input::extra_operand(ctx, extra),
        None => print_line(ctx, SYSTEM.machine),
    })
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum HostnameFlag {
    AllIpAddresses,
    Domain,
    Fqdn,
    IpAddress,
    Short,
}

const HOSTNAME: Spec<HostnameFlag> = Spec::new(
    "[OPTION]...",
    "Print the name of the host.",
    &[
        Opt::new(HostnameFlag::Short, 's', "short").with_help("Only up to the first dot"),
        Opt::new(HostnameFlag::Fqdn, 'f', "fqdn").with_help("With its domain"),
        Opt::new(HostnameFlag::Domain, 'd', "domain").with_help("Only the domain"),
        Opt::new(HostnameFlag::IpAddress, 'i', "ip-address").with_help("Its address"),
        Opt::new(HostnameFlag::AllIpAddresses, 'I', "all-ip-addresses").with_help("All addresses"),
    ],
);

pub(crate) fn run_hostname(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = HOSTNAME.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if !p.operands.is_empty() {
        ctx.error("you must be root to change the host name");
        return Ok(Exit::FAILURE);
    }
    let host = host_name();
    let (short, domain) = host.split_once('.').unwrap_or((&host, ""));
    Ok(
        match p.last_of(&[
            HostnameFlag::Short,
            HostnameFlag::Fqdn,
            HostnameFlag::Domain,
            HostnameFlag::IpAddress,
            HostnameFlag::AllIpAddresses,
        ]) {
            Some(HostnameFlag::Short) => print_line(ctx, short),
            Some(HostnameFlag::Domain) => print_line(ctx, domain),
            Some(HostnameFlag::IpAddress | HostnameFlag::AllIpAddresses) => {
                print_line(ctx, "127.0.0.1")
            }
            _ => print_line(ctx, &host),
        },
    )
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum NprocFlag {
    All,
    Ignore,
}

const NPROC: Spec<NprocFlag> = Spec::new(
    "[OPTION]...",
    "Print how many processors this process may use.",
    &[
        Opt::long(NprocFlag::All, "all").with_help("Count those it may not use, too"),
        Opt::long(NprocFlag::Ignore, "ignore").with_argument("N", "Print N fewer, but at least 1"),
    ],
);

pub(crate) fn run_nproc(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = NPROC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some(extra) = p.operands.first() {
        return Err(input::extra_operand(ctx, extra));
    }
    let number = |v: &[u8]| crate::common::number::parse_decimal(v);
    let ignore = match p.last_value(NprocFlag::Ignore) {
        Some(text) => crate::common::number::count(text).map_err(|e| {
            let shown = crate::common::quote::quote_in_sentence(text);
            let why: &[u8] = match e {
                CountError::Overflow => b": Value too large for defined data type",
                CountError::Invalid | CountError::Suffix => b"",
            };
            input::report_failure(ctx, &[b"invalid number: ", &shown, why])
        })?,
        None => 0,
    };
    let mut count = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    if !p.has_option(NprocFlag::All) {
        // The value of OMP_NUM_THREADS may be a list, of which the first number counts.
        let omp = |name: &[u8]| {
            let v = ctx.env.get(name)?;
            number(v.split(|c| *c == b',').next()?.trim_ascii()).filter(|n| *n > 0)
        };
        if let Some(n) = omp(b"OMP_NUM_THREADS") {
            count = n;
        }
        if let Some(n) = omp(b"OMP_THREAD_LIMIT") {
            count = count.min(n);
        }
    }
    Ok(print_line(ctx, &count.saturating_sub(ignore).max(1).to_string()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum UptimeFlag {
    Pretty,
    Since,
}

const UPTIME: Spec<UptimeFlag> = Spec::new(
    "[OPTION]",
    "Print the time, how long the machine has run, and its load.",
    &[
        Opt::new(UptimeFlag::Pretty, 'p', "pretty").with_help("Print only how long, in words"),
        Opt::new(UptimeFlag::Since, 's', "since").with_help("Print when it started"),
    ],
);

/// Returns the seconds since the machine started, from `/proc/uptime`; 0 if there is no such file.
pub(super) fn up_seconds() -> u64 {
    let text = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    text.split(['.', ' ']).next().and_then(|s| s.parse().ok()).unwrap_or(0)
}

pub(crate) fn run_uptime(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = UPTIME.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let zone = ctx.zone();
    let (now, _) = clock::current_time();
    let up = up_seconds();
    let show = |format: &[u8], at: i64| {
        let mut out = Vec::new();
        strftime::format_date(&mut out, format, &zone.to_civil(at, 0));
        String::from_utf8_lossy(&out).into_owned()
    };
    if p.has_option(UptimeFlag::Since) {
        let at = now - up as i64;
        return Ok(print_line(ctx, &show(b"%F %T", at)));
    }
    let (days, hours, minutes) = (up / 86_400, up / 3600 % 24, up / 60 % 60);
    if p.has_option(UptimeFlag::Pretty) {
        let mut parts = Vec::new();
        for (n, unit) in
            [(days / 7, "week"), (days % 7, "day"), (hours, "hour"), (minutes, "minute")]
        {
            if n > 0 {
                parts.push(format!("{n} {unit}{}", if n == 1 { "" } else { "s" }));
            }
        }
        if parts.is_empty() {
            parts.push(format!("{minutes} minutes"));
        }
        return Ok(print_line(ctx, &format!("up {}", parts.join(", "))));
    }
    let line = uptime_line(ctx);
    Ok(print_line(ctx, &line))
}

/// Returns the line of `uptime`, which is also the first one of `w`. Nobody is logged in, because
/// there are no logins.
pub(super) fn uptime_line(ctx: &Ctx<'_>) -> String {
    let up = up_seconds();
    let (days, hours, minutes) = (up / 86_400, up / 3600 % 24, up / 60 % 60);
    let day_part = match days {
        0 => String::new(),
        1 => "1 day, ".to_string(),
        n => format!("{n} days, "),
    };
    let clock =
        if hours > 0 { format!("{hours:2}:{minutes:02}") } else { format!("{minutes} min") };
    let load = std::fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let load: Vec<&str> = load.split(' ').take(3).collect();
    let load = if load.len() == 3 { load.join(", ") } else { "0.00, 0.00, 0.00".to_string() };
    let (now, _) = clock::current_time();
    let time = strftime::format_strftime(b" %H:%M:%S", &ctx.zone().to_civil(now, 0));
    let time = String::from_utf8_lossy(&time).into_owned();
    format!("{time} up {day_part}{clock},  0 user,  load average: {load}")
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TtyFlag {
    Silent,
}

const TTY: Spec<TtyFlag> = Spec::new(
    "[OPTION]...",
    "Print the terminal of standard input, or `not a tty'.",
    &[Opt::new(TtyFlag::Silent, 's', "silent").with_help("Print nothing; only end with a status")],
);

pub(crate) fn run_tty(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    // `--quiet` is another name of `--silent`.
    let args: Vec<Vec<u8>> =
        args.iter().map(|a| if a == b"--quiet" { b"-s".to_vec() } else { a.clone() }).collect();
    let p = TTY.parse_or_exit(ctx, &args, Exit(2))?;
    if let Some(extra) = p.operands.first() {
        input::extra_operand(ctx, extra);
        return Ok(Exit(2));
    }
    let name = match ctx.stdin.source() {
        InputSource::File(f) if box_sys::is_terminal(f) => {
            // A terminal of the host has no name here.
            Some(box_sys::terminal::terminal_name(f).unwrap_or_else(|_| "/dev/tty".into()))
        }
        _ => None,
    };
    if !p.has_option(TtyFlag::Silent) {
        print_line(ctx, name.as_deref().unwrap_or("not a tty"));
    }
    Ok(if name.is_some() { Exit::SUCCESS } else { Exit::FAILURE })
}

const LOGNAME: Spec = Spec::new("[OPTION]", "Print the name of the user who logged in.", &[]);

pub(crate) fn run_logname(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = LOGNAME.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some(extra) = p.operands.first() {
        return Err(input::extra_operand(ctx, extra));
    }
    let name = ctx.env.get(b"LOGNAME").map(|n| String::from_utf8_lossy(n).into_owned());
    let (uid, _) = box_sys::meta::ids();
    let name = name.unwrap_or_else(|| AccountNames::load().show_user(uid));
    Ok(print_line(ctx, &name))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SyncFlag {
    Data,
    FileSystem,
}

const SYNC: Spec<SyncFlag> = Spec::new(
    "[OPTION] [FILE]...",
    "Write cached data to storage: all, or that of the FILEs.",
    &[
        Opt::new(SyncFlag::Data, 'd', "data")
            .with_help("Write only the data, and the metadata that is needed to read it"),
        Opt::new(SyncFlag::FileSystem, 'f', "file-system")
            .with_help("Write the file systems of the FILEs"),
    ],
);

pub(crate) fn run_sync(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SYNC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.has_option(SyncFlag::Data) && p.operands.is_empty() {
        ctx.error("--data needs at least one argument");
        return Ok(Exit::FAILURE);
    }
    let mut exit = Exit::SUCCESS;
    for f in &p.operands {
        match std::fs::File::open(ctx.path(f)) {
            // Failures to sync are ignored, because a directory or device that cannot be synced has
            // no data to lose here.
            Ok(file) => {
                drop(if p.has_option(SyncFlag::Data) { file.sync_data() } else { file.sync_all() })
            }
            Err(e) => {
                let shown = crate::common::quote::quote_in_sentence(f);
                ctx.error_bytes(&[
                    b"error opening ",
                    &shown,
                    b": ",
                    box_sys::error_text(&e).as_bytes(),
                ]);
                exit = Exit::FAILURE;
            }
        }
    }
    Ok(exit)
}
