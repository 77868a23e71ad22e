//! `runner snapshot ...`

use crate::args::stored::{ImageArg, SnapshotCommand as Command, SnapshotFormat, StoreArg};
use crate::message::{self, escape_text};
use crate::progress::CountingProgress;
use crate::session::files_of;
use crate::{CliFailure, print_text};
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Read, Write};
use std::path::{Path, PathBuf};
use wasibox::store::snapshot::export::{self, ImageSource, NoImage};
use wasibox::store::{SnapshotLimits, Store};

/// Maximum bytes of files in an archive. Without a limit a small session could fill the disk,
/// because a hole in a file takes no space in a session, but is written out as zeros.
const MOST: u64 = 64 << 30;
/// Maximum number of left-out files that are listed.
const LISTED: usize = 10;

/// Runs a command.
pub fn run(command: Command) -> Result<u8, CliFailure> {
    match command {
        Command::Export { store, image, history, format, name, file } => {
            let format = format.unwrap_or_else(|| format_of(&file));
            if history && format != SnapshotFormat::Wbs {
                return Err(CliFailure::usage("--history is for snapshots (.wbs) only"));
            }
            write(&store.open()?, &name, &SnapshotExport { format, history }, &image, &file)?;
            Ok(0)
        }
        Command::Import { store, name, file } => {
            let name = name.or_else(|| name_of(&file)).ok_or_else(|| {
                CliFailure::usage("a session's name is missing: name it with --name")
            })?;
            read(&store, &name, &file)?;
            print_text(&format!("{name}\n"))?;
            Ok(0)
        }
    }
}

fn is_dash(file: &Path) -> bool {
    file.as_os_str() == "-"
}

/// Returns the format that a file's name implies.
fn format_of(file: &Path) -> SnapshotFormat {
    let name = file.to_string_lossy().to_ascii_lowercase();
    match () {
        () if name.ends_with(".zip") => SnapshotFormat::Zip,
        () if name.ends_with(".tar.zst") || name.ends_with(".tzst") => SnapshotFormat::TarZst,
        () => SnapshotFormat::Wbs,
    }
}

/// Returns the session name that a file's name implies.
fn name_of(file: &Path) -> Option<String> {
    if is_dash(file) {
        return None;
    }
    let name = file.file_name()?.to_str()?;
    Some(name.strip_suffix(".wbs").unwrap_or(name).to_owned())
}

struct SnapshotExport {
    format: SnapshotFormat,
    history: bool,
}

fn write(
    store: &Store,
    name: &str,
    what: &SnapshotExport,
    image: &ImageArg,
    file: &Path,
) -> Result<(), CliFailure> {
    // A missing session is reported before a file is created.
    let info = store.session_info(name)?;
    let image = match what.format {
        SnapshotFormat::Wbs => None,
        _ => files_of(image, info.image)?,
    };
    let image: &dyn ImageSource = match &image {
        Some(image) => image,
        None => &NoImage,
    };
    let to = ExportTarget::new(file)?;
    let mut out = CountingProgress::new(BufWriter::new(to.open_file()?), "written");
    let left = match what.format {
        SnapshotFormat::Wbs => {
            store.export(name, what.history, &mut out)?;
            Vec::new()
        }
        format => {
            let files = store.commit(name, info.head)?.state.files;
            let left = store.with_objects(|objects| match format {
                SnapshotFormat::Zip => export::write_zip(objects, &files, image, MOST, &mut out),
                _ => export::tar_zst(objects, &files, image, MOST, &mut out),
            });
            left.map_err(wasibox::store::StoreError::from)?
        }
    };
    out.flush()?;
    drop(out);
    to.finish_file()?;
    for path in left.iter().take(LISTED) {
        message::say_message(&format!(
            "{} is left out",
            escape_text(&String::from_utf8_lossy(path))
        ));
    }
    if let Some(more) = left.len().checked_sub(LISTED).filter(|n| *n > 0) {
        message::say_message(&format!("{more} more files are left out"));
    }
    Ok(())
}

fn read(store: &StoreArg, name: &str, file: &Path) -> Result<(), CliFailure> {
    let failed = |e: io::Error| CliFailure::new(125, format!("{}: {e}", file.display()));
    let from: Box<dyn Read> = if is_dash(file) {
        Box::new(io::stdin().lock())
    } else {
        Box::new(File::open(file).map_err(failed)?)
    };
    let from = CountingProgress::new(BufReader::new(from), "read");
    let limits = SnapshotLimits::default();
    let own = std::env::current_exe()?;
    let check = |file: &File| Ok(wasibox::check_snapshot(&own, file, &limits)?);
    store.open_or_make()?.import_checked(name, from, &limits, check)
}

/// The target of an export. A file gets its name once it is complete; until then an older file of
/// that name stays.
enum ExportTarget {
    Stdout,
    /// A device or a pipe, which is written directly.
    Other(PathBuf),
    File {
        path: PathBuf,
        part: PathBuf,
        is_done: bool,
    },
}

impl ExportTarget {
    fn new(path: &Path) -> Result<ExportTarget, CliFailure> {
        if is_dash(path) {
            return Ok(ExportTarget::Stdout);
        }
        if std::fs::metadata(path).is_ok_and(|m| !m.is_file() && !m.is_dir()) {
            return Ok(ExportTarget::Other(path.into()));
        }
        let name = path.file_name().filter(|_| !path.is_dir());
        let mut part = name
            .ok_or_else(|| CliFailure::new(125, format!("{}: is a directory", path.display())))?
            .to_owned();
        part.push(format!(".{}.part", std::process::id()));
        Ok(ExportTarget::File {
            path: path.into(),
            part: path.with_file_name(part),
            is_done: false,
        })
    }

    fn open_file(&self) -> Result<File, CliFailure> {
        use std::os::fd::AsFd;
        use std::os::unix::fs::OpenOptionsExt;
        let (path, opened) = match self {
            ExportTarget::Stdout => {
                return Ok(File::from(io::stdout().as_fd().try_clone_to_owned()?));
            }
            ExportTarget::Other(path) => (path, File::options().write(true).open(path)),
            ExportTarget::File { part, .. } => {
                let mut options = File::options();
                (part, options.write(true).create_new(true).mode(0o600).open(part))
            }
        };
        opened.map_err(|e| CliFailure::new(125, format!("{}: {e}", path.display())))
    }

    fn finish_file(mut self) -> Result<(), CliFailure> {
        if let ExportTarget::File { path, part, is_done } = &mut self {
            File::open(&*part)?.sync_all()?;
            std::fs::rename(&*part, &*path)
                .map_err(|e| CliFailure::new(125, format!("{}: {e}", path.display())))?;
            *is_done = true;
        }
        Ok(())
    }
}

impl Drop for ExportTarget {
    fn drop(&mut self) {
        if let ExportTarget::File { part, is_done: false, .. } = self {
            // The file may not exist.
            let _ = std::fs::remove_file(part);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn names_say_what_is_written() {
        assert_eq!(format_of(Path::new("a.wbs")), SnapshotFormat::Wbs);
        assert_eq!(format_of(Path::new("-")), SnapshotFormat::Wbs);
        assert_eq!(format_of(Path::new("x/A.ZIP")), SnapshotFormat::Zip);
        assert_eq!(format_of(Path::new("a.tar.zst")), SnapshotFormat::TarZst);
        assert_eq!(name_of(Path::new("x/a.b.wbs")).as_deref(), Some("a.b"));
        assert_eq!(name_of(Path::new("-")), None);
    }
}
