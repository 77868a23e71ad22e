//! `shasum`, the program of Perl's Digest::SHA 6.04: prints and checks sums of all hash functions
//! in FIPS 180-4.
//!
//! | file | contents |
//! |---|---|
//! | `algorithm` | the hash functions, by number and name |
//! | `digest` | the sum of a file, in each reading mode |
//! | `check` | lists of sums, compared with the files |
//!
//! Deviation: with `-0`, a number of bits that is not a multiple of eight is refused, because the
//! library that computes the sums takes only bytes.

mod algorithm;
mod check;
mod digest;

use std::io::Write;

use box_applet::opts::{Opt, ParsedOptions, Spec, UsageError};
use box_applet::{Ctx, Ended, Exit};

use crate::common::{input, number};
use algorithm::ShaAlgorithm;
use digest::ReadMode;

/// An option of `shasum`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum ShasumFlag {
    Algorithm,
    Binary,
    Bits,
    Check,
    Help,
    IgnoreMissing,
    Quiet,
    Status,
    Strict,
    Tag,
    Text,
    Universal,
    Version,
    Warn,
}

const SPEC: Spec<ShasumFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Print the SHA sum of each FILE, or check lists of such sums.",
    &[
        Opt::new(ShasumFlag::Algorithm, 'a', "algorithm").with_argument(
            "NUMBER",
            "The function: 1 (the default), 224, 256, 384, 512, 512224 or 512256",
        ),
        Opt::new(ShasumFlag::Binary, 'b', "binary")
            .with_help("Read bytes as they are, and mark this with *"),
        Opt::new(ShasumFlag::Check, 'c', "check").with_help("Check the sums listed in each FILE"),
        Opt::long(ShasumFlag::Tag, "tag").with_help("Print sums as BSD does"),
        Opt::new(ShasumFlag::Text, 't', "text").with_help("Read bytes as they are (the default)"),
        Opt::new(ShasumFlag::Universal, 'U', "UNIVERSAL")
            .with_help("Read CR and CR LF of texts as LF, and say so with U"),
        Opt::new(ShasumFlag::Bits, '0', "01")
            .with_help("Read digits 0 and 1 as bits, and say so with ^"),
        Opt::long(ShasumFlag::IgnoreMissing, "ignore-missing")
            .with_help("With -c: skip missing files"),
        Opt::new(ShasumFlag::Quiet, 'q', "quiet").with_help("With -c: print only what fails"),
        Opt::new(ShasumFlag::Status, 's', "status")
            .with_help("With -c: print nothing; report by the status only"),
        Opt::long(ShasumFlag::Strict, "strict")
            .with_help("With -c: fail also for lines that are not sums"),
        Opt::new(ShasumFlag::Warn, 'w', "warn")
            .with_help("With -c: report each line that is not a sum"),
        Opt::new(ShasumFlag::Help, 'h', ""),
        Opt::new(ShasumFlag::Version, 'v', ""),
    ],
)
.reads_standard_input()
.with_footer("Sums of 512224 and 512256 in a list without tags are checked with -a.");

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = match SPEC.parse(args) {
        Ok(p) => p,
        Err(UsageError::Message(text)) => return Err(refuse_usage(ctx, &text)),
        Err(other) => return Err(SPEC.answer_usage(ctx, other, Exit::FAILURE)),
    };
    if p.has_option(ShasumFlag::Help) {
        return Err(SPEC.answer_usage(ctx, UsageError::Help, Exit::FAILURE));
    }
    if p.has_option(ShasumFlag::Version) {
        return Err(SPEC.answer_usage(ctx, UsageError::Version, Exit::FAILURE));
    }
    let mode = mode_or_exit(ctx, &p)?;
    let algorithm = algorithm_or_exit(ctx, &p)?;
    let files = input::or_stdin(p.operands.clone());
    if p.has_option(ShasumFlag::Check) {
        let options = check::CheckOptions {
            algorithm,
            ignores_missing: p.has_option(ShasumFlag::IgnoreMissing),
            is_quiet: p.has_option(ShasumFlag::Quiet),
            is_silent: p.has_option(ShasumFlag::Status),
            is_strict: p.has_option(ShasumFlag::Strict),
            warns: p.has_option(ShasumFlag::Warn),
        };
        return check::check_lists(ctx, &files, &options);
    }
    for (flag, name) in [
        (ShasumFlag::IgnoreMissing, "ignore-missing"),
        (ShasumFlag::Quiet, "quiet"),
        (ShasumFlag::Status, "status"),
        (ShasumFlag::Strict, "strict"),
        (ShasumFlag::Warn, "warn"),
    ] {
        if p.has_option(flag) {
            let text = format!("--{name} option used only when verifying checksums");
            return Err(refuse_usage(ctx, &text));
        }
    }
    print_sums(ctx, &files, algorithm, (mode, p.has_option(ShasumFlag::Tag)))
}

