//! What the system is: `uname arch hostname nproc uptime tty logname sync clear`.
//! The guest answers as a small Linux machine, so that scripts that ask take their usual path.

use std::io::Write;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit, InputSource, clock};
use box_sys::AccountNames;
use box_text::time::strftime;

use crate::common::input;

/// Kernel name, release, version and machine as `uname` reports them.
const SYSTEM: [&str; 4] = ["Linux", "6.1.0-wasibox", "#1 SMP Wasibox", "wasm32"];

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
    "Print certain system information.  With no OPTION, same as -s.",
    &[
        Opt::new(UnameFlag::All, 'a', "all").says("print all information"),
        Opt::new(UnameFlag::KernelName, 's', "kernel-name").says("print the kernel name"),
        Opt::new(UnameFlag::Nodename, 'n', "nodename").says("print the network node hostname"),
        Opt::new(UnameFlag::KernelRelease, 'r', "kernel-release").says("print the kernel release"),
        Opt::new(UnameFlag::KernelVersion, 'v', "kernel-version").says("print the kernel version"),
        Opt::new(UnameFlag::Machine, 'm', "machine").says("print the machine hardware name"),
        Opt::new(UnameFlag::Processor, 'p', "processor")
            .says("print the processor type (non-portable)"),
        Opt::new(UnameFlag::HardwarePlatform, 'i', "hardware-platform")
            .says("print the hardware platform (non-portable)"),
        Opt::new(UnameFlag::OperatingSystem, 'o', "operating-system")
            .says("print the operating system"),
    ],
);

fn host_name() -> String {
    let file = std::fs::read_to_string("/etc/hostname").unwrap_or_default();
    let name = file.trim();
    if name.is_empty() { "wasibox".to_string() } else { name.to_string() }
}

fn line(ctx: &mut Ctx<'_>, text: &str) -> Exit {
    let _ = ctx.stdout.write_all(format!("{text}\n").as_bytes());
    Exit::SUCCESS
}

pub(crate) fn uname(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = UNAME.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some(extra) = p.operands.first() {
        return Err(input::extra_operand(ctx, extra));
    }
    let all = p.has(UnameFlag::All);
    let [kernel, release, version, machine] = SYSTEM;
    let host = host_name();
    let want = |c: UnameFlag| all || p.has(c) || c == UnameFlag::KernelName && p.options.is_empty();
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
    // `-a` leaves out what is unknown.
    if p.has(UnameFlag::Processor) {
        words.push("unknown");
    }
    if p.has(UnameFlag::HardwarePlatform) {
        words.push("unknown");
    }
    if want(UnameFlag::OperatingSystem) {
        words.push("GNU/Linux");
    }
    Ok(line(ctx, &words.join(" ")))
}

const ARCH: Spec = Spec::new("[OPTION]...", "Print machine architecture.", &[]);

