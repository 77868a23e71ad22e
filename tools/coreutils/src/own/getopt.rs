//! `getopt` (util-linux): parses a script's options and prints them in normal form.

use std::io::Write;

use box_applet::{Ctx, Exit};

use crate::common::input;

const HELP: &str = "
Usage:
 getopt <optstring> <parameters>
 getopt [options] [--] <optstring> <parameters>
 getopt [options] -o|--options <optstring> [options] [--] <parameters>

Parse command options.

Options:
 -a, --alternative             allow long options starting with single -
 -l, --longoptions <longopts>  the long options to be recognized
 -n, --name <progname>         the name under which errors are reported
 -o, --options <optstring>     the short options to be recognized
 -q, --quiet                   disable error reporting by getopt(3)
 -Q, --quiet-output            no normal output
 -s, --shell <shell>           set quoting conventions to those of <shell>
 -T, --test                    test for getopt(1) version
 -u, --unquoted                do not quote the output
";

#[derive(Clone, Copy, PartialEq)]
enum Takes {
    No,
    Required,
    Optional,
}

#[derive(Default)]
struct Settings {
    short: Option<Vec<u8>>,
    long: Vec<(Vec<u8>, u8)>,
    name: Option<Vec<u8>>,
    quiet: bool,
    no_output: bool,
    alternative: bool,
    unquoted: bool,
    csh: bool,
}

fn quoted(text: &[u8], csh: bool) -> Vec<u8> {
    let mut out = vec![b'\''];
    for &c in text {
        match c {
            b'\'' => out.extend_from_slice(b"'\\''"),
            b'\\' if csh => out.extend_from_slice(b"\\\\"),
            b'!' if csh => out.extend_from_slice(b"'\\!'"),
            b'\n' if csh => out.extend_from_slice(b"\\n"),
            c => out.push(c),
        }
    }
    out.push(b'\'');
    out
}

