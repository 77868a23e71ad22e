//! One of the two states that are compared: a view of its files.

use super::image::{ImageFile, ImageFiles};
use crate::error::Error;
use serde_bytes::ByteBuf;
use std::collections::BTreeSet;
use wasibox_store::snapshot::delta::{CHUNK, Id, NodeContent, TreeNode};
use wasibox_store::snapshot::files::{self, walk};
use wasibox_store::snapshot::tree::{RecordKey, RecordValue, read};
use wasibox_store::snapshot::{FileTree, Objects, SnapshotError as Snapshot, export};

/// Number of bytes that are compared at once.
const PIECE: usize = 16 * CHUNK as usize;

/// The files of a commit, on top of those of the image if it is available.
#[derive(Clone, Copy)]
pub struct DiffSide<'a> {
    pub objects: &'a dyn Objects,
    pub files: &'a FileTree,
    pub image: Option<&'a ImageFiles>,
}

/// The entry at a place.
#[derive(Clone)]
pub enum SideEntry {
    Nothing,
    Dir(Id),
    File(FileAt),
    Symlink(Vec<u8>),
    Fifo(u16),
    /// A device or a mount, or an entry that only the image knows.
    Other,
}

/// A file.
#[derive(Clone)]
pub struct FileAt {
    pub id: Id,
    /// The node's record; `None` if the file is unchanged from the image.
    pub node: Option<TreeNode>,
    pub mode: u16,
    pub len: u64,
}

fn store_error(e: Snapshot) -> Error {
    Error::Store(e.into())
}

impl<'a> DiffSide<'a> {
    /// Returns the names in a directory. With `whole`, names that only the image has are included.
    pub fn dir_names(&self, dir: &Id, whole: bool) -> Result<BTreeSet<ByteBuf>, Error> {
        let listed = self.list_dir(dir)?;
        let mut out: BTreeSet<ByteBuf> = listed.keys().cloned().collect();
        if let (true, Id::Given(path), Some(image)) = (whole, dir, self.image)
            && let Some(below) = image.list_dir(path)?
        {
            out.extend(below.entries.keys().cloned());
        }
        Ok(out)
    }

    fn list_dir(&self, dir: &Id) -> Result<walk::Listing, Error> {
        walk::list_dir(self.objects, &self.files.root, dir).map_err(store_error)
    }

    /// Returns the entries of a directory.
    pub fn dir_entries(&self, dir: &Id) -> Result<SideEntries<'a>, Error> {
        Ok(SideEntries { side: *self, dir: dir.clone(), listed: self.list_dir(dir)? })
    }

    /// Returns the entry of a node.
    fn find_node(&self, id: &Id) -> Result<SideEntry, Error> {
        let key = RecordKey::for_node(id.clone());
        match read::find_record(self.objects, &self.files.root, &key).map_err(store_error)? {
            Some(RecordValue::Node(node)) => Ok(match &node.what {
                NodeContent::Dir { .. } => SideEntry::Dir(id.clone()),
                NodeContent::File { len, .. } => {
                    let (mode, len) = (node.mode, *len);
                    SideEntry::File(FileAt { id: id.clone(), node: Some(*node), mode, len })
                }
                NodeContent::Symlink(to) => SideEntry::Symlink(to.to_vec()),
                NodeContent::Fifo => SideEntry::Fifo(node.mode),
                NodeContent::Same => SideEntry::Other,
            }),
            Some(RecordValue::Gone) => Ok(SideEntry::Nothing),
            Some(_) => Err(store_error(Snapshot::Malformed("parts of another kind of node"))),
            None => self.image_entry(id),
        }
    }

    /// Returns the image's entry.
    fn image_entry(&self, id: &Id) -> Result<SideEntry, Error> {
        let Id::Given(path) = id else {
            return Err(store_error(Snapshot::Malformed("an entry that leads nowhere")));
        };
        if let Some(image) = self.image {
            return Ok(match image.find_entry(path)? {
                None => SideEntry::Nothing,
                Some(ImageFile::Dir) => SideEntry::Dir(id.clone()),
                Some(ImageFile::Symlink(to)) => SideEntry::Symlink(to),
                Some(ImageFile::File { bytes, mode }) => {
                    let len = (*bytes).as_ref().len() as u64;
                    SideEntry::File(FileAt { id: id.clone(), node: None, mode, len })
                }
            });
        }
        // An entry that has recorded names below it is a directory.
        let is_dir = !self.list_dir(id)?.is_empty();
        Ok(if is_dir { SideEntry::Dir(id.clone()) } else { SideEntry::Other })
    }

    /// Returns the bytes of a file starting at `from`; `None` if they are in the image and it is
    /// not available.
    pub fn read(&self, file: &FileAt, from: u64, most: usize) -> Result<Option<Vec<u8>>, Error> {
        let base = match (&file.node, &file.id) {
            (None, _) => file.len,
            (Some(TreeNode { what: NodeContent::File { base: Some(len), .. }, .. }), _) => *len,
            _ => 0,
        };
        let image = match (&file.id, self.image) {
            _ if base == 0 => Vec::new(),
            (Id::Given(path), Some(image)) => {
                match export::ImageSource::read_file(image, path, base) {
                    Ok(bytes) => bytes,
                    Err(_) => return Ok(None),
                }
            }
            _ => return Ok(None),
        };
        let Some(node) = &file.node else {
            let from = usize::try_from(from).unwrap_or(usize::MAX).min(image.len());
            let end = from.saturating_add(most).min(image.len());
            return Ok(Some(image[from..end].to_vec()));
        };
        let root = &self.files.root;
        let bytes = files::read(self.objects, root, &file.id, node, from, most, &image);
        bytes.map(Some).map_err(store_error)
    }
}

/// A directory of one side.
pub struct SideEntries<'a> {
    side: DiffSide<'a>,
    dir: Id,
    listed: walk::Listing,
}

impl SideEntries<'_> {
    /// Returns the entry of a name.
    pub fn get(&self, name: &ByteBuf) -> Result<SideEntry, Error> {
        match (self.listed.get(name), &self.dir) {
            (Some(None), _) => Ok(SideEntry::Nothing),
            (Some(Some(id)), _) => self.side.find_node(id),
            (None, Id::Given(path)) => {
                let path = path.iter().cloned().chain([name.clone()]).collect();
                match self.side.image {
                    Some(_) => self.side.image_entry(&Id::Given(path)),
                    // Without the image it is unknown whether it has the name; entries made by the
                    // session are listed.
                    None => Ok(SideEntry::Other),
                }
            }
            (None, Id::Made(_)) => Ok(SideEntry::Nothing),
        }
    }
}

/// Returns whether two files have the same bytes; `None` if that cannot be determined.
pub fn is_same_content(
    a: (&DiffSide<'_>, &FileAt),
    b: (&DiffSide<'_>, &FileAt),
) -> Result<Option<bool>, Error> {
    if a.1.len != b.1.len {
        return Ok(Some(false));
    }
    let mut at = 0;
    while at < a.1.len {
        let (Some(one), Some(two)) = (a.0.read(a.1, at, PIECE)?, b.0.read(b.1, at, PIECE)?) else {
            return Ok(None);
        };
        if one != two {
            return Ok(Some(false));
        }
        if one.is_empty() {
            break;
        }
        at += one.len() as u64;
    }
    Ok(Some(true))
}
