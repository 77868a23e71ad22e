//! Refuses files that must not be replaced by their compressed form.

use std::path::Path;

use box_sys::{FileKind, meta};

use super::options::CompressJob;
use crate::codec::CompressionFormat;

/// Returns the message and exit status if a file is not replaced because its other names or its
/// special kind would be lost.
pub(super) fn replace_refusal(
    job: &CompressJob,
    path: &Path,
    name: &[u8],
    stat: &meta::Stat,
) -> Option<(Vec<u8>, u8)> {
    let link = meta::stat(path, false).is_ok_and(|s| s.kind == FileKind::Symlink);
    let others = stat.nlink.saturating_sub(1);
    let plural = if others == 1 { "" } else { "s" };
    let said = |text: String, status| Some(([name, text.as_bytes()].concat(), status));
    match job.format {
        CompressionFormat::Gzip => match () {
            () if link && !job.force => said(": Too many levels of symbolic links".into(), 1),
            () if stat.mode & 0o4000 != 0 => {
                said(" is set-user-ID on execution - ignored".into(), 2)
            }
            () if stat.mode & 0o2000 != 0 => {
                said(" is set-group-ID on execution - ignored".into(), 2)
            }
            () if job.force => None,
            () if stat.mode & 0o1000 != 0 => {
                said(" has the sticky bit set - file ignored".into(), 2)
            }
            () if others > 0 => {
                said(format!(" has {others} other link{plural} -- file ignored"), 2)
            }
            () => None,
        },
        CompressionFormat::Bzip2 if !job.force => {
            let text = [b"Input file ", name].concat();
            match () {
                () if link => Some(([&text[..], b" is not a normal file."].concat(), 1)),
                () if others > 0 => {
                    let count = format!(" has {others} other link{plural}.");
                    Some(([&text[..], count.as_bytes()].concat(), 1))
                }
                () => None,
            }
        }
        CompressionFormat::Xz if !job.force && !job.keep => match () {
            () if link => said(": Is a symbolic link, skipping".into(), 2),
            () if stat.mode & 0o6000 != 0 => {
                said(": File has setuid or setgid bit set, skipping".into(), 2)
            }
            () if stat.mode & 0o1000 != 0 => said(": File has sticky bit set, skipping".into(), 2),
            () if others > 0 => {
                said(": Input file has more than one hard link, skipping".into(), 2)
            }
            () => None,
        },
        _ => None,
    }
}