fn takes(colons: usize) -> Takes {
    match colons {
        0 => Takes::No,
        1 => Takes::Required,
        _ => Takes::Optional,
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let mut s = Settings::default();
    let mut at = 0;
    let compatible = args.first().is_none_or(|a| !a.starts_with(b"-"))
        || ctx.env.get(b"GETOPT_COMPATIBLE").is_some();
    if compatible {
        let Some(first) = args.first() else {
            input::usage_error(ctx, &[b"missing optstring argument"]);
            return Exit::USAGE;
        };
        s.short = Some(first.clone());
        s.unquoted = true;
        at = 1;
    } else {
        while let Some(a) = args.get(at) {
            at += 1;
            let (name, mut value): (&[u8], Option<Vec<u8>>) = match a.as_slice() {
                b"--" => break,
                b if b.starts_with(b"--") => match b.iter().position(|c| *c == b'=') {
                    Some(i) => (&b[2..i], Some(b[i + 1..].to_vec())),
                    None => (&b[2..], None),
                },
                [b'-', c, rest @ ..] => {
                    (std::slice::from_ref(c), (!rest.is_empty()).then(|| rest.to_vec()))
                }
                _ => {
                    at -= 1;
                    break;
                }
            };
            let full: &[u8] = match name {
                b"a" => b"alternative",
                b"l" => b"longoptions",
                b"n" => b"name",
                b"o" => b"options",
                b"q" => b"quiet",
                b"Q" => b"quiet-output",
                b"s" => b"shell",
                b"T" => b"test",
                b"u" => b"unquoted",
                b"h" => b"help",
                b"V" => b"version",
                other => other,
            };
            let needs = matches!(full, b"name" | b"options" | b"shell")
                || (b"longoptions".starts_with(full) && full.len() > 1);
            if needs && value.is_none() {
                value = args.get(at).cloned();
                at += 1;
                if value.is_none() {
                    input::usage_error(ctx, &[b"option requires an argument -- '", name, b"'"]);
                    return Exit::USAGE;
                }
            }
            let v = value.unwrap_or_default();
            match full {
                b"alternative" => s.alternative = true,
                b"name" => s.name = Some(v),
                b"options" => s.short = Some(v),
                b"quiet" => s.quiet = true,
                b"quiet-output" => s.no_output = true,
                b"unquoted" => s.unquoted = true,
                b"shell" => s.csh = matches!(v.as_slice(), b"csh" | b"tcsh"),
                // The enhanced getopt answers so, silently.
                b"test" => return Exit(4),
                b"help" => {
                    let _ = ctx.stdout.write_all(HELP.as_bytes());
                    return Exit::SUCCESS;
                }
                b"version" => {
                    let _ = ctx.stdout.write_all(b"getopt from util-linux 2.38.1\n");
                    return Exit::SUCCESS;
                }
                f if b"longoptions".starts_with(f) && f.len() > 1 => {
                    for l in v
                        .split(|c| matches!(c, b',' | b' ' | b'\t' | b'\n'))
                        .filter(|l| !l.is_empty())
                    {
                        let colons = l.iter().rev().take_while(|c| **c == b':').count();
                        s.long.push((l[..l.len() - colons].to_vec(), colons.min(2) as u8));
                    }
                }
                _ => {
                    input::usage_error(ctx, &[b"unrecognized option '", a, b"'"]);
                    return Exit::USAGE;
                }
            }
            // Several flags in one word.
            if let ([b'-', c, rest @ ..], true) = (a.as_slice(), b"aqQu".contains(&a[1])) {
                let _ = c;
                for f in rest {
                    match f {
                        b'a' => s.alternative = true,
                        b'q' => s.quiet = true,
                        b'Q' => s.no_output = true,
                        b'u' => s.unquoted = true,
                        _ => {}
                    }
                }
            }
        }
        if s.short.is_none() {
            match args.get(at) {
                Some(o) => s.short = Some(o.clone()),
                None => {
                    input::usage_error(ctx, &[b"missing optstring argument"]);
                    return Exit::USAGE;
                }
            }
            at += 1;
        }
        if args.get(at).is_some_and(|a| a == b"--") && args.get(at - 1).is_none_or(|a| a != b"--") {
            at += 1;
        }
    }
    if let Some(n) = &s.name {
        ctx.name = String::from_utf8_lossy(n).into_owned();
    }
    parse(ctx, &s, args.get(at..).unwrap_or_default())
}

fn parse(ctx: &mut Ctx<'_>, s: &Settings, args: &[Vec<u8>]) -> Exit {
    let short = s.short.as_deref().unwrap_or_default();
    // `+`: stop at the first operand; `-`: operands stay in place.
    let (stop, in_place, spec) = match short.first() {
        Some(b'+') => (true, false, &short[1..]),
        Some(b'-') => (false, true, &short[1..]),
        _ => (ctx.env.get(b"POSIXLY_CORRECT").is_some(), false, short),
    };
    let quiet = s.quiet || spec.starts_with(b":");
    let spec = spec.strip_prefix(b":").unwrap_or(spec);
    let lookup = |c: u8| -> Option<Takes> {
        let i = spec.iter().position(|x| *x == c && c != b':')?;
        Some(takes(spec[i + 1..].iter().take_while(|x| **x == b':').count()))
    };
    let mut out: Vec<u8> = Vec::new();
    let mut operands: Vec<Vec<u8>> = Vec::new();
    let mut failed = false;
    let show = |t: &[u8]| if s.unquoted { t.to_vec() } else { quoted(t, s.csh) };
    let mut at = 0;
    while let Some(a) = args.get(at) {
        at += 1;
        if a == b"--" {
            operands.extend_from_slice(&args[at..]);
            break;
        }
        let alternative =
            s.alternative && a.len() > 2 && a.starts_with(b"-") && !a.starts_with(b"--");
        let long = a.strip_prefix(b"--").or(if alternative { Some(&a[1..]) } else { None });
        if let Some(text) = long {
            let (name, value) = match text.iter().position(|c| *c == b'=') {
                Some(i) => (&text[..i], Some(&text[i + 1..])),
                None => (text, None),
            };
            let exact = s.long.iter().find(|l| l.0 == name);
            let starts: Vec<_> = s.long.iter().filter(|l| l.0.starts_with(name)).collect();
            let found = match (exact, starts.as_slice()) {
                (Some(l), _) => Some(l),
                (None, [one]) => Some(*one),
                _ => None,
            };
            // A single dash may still be short options.
            if found.is_none() && alternative && lookup(a[1]).is_some() {
                at -= 1;
                short_options(ctx, a, args, &mut at, &lookup, &mut out, &show, quiet, &mut failed);
                continue;
            }
            let Some((full, colons)) = found else {
                if !quiet {
                    if starts.len() > 1 {
                        let list: Vec<u8> = starts
                            .iter()
                            .flat_map(|l| [b" '--", l.0.as_slice(), b"'"].concat())
                            .collect();
                        ctx.error_bytes(&[
                            b"option '--",
                            name,
                            b"' is ambiguous; possibilities:",
                            &list,
                        ]);
                    } else {
                        ctx.error_bytes(&[b"unrecognized option '--", name, b"'"]);
                    }
                }
                failed = true;
                continue;
            };
            let takes = takes(usize::from(*colons));
            match (takes, value) {
                (Takes::No, Some(_)) => {
                    if !quiet {
                        ctx.error_bytes(&[b"option '--", full, b"' doesn't allow an argument"]);
                    }
                    failed = true;
                    continue;
                }
                (Takes::Required, None) if at >= args.len() => {
                    if !quiet {
                        ctx.error_bytes(&[b"option '--", full, b"' requires an argument"]);
                    }
                    failed = true;
                    continue;
                }
                _ => {}
            }
            out.extend_from_slice(&[b" --", full.as_slice()].concat());
            match (takes, value) {
                (Takes::Required, None) => {
                    out.push(b' ');
                    out.extend_from_slice(&show(&args[at]));
                    at += 1;
                }
                (Takes::Required | Takes::Optional, v) => {
                    out.push(b' ');
                    out.extend_from_slice(&show(v.unwrap_or_default()));
                }
                _ => {}
            }
        } else if a.len() > 1 && a.starts_with(b"-") {
            at -= 1;
            short_options(ctx, a, args, &mut at, &lookup, &mut out, &show, quiet, &mut failed);
        } else if in_place {
            out.push(b' ');
            out.extend_from_slice(&show(a));
        } else {
            operands.push(a.clone());
            if stop {
                operands.extend_from_slice(&args[at..]);
                break;
            }
        }
    }
    out.extend_from_slice(b" --");
    for o in &operands {
        out.push(b' ');
        out.extend_from_slice(&show(o));
    }
    out.push(b'\n');
    if !s.no_output {
        let _ = ctx.stdout.write_all(&out);
    }
    if failed { Exit::FAILURE } else { Exit::SUCCESS }
}

#[allow(clippy::too_many_arguments)]
fn short_options(
    ctx: &mut Ctx<'_>,
    word: &[u8],
    args: &[Vec<u8>],
    at: &mut usize,
    lookup: &dyn Fn(u8) -> Option<Takes>,
    out: &mut Vec<u8>,
    show: &dyn Fn(&[u8]) -> Vec<u8>,
    quiet: bool,
    failed: &mut bool,
) {
    *at += 1;
    for (i, &c) in word.iter().enumerate().skip(1) {
        let rest = &word[i + 1..];
        let Some(takes) = lookup(c) else {
            if !quiet {
                ctx.error_bytes(&[b"invalid option -- '", &[c], b"'"]);
            }
            *failed = true;
            continue;
        };
        match takes {
            Takes::No => out.extend_from_slice(&[b' ', b'-', c]),
            Takes::Optional => {
                out.extend_from_slice(&[b' ', b'-', c, b' ']);
                out.extend_from_slice(&show(rest));
                return;
            }
            Takes::Required => {
                let value = if rest.is_empty() {
                    let v = args.get(*at);
                    *at += 1;
                    v.map(Vec::as_slice)
                } else {
                    Some(rest)
                };
                match value {
                    Some(v) => {
                        out.extend_from_slice(&[b' ', b'-', c, b' ']);
                        out.extend_from_slice(&show(v));
                    }
                    None => {
                        if !quiet {
                            ctx.error_bytes(&[b"option requires an argument -- '", &[c], b"'"]);
                        }
                        *failed = true;
                    }
                }
                return;
            }
        }
    }
}
