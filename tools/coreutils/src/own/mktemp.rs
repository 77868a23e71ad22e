//! `mktemp` (GNU).

use std::fs::OpenOptions;
use std::io::{self, Write};

use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Exit};
use box_sys::meta;

use crate::common::{input, paths, quote};

const SPEC: Spec = Spec {
    usage: "[OPTION]... [TEMPLATE]",
    about: "Create a temporary file or directory, safely, and print its name.\nTEMPLATE must contain at least 3 consecutive 'X's in last component.\nIf TEMPLATE is not specified, use tmp.XXXXXXXXXX, and --tmpdir is implied.",
    options: &[
        Opt::flag('d', "directory", "create a directory, not a file"),
        Opt::flag('u', "dry-run", "do not create anything; merely print a name (unsafe)"),
        Opt::flag('q', "quiet", "suppress diagnostics about file/dir-creation failure"),
        Opt::value(
            '\u{1}',
            "suffix",
            "SUFF",
            "append SUFF to TEMPLATE; SUFF must not contain a slash",
        )
        .long_only(),
        Opt::value('p', "", "DIR", "interpret TEMPLATE relative to DIR"),
        Opt::optional(
            '\u{2}',
            "tmpdir",
            "DIR",
            "the same; without DIR use $TMPDIR if set, else /tmp",
        )
        .long_only(),
        Opt::flag(
            't',
            "",
            "interpret TEMPLATE as a single file name component,\nrelative to a directory: $TMPDIR, if set; else the\ndirectory specified via -p; else /tmp",
        ),
    ],
    after: "",
    posix_order: false,
};

fn random_letters(n: usize) -> Vec<u8> {
    use std::hash::{BuildHasher, Hasher};
    const LETTERS: &[u8; 62] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789";
    // std seeds its hash maps from the system's randomness.
    let state = std::collections::hash_map::RandomState::new();
    let mut out = Vec::with_capacity(n);
    let mut round = 0u64;
    while out.len() < n {
        let mut h = state.build_hasher();
        h.write_u64(round);
        let mut bits = h.finish();
        for _ in 0..8 {
            out.push(LETTERS[(bits % 62) as usize]);
            bits /= 62;
        }
        round += 1;
    }
    out.truncate(n);
    out
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    let p = match SPEC.parse_or_exit(ctx, args, Exit::FAILURE) {
        Ok(p) => p,
        Err(e) => return e,
    };
    if p.operands.len() > 1 {
        input::usage_error(ctx, &[b"too many templates"]);
        return Exit::FAILURE;
    }
    let given = p.operands.first().cloned();
    let template = given.clone().unwrap_or_else(|| b"tmp.XXXXXXXXXX".to_vec());
    let (stem, suffix) = match p.last('\u{1}') {
        Some(s) => {
            if !template.ends_with(b"X") {
                ctx.error_bytes(&[
                    b"with --suffix, template ",
                    &quote::always(&template),
                    b" must end in X",
                ]);
                return Exit::FAILURE;
            }
            (template.clone(), s.to_vec())
        }
        None => {
            let end = template.iter().rposition(|c| *c == b'X').map_or(0, |i| i + 1);
            (template[..end].to_vec(), template[end..].to_vec())
        }
    };
    if suffix.contains(&b'/') {
        ctx.error_bytes(&[
            b"invalid suffix ",
            &quote::always(&suffix),
            b", contains directory separator",
        ]);
        return Exit::FAILURE;
    }
    let count = stem.iter().rev().take_while(|c| **c == b'X').count();
    if count < 3 {
        ctx.error_bytes(&[b"too few X's in template ", &quote::always(&template)]);
        return Exit::FAILURE;
    }
    let env_dir = ctx.env.get(b"TMPDIR").filter(|d| !d.is_empty()).map(<[u8]>::to_vec);
    let option_dir = p.last('p').or(p.last('\u{2}')).filter(|d| !d.is_empty()).map(<[u8]>::to_vec);
    let in_dir = given.is_none() || p.has('t') || p.has('p') || p.has('\u{2}');
    let mut prefix = stem[..stem.len() - count].to_vec();
    if in_dir {
        let dir = if p.has('t') { env_dir.or(option_dir) } else { option_dir.or(env_dir) };
        let dir = dir.unwrap_or_else(|| b"/tmp".to_vec());
        if p.has('t') && template.contains(&b'/') {
            ctx.error_bytes(&[
                b"invalid template, ",
                &quote::always(&template),
                b", contains directory separator",
            ]);
            return Exit::FAILURE;
        }
        if template.starts_with(b"/") {
            ctx.error_bytes(&[
                b"invalid template, ",
                &quote::always(&template),
                b"; with --tmpdir, it may not be absolute",
            ]);
            return Exit::FAILURE;
        }
        prefix = paths::join(&dir, &prefix);
    }
    let full_template = [prefix.as_slice(), &vec![b'X'; count], &suffix].concat();
    let mut last: io::Error = io::ErrorKind::AlreadyExists.into();
    for _ in 0..1000 {
        let name = [prefix.as_slice(), &random_letters(count), &suffix].concat();
        let path = ctx.path(&name);
        let made = if p.has('u') {
            match meta::stat(&path, false) {
                Ok(_) => Err(io::ErrorKind::AlreadyExists.into()),
                Err(_) => Ok(()),
            }
        } else if p.has('d') {
            std::fs::create_dir(&path).map(|()| drop(meta::chmod(&path, 0o700)))
        } else {
            OpenOptions::new()
                .write(true)
                .create_new(true)
                .open(&path)
                .map(|_| drop(meta::chmod(&path, 0o600)))
        };
        match made {
            Ok(()) => {
                let _ = ctx.stdout.write_all(&[name.as_slice(), b"\n"].concat());
                return Exit::SUCCESS;
            }
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => {
                last = e;
                break;
            }
        }
    }
    if !p.has('q') {
        let what = if p.has('d') {
            "failed to create directory via template"
        } else {
            "failed to create file via template"
        };
        input::cannot(ctx, what, &full_template, &last);
    }
    Exit::FAILURE
}
