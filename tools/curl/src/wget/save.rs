//! The destination of a document: standard output, the file of `-O`, or a file named by the URL.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

use box_applet::Ctx;
use box_text::time::{Zone, strftime};

use super::options::WgetOptions;
use crate::url::{self, Url};

/// The maximum length of a file name; longer names are truncated, because file systems do not
/// accept them.
const MAX_NAME: usize = 240;

/// The destination of a document.
#[derive(Debug)]
pub(super) enum DocumentPlace {
    Stdout,
    /// The file of `-O`, which all documents of a command share.
    Shared(Vec<u8>),
    /// A file of its own: its name as shown, and its path.
    Own(Vec<u8>, PathBuf),
}

impl DocumentPlace {
    /// Returns the file's name in messages.
    pub(super) fn shown_name(&self) -> &[u8] {
        match self {
            DocumentPlace::Stdout => b"STDOUT",
            DocumentPlace::Shared(name) | DocumentPlace::Own(name, _) => name,
        }
    }

    /// Returns the number of bytes in the existing file.
    pub(super) fn len(&self, ctx: &Ctx<'_>) -> u64 {
        let path = match self {
            DocumentPlace::Stdout => return 0,
            DocumentPlace::Shared(name) => ctx.path(name),
            DocumentPlace::Own(_, path) => path.clone(),
        };
        fs::metadata(path).map_or(0, |m| if m.is_file() { m.len() } else { 0 })
    }
}

/// Returns the file name, without folders, from the server's name or from the URL's path and query.
pub(super) fn name_of(url: &Url) -> Vec<u8> {
    let mut name = url::percent_decode(url.file_name());
    if name.is_empty() {
        name = b"index.html".to_vec();
    }
    if let Some(query) = &url.query {
        name.push(b'?');
        name.extend(query);
    }
    safe_name(&name)
}

/// Escapes bytes that would lead to other folders or disturb terminals
/// (`--restrict-file-names=unix`).
pub(super) fn safe_name(name: &[u8]) -> Vec<u8> {
    let mut out = Vec::new();
    for b in name {
        match b {
            b'/' | 0..=0x1f | 0x7f..=0x9f if b.is_ascii() => {
                out.extend(format!("%{b:02X}").as_bytes());
            }
            b => out.push(*b),
        }
    }
    out.truncate(MAX_NAME);
    if out == b"." || out == b".." { b"index.html".to_vec() } else { out }
}

/// Returns the path of a name in the folder of `-P`.
pub(super) fn placed_name(asked: &WgetOptions, name: &[u8]) -> Vec<u8> {
    match asked.prefix.as_deref().filter(|p| !p.is_empty() && *p != b".") {
        Some(prefix) => [prefix.strip_suffix(b"/").unwrap_or(prefix), b"/", name].concat(),
        None => name.to_vec(),
    }
}

/// Returns `NAME`, or the first of `NAME.1`, `NAME.2` and so on that does not exist if `NAME` does.
pub(super) fn unused_name(ctx: &Ctx<'_>, name: Vec<u8>) -> Vec<u8> {
    let is_free = |name: &[u8]| fs::symlink_metadata(ctx.path(name)).is_err();
    if is_free(&name) {
        return name;
    }
    let numbered = |n: u32| [&name, format!(".{n}").as_bytes()].concat();
    (1..100_000).map(numbered).find(|name| is_free(name)).unwrap_or(name)
}

/// Opens the document's own file and truncates it to `start` bytes.
pub(super) fn open_document(path: &Path, start: u64) -> io::Result<File> {
    if let Some(folder) = path.parent() {
        fs::create_dir_all(folder)?;
    }
    let mut file = File::options().create(true).truncate(false).write(true).open(path)?;
    file.set_len(start)?;
    io::Seek::seek(&mut file, io::SeekFrom::End(0))?;
    Ok(file)
}

/// Opens the file of `-O`; truncates it unless the download resumes.
pub(super) fn open_shared(ctx: &Ctx<'_>, name: &[u8], resume: bool) -> io::Result<File> {
    let path = ctx.path(name);
    let mut options = File::options();
    options.create(true).write(true);
    if resume {
        options.append(true)
    } else {
        options.truncate(true)
    };
    options.open(path)
}

/// Returns the file's time as a value for `If-Modified-Since` (RFC 9110, 5.6.7).
pub(super) fn since_header(path: &Path) -> Option<String> {
    let time = fs::metadata(path).ok()?.modified().ok()?;
    let seconds = time.duration_since(SystemTime::UNIX_EPOCH).ok()?.as_secs();
    let broken = Zone::utc().to_civil(i64::try_from(seconds).ok()?, 0);
    let text = strftime::format_strftime(b"%a, %d %b %Y %H:%M:%S GMT", &broken);
    String::from_utf8(text).ok()
}

/// Sets a file's time to the server's.
pub(super) fn set_time(path: &Path, last_modified: &[u8]) {
    let Some(seconds) = crate::cookies::parse_date(last_modified) else { return };
    let nanos = u64::try_from(seconds).ok().and_then(|s| s.checked_mul(1_000_000_000));
    let _ = box_sys::meta::set_times(path, nanos, nanos, true);
}

/// Writes to standard output without delay.
pub(super) fn write_stdout(ctx: &mut Ctx<'_>, bytes: &[u8]) -> io::Result<()> {
    let written = ctx.stdout.write_all(bytes).and_then(|()| ctx.stdout.flush());
    // The error is reported now, so it must not be reported again at the end.
    written.inspect_err(|_| drop(ctx.stdout.take_error()))
}
