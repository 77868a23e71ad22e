//! `mount`: prints what is mounted, as mount(8) of util-linux 2.38 does without arguments, from
//! `/proc/mounts`. Nothing can be mounted: the session's policy says which folders are there.

use std::io::Write;

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};

const MOUNTS: &str = "/proc/mounts";

/// The status of mount(8) for a system error.
const SYSTEM_ERROR: Exit = Exit(2);

#[derive(Clone, Copy, PartialEq, Eq)]
enum Flag {
    Ignored,
    Options,
    Type,
}

const SPEC: Spec<Flag> = Spec::new(
    "[-l] [-t TYPES]",
    "Print what is mounted. Nothing can be mounted here: the session's policy says which folders of \
        the host are there.",
    &[
        Opt::new(Flag::Type, 't', "types")
            .with_argument("TYPES", "Print mounts of these types only; noTYPE leaves out one"),
        Opt::new(Flag::Ignored, 'l', "show-labels").with_help(words::IGNORED),
        Opt::new(Flag::Ignored, 'v', "verbose").with_help(words::IGNORED),
        Opt::new(Flag::Options, 'o', "options").with_argument("LIST", words::IGNORED),
    ],
)
.with_examples(&[("mount -t nodevtmpfs", "Print what is mounted, without devices")]);

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    if !p.operands.is_empty() || p.has_option(Flag::Options) {
        ctx.error("nothing can be mounted here; the session's policy says which folders are there");
        return Ok(Exit::FAILURE);
    }
    let text = match std::fs::read(MOUNTS) {
        Ok(text) => text,
        Err(e) => {
            ctx.io_error(MOUNTS.as_bytes(), &e);
            return Ok(SYSTEM_ERROR);
        }
    };
    let types = p.last_value(Flag::Type).unwrap_or_default();
    for line in text.split(|c| *c == b'\n') {
        let fields: Vec<&[u8]> = line.split(|c| *c == b' ').collect();
        let [source, target, kind, options, ..] = fields[..] else { continue };
        if is_selected(kind, types) {
            let (source, target) = (decode_name(source), decode_name(target));
            let parts =
                [&source, b" on ".as_slice(), &target, b" type ", kind, b" (", options, b")\n"];
            let _ = ctx.stdout.write_all(&parts.concat());
        }
    }
    Ok(Exit::SUCCESS)
}

/// Returns a name of `/proc/mounts`, in which `\\040` stands for a blank (fstab(5)).
fn decode_name(field: &[u8]) -> Vec<u8> {
    let mut name = Vec::new();
    let mut rest = field;
    while let [c, after @ ..] = rest {
        let digits = after.get(..3).and_then(|d| std::str::from_utf8(d).ok());
        let code = digits.filter(|_| *c == b'\\').and_then(|d| u8::from_str_radix(d, 8).ok());
        name.push(code.unwrap_or(*c));
        rest = if code.is_some() { &after[3..] } else { after };
    }
    name
}

/// Returns whether a type is on a list of types separated by commas. A list that begins with `no`
/// names those that are left out.
fn is_selected(kind: &[u8], types: &[u8]) -> bool {
    if types.is_empty() {
        return true;
    }
    let (wanted, list) = match types.strip_prefix(b"no") {
        Some(list) => (false, list),
        None => (true, types),
    };
    list.split(|c| *c == b',').any(|t| t.strip_prefix(b"no").unwrap_or(t) == kind) == wanted
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_with_blanks() {
        assert_eq!(decode_name(b"/a\\040b\\134c"), b"/a b\\c");
        assert_eq!(decode_name(b"/a\\04"), b"/a\\04");
    }

    /// mount(8), option `-t`: `mount -a -t nomsdos,smbfs` leaves out both types.
    #[test]
    fn types() {
        for (kind, types, expected) in [
            ("proc", "", true),
            ("proc", "proc,tmpfs", true),
            ("proc", "tmpfs", false),
            ("smbfs", "nomsdos,smbfs", false),
            ("proc", "nomsdos,smbfs", true),
        ] {
            assert_eq!(is_selected(kind.as_bytes(), types.as_bytes()), expected, "{kind} {types}");
        }
    }
}
