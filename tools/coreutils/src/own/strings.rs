//! `strings` (binutils; POSIX XCU strings): printable runs in files.

use std::io::Read;

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};

use crate::common::input::{self, Stop, put};
use crate::common::number;

const SPEC: Spec = Spec {
    usage: "[option(s)] [file(s)]",
    about: "Display printable strings in [file(s)] (stdin by default)",
    options: &[
        Opt::flag('a', "all", "scan the entire file (default)"),
        Opt::flag('d', "data", "scan the entire file (there are no sections)"),
        Opt::flag('f', "print-file-name", "print the name of the file before each string"),
        Opt::value(
            'n',
            "bytes",
            "NUMBER",
            "print any sequence of at least NUMBER characters (default 4)",
        ),
        Opt::value(
            't',
            "radix",
            "RADIX",
            "print the location of the string in base 8 (o), 10 (d), or 16 (x)",
        ),
        Opt::flag('o', "", "an alias for --radix=o"),
        Opt::flag(
            'w',
            "include-all-whitespace",
            "include all whitespace as valid string characters",
        ),
        Opt::value('e', "encoding", "ENC", "s = 7-bit, S = 8-bit, {b,l} = 16-bit, {B,L} = 32-bit"),
        Opt::value('s', "output-separator", "STRING", "string used to separate strings in output"),
    ],
    after: "",
    posix_order: false,
};

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    // `-8` is an old form of `-n 8`.
    let args: Vec<Vec<u8>> = args
        .iter()
        .map(|a| match a.strip_prefix(b"-") {
            Some(d) if !d.is_empty() && d.iter().all(u8::is_ascii_digit) => [b"-n", d].concat(),
            _ => a.clone(),
        })
        .collect();
    let p = match SPEC.parse_or_exit(ctx, &args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut least = 4;
    if let Some(text) = p.last('n') {
        match number::decimal(text).and_then(|n| usize::try_from(n).ok()) {
            Some(n) if n > 0 => least = n,
            _ => {
                let shown = String::from_utf8_lossy(text).into_owned();
                let what = if number::decimal(text).is_some() {
                    "invalid minimum string length"
                } else {
                    "invalid integer argument"
                };
                ctx.error(format_args!("{what} {shown}"));
                return Exit::FAILURE;
            }
        }
    }
    let radix = match p.last_of(&['t', 'o']) {
        Some('o') => Some(b'o'),
        Some(_) => match p.last('t') {
            Some(b"o") => Some(b'o'),
            Some(b"d") => Some(b'd'),
            Some(b"x") => Some(b'x'),
            _ => {
                input::usage_error(ctx, &[b"invalid radix"]);
                return Exit::FAILURE;
            }
        },
        None => None,
    };
    let (unit, big, high) = match p.last('e') {
        None | Some(b"s") => (1, false, false),
        Some(b"S") => (1, false, true),
        Some(b"b") => (2, true, false),
        Some(b"l") => (2, false, false),
        Some(b"B") => (4, true, false),
        Some(b"L") => (4, false, false),
        Some(_) => {
            input::usage_error(ctx, &[b"invalid encoding"]);
            return Exit::FAILURE;
        }
    };
    let separator = p.last('s').unwrap_or(b"\n").to_vec();
    let all_space = p.has('w');
    let printable = |c: u32| {
        c == 9
            || (0x20..0x7f).contains(&c)
            || high && (0x80..=0xff).contains(&c)
            || all_space && (10..=13).contains(&c)
    };
    let stdin = [b"-".to_vec()];
    let files = if p.operands.is_empty() { &stdin[..] } else { &p.operands };
    let mut exit = Exit::SUCCESS;
    for file in files {
        let mut data = Vec::new();
        let read =
            input::open(&mut ctx.stdin, &ctx.cwd, file).and_then(|mut r| r.read_to_end(&mut data));
        if let Err(e) = read {
            let text = box_sys::strerror(&e);
            if e.kind() == std::io::ErrorKind::NotFound {
                ctx.error_bytes(&[b"'", file, b"': No such file"]);
            } else {
                ctx.error_bytes(&[file, b": ", text.as_bytes()]);
            }
            exit = Exit::FAILURE;
            continue;
        }
        let name: &[u8] = if file == b"-" { b"{standard input}" } else { file };
        let mut emit = |start: usize, run: &[u8]| -> Result<(), Stop> {
            let mut line = Vec::with_capacity(run.len() + 16);
            if p.has('f') {
                line.extend_from_slice(&[name, b": "].concat());
            }
            match radix {
                Some(b'o') => line.extend_from_slice(format!("{start:7o} ").as_bytes()),
                Some(b'd') => line.extend_from_slice(format!("{start:7} ").as_bytes()),
                Some(_) => line.extend_from_slice(format!("{start:7x} ").as_bytes()),
                None => {}
            }
            line.extend_from_slice(run);
            line.extend_from_slice(&separator);
            put(&mut ctx.stdout, &line)
        };
        let mut result = Ok(());
        if unit == 1 {
            let mut at = 0;
            while at < data.len() && result.is_ok() {
                let len = data[at..].iter().take_while(|c| printable(u32::from(**c))).count();
                if len >= least {
                    result = emit(at, &data[at..at + len]);
                }
                at += len + 1;
            }
        } else {
            let value = |b: &[u8]| {
                b.iter().enumerate().fold(0u32, |v, (i, x)| {
                    v | u32::from(*x) << (8 * if big { unit - 1 - i } else { i })
                })
            };
            let mut at = 0;
            while at + unit <= data.len() && result.is_ok() {
                let run: Vec<u8> = data[at..]
                    .chunks_exact(unit)
                    .map(value)
                    .take_while(|c| printable(*c))
                    .map(|c| c as u8)
                    .collect();
                if run.len() >= least {
                    result = emit(at, &run);
                }
                at += if run.is_empty() { 1 } else { run.len() * unit };
            }
        }
        if result.is_err() {
            return Exit::FAILURE;
        }
    }
    exit
}
