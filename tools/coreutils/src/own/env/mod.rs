//! `env` (POSIX XCU env; GNU `-0 -C -S -u -v --block-signal ...`).

mod split;

use std::io::Write;

use box_applet::command::Command;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::{Kind, meta};

use crate::common::{input, quote};

const SPEC: Spec = Spec {
    usage: "[OPTION]... [-] [NAME=VALUE]... [COMMAND [ARG]...]",
    about: "Set each NAME to VALUE in the environment and run COMMAND.",
    options: &[
        Opt::flag('i', "ignore-environment", "start with an empty environment"),
        Opt::flag('0', "null", "end each output line with NUL, not newline"),
        Opt::value('u', "unset", "NAME", "remove variable from the environment"),
        Opt::value('C', "chdir", "DIR", "change working directory to DIR"),
        Opt::value(
            'S',
            "split-string",
            "S",
            "process and split S into separate arguments;\nused to pass multiple arguments on shebang lines",
        ),
        Opt::optional('\u{1}', "block-signal", "SIG", "(ignored)").long_only(),
        Opt::optional('\u{2}', "default-signal", "SIG", "(ignored)").long_only(),
        Opt::optional('\u{3}', "ignore-signal", "SIG", "(ignored)").long_only(),
        Opt::flag('\u{4}', "list-signal-handling", "(ignored)").long_only(),
        Opt::flag('v', "debug", "print verbose information for each processing step"),
    ],
    after: "A mere - implies -i.  If no COMMAND, print the resulting environment.",
    posix_order: true,
};

/// `-S` arguments replaced by the words they hold, wherever they stand among the options.
fn expand(ctx: &Ctx<'_>, args: &[Vec<u8>]) -> Result<Vec<Vec<u8>>, String> {
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
                let words = split::split(&t, &ctx.env)?;
                words.into_iter().rev().for_each(|w| rest.push_front(w));
            }
            None => out.push(a),
        }
    }
    Ok(out)
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let args = match expand(ctx, args) {
        Ok(a) => a,
        Err(m) => {
            ctx.error(m);
            input::usage_hint(ctx);
            return Exit(125);
        }
    };
    let p = match SPEC.parse_or_exit(ctx, &args, Exit(125)) {
        Ok(p) => p,
        Err(e) => return e,
    };
    let mut words = p.operands.as_slice();
    let mut env = ctx.env.clone();
    let mut clear = p.has('i');
    if words.first().is_some_and(|w| w == b"-") {
        clear = true;
        words = &words[1..];
    }
    if clear {
        env.clear();
    }
    for name in p.all('u') {
        if name.is_empty() || name.contains(&b'=') {
            ctx.error_bytes(&[b"cannot unset ", &quote::always(name), b": Invalid argument"]);
            return Exit(125);
        }
        env.unset(name);
    }
    while let Some((word, rest)) = words.split_first() {
        let Some(eq) = word.iter().position(|c| *c == b'=') else { break };
        env.set(&word[..eq], &word[eq + 1..]);
        words = rest;
    }
    let mut cwd = None;
    if let Some(dir) = p.last('C') {
        if words.is_empty() {
            input::usage_error(ctx, &[b"must specify command with --chdir (-C)"]);
            return Exit(125);
        }
        let path = ctx.path(dir);
        let e = match meta::stat(&path, true) {
            Ok(s) if s.kind == Kind::Dir => None,
            Ok(_) => Some(std::io::Error::from_raw_os_error(box_sys::errno::code::ENOTDIR)),
            Err(e) => Some(e),
        };
        if let Some(e) = e {
            input::cannot(ctx, "cannot change directory to", dir, &e);
            return Exit(125);
        }
        cwd = Some(path);
    }
    if words.is_empty() {
        let end = if p.has('0') { 0 } else { b'\n' };
        let mut out = Vec::new();
        for (k, v) in env.iter() {
            out.extend_from_slice(&[k, b"=", v].concat());
            out.push(end);
        }
        let _ = ctx.stdout.write_all(&out);
        return Exit::SUCCESS;
    }
    if p.has('0') {
        input::usage_error(ctx, &[b"cannot specify --null (-0) with command"]);
        return Exit(125);
    }
    let command = Command { argv: words.to_vec(), env: Some(env), cwd, ..Command::default() };
    match command.replace(ctx) {
        Ok(status) => Exit(status),
        Err(e) => {
            let shown = quote::always(&words[0]);
            ctx.error_bytes(&[&shown, b": ", exec_text(&e.message).as_bytes()]);
            if e.status == 127 && words[0].contains(&b' ') {
                ctx.error("use -[v]S to pass options in shebang lines");
            }
            Exit(e.status)
        }
    }
}

/// What `execve(2)` says of a directory, where our search names it as one.
pub(crate) fn exec_text(message: &str) -> &str {
    if message == "Is a directory" { "Permission denied" } else { message }
}
