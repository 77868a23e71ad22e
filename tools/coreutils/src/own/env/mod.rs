//! `env` (POSIX XCU env; GNU `-0 -C -S -u -v --block-signal ...`).

mod split;

use std::io::Write;
use std::path::PathBuf;

use box_applet::command::ChildCommand;
use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Env, Exit};
use box_sys::{FileKind, meta};

use crate::common::{input, quote};

/// An option of `env`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EnvFlag {
    BlockSignal,
    Chdir,
    Debug,
    DefaultSignal,
    IgnoreEnvironment,
    IgnoreSignal,
    ListSignalHandling,
    Null,
    SplitString,
    Unset,
}

const SPEC: Spec<EnvFlag> = Spec::new(
    "[OPTION]... [NAME=VALUE]... [COMMAND [ARG]...]",
    "Run COMMAND with changed variables; without COMMAND print them all.",
    &[
        Opt::new(EnvFlag::IgnoreEnvironment, 'i', "ignore-environment")
            .with_help("Start without any variables; a lone - does so, too"),
        Opt::new(EnvFlag::Null, '0', "null").with_help(words::NUL_OUT),
        Opt::new(EnvFlag::Unset, 'u', "unset").with_argument("NAME", "Remove a variable"),
        Opt::new(EnvFlag::Chdir, 'C', "chdir").with_argument("DIR", "Change to DIR first"),
        Opt::new(EnvFlag::SplitString, 'S', "split-string")
            .with_argument("S", "Split S into words, for #! lines with several arguments"),
        Opt::long(EnvFlag::BlockSignal, "block-signal").may_take("SIG", words::IGNORED),
        Opt::long(EnvFlag::DefaultSignal, "default-signal").may_take("SIG", words::IGNORED),
        Opt::long(EnvFlag::IgnoreSignal, "ignore-signal").may_take("SIG", words::IGNORED),
        Opt::long(EnvFlag::ListSignalHandling, "list-signal-handling").with_help(words::IGNORED),
        Opt::new(EnvFlag::Debug, 'v', "debug").with_help("Report each step on standard error"),
    ],
)
.with_examples(&[
    ("env -i PATH=\"$PATH\" CMD", "Run a command with nothing but PATH"),
    ("env -u NAME CMD", "Run a command without one variable"),
])
.posix_order();

/// Replaces `-S` arguments with their words, wherever they are among the options.
fn expand_split_strings(ctx: &Ctx<'_>, args: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
    let mut out: Vec<Vec<u8>> = Vec::new();
    let mut rest: std::collections::VecDeque<Vec<u8>> = args.iter().cloned().collect();
    while let Some(a) = rest.pop_front() {
        let mut text = None;
        if a == b"--" || !a.starts_with(b"-") || a == b"-" {
            out.push(a);
            out.extend(rest);
            return Ok(out);
        }
        if let Some(long) = a.strip_prefix(b"--") {
            let (name, value) = match long.iter().position(|c| *c == b'=') {
                Some(i) => (&long[..i], Some(long[i + 1..].to_vec())),
                None => (long, None),
            };
            if !name.is_empty() && b"split-string".starts_with(name) {
                text = value.or_else(|| rest.pop_front());
            } else if value.is_none()
                && (b"unset".starts_with(name) || b"chdir".starts_with(name))
                && !name.is_empty()
            {
                out.push(a);
                out.extend(rest.pop_front());
                continue;
            }
        } else if let Some(at) = a[1..].iter().position(|c| matches!(c, b'S' | b'u' | b'C')) {
            let at = at + 1;
            if a[at] == b'S' {
                if at > 1 {
                    out.push(a[..at].to_vec());
                }
                text = if at + 1 < a.len() { Some(a[at + 1..].to_vec()) } else { rest.pop_front() };
                if text.is_none() {
                    return Err("option requires an argument -- 'S'".to_string());
                }
            } else {
                let separate = at + 1 == a.len();
                out.push(a);
                if separate {
                    out.extend(rest.pop_front());
                }
                continue;
            }
        }
        match text {
            Some(t) => {
                let words = split::split_string(&t, &ctx.env)?;
                words.into_iter().rev().for_each(|w| rest.push_front(w));
            }
            None => out.push(a),
        }
    }
    Ok(out)
}