fn refuse_usage(ctx: &mut Ctx<'_>, text: &str) -> Exit {
    ctx.error(text);
    let hint = format!("Type {} -h for help\n", ctx.name);
    let _ = ctx.stderr.write_all(hint.as_bytes());
    Exit::FAILURE
}

fn algorithm_or_exit(
    ctx: &mut Ctx<'_>,
    p: &ParsedOptions<ShasumFlag>,
) -> Result<ShaAlgorithm, Exit> {
    let Some(text) = p.last_value(ShasumFlag::Algorithm) else { return Ok(ShaAlgorithm::Sha1) };
    match number::parse_decimal(text).map(ShaAlgorithm::from_number) {
        Some(Some(algorithm)) => Ok(algorithm),
        _ => Err(refuse_usage(ctx, "Unrecognized algorithm")),
    }
}

fn mode_or_exit(ctx: &mut Ctx<'_>, p: &ParsedOptions<ShasumFlag>) -> Result<ReadMode, Exit> {
    let modes = [
        (ShasumFlag::Binary, ReadMode::Binary),
        (ShasumFlag::Text, ReadMode::Text),
        (ShasumFlag::Universal, ReadMode::Universal),
        (ShasumFlag::Bits, ReadMode::Bits),
    ];
    let mut chosen = modes.iter().filter(|(flag, _)| p.has_option(*flag)).map(|(_, mode)| *mode);
    let mode = chosen.next().unwrap_or(ReadMode::Text);
    if chosen.next().is_some() {
        return Err(refuse_usage(ctx, "Ambiguous file mode"));
    }
    let name = match mode {
        ReadMode::Universal => "Universal Newlines",
        ReadMode::Bits => "BITS",
        ReadMode::Text if p.has_option(ShasumFlag::Text) => "--text",
        ReadMode::Text | ReadMode::Binary => return Ok(mode),
    };
    if p.has_option(ShasumFlag::Tag) {
        return Err(refuse_usage(ctx, &format!("--tag does not support {name} mode")));
    }
    Ok(mode)
}

fn print_sums(
    ctx: &mut Ctx<'_>,
    files: &[Vec<u8>],
    algorithm: ShaAlgorithm,
    (mode, is_tagged): (ReadMode, bool),
) -> Ended {
    let mut exit = Exit::SUCCESS;
    for file in files {
        let sum = match digest::file_sum(ctx, file, algorithm, mode) {
            Ok(sum) => sum,
            Err(e) => {
                ctx.io_error(file, &e);
                exit = Exit::FAILURE;
                continue;
            }
        };
        let name = check::escape_name(file);
        let mut line = if name.len() > file.len() { b"\\".to_vec() } else { Vec::new() };
        if is_tagged {
            line.extend_from_slice(format!("{} (", algorithm.tag()).as_bytes());
            line.extend_from_slice(&name);
            line.extend_from_slice(format!(") = {sum}\n").as_bytes());
        } else {
            line.extend_from_slice(format!("{sum} {}", mode.letter()).as_bytes());
            line.extend_from_slice(&name);
            line.push(b'\n');
        }
        if ctx.stdout.write_all(&line).is_err() {
            return Err(Exit::FAILURE);
        }
    }
    Ok(exit)
}
