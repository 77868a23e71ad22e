//! An image of which the page has the catalog: a part is fetched when one of its files is first
//! opened, and stays.
//!
//! The thread that needs the part waits; the page, which must not block, fetches it.

use crate::{ffi, lock_mutex};
use std::sync::{Arc, Mutex, OnceLock};
use wasibox_image::parts::{Catalog, CatalogDir, CatalogEntry, CatalogEntryKind};
use wasibox_vfs::{BaseFile, BaseKind, Budget, Errno, Folder, FolderEntry, LazyBytes, ProgramMark};

/// A part of the image.
struct PagePart {
    number: u32,
    len: u32,
    bytes: OnceLock<Vec<u8>>,
    /// Held by the thread that fetches the part.
    fetching: Mutex<()>,
}

impl PagePart {
    fn fetch_bytes(&self) -> Result<&[u8], Errno> {
        if let Some(bytes) = self.bytes.get() {
            return Ok(bytes);
        }
        let _fetching = lock_mutex(&self.fetching);
        if let Some(bytes) = self.bytes.get() {
            return Ok(bytes);
        }
        let mut bytes = Vec::new();
        bytes.try_reserve_exact(self.len as usize).map_err(|_| Errno::NOMEM)?;
        bytes.resize(self.len as usize, 0);
        // A failure is not kept, because a later attempt may succeed.
        if ffi::fetch(self.number, &mut bytes) {
            Ok(self.bytes.get_or_init(|| bytes))
        } else {
            Err(Errno::IO)
        }
    }
}

/// A file's bytes.
struct PartPiece {
    part: Arc<PagePart>,
    at: u32,
    len: u32,
}

impl LazyBytes for PartPiece {
    fn len(&self) -> u64 {
        self.len.into()
    }

    fn make_ready(&self, _: &Arc<Budget>, _: bool) -> Result<(), Errno> {
        if self.len == 0 { Ok(()) } else { self.part.fetch_bytes().map(drop) }
    }

    fn read(&self, off: u64, buf: &mut [u8]) -> Result<usize, Errno> {
        if off >= self.len() {
            return Ok(0);
        }
        let (begin, end) = (self.at as usize, (self.at + self.len) as usize);
        let rest = &self.part.fetch_bytes()?[begin + off as usize..end];
        let n = rest.len().min(buf.len());
        buf[..n].copy_from_slice(&rest[..n]);
        Ok(n)
    }
}

/// A directory of the catalog.
struct ListedDir {
    dir: CatalogDir,
    image: PageImage,
}

impl Folder for ListedDir {
    fn list_entries(&self) -> Result<Vec<FolderEntry>, String> {
        let PageImage { catalog, parts } = &self.image;
        let entry = |item: CatalogEntry| {
            let kind = match item.what {
                CatalogEntryKind::Dir(dir) => BaseKind::Dir(self.image.list_folder(dir)),
                CatalogEntryKind::File { part, at, len } => {
                    // The catalog has checked that the part exists.
                    let part = parts[part as usize].clone();
                    BaseKind::Lazy(Arc::new(PartPiece { part, at, len }))
                }
                CatalogEntryKind::Symlink(target) => BaseKind::Symlink(target.into_bytes()),
            };
            let (name, time) = (item.name.into_bytes(), catalog.time);
            FolderEntry { name, mode: item.mode, time, kind }
        };
        let listed = catalog.list_dir(self.dir).map_err(|e| e.to_string())?;
        Ok(listed.into_iter().map(entry).collect())
    }
}

/// The image: its catalog, and the parts that were fetched.
#[derive(Clone)]
pub struct PageImage {
    pub catalog: Arc<Catalog>,
    parts: Arc<[Arc<PagePart>]>,
}

impl PageImage {
    /// Makes an image of which no part has been fetched.
    pub fn new(catalog: Catalog) -> PageImage {
        let part = |(number, len): (usize, &u32)| {
            let (bytes, fetching) = (OnceLock::new(), Mutex::new(()));
            Arc::new(PagePart { number: number as u32, len: *len, bytes, fetching })
        };
        let parts = catalog.parts.iter().enumerate().map(part).collect();
        PageImage { catalog: Arc::new(catalog), parts }
    }

    fn list_folder(&self, dir: CatalogDir) -> Arc<ListedDir> {
        Arc::new(ListedDir { dir, image: self.clone() })
    }

    /// Fetches a program, which is not kept because it is large and the page has it.
    pub fn fetch_program(&self, program: ProgramMark) -> Option<Vec<u8>> {
        let part = self.parts.get(program.0 as usize)?;
        let mut bytes = vec![0; part.len as usize];
        ffi::fetch(part.number, &mut bytes).then_some(bytes)
    }

    /// Returns its files, in the form in which `wasibox_kernel::image_files` returns those of a
    /// whole image.
    pub fn base_files(&self) -> Vec<BaseFile> {
        let PageImage { catalog, parts } = self;
        let time = catalog.time;
        let volume = |(path, dir): &(String, CatalogDir)| {
            let (path, kind) = (path.clone().into_bytes(), BaseKind::Dir(self.list_folder(*dir)));
            BaseFile { path, mode: 0o755, time, kind }
        };
        let mut out: Vec<BaseFile> = catalog.volumes.iter().map(volume).collect();
        for (name, number) in &catalog.commands {
            let part = &parts[*number as usize];
            for dir in ["/bin/", "/usr/bin/"] {
                let bytes = Arc::new(PartPiece { part: part.clone(), at: 0, len: part.len });
                let kind = BaseKind::LazyProgram(bytes, ProgramMark(*number));
                let path = [dir, name].concat().into_bytes();
                out.push(BaseFile { path, mode: 0o755, time, kind });
            }
        }
        out
    }
}
