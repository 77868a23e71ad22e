//! Walks directory trees without recursion, for `chmod -R`, `chown -R` and others.

use std::io;

use box_applet::Ctx;
use box_sys::path::names_in;
use box_sys::{FileKind, Stat, meta};

use super::paths;

/// The symbolic links to directories that the walk follows.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum LinkPolicy {
    /// `-P`: no links.
    Never,
    /// `-H`: links given as operands.
    Operands,
    /// `-L`: all links.
    Always,
}

/// An event of the walk, as passed to the visitor.
pub(crate) enum Visit<'a> {
    /// A file or directory, before the entries of that directory.
    Entry(&'a Stat),
    /// An entry whose status cannot be read.
    Unreadable(&'a io::Error),
    /// A directory whose contents cannot be listed.
    Unlistable(&'a io::Error),
}

/// Reports that the tool refuses to operate recursively on `/` or another name of it.
pub(crate) fn refuse_root(ctx: &mut Ctx<'_>, shown: &[u8], note: &[u8]) {
    ctx.error_bytes(&[b"it is dangerous to operate recursively on ", shown, note]);
    ctx.error("use --no-preserve-root to override this failsafe");
}

/// Calls `f` for an operand and, if `recursive`, for everything below it, parents first. Without
/// `recursive` an operand that is a link is followed even with [`LinkPolicy::Never`].
pub(crate) fn walk_tree(
    ctx: &mut Ctx<'_>,
    operand: &[u8],
    recursive: bool,
    links: LinkPolicy,
    f: &mut dyn FnMut(&mut Ctx<'_>, &[u8], Visit<'_>),
) {
    // The names still to visit, the next one last. The flag marks the operand itself.
    let mut todo = vec![(operand.to_vec(), true)];
    // The directories entered so far. None is entered twice, because links may form loops.
    let mut seen: Vec<(u64, u64)> = Vec::new();
    while let Some((name, first)) = todo.pop() {
        let follow = match links {
            LinkPolicy::Always => true,
            LinkPolicy::Operands => first,
            LinkPolicy::Never => first && !recursive,
        };
        let path = ctx.path(&name);
        let stat = match meta::stat(&path, follow)
            .or_else(|e| if follow && !first { meta::stat(&path, false) } else { Err(e) })
        {
            Ok(s) => s,
            Err(e) => {
                f(ctx, &name, Visit::Unreadable(&e));
                continue;
            }
        };
        f(ctx, &name, Visit::Entry(&stat));
        if !recursive || stat.kind != FileKind::Dir {
            continue;
        }
        if links == LinkPolicy::Always && stat.ino != 0 {
            if seen.contains(&(stat.dev, stat.ino)) {
                continue;
            }
            seen.push((stat.dev, stat.ino));
        }
        match names_in(&path) {
            Ok(list) => todo.extend(list.iter().rev().map(|n| (paths::join_path(&name, n), false))),
            Err(e) => f(ctx, &name, Visit::Unlistable(&e)),
        }
    }
}