/// The status after errors of `env` itself.
const OWN_ERROR: Exit = Exit(125);

/// The command to run, with its environment and directory.
struct EnvPlan {
    env: Env,
    cwd: Option<PathBuf>,
    /// The command and its arguments; if there is none, the environment is printed.
    command: Vec<Vec<u8>>,
    /// The byte that ends each line.
    end: u8,
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let plan = parse_plan(ctx, args)?;
    if !plan.command.is_empty() {
        return Ok(run_command(ctx, plan));
    }
    let mut out = Vec::new();
    for (name, value) in plan.env.iter() {
        out.extend_from_slice(&[name, b"=", value, &[plan.end]].concat());
    }
    let _ = ctx.stdout.write_all(&out);
    Ok(Exit::SUCCESS)
}

/// Prints a message and the hint about `--help`; returns the status.
fn report_misuse(ctx: &mut Ctx<'_>, text: &[u8]) -> Exit {
    input::usage_error(ctx, &[text]);
    OWN_ERROR
}

fn parse_plan(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Result<EnvPlan, Exit> {
    let args = expand_split_strings(ctx, args).map_err(|m| report_misuse(ctx, m.as_bytes()))?;
    let p = SPEC.parse_or_exit(ctx, &args, OWN_ERROR)?;
    let (dash, mut words) = match p.operands.split_first() {
        Some((first, rest)) if first == b"-" => (true, rest),
        _ => (false, p.operands.as_slice()),
    };
    let mut env = ctx.env.clone();
    if dash || p.has_option(EnvFlag::IgnoreEnvironment) {
        env.clear();
    }
    for name in p.all_values(EnvFlag::Unset) {
        if name.is_empty() || name.contains(&b'=') {
            ctx.error_bytes(&[
                b"cannot unset ",
                &quote::quote_in_sentence(name),
                b": Invalid argument",
            ]);
            return Err(OWN_ERROR);
        }
        env.unset(name);
    }
    while let Some((word, rest)) = words.split_first() {
        let Some(eq) = word.iter().position(|c| *c == b'=') else { break };
        env.set(&word[..eq], &word[eq + 1..]);
        words = rest;
    }
    let cwd = match p.last_value(EnvFlag::Chdir) {
        Some(_) if words.is_empty() => {
            return Err(report_misuse(ctx, b"must specify command with --chdir (-C)"));
        }
        Some(dir) => Some(parse_directory(ctx, dir)?),
        None => None,
    };
    let null = p.has_option(EnvFlag::Null);
    if null && !words.is_empty() {
        return Err(report_misuse(ctx, b"cannot specify --null (-0) with command"));
    }
    Ok(EnvPlan { env, cwd, command: words.to_vec(), end: if null { 0 } else { b'\n' } })
}

/// Returns the directory in which the command runs.
fn parse_directory(ctx: &mut Ctx<'_>, dir: &[u8]) -> Result<PathBuf, Exit> {
    let path = ctx.path(dir);
    let e = match meta::stat(&path, true) {
        Ok(s) if s.kind == FileKind::Dir => return Ok(path),
        Ok(_) => std::io::Error::from_raw_os_error(box_sys::errno::code::ENOTDIR),
        Err(e) => e,
    };
    input::report_cannot(ctx, "cannot change directory to", dir, &e);
    Err(OWN_ERROR)
}

/// Replaces this process with the command.
fn run_command(ctx: &mut Ctx<'_>, plan: EnvPlan) -> Exit {
    let EnvPlan { env, cwd, command: words, .. } = plan;
    let command =
        ChildCommand { argv: words.clone(), env: Some(env), cwd, ..ChildCommand::default() };
    match command.replace(ctx) {
        Ok(status) => Exit(status),
        Err(e) => {
            let shown = quote::quote_in_sentence(&words[0]);
            ctx.error_bytes(&[&shown, b": ", e.exec_message().as_bytes()]);
            if e.status == 127 && words[0].contains(&b' ') {
                ctx.error("use -[v]S to pass options in shebang lines");
            }
            ctx.advise_missing(&words[0], e.status);
            Exit(e.status)
        }
    }
}
