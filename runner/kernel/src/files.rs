//! The files that a session begins with: those of an image, and its commands as executable files.

use std::sync::Arc;
use wasibox_image::{EntryKind, Image, ImageEntry, ImageError};
use wasibox_vfs::{BaseFile, BaseKind, Folder, FolderEntry, ProgramMark};

/// Returns the image's files, whose folders are listed on demand, and its commands as executable
/// files. `number` returns the program of an atom; a command without one is left out. If `number`
/// is `None`, no file can be run.
///
/// # Errors
/// A damaged image.
pub fn image_files(
    image: &Arc<Image>,
    number: Option<&dyn Fn(&str) -> Option<ProgramMark>>,
) -> Result<Vec<BaseFile>, ImageError> {
    let mut out = Vec::new();
    let time = image.time();
    for folder in image.folders()? {
        let path = folder.path().as_bytes().to_vec();
        let kind = BaseKind::Dir(Arc::new(ImageFolder(folder)));
        out.push(BaseFile { path, mode: 0o755, time, kind });
    }
    for c in image.commands() {
        let program = number.map(|number| number(&c.atom));
        let (false, Some(bytes)) = (program == Some(None), image.atom_shared(&c.atom)) else {
            continue;
        };
        let program = program.flatten();
        for dir in ["/bin/", "/usr/bin/"] {
            let kind = BaseKind::File { bytes: bytes.clone(), program };
            out.push(BaseFile {
                path: [dir, &c.name].concat().into_bytes(),
                mode: 0o755,
                time,
                kind,
            });
        }
    }
    Ok(out)
}

/// A directory of the image in the session's file system.
struct ImageFolder(wasibox_image::ImageDir);

impl Folder for ImageFolder {
    fn list_entries(&self) -> Result<Vec<FolderEntry>, String> {
        let listed = self.0.list().map_err(|e| e.to_string())?;
        let entry = |(e, folder): (ImageEntry, Option<wasibox_image::ImageDir>)| {
            let name = e.path.rsplit('/').next().unwrap_or_default().as_bytes().to_vec();
            let kind = match (e.kind, folder) {
                (_, Some(folder)) => BaseKind::Dir(Arc::new(ImageFolder(folder))),
                (EntryKind::File(bytes), _) => BaseKind::File { bytes, program: None },
                (EntryKind::Symlink(target), _) => BaseKind::Symlink(target.into_bytes()),
                (EntryKind::Dir, None) => return None,
            };
            Some(FolderEntry { name, mode: e.mode, time: e.time, kind })
        };
        Ok(listed.into_iter().filter_map(entry).collect())
    }
}
