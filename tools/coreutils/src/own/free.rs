//! `free` (procps-ng): the machine's memory, from `/proc/meminfo`.

use std::io::Write;
use std::time::Duration;

use box_applet::help::words;
use box_applet::opts::{Opt, ParsedOptions, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::{input, number, quote};
use crate::own::sleep;

/// An option of `free`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FreeFlag {
    Bytes,
    Committed,
    Count,
    Gibi,
    Giga,
    Human,
    Kibi,
    Kilo,
    Lohi,
    Mebi,
    Mega,
    Pebi,
    Peta,
    Seconds,
    Si,
    Tebi,
    Tera,
    Total,
    Wide,
}

const SPEC: Spec<FreeFlag> = Spec::new(
    "[OPTION]...",
    "Print how much memory is used and free.",
    &[
        Opt::new(FreeFlag::Bytes, 'b', "bytes").with_help("Count bytes"),
        Opt::long(FreeFlag::Kilo, "kilo").with_help("Count units of 10^3 bytes"),
        Opt::long(FreeFlag::Mega, "mega").with_help("Count units of 10^6 bytes"),
        Opt::long(FreeFlag::Giga, "giga").with_help("Count units of 10^9 bytes"),
        Opt::long(FreeFlag::Tera, "tera").with_help("Count units of 10^12 bytes"),
        Opt::long(FreeFlag::Peta, "peta").with_help("Count units of 10^15 bytes"),
        Opt::new(FreeFlag::Kibi, 'k', "kibi").with_help("Count KiB (default)"),
        Opt::new(FreeFlag::Mebi, 'm', "mebi").with_help("Count MiB"),
        Opt::new(FreeFlag::Gibi, 'g', "gibi").with_help("Count GiB"),
        Opt::long(FreeFlag::Tebi, "tebi").with_help("Count TiB"),
        Opt::long(FreeFlag::Pebi, "pebi").with_help("Count PiB"),
        Opt::new(FreeFlag::Human, 'h', "human").with_help(words::HUMAN),
        Opt::long(FreeFlag::Si, "si").with_help(words::SI),
        Opt::new(FreeFlag::Lohi, 'l', "lohi").with_help("Add lines for low and high memory"),
        Opt::new(FreeFlag::Total, 't', "total")
            .with_help("Add a line with the sum of memory and swap"),
        Opt::new(FreeFlag::Committed, 'v', "committed")
            .with_help("Add a line with the memory that is committed"),
        Opt::new(FreeFlag::Seconds, 's', "seconds")
            .with_argument("N", "Print again every N seconds"),
        Opt::new(FreeFlag::Count, 'c', "count").with_argument("N", "With -s: stop after N times"),
        Opt::new(FreeFlag::Wide, 'w', "wide").with_help("Print caches and buffers apart"),
    ],
);

/// The unit in which amounts are shown.
#[derive(Clone, Copy)]
enum FreeUnit {
    /// A unit of this many bytes.
    Bytes(u64),
    /// The largest unit that leaves at most three digits. Each unit is the previous one times this
    /// number.
    Human(u64),
}

impl FreeUnit {
    fn from_options(p: &ParsedOptions<FreeFlag>) -> FreeUnit {
        let base: u64 = if p.has_option(FreeFlag::Si) { 1000 } else { 1024 };
        let chosen = p.last_of(&[
            FreeFlag::Bytes,
            FreeFlag::Kilo,
            FreeFlag::Mega,
            FreeFlag::Giga,
            FreeFlag::Tera,
            FreeFlag::Peta,
            FreeFlag::Kibi,
            FreeFlag::Mebi,
            FreeFlag::Gibi,
            FreeFlag::Tebi,
            FreeFlag::Pebi,
            FreeFlag::Human,
        ]);
        match chosen {
            Some(FreeFlag::Human) => FreeUnit::Human(base),
            Some(FreeFlag::Bytes) => FreeUnit::Bytes(1),
            Some(FreeFlag::Kilo) => FreeUnit::Bytes(1000),
            Some(FreeFlag::Mega) => FreeUnit::Bytes(1000u64.pow(2)),
            Some(FreeFlag::Giga) => FreeUnit::Bytes(1000u64.pow(3)),
            Some(FreeFlag::Tera) => FreeUnit::Bytes(1000u64.pow(4)),
            Some(FreeFlag::Peta) => FreeUnit::Bytes(1000u64.pow(5)),
            Some(FreeFlag::Mebi) => FreeUnit::Bytes(base.pow(2)),
            Some(FreeFlag::Gibi) => FreeUnit::Bytes(base.pow(3)),
            Some(FreeFlag::Tebi) => FreeUnit::Bytes(base.pow(4)),
            Some(FreeFlag::Pebi) => FreeUnit::Bytes(base.pow(5)),
            _ => FreeUnit::Bytes(base),
        }
    }

    fn show(self, bytes: u64) -> String {
        let base = match self {
            FreeUnit::Bytes(n) => return (bytes / n).to_string(),
            FreeUnit::Human(base) => base,
        };
        let (mut value, mut power) = (bytes as f64, 0);
        while value >= base as f64 && power < 5 {
            value /= base as f64;
            power += 1;
        }
        let suffix = match (["", "K", "M", "G", "T", "P"][power], base) {
            ("", _) => return format!("{bytes}B"),
            (letter, 1000) => letter.to_string(),
            (letter, _) => format!("{letter}i"),
        };
        if value >= 10.0 {
            format!("{}{suffix}", value as u64)
        } else {
            format!("{value:.1}{suffix}")
        }
    }
}