pub(crate) fn arch(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = ARCH.parse_or_exit(ctx, args, Exit::FAILURE)?;
    Ok(match p.operands.first() {
        Some(extra) => input::extra_operand(ctx, extra),
        None => line(ctx, SYSTEM[3]),
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
    "Print the host's name.",
    &[
        Opt::new(HostnameFlag::Short, 's', "short").says("short host name"),
        Opt::new(HostnameFlag::Fqdn, 'f', "fqdn").says("long host name"),
        Opt::new(HostnameFlag::Domain, 'd', "domain").says("DNS domain name"),
        Opt::new(HostnameFlag::IpAddress, 'i', "ip-address").says("addresses for the host name"),
        Opt::new(HostnameFlag::AllIpAddresses, 'I', "all-ip-addresses")
            .says("all addresses for the host"),
    ],
);

pub(crate) fn hostname(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
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
            Some(HostnameFlag::Short) => line(ctx, short),
            Some(HostnameFlag::Domain) => line(ctx, domain),
            Some(HostnameFlag::IpAddress | HostnameFlag::AllIpAddresses) => line(ctx, "127.0.0.1"),
            _ => line(ctx, &host),
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
    "Print the number of processing units available to the current process.",
    &[
        Opt::long(NprocFlag::All, "all").says("print the number of installed processors"),
        Opt::long(NprocFlag::Ignore, "ignore")
            .takes("N", "if possible, exclude N processing units"),
    ],
);

pub(crate) fn nproc(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = NPROC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some(extra) = p.operands.first() {
        return Err(input::extra_operand(ctx, extra));
    }
    let number = |v: &[u8]| crate::common::number::decimal(v);
    let ignore = match p.last(NprocFlag::Ignore).map(|v| (v.to_vec(), number(v))) {
        Some((text, None)) => {
            return Err(input::failure(
                ctx,
                &[b"invalid number: ", &crate::common::quote::always(&text)],
            ));
        }
        Some((_, Some(n))) => n,
        None => 0,
    };
    let mut count = std::thread::available_parallelism().map_or(1, |n| n.get() as u64);
    if !p.has(NprocFlag::All) {
        // OMP_NUM_THREADS may be a list; the first number counts.
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
    Ok(line(ctx, &count.saturating_sub(ignore).max(1).to_string()))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum UptimeFlag {
    Pretty,
    Since,
}

const UPTIME: Spec<UptimeFlag> = Spec::new(
    "[OPTION]",
    "Print the time, how long the system has been up, users and load averages.",
    &[
        Opt::new(UptimeFlag::Pretty, 'p', "pretty").says("show uptime in pretty format"),
        Opt::new(UptimeFlag::Since, 's', "since").says("system up since"),
    ],
);

/// Seconds since start: `/proc/uptime` where there is one, else of this process's clock.
fn up_seconds() -> u64 {
    let text = std::fs::read_to_string("/proc/uptime").unwrap_or_default();
    text.split(['.', ' ']).next().and_then(|s| s.parse().ok()).unwrap_or(0)
}

pub(crate) fn uptime(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = UPTIME.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let zone = ctx.zone();
    let (now, _) = clock::now();
    let up = up_seconds();
    let show = |format: &[u8], at: i64| {
        let mut out = Vec::new();
        strftime::format(&mut out, format, &zone.broken(at, 0));
        String::from_utf8_lossy(&out).into_owned()
    };
    if p.has(UptimeFlag::Since) {
        let at = now - up as i64;
        return Ok(line(ctx, &show(b"%F %T", at)));
    }
    let (days, hours, minutes) = (up / 86_400, up / 3600 % 24, up / 60 % 60);
    if p.has(UptimeFlag::Pretty) {
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
        return Ok(line(ctx, &format!("up {}", parts.join(", "))));
    }
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
    let time = show(b" %H:%M:%S", now);
    Ok(line(ctx, &format!("{time} up {day_part}{clock},  1 user,  load average: {load}")))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum TtyFlag {
    Silent,
}

const TTY: Spec<TtyFlag> = Spec::new(
    "[OPTION]...",
    "Print the file name of the terminal connected to standard input.",
    &[Opt::new(TtyFlag::Silent, 's', "silent").says("print nothing, only return an exit status")],
);

pub(crate) fn tty(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    // `--quiet` is another name of `--silent`.
    let args: Vec<Vec<u8>> =
        args.iter().map(|a| if a == b"--quiet" { b"-s".to_vec() } else { a.clone() }).collect();
    let p = TTY.parse_or_exit(ctx, &args, Exit(2))?;
    if let Some(extra) = p.operands.first() {
        input::extra_operand(ctx, extra);
        return Ok(Exit(2));
    }
    let terminal = match ctx.stdin.source() {
        InputSource::File(f) => box_sys::is_terminal(f),
        _ => false,
    };
    if !p.has(TtyFlag::Silent) {
        line(ctx, if terminal { "/dev/tty" } else { "not a tty" });
    }
    Ok(if terminal { Exit::SUCCESS } else { Exit::FAILURE })
}

const LOGNAME: Spec = Spec::new("[OPTION]", "Print the user's login name.", &[]);

pub(crate) fn logname(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = LOGNAME.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if let Some(extra) = p.operands.first() {
        return Err(input::extra_operand(ctx, extra));
    }
    let name = ctx.env.get(b"LOGNAME").map(|n| String::from_utf8_lossy(n).into_owned());
    let (uid, _) = box_sys::meta::ids();
    let name = name.unwrap_or_else(|| AccountNames::load().show_user(uid));
    Ok(line(ctx, &name))
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum SyncFlag {
    Data,
    FileSystem,
}

const SYNC: Spec<SyncFlag> = Spec::new(
    "[OPTION] [FILE]...",
    "Synchronize cached writes to persistent storage.\nIf one or more files are specified, only they are synchronized.",
    &[
        Opt::new(SyncFlag::Data, 'd', "data").says("sync only file data, no unneeded metadata"),
        Opt::new(SyncFlag::FileSystem, 'f', "file-system")
            .says("sync the file systems that contain the files"),
    ],
);

pub(crate) fn sync(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SYNC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.has(SyncFlag::Data) && p.operands.is_empty() {
        ctx.error("--data needs at least one argument");
        return Ok(Exit::FAILURE);
    }
    let mut exit = Exit::SUCCESS;
    for f in &p.operands {
        match std::fs::File::open(ctx.path(f)) {
            // A directory or device that cannot be synced has nothing to lose here.
            Ok(file) => {
                drop(if p.has(SyncFlag::Data) { file.sync_data() } else { file.sync_all() })
            }
            Err(e) => {
                let shown = crate::common::quote::always(f);
                ctx.error_bytes(&[
                    b"error opening ",
                    &shown,
                    b": ",
                    box_sys::strerror(&e).as_bytes(),
                ]);
                exit = Exit::FAILURE;
            }
        }
    }
    Ok(exit)
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ClearFlag {
    KeepScrollback,
    TerminalType,
}

const CLEAR: Spec<ClearFlag> = Spec::new(
    "",
    "Clear the terminal screen.",
    &[
        Opt::new(ClearFlag::KeepScrollback, 'x', "").says("do not clear the scrollback"),
        Opt::new(ClearFlag::TerminalType, 'T', "")
            .takes("TYPE", "terminal type (ignored: the escapes are ANSI's)"),
    ],
);

pub(crate) fn clear(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = CLEAR.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let _ = ctx.stdout.write_all(if p.has(ClearFlag::KeepScrollback) {
        b"\x1b[H\x1b[2J"
    } else {
        b"\x1b[H\x1b[2J\x1b[3J"
    });
    Ok(Exit::SUCCESS)
}
