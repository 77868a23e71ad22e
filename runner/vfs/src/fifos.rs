//! Named pipes on host mounts (`mkfifo(3)`).
//!
//! The host's directory never gets one: opening it there would block the host's threads, and the
//! guest could talk to processes of the host. Instead a pipe exists for the session only, as a node
//! of the tree that no directory of the tree names; the path below the mount leads to it. A host file
//! that appears under the same name stays hidden as long as the pipe exists.

use crate::errno::Errno;
use crate::pipe::{PIPE_CAPACITY, Pipe};
use crate::tree::{Ino, Inode, Kind, State};
use crate::walk::join;
use std::collections::BTreeMap;

/// The pipes by mount and path below it.
#[derive(Debug, Default)]
pub struct Fifos(BTreeMap<(usize, Vec<u8>), Ino>);

impl Fifos {
    /// The pipe of that path.
    pub(crate) fn get(&self, mount: usize, rel: &[u8]) -> Option<Ino> {
        if self.0.is_empty() {
            return None;
        }
        self.0.get(&(mount, rel.to_vec())).copied()
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Paths and nodes below a directory, whatever their depth.
    fn below<'a>(&'a self, mount: usize, dir: &[u8]) -> impl Iterator<Item = (&'a [u8], Ino)> {
        let prefix = join(dir, b"");
        let skip = prefix.clone();
        self.0
            .range((mount, prefix)..)
            .take_while(move |((m, rel), _)| *m == mount && rel.starts_with(&skip))
            .map(|((_, rel), ino)| (rel.as_slice(), *ino))
    }

    /// Names and nodes in a directory.
    pub(crate) fn list(&self, mount: usize, dir: &[u8]) -> Vec<(Vec<u8>, Ino)> {
        let skip = join(dir, b"").len();
        self.below(mount, dir)
            .map(|(rel, ino)| (rel[skip..].to_vec(), ino))
            .filter(|(name, _)| !name.contains(&b'/'))
            .collect()
    }

    /// Whether a directory cannot be removed for a pipe in it.
    pub(crate) fn any_below(&self, mount: usize, dir: &[u8]) -> bool {
        self.below(mount, dir).next().is_some()
    }

    /// A directory or pipe has a new name.
    pub(crate) fn renamed(&mut self, mount: usize, from: &[u8], to: &[u8]) {
        let mut moved: Vec<Vec<u8>> =
            self.below(mount, from).map(|(rel, _)| rel.to_vec()).collect();
        moved.push(from.to_vec());
        for rel in moved {
            let new = [to, &rel[from.len()..]].concat();
            if let Some(ino) = self.0.remove(&(mount, rel)) {
                self.0.insert((mount, new), ino);
            }
        }
    }
}

impl State {
    /// Makes a pipe at a path of a mount that has nothing there.
    pub(crate) fn make_fifo(&mut self, mount: usize, rel: Vec<u8>, mode: u16) -> Result<(), Errno> {
        self.quota.take(PIPE_CAPACITY as u64)?;
        if let Err(e) = self.quota.take_entry(&rel) {
            self.quota.give(PIPE_CAPACITY as u64);
            return Err(e);
        }
        let node = Inode::new(Kind::Fifo(Pipe::fifo()), mode & 0o7777);
        let ino = match self.new_node(node) {
            Ok(ino) => ino,
            Err(e) => {
                self.quota.give_entry(&rel);
                self.quota.give(PIPE_CAPACITY as u64);
                return Err(e);
            }
        };
        self.fifos.0.insert((mount, rel), ino);
        Ok(())
    }

    /// Takes a pipe's name away; who has it open keeps it.
    pub(crate) fn remove_fifo(&mut self, mount: usize, rel: &[u8]) -> Result<(), Errno> {
        let ino = self.fifos.0.remove(&(mount, rel.to_vec())).ok_or(Errno::NOENT)?;
        self.quota.give_entry(rel);
        if self.tree.node(ino)?.nlink == 1 {
            self.quota.give(PIPE_CAPACITY as u64);
        }
        self.drop_link(ino, ino)
    }
}
