//! `free` (procps-ng): memory of the machine, from `/proc/meminfo`.

use std::io::Write;
use std::time::Duration;

use box_applet::opts::{Opt, Parsed, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::{input, number, quote};
use crate::own::sleep;

/// What may be asked for.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
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

const SPEC: Spec<Flag> = Spec::new(
    "[options]",
    "Display amount of free and used memory in the system.",
    &[
        Opt::new(Flag::Bytes, 'b', "bytes").says("show output in bytes"),
        Opt::long(Flag::Kilo, "kilo").says("show output in kilobytes"),
        Opt::long(Flag::Mega, "mega").says("show output in megabytes"),
        Opt::long(Flag::Giga, "giga").says("show output in gigabytes"),
        Opt::long(Flag::Tera, "tera").says("show output in terabytes"),
        Opt::long(Flag::Peta, "peta").says("show output in petabytes"),
        Opt::new(Flag::Kibi, 'k', "kibi").says("show output in kibibytes"),
        Opt::new(Flag::Mebi, 'm', "mebi").says("show output in mebibytes"),
        Opt::new(Flag::Gibi, 'g', "gibi").says("show output in gibibytes"),
        Opt::long(Flag::Tebi, "tebi").says("show output in tebibytes"),
        Opt::long(Flag::Pebi, "pebi").says("show output in pebibytes"),
        Opt::new(Flag::Human, 'h', "human").says("show human-readable output"),
        Opt::long(Flag::Si, "si").says("use powers of 1000 not 1024"),
        Opt::new(Flag::Lohi, 'l', "lohi").says("show detailed low and high memory statistics"),
        Opt::new(Flag::Total, 't', "total").says("show total for RAM + swap"),
        Opt::new(Flag::Committed, 'v', "committed").says("show committed memory and commit limit"),
        Opt::new(Flag::Seconds, 's', "seconds").takes("N", "repeat printing every N seconds"),
        Opt::new(Flag::Count, 'c', "count").takes("N", "repeat printing N times, then exit"),
        Opt::new(Flag::Wide, 'w', "wide").says("wide output"),
    ],
);

/// In what amounts are shown.
#[derive(Clone, Copy)]
enum Unit {
    /// So many bytes.
    Bytes(u64),
    /// The largest that leaves at most three digits, each so many times the one before.
    Human(u64),
}

impl Unit {
    fn of(p: &Parsed<Flag>) -> Unit {
        let base: u64 = if p.has(Flag::Si) { 1000 } else { 1024 };
        let chosen = p.last_of(&[
            Flag::Bytes,
            Flag::Kilo,
            Flag::Mega,
            Flag::Giga,
            Flag::Tera,
            Flag::Peta,
            Flag::Kibi,
            Flag::Mebi,
            Flag::Gibi,
            Flag::Tebi,
            Flag::Pebi,
            Flag::Human,
        ]);
        match chosen {
            Some(Flag::Human) => Unit::Human(base),
            Some(Flag::Bytes) => Unit::Bytes(1),
            Some(Flag::Kilo) => Unit::Bytes(1000),
            Some(Flag::Mega) => Unit::Bytes(1000u64.pow(2)),
            Some(Flag::Giga) => Unit::Bytes(1000u64.pow(3)),
            Some(Flag::Tera) => Unit::Bytes(1000u64.pow(4)),
            Some(Flag::Peta) => Unit::Bytes(1000u64.pow(5)),
            Some(Flag::Mebi) => Unit::Bytes(base.pow(2)),
            Some(Flag::Gibi) => Unit::Bytes(base.pow(3)),
            Some(Flag::Tebi) => Unit::Bytes(base.pow(4)),
            Some(Flag::Pebi) => Unit::Bytes(base.pow(5)),
            _ => Unit::Bytes(base),
        }
    }

    fn show(self, bytes: u64) -> String {
        let base = match self {
            Unit::Bytes(n) => return (bytes / n).to_string(),
            Unit::Human(base) => base,
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

/// `/proc/meminfo`, in bytes.
struct Memory(String);

impl Memory {
    fn read() -> Memory {
        Memory(std::fs::read_to_string("/proc/meminfo").unwrap_or_default())
    }

    fn known(&self, name: &str) -> Option<u64> {
        let value = self.0.lines().find_map(|line| line.strip_prefix(name)?.strip_prefix(':'))?;
        Some(value.split_whitespace().next()?.parse::<u64>().ok()? * 1024)
    }

    fn get(&self, name: &str) -> u64 {
        self.known(name).unwrap_or(0)
    }
}

fn row(name: &str, unit: Unit, cells: &[u64]) -> String {
    let cells = cells.iter().map(|c| format!(" {:>11}", unit.show(*c)));
    format!("{name:<7}{}\n", cells.collect::<String>())
}

fn table(p: &Parsed<Flag>, unit: Unit) -> String {
    let memory = Memory::read();
    // Without /proc: the 4 GiB a wasm32 process can address.
    let total = memory.known("MemTotal").unwrap_or(1 << 32);
    let free = memory.known("MemFree").unwrap_or(total);
    let available = memory.known("MemAvailable").unwrap_or(free);
    let buffers = memory.get("Buffers");
    let cache = memory.get("Cached") + memory.get("SReclaimable");
    let used = total.saturating_sub(available);
    let shared = memory.get("Shmem");
    let swap = memory.get("SwapTotal");
    let swap_free = memory.get("SwapFree");
    let swap_used = swap.saturating_sub(swap_free);
    let (caches, cached) = match p.has(Flag::Wide) {
        true => (&["buffers", "cache"][..], &[buffers, cache][..]),
        false => (&["buff/cache"][..], &[buffers + cache][..]),
    };
    let names = [&["total", "used", "free", "shared"], caches, &["available"]].concat();
    let names = names.iter().map(|n| format!(" {n:>11}"));
    let mut out = format!("{:7}{}\n", "", names.collect::<String>());
    out += &row("Mem:", unit, &[&[total, used, free, shared], cached, &[available]].concat());
    if p.has(Flag::Lohi) {
        // Nothing is out of the reach of a 64-bit kernel.
        out += &row("Low:", unit, &[total, total.saturating_sub(free), free]);
        out += &row("High:", unit, &[0, 0, 0]);
    }
    out += &row("Swap:", unit, &[swap, swap_used, swap_free]);
    if p.has(Flag::Total) {
        out += &row("Total:", unit, &[total + swap, used + swap_used, free + swap_free]);
    }
    if p.has(Flag::Committed) {
        let (limit, committed) = (memory.get("CommitLimit"), memory.get("Committed_AS"));
        out += &row("Comm:", unit, &[limit, committed, limit.saturating_sub(committed)]);
    }
    out
}

/// Tells what is wrong with an option's argument.
fn refuse(ctx: &mut Ctx<'_>, message: &str, text: &[u8], why: &str) -> Exit {
    ctx.error_bytes(&[message.as_bytes(), b": ", &quote::always(text), why.as_bytes()]);
    Exit::FAILURE
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let pause = match p.last(Flag::Seconds).map(|text| (text, sleep::seconds(text))) {
        None => None,
        Some((_, Some(n))) if n >= 1e-6 => Some(sleep::duration(n)),
        Some((text, Some(_))) => {
            return Err(input::failure(
                ctx,
                &[b"seconds argument `", text, b"' is not positive number"],
            ));
        }
        Some((text, None)) => {
            return Ok(refuse(ctx, "seconds argument failed", text, ": Invalid argument"));
        }
    };
    let count = match p.last(Flag::Count).map(|text| (text, number::decimal(text))) {
        None => None,
        Some((_, Some(n))) if n > 0 => Some(n),
        Some((text, Some(_))) => {
            let why = ": Numerical result out of range";
            return Ok(refuse(ctx, "failed to parse count argument", text, why));
        }
        Some((text, None)) => return Ok(refuse(ctx, "failed to parse count argument", text, "")),
    };
    let unit = Unit::of(&p);
    let mut left = count.unwrap_or(if pause.is_some() { u64::MAX } else { 1 });
    loop {
        let out = table(&p, unit);
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
