//! The source of an image's bytes: a mapping of its file, or memory.
//!
//! A mapping costs nothing and is shared, but it shows later changes of the file: a byte may change
//! after it was checked, and reading a page beyond a new end raises SIGBUS. So a file is mapped
//! only if no user except this one and root can write it. (A guest could write it through a
//! writable mount, but such mounts do not show the image.) Any other file is read into memory once.

use crate::ImageError;
use std::path::Path;
use webc::v3::Index;
use webc::v3::read::Section;

#[cfg(unix)]
pub use file::open_image;
pub use shared_buffer::OwnedBuffer as Buffer;

/// The maximum number of bytes of the index and of the manifest, because their decoded form is many
/// times as large.
const MAX_INDEX: u64 = 1 << 20;
const MAX_MANIFEST: usize = 8 << 20;
/// The length of magic and version, which the index's tag and length follow.
const HEAD: usize = 8;
const INDEX: usize = HEAD + 9;

/// Checks that bytes are an image, and that the parts which are read whole are small enough. `path`
/// is for messages.
pub fn check_image(path: &Path, bytes: Buffer) -> Result<Buffer, ImageError> {
    if bytes.len() < INDEX || !bytes.starts_with(&webc::MAGIC) {
        return Err(ImageError::NotAnImage { path: path.into() });
    }
    check_sizes(&bytes).map_err(|why| ImageError::Damaged { path: path.into(), why })?;
    Ok(bytes)
}

/// Checks the index before it or the manifest is decoded.
fn check_sizes(bytes: &Buffer) -> Result<(), String> {
    let head = bytes.get(..INDEX).ok_or("it is cut off")?;
    let len = u64::from_le_bytes(head[HEAD + 1..].try_into().unwrap_or_default());
    if len > MAX_INDEX {
        return Err("its index is too large".into());
    }
    let end = INDEX + len as usize;
    if end > bytes.len() {
        return Err("its index is cut off".into());
    }
    let index: Index = match Section::parse(head[HEAD], None, bytes.slice(INDEX..end)) {
        Ok(Section::Index(i)) => i.index().map_err(|e| crate::open::error_chain(&e))?,
        _ => return Err("it has no index".into()),
    };
    let spans = [index.manifest.span, index.atoms.span].into_iter();
    for span in spans.chain(index.volumes.values().map(|v| v.span)) {
        // The reader adds these numbers without an overflow check.
        if span.start.checked_add(span.len).is_none_or(|end| end > bytes.len()) {
            return Err("its parts reach beyond its end".into());
        }
    }
    if index.manifest.span.len > MAX_MANIFEST {
        return Err("its manifest is too large".into());
    }
    Ok(())
}

/// Files of the host.
#[cfg(unix)]
mod file {
    use super::{Buffer, INDEX, check_image};
    use crate::ImageError;
    use rustix::fs::OFlags;
    use std::fs::{File, Metadata, OpenOptions};
    use std::io::Read;
    use std::os::unix::fs::{FileExt, MetadataExt, OpenOptionsExt};
    use std::path::Path;

    /// The largest image that is copied.
    const MAX_COPY: u64 = 2 << 30;

    /// Returns the bytes of the image at `path`, see [`check_image`].
    pub fn open_image(path: &Path) -> Result<Buffer, ImageError> {
        let io = |source| ImageError::Io { path: path.into(), source };
        // With these flags the opening of a FIFO does not wait for a writer, and a terminal does
        // not become the controlling one.
        let flags = OFlags::NONBLOCK | OFlags::NOCTTY;
        let file = OpenOptions::new().read(true).custom_flags(flags.bits() as i32).open(path);
        let file = file.map_err(io)?;
        let meta = file.metadata().map_err(io)?;
        let not = || ImageError::NotAnImage { path: path.into() };
        let mut head = [0; INDEX];
        if !meta.is_file() || meta.len() < INDEX as u64 {
            return Err(not());
        }
        file.read_exact_at(&mut head, 0).map_err(io)?;
        if !head.starts_with(&webc::MAGIC) {
            return Err(not());
        }
        let bytes = if is_steady(&meta) {
            let failed = |e| io(std::io::Error::other(format!("{e:?}")));
            Buffer::from_file(&file).map_err(failed)?
        } else {
            read(path, file, meta.len())?
        };
        check_image(path, bytes)
    }

    /// Returns whether only this user and root can change the file. A group with the user's own
    /// number counts as the user's, as most systems set it up.
    fn is_steady(meta: &Metadata) -> bool {
        use rustix::process::{getegid, geteuid};
        let (user, group) = (geteuid().as_raw(), getegid().as_raw());
        let own_group = user == group && meta.gid() == group;
        let others = if own_group { 0o002 } else { 0o022 };
        (meta.uid() == user || meta.uid() == 0) && meta.mode() & others == 0
    }

    fn read(path: &Path, file: File, len: u64) -> Result<Buffer, ImageError> {
        let io = |source| ImageError::Io { path: path.into(), source };
        let too_large = || ImageError::TooLarge { path: path.into(), len };
        if len > MAX_COPY {
            return Err(too_large());
        }
        let mut out = Vec::new();
        out.try_reserve_exact(len as usize).map_err(|_| too_large())?;
        file.take(len).read_to_end(&mut out).map_err(io)?;
        Ok(out.into())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::os::unix::fs::PermissionsExt;

    /// An image in a file that others can write does not change, even if the file does.
    #[test]
    fn a_file_that_others_may_write_is_copied() {
        let file = tempfile::NamedTempFile::new().unwrap();
        let spec = crate::ImageSpec { name: "a/b".into(), ..Default::default() };
        let spec = crate::ImageSpec { version: "1.0.0".into(), ..spec };
        let whole = crate::pack_image(&spec).unwrap();
        std::fs::write(file.path(), &whole).unwrap();
        for (mode, is_mapped) in [(0o644, true), (0o600, true), (0o646, false), (0o666, false)] {
            std::fs::set_permissions(file.path(), PermissionsExt::from_mode(mode)).unwrap();
            let bytes = open_image(file.path()).unwrap();
            assert_eq!(bytes.is_mmapped(), is_mapped, "{mode:o}");
            if !is_mapped {
                std::fs::write(file.path(), "").unwrap();
                assert!(bytes == whole);
                std::fs::write(file.path(), &whole).unwrap();
            }
        }
    }

    #[test]
    fn a_fifo_is_no_image_and_nobody_waits() {
        let dir = tempfile::tempdir().unwrap();
        let path = dir.path().join("fifo");
        let made = std::process::Command::new("mkfifo").arg(&path).status().unwrap();
        assert!(made.success());
        assert!(matches!(open_image(&path), Err(ImageError::NotAnImage { .. })));
    }
}
