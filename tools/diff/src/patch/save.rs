//! Saving a patched file: as in GNU patch, a new file is written beside the old one and renamed
//! over it. So a read-only file can be patched, other hard links keep the old text, the old file
//! itself becomes the backup, and no process reads half of a file.

use std::fs;
use std::io::{self, Write};
use std::path::Path;

use box_applet::{Ctx, create_beside, inherit_metadata};
use box_sys::meta;

/// A file to write in the place of an old one, with the old one's attributes and backup.
pub(super) struct SavedFile<'a> {
    pub destination: &'a Path,
    /// The status of the file that was patched, if there was one; the new file gets its mode and
    /// owner.
    pub old: Option<&'a meta::Stat>,
    /// The permission bits that a git patch sets.
    pub mode: Option<u16>,
    /// The path that the old file is moved to.
    pub backup: Option<&'a Path>,
}

impl SavedFile<'_> {
    /// Writes `text`.
    pub(super) fn write(&self, ctx: &Ctx<'_>, text: &[u8]) -> io::Result<()> {
        let dir = self.destination.parent().unwrap_or(Path::new("/"));
        fs::create_dir_all(dir)?;
        let (mut file, temporary) = create_beside(ctx, self.destination, "po")?;
        let written = file.write_all(text).and_then(|()| {
            drop(file);
            if let Some(stat) = self.old {
                inherit_metadata(stat, &temporary);
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
