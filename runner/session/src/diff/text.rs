//! A difference as text in the format of `git diff`, which `patch -p1` and `git apply` accept.

use super::{DiffItem, PathDifference};
use crate::error::Error;
use similar::{Algorithm, TextDiff};
use std::io::Write;
use std::time::Duration;

/// Maximum size in bytes of a file that is shown line by line.
pub const MAX_TEXT: u64 = 8 << 20;
/// Maximum time for comparing lines; after that the result is still correct, but longer than
/// necessary.
const DIFF_TIMEOUT: Duration = Duration::from_secs(2);
/// Number of context lines around a change.
const CONTEXT: usize = 3;

/// Writes a difference.
///
/// # Errors
/// If the store is damaged, or `to` cannot be written.
pub fn write_unified(difference: &PathDifference<'_>, to: &mut dyn Write) -> Result<(), Error> {
    let PathDifference { path, old, new } = difference;
    // An entry of another kind is shown as one removal and one addition.
    if let (Some(a), Some(b)) = (old, new)
        && (a.git_mode() ^ b.git_mode()) & 0o170_000 != 0
    {
        write_difference(path, Some(a), None, to)?;
        return write_difference(path, None, Some(b), to);
    }
    write_difference(path, old.as_ref(), new.as_ref(), to)
}

fn write_difference(
    path: &[u8],
    old: Option<&DiffItem<'_>>,
    new: Option<&DiffItem<'_>>,
    to: &mut dyn Write,
) -> Result<(), Error> {
    let (a, b) = (quote_path(b"a", path), quote_path(b"b", path));
    put_parts(to, &[b"diff --git ", &a, b" ", &b, b"\n"])?;
    match (old, new) {
        (None, Some(b)) => writeln!(to, "new file mode {:06o}", b.git_mode())?,
        (Some(a), None) => writeln!(to, "deleted file mode {:06o}", a.git_mode())?,
        (Some(a), Some(b)) if a.git_mode() != b.git_mode() => {
            writeln!(to, "old mode {:06o}\nnew mode {:06o}", a.git_mode(), b.git_mode())?;
        }
        _ => {}
    }
    let bytes = |item: Option<&DiffItem<'_>>| match item {
        Some(item) => item.read_bytes(MAX_TEXT),
        None => Ok(Some(Vec::new())),
    };
    let (before, after) = (bytes(old)?, bytes(new)?);
    let (before, after) = match (before, after) {
        (Some(before), Some(after)) if is_text(&before) && is_text(&after) => (before, after),
        (Some(before), Some(after)) if before == after => return Ok(()),
        _ => return write_sizes(old, new, &a, &b, to),
    };
    if before == after {
        return Ok(());
    }
    let name = |item: Option<&DiffItem<'_>>, name: Vec<u8>| match item {
        Some(_) => name,
        None => b"/dev/null".to_vec(),
    };
    put_parts(to, &[b"--- ", &name(old, a), b"\n+++ ", &name(new, b), b"\n"])?;
    let mut config = TextDiff::configure();
    config.algorithm(Algorithm::Myers).timeout(DIFF_TIMEOUT);
    let lines = config.diff_lines(before.as_slice(), after.as_slice());
    Ok(lines.unified_diff().context_radius(CONTEXT).to_writer(to)?)
}

/// Writes the sizes of files whose contents are not shown.
fn write_sizes(
    old: Option<&DiffItem<'_>>,
    new: Option<&DiffItem<'_>>,
    a: &[u8],
    b: &[u8],
    to: &mut dyn Write,
) -> Result<(), Error> {
    let nothing = b"/dev/null".as_slice();
    let (a, b) = (if old.is_some() { a } else { nothing }, if new.is_some() { b } else { nothing });
    let size = |item: &DiffItem<'_>| {
        if item.is_fifo() { "named pipe".to_owned() } else { format!("{} bytes", item.size) }
    };
    let sizes = match (old, new) {
        (Some(a), Some(b)) => format!("{} and {}", size(a), size(b)),
        (Some(one), None) | (None, Some(one)) => size(one),
        (None, None) => return Ok(()),
    };
    put_parts(to, &[b"Binary files ", a, b" and ", b, b" differ (", sizes.as_bytes(), b")\n"])
}

fn put_parts(to: &mut dyn Write, parts: &[&[u8]]) -> Result<(), Error> {
    Ok(to.write_all(&parts.concat())?)
}

/// Returns whether a file is text by Git's rule: no NUL in the first 8000 bytes.
fn is_text(bytes: &[u8]) -> bool {
    !bytes[..bytes.len().min(8000)].contains(&0)
}

/// Returns a path with its prefix, quoted if it has bytes that could not be read back, for example
/// `"a/\377"`.
fn quote_path(prefix: &[u8], path: &[u8]) -> Vec<u8> {
    let whole = [prefix, path].concat();
    let is_bad = |b: &u8| *b < b' ' || *b == 0x7f || matches!(b, b'"' | b'\\');
    if !whole.iter().any(is_bad) && std::str::from_utf8(&whole).is_ok() {
        return whole;
    }
    let mut out = b"\"".to_vec();
    for b in whole {
        match b {
            b'"' | b'\\' => out.extend([b'\\', b]),
            b'\n' => out.extend(b"\\n"),
            b'\t' => out.extend(b"\\t"),
            b' '..=b'~' => out.push(b),
            _ => out.extend(format!("\\{b:03o}").bytes()),
        }
    }
    out.push(b'"');
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_are_quoted_as_git_does() {
        let q = |path: &[u8]| String::from_utf8_lossy(&quote_path(b"a", path)).into_owned();
        assert_eq!(q(b"/tmp/x y"), "a/tmp/x y");
        assert_eq!(q("/grün".as_bytes()), "a/grün");
        // git -c core.quotePath=false diff --no-index
        assert_eq!(q(b"/a\"b\\c\n\t\x01"), r#""a/a\"b\\c\n\t\001""#);
        assert_eq!(q(b"/\xff"), r#""a/\377""#);
    }
}
