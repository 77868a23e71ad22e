//! `-i inplace` (gawk): the output that the program prints while it reads a file replaces that
//! file.

use std::fs::{self, File};
use std::io::{self, BufWriter, Write};
use std::path::PathBuf;

use box_applet::{create_beside, inherit_metadata};
use box_sys::{error_text, meta};

use super::{AwkMachine, Result};
use crate::error::AwkRunError;

/// A file being rewritten.
pub(super) struct InplaceEdit {
    pub out: BufWriter<File>,
    path: PathBuf,
    temporary: PathBuf,
    name: Vec<u8>,
}

impl AwkMachine<'_, '_> {
    /// Redirects output to a temporary file beside the input file from here on.
    pub(super) fn begin_edit(&mut self, name: &[u8]) -> Result<()> {
        let path = self.ctx.path(name);
        let shown = String::from_utf8_lossy(name).into_owned();
        if name == b"-" || !path.is_file() {
            self.print_warning(&format!(
                "inplace::begin: disabling in-place editing for invalid FILENAME `{shown}'"
            ));
            return Ok(());
        }
        let (file, temporary) =
            create_beside(self.ctx, &path, "gawk.").map_err(|e| cannot_edit(&shown, &e))?;
        if let Ok(stat) = meta::stat(&path, true) {
            inherit_metadata(&stat, &temporary);
        }
        let out = BufWriter::with_capacity(64 * 1024, file);
        self.edit = Some(InplaceEdit { out, path, temporary, name: name.to_vec() });
        Ok(())
    }

    /// Replaces the input file by the rewritten one, after renaming it if a suffix is set.
    pub(super) fn end_edit(&mut self) -> Result<()> {
        let Some(InplaceEdit { mut out, path, temporary, name }) = self.edit.take() else {
            return Ok(());
        };
        let shown = String::from_utf8_lossy(&name).into_owned();
        out.flush().map_err(|e| cannot_edit(&shown, &e))?;
        drop(out);
        let suffix = [&b"inplace::suffix"[..], b"INPLACE_SUFFIX"]
            .iter()
            .find_map(|n| self.settings.inplace_suffix.iter().find(|(name, _)| name == n))
            .map(|(_, value)| value.clone())
            .unwrap_or_default();
        if !suffix.is_empty() {
            let mut backup = name.clone();
            backup.extend_from_slice(&suffix);
            fs::rename(&path, self.ctx.path(&backup)).map_err(|e| cannot_edit(&shown, &e))?;
        }
        fs::rename(&temporary, &path).map_err(|e| cannot_edit(&shown, &e))
    }
}

fn cannot_edit(name: &str, e: &io::Error) -> AwkRunError {
    AwkRunError::fatal(format!("inplace: cannot edit `{name}': {}", error_text(e)))
}
