//! A patched file in the place of the old one: a new file beside it, renamed over it, as GNU's does.
//! So a file that may not be written to is patched, other hard links keep the old text, the old file itself
//! becomes the backup, and nobody reads half of a file.

use std::fs::{self, File};
use std::io::{self, Write};
use std::path::{Path, PathBuf};

use box_applet::Ctx;
use box_sys::meta;

/// What becomes of a file.
pub(super) struct Save<'a> {
    pub destination: &'a Path,
    /// The file that was patched, if there was one: its mode and owner stay.
    pub old: Option<&'a meta::Stat>,
    /// Permission bits that a git patch asks for.
    pub mode: Option<u16>,
    /// Where the old file goes.
    pub backup: Option<&'a Path>,
}

impl Save<'_> {
    /// Writes `text`.
    pub(super) fn write(&self, ctx: &Ctx<'_>, text: &[u8]) -> io::Result<()> {
        let dir = self.destination.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(dir)?;
        let (mut file, temporary) = create(ctx, dir)?;
        let written = file.write_all(text).and_then(|()| {
            drop(file);
            if let Some(stat) = self.old {
                box_applet::inherit(stat, &temporary);
            }
            if let Some(mode) = self.mode {
                meta::chmod(&temporary, mode & !meta::umask())?;
            }
            if let Some(backup) = self.backup {
                fs::rename(self.destination, backup)?;
            }
            fs::rename(&temporary, self.destination)
        });
        if written.is_err() {
            let _ = fs::remove_file(&temporary);
        }
        written
    }
}

/// A new file in `dir`, under a name nobody has.
fn create(ctx: &Ctx<'_>, dir: &Path) -> io::Result<(File, PathBuf)> {
    for n in 0..1000u32 {
        let path = dir.join(format!("po{:05}{n:03}", ctx.procs.pid() % 100_000));
        match File::options().write(true).create_new(true).open(&path) {
            Ok(file) => return Ok((file, path)),
            Err(e) if e.kind() == io::ErrorKind::AlreadyExists => {}
            Err(e) => return Err(e),
        }
    }
    Err(io::ErrorKind::AlreadyExists.into())
}
