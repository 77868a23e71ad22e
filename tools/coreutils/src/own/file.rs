//! `file`: the kind of data that a file holds, judged by its first bytes. It knows the common kinds
//! and describes them with the original program's texts.

mod magic;
mod text;

use std::io::{Read, Write};

use box_applet::help::words;
use box_applet::opts::{Opt, Spec};
use box_applet::{Ctx, Ended, Exit};
use box_sys::{FileKind, meta};

use crate::common::input;

/// An option of `file`.
#[derive(Clone, Copy, PartialEq, Eq)]
enum FileFlag {
    Brief,
    Dereference,
    FilesFrom,
    KeepGoing,
    Mime,
    MimeEncoding,
    MimeType,
    NoBuffer,
    NoDereference,
    NoPad,
    Print0,
    Raw,
    Separator,
    SpecialFiles,
    Uncompress,
}

const SPEC: Spec<FileFlag> = Spec::new(
    "[OPTION]... [FILE]...",
    "Guess from its contents what kind of data each FILE holds.",
    &[
        Opt::new(FileFlag::Brief, 'b', "brief").with_help("Print no names"),
        Opt::new(FileFlag::Mime, 'i', "mime").with_help("Print MIME type and encoding"),
        Opt::long(FileFlag::MimeType, "mime-type").with_help("Print the MIME type"),
        Opt::long(FileFlag::MimeEncoding, "mime-encoding")
            .with_help("Print the encoding as MIME calls it"),
        Opt::new(FileFlag::FilesFrom, 'f', "files-from")
            .with_argument("FILE", "Read the names of the files from FILE"),
        Opt::new(FileFlag::Separator, 'F', "separator")
            .with_argument("STRING", "Put STRING after names instead of `:'"),
        Opt::new(FileFlag::NoDereference, 'h', "no-dereference")
            .with_help("Describe symbolic links themselves (default)"),
        Opt::new(FileFlag::KeepGoing, 'k', "keep-going").with_help(words::IGNORED),
        Opt::new(FileFlag::Dereference, 'L', "dereference").with_help("Follow symbolic links"),
        Opt::new(FileFlag::NoPad, 'N', "no-pad").with_help("Do not align the output"),
        Opt::new(FileFlag::Print0, '0', "print0").with_help("Put a NUL byte after each name"),
        Opt::new(FileFlag::NoBuffer, 'n', "no-buffer").with_help(words::IGNORED),
        Opt::new(FileFlag::Raw, 'r', "raw").with_help(words::IGNORED),
        Opt::new(FileFlag::SpecialFiles, 's', "special-files")
            .with_help("Read devices and pipes, too"),
        Opt::new(FileFlag::Uncompress, 'z', "uncompress").with_help(words::IGNORED),
    ],
);

/// The description of a file: text, MIME type and MIME encoding.
struct FileDescription {
    text: String,
    mime: &'static str,
    charset: &'static str,
}

fn file_answer(
    text: impl Into<String>,
    mime: &'static str,
    charset: &'static str,
) -> FileDescription {
    FileDescription { text: text.into(), mime, charset }
}

/// The maximum number of bytes that are examined.
const HEAD: u64 = 256 * 1024;

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let mut files = p.operands.clone();
    if let Some(list) = p.last_value(FileFlag::FilesFrom) {
        let text =
            ctx.read(list).map_err(|e| input::report_cannot(ctx, "Cannot open", list, &e))?;
        files.extend(text.split(|c| *c == b'\n').filter(|l| !l.is_empty()).map(<[u8]>::to_vec));
    }
    if files.is_empty() {
        let line = format!(
            "Usage: {} [-bhLNnrsz0] [-f FILE] [-F STRING] [-i|--mime-type|--mime-encoding] FILE...\n",
            ctx.name
        );
        let _ = ctx.stderr.write_all(line.as_bytes());
        return Ok(Exit::FAILURE);
    }
    let separator = p.last_value(FileFlag::Separator).unwrap_or(b":").to_vec();
    let widest = files.iter().map(|f| f.len()).max().unwrap_or(0);
    for f in &files {
        let a = examine_file(
            ctx,
            f,
            p.has_option(FileFlag::Dereference),
            p.has_option(FileFlag::SpecialFiles),
        );
        let text = match (
            p.has_option(FileFlag::Mime),
            p.has_option(FileFlag::MimeType),
            p.has_option(FileFlag::MimeEncoding),
        ) {
            _ if a.mime == "cannot open" => a.text,
            (true, ..) if a.charset.is_empty() => a.mime.to_string(),
            (true, ..) | (_, true, true) => format!("{}; charset={}", a.mime, a.charset),
            (_, true, _) => a.mime.to_string(),
            (_, _, true) => a.charset.to_string(),
            _ => a.text,
        };
        let mut out = Vec::new();
        if !p.has_option(FileFlag::Brief) {
            let shown: &[u8] = if f == b"-" { b"/dev/stdin" } else { f };
            out.extend_from_slice(shown);
            if p.has_option(FileFlag::Print0) {
                out.push(0);
            } else {
                out.extend_from_slice(&separator);
                let fill =
                    if p.has_option(FileFlag::NoPad) { 0 } else { widest.saturating_sub(f.len()) };
                out.resize(out.len() + 1 + fill, b' ');
            }
        }
        out.extend_from_slice(text.as_bytes());
        out.push(b'\n');
        if ctx.stdout.write_all(&out).is_err() {
            return Ok(Exit::FAILURE);
        }
    }
    Ok(Exit::SUCCESS)
}

fn examine_file(ctx: &mut Ctx<'_>, name: &[u8], follow: bool, special: bool) -> FileDescription {
    let path = ctx.path(name);
    if name != b"-" {
        let stat = match meta::stat(&path, follow) {
            Ok(s) => s,
            Err(e) => {
                let text = format!(
                    "cannot open `{}' ({})",
                    String::from_utf8_lossy(name),
                    box_sys::error_text(&e)
                );
                return file_answer(text, "cannot open", "binary");
            }
        };
        match stat.kind {
            FileKind::Dir => return file_answer("directory", "inode/directory", "binary"),
            FileKind::Symlink => {
                let target = std::fs::read_link(&path)
                    .map(|t| t.to_string_lossy().into_owned())
                    .unwrap_or_default();
                let broken = meta::stat(&path, true).is_err();
                let text = if broken {
                    format!("broken symbolic link to {target}")
                } else {
                    format!("symbolic link to {target}")
                };
                return file_answer(text, "inode/symlink", if broken { "" } else { "binary" });
            }
            FileKind::Fifo => return file_answer("fifo (named pipe)", "inode/fifo", "binary"),
            FileKind::Socket => return file_answer("socket", "inode/socket", "binary"),
            FileKind::CharDevice if !special => {
                return file_answer("character special", "inode/chardevice", "binary");
            }
            FileKind::BlockDevice if !special => {
                return file_answer("block special", "inode/blockdevice", "binary");
            }
            _ => {}
        }
    }
    let mut data = Vec::new();
    let read = input::open_operand(&mut ctx.stdin, &ctx.cwd, name)
        .and_then(|r| r.take(HEAD).read_to_end(&mut data));
    if let Err(e) = read {
        let why = box_sys::error_text(&e);
        return file_answer(
            format!("regular file, no read permission ({why})"),
            "application/octet-stream",
            "binary",
        );
    }
    if data.is_empty() {
        return file_answer("empty", "inode/x-empty", "binary");
    }
    magic::detect_magic(&data).unwrap_or_else(|| text::text_or_data(&data))
}