/// The text of `/proc/meminfo`, whose amounts are returned in bytes.
struct FreeMemory(String);

impl FreeMemory {
    fn read() -> FreeMemory {
        FreeMemory(std::fs::read_to_string("/proc/meminfo").unwrap_or_default())
    }

    fn known_bytes(&self, name: &str) -> Option<u64> {
        let value = self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(value.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
    }

    fn get(&self, name: &str) -> u64 {
        self.known_bytes(name).unwrap_or(0)
    }
}

fn format_row(name: &str, unit: FreeUnit, cells: &[u64]) -> String {
    let cells = cells.iter().map(|c| format!(" {:>11}", unit.show(*c)));
    format!("{name:<7}{}\n", cells.collect::<String>())
}

fn format_table(p: &ParsedOptions<FreeFlag>, unit: FreeUnit) -> String {
    let memory = FreeMemory::read();
    // Without /proc, the total is the 4 GiB that a wasm32 process can address.
    let total = memory.known_bytes("MemTotal").unwrap_or(1 << 32);
    let free = memory.known_bytes("MemFree").unwrap_or(total);
    let available = memory.known_bytes("MemAvailable").unwrap_or(free);
    let buffers = memory.get("Buffers");
    let cache = memory.get("Cached") + memory.get("SReclaimable");
    let used = total.saturating_sub(available);
    let shared = memory.get("Shmem");
    let swap = memory.get("SwapTotal");
    let swap_free = memory.get("SwapFree");
    let swap_used = swap.saturating_sub(swap_free);
    let (caches, cached) = if p.has_option(FreeFlag::Wide) {
        (&["buffers", "cache"][..], &[buffers, cache][..])
    } else {
        (&["buff/cache"][..], &[buffers + cache][..])
    };
    let names = [&["total", "used", "free", "shared"], caches, &["available"]].concat();
    let names = names.iter().map(|n| format!(" {n:>11}"));
    let mut out = format!("{:7}{}\n", "", names.collect::<String>());
    out +=
        &format_row("Mem:", unit, &[&[total, used, free, shared], cached, &[available]].concat());
    if p.has_option(FreeFlag::Lohi) {
        // A 64-bit kernel can address all memory, so all of it counts as low.
        out += &format_row("Low:", unit, &[total, total.saturating_sub(free), free]);
        out += &format_row("High:", unit, &[0, 0, 0]);
    }
    out += &format_row("Swap:", unit, &[swap, swap_used, swap_free]);
    if p.has_option(FreeFlag::Total) {
        out += &format_row("Total:", unit, &[total + swap, used + swap_used, free + swap_free]);
    }
    if p.has_option(FreeFlag::Committed) {
        let (limit, committed) = (memory.get("CommitLimit"), memory.get("Committed_AS"));
        out += &format_row("Comm:", unit, &[limit, committed, limit.saturating_sub(committed)]);
    }
    out
}

/// Reports an error in an option's argument.
fn refuse_argument(ctx: &mut Ctx<'_>, message: &str, text: &[u8], why: &str) -> Exit {
    ctx.error_bytes(&[message.as_bytes(), b": ", &quote::quote_in_sentence(text), why.as_bytes()]);
    Exit::FAILURE
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let pause = match p.last_value(FreeFlag::Seconds).map(|text| (text, sleep::parse_seconds(text)))
    {
        None => None,
        Some((_, Some(n))) if n >= 1e-6 => Some(sleep::to_duration(n)),
        Some((text, Some(_))) => {
            return Err(input::report_failure(
                ctx,
                &[b"seconds argument `", text, b"' is not positive number"],
            ));
        }
        Some((text, None)) => {
            return Ok(refuse_argument(ctx, "seconds argument failed", text, ": Invalid argument"));
        }
    };
    let count = match p.last_value(FreeFlag::Count).map(|text| (text, number::parse_decimal(text)))
    {
        None => None,
        Some((_, Some(n))) if n > 0 => Some(n),
        Some((text, Some(_))) => {
            let why = ": Numerical result out of range";
            return Ok(refuse_argument(ctx, "failed to parse count argument", text, why));
        }
        Some((text, None)) => {
            return Ok(refuse_argument(ctx, "failed to parse count argument", text, ""));
        }
    };
    let unit = FreeUnit::from_options(&p);
    let mut left = count.unwrap_or(if pause.is_some() { u64::MAX } else { 1 });
    loop {
        let out = format_table(&p, unit);
        if ctx.stdout.write_all(out.as_bytes()).is_err() {
            return Ok(Exit::FAILURE);
        }
        left -= 1;
        if left == 0 {
            return Ok(Exit::SUCCESS);
        }
        if ctx.stdout.write_all(b"\n").and_then(|()| ctx.stdout.flush()).is_err() {
            return Ok(Exit::FAILURE);
        }
        std::thread::sleep(pause.unwrap_or(Duration::from_secs(1)));
    }
}
