//! `envsubst` (GNU gettext): replaces `$NAME` and `${NAME}` by the values of environment variables.

use std::io::{BufRead, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

use crate::common::input;

/// An option of `envsubst`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum EnvsubstFlag {
    Variables,
}

const SPEC: Spec<EnvsubstFlag> = Spec::new(
    "[OPTION] [SHELL-FORMAT]",
    "Copy standard input, with $NAME and ${NAME} replaced by values of variables.",
    &[Opt::new(EnvsubstFlag::Variables, 'v', "variables")
        .with_help("Only list the variables in SHELL-FORMAT")],
)
.with_examples(&[("envsubst '$HOME' < IN > OUT", "Replace one variable and no other")])
.with_footer("With SHELL-FORMAT, only variables that it mentions are replaced.");

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if p.operands.len() > 1 {
        ctx.error("too many arguments");
        return Ok(Exit::FAILURE);
    }
    let format = p.operands.first();
    if p.has_option(EnvsubstFlag::Variables) {
        let Some(format) = format else {
            ctx.error("missing arguments");
            return Ok(Exit::FAILURE);
        };
        for name in split_references(format).filter_map(|r| r.1) {
            let _ = ctx.stdout.write_all(&[name, b"\n"].concat());
        }
        return Ok(Exit::SUCCESS);
    }
    let only: Option<Vec<&[u8]>> =
        format.map(|f| split_references(f).filter_map(|r| r.1).collect());
    let mut line = Vec::new();
    loop {
        line.clear();
        match ctx.stdin.read_until(b'\n', &mut line) {
            Ok(0) => return Ok(Exit::SUCCESS),
            Ok(_) => {}
            Err(e) => {
                return Err(input::file_error(ctx, b"standard input", &e));
            }
        }
        for (text, name) in split_references(&line) {
            let name = name.filter(|n| only.as_ref().is_none_or(|o| o.contains(n)));
            let value = match name {
                Some(n) => ctx.env.get(n).unwrap_or_default(),
                None => text,
            };
            if ctx.stdout.write_all(value).is_err() {
                return Ok(Exit::FAILURE);
            }
        }
    }
}

/// Splits a text into pieces: references, each with the variable's name, and the text between them.
fn split_references(mut text: &[u8]) -> impl Iterator<Item = (&[u8], Option<&[u8]>)> {
    std::iter::from_fn(move || {
        let dollar = text.iter().position(|c| *c == b'$');
        let (piece, name) = match dollar {
            _ if text.is_empty() => return None,
            None => (text.len(), None),
            Some(0) => match name_at(&text[1..]) {
                Some((name, used)) => (1 + used, Some(name)),
                None => (1, None),
            },
            Some(at) => (at, None),
        };
        let (head, rest) = text.split_at(piece);
        text = rest;
        Some((head, name))
    })
}

/// Returns the name at the beginning of the text, and the length of the whole reference.
fn name_at(text: &[u8]) -> Option<(&[u8], usize)> {
    let (body, braces) = match text.strip_prefix(b"{") {
        Some(body) => (body, true),
        None => (text, false),
    };
    if !body.first().is_some_and(|c| c.is_ascii_alphabetic() || *c == b'_') {
        return None;
    }
    let len = body.iter().take_while(|c| c.is_ascii_alphanumeric() || **c == b'_').count();
    if braces && body.get(len) != Some(&b'}') {
        return None;
    }
    Some((&body[..len], len + if braces { 2 } else { 0 }))
}
