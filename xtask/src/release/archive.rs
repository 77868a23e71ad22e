//! Archives whose bytes depend only on their contents: tar (POSIX ustar), gzip and ar.
//!
//! Entries are sorted by name, belong to root unless stated otherwise, and have the date of the
//! image.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, ensure};

use crate::env;
use crate::key::sorted;

/// The date of all entries, 2026-01-01, which is that of the image as well.
pub const TIME: u64 = 1_767_225_600;

const BLOCK: usize = 512;

/// The contents of a file.
#[derive(Clone)]
pub enum Content {
    Bytes(Vec<u8>),
    File(PathBuf),
}

#[derive(Clone)]
enum Node {
    Folder,
    File(Content),
    Link(String),
}

#[derive(Clone)]
struct Entry {
    node: Node,
    mode: u32,
    owner: u32,
}

/// Files, folders and links by their paths, which are relative to the archive's root.
#[derive(Clone, Default)]
pub struct FileTree(BTreeMap<String, Entry>);

impl FileTree {
    /// Adds a file with the mode 644, and the folders above it.
    pub fn add_file(&mut self, path: &str, content: Content) {
        self.add_entry(path, Entry { node: Node::File(content), mode: 0o644, owner: 0 });
    }

    /// Adds a file with text.
    pub fn add_text(&mut self, path: &str, text: &str) {
        self.add_file(path, Content::Bytes(text.as_bytes().to_vec()));
    }

    /// Adds a file with the mode 755.
    pub fn add_program(&mut self, path: &str, content: Content) {
        self.add_entry(path, Entry { node: Node::File(content), mode: 0o755, owner: 0 });
    }

    /// Adds a symbolic link.
    pub fn add_link(&mut self, path: &str, target: &str) {
        self.add_entry(path, Entry { node: Node::Link(target.into()), mode: 0o777, owner: 0 });
    }

    /// Adds a folder that belongs to a user and a group of this number.
    pub fn add_folder(&mut self, path: &str, mode: u32, owner: u32) {
        self.add_entry(path, Entry { node: Node::Folder, mode, owner });
    }

    /// Adds all files of a folder of the host.
    pub fn add_host_folder(&mut self, path: &str, from: &Path) -> Result<()> {
        for name in sorted(from)? {
            let (inner, host) = (format!("{path}/{name}"), from.join(&name));
            if host.is_dir() {
                self.add_host_folder(&inner, &host)?;
            } else {
                self.add_file(&inner, Content::File(host));
            }
        }
        Ok(())
    }

    /// Adds a copy of another tree's entries below a folder.
    pub fn add_tree(&mut self, path: &str, tree: &FileTree) {
        for (inner, entry) in &tree.0 {
            self.add_entry(&format!("{path}/{inner}"), entry.clone());
        }
    }

    fn add_entry(&mut self, path: &str, entry: Entry) {
        for (at, _) in path.match_indices('/') {
            let folder = Entry { node: Node::Folder, mode: 0o755, owner: 0 };
            self.0.entry(path[..at].to_string()).or_insert(folder);
        }
        self.0.insert(path.to_string(), entry);
    }

    /// Returns the paths and sizes of the files in bytes.
    pub fn file_sizes(&self) -> Result<Vec<(String, u64)>> {
        let mut sizes = Vec::new();
        for (path, entry) in &self.0 {
            if let Node::File(content) = &entry.node {
                sizes.push((path.clone(), content_size(content)?));
            }
        }
        Ok(sizes)
    }

    /// Writes the tree as a tar archive; `prefix` precedes every name.
    pub fn write_tar(&self, to: &Path, prefix: &str) -> Result<()> {
        let mut out = BufWriter::new(File::create(to).with_context(|| to.display().to_string())?);
        for (path, entry) in &self.0 {
            let size = match &entry.node {
                Node::File(content) => content_size(content)?,
                Node::Folder | Node::Link(_) => 0,
            };
            out.write_all(&tar_header(&format!("{prefix}{path}"), entry, size)?)?;
            match &entry.node {
                Node::File(Content::Bytes(bytes)) => out.write_all(bytes)?,
                Node::File(Content::File(from)) => {
                    let mut from = File::open(from).with_context(|| from.display().to_string())?;
                    ensure!(std::io::copy(&mut from, &mut out)? == size, "{path} changed");
                }
                Node::Folder | Node::Link(_) => {}
            }
            let rest = usize::try_from(size)? % BLOCK;
            out.write_all(&[0; BLOCK][..(BLOCK - rest) % BLOCK])?;
        }
        out.write_all(&[0; 2 * BLOCK])?;
        Ok(out.flush()?)
    }

    /// Writes the tree as a tar archive compressed with gzip.
    pub fn write_tar_gz(&self, to: &Path, prefix: &str) -> Result<()> {
        let tar = to.with_extension("");
        self.write_tar(&tar, prefix)?;
        gzip_file(&tar)
    }
}

/// Compresses a file in its place; the result has the extension `gz` in addition.
pub fn gzip_file(path: &Path) -> Result<()> {
    // -n: without name and time.
    env::run(Command::new("gzip").args(["-n", "-f", "-6"]).arg(path))
}

fn content_size(content: &Content) -> Result<u64> {
    Ok(match content {
        Content::Bytes(bytes) => bytes.len() as u64,
        Content::File(path) => {
            std::fs::metadata(path).with_context(|| path.display().to_string())?.len()
        }
    })
}

/// Returns the header of an entry as POSIX defines it for ustar.
fn tar_header(path: &str, entry: &Entry, size: u64) -> Result<[u8; BLOCK]> {
    let (kind, link, slash) = match &entry.node {
        Node::File(_) => (b'0', "", ""),
        Node::Link(target) => (b'2', target.as_str(), ""),
        Node::Folder => (b'5', "", "/"),
    };
    let path = format!("{path}{slash}");
    let (prefix, name) = split_name(&path).with_context(|| format!("{path}: too long for tar"))?;
    ensure!(link.len() <= 100, "{link}: too long for tar");
    ensure!(size < 8 << 30, "{path}: too large for tar");
    let mut header = [0; BLOCK];
    let mut put = |at: usize, text: &str| {
        header[at..at + text.len()].copy_from_slice(text.as_bytes());
    };
    put(0, name);
    put(100, &format!("{:07o}", entry.mode));
    put(108, &format!("{:07o}", entry.owner));
    put(116, &format!("{:07o}", entry.owner));
    put(124, &format!("{size:011o}"));
    put(136, &format!("{TIME:011o}"));
    // The checksum counts as blanks while it is computed.
    put(148, "        ");
    put(157, link);
    put(257, "ustar");
    put(263, "00");
    put(345, prefix);
    header[156] = kind;
    let sum: u32 = header.iter().map(|byte| u32::from(*byte)).sum();
    header[148..156].copy_from_slice(format!("{sum:06o}\0 ").as_bytes());
    Ok(header)
}

/// Splits a path into the fields `prefix` (155 bytes) and `name` (100 bytes).
fn split_name(path: &str) -> Option<(&str, &str)> {
    if path.len() <= 100 {
        return Some(("", path));
    }
    path.match_indices('/').find_map(|(at, _)| {
        let (prefix, name) = (&path[..at], &path[at + 1..]);
        (prefix.len() <= 155 && name.len() <= 100 && !name.is_empty()).then_some((prefix, name))
    })
}

/// Writes files as an ar archive, in this order.
pub fn write_ar(to: &Path, members: &[(&str, Vec<u8>)]) -> Result<()> {
    let mut out = BufWriter::new(File::create(to).with_context(|| to.display().to_string())?);
    out.write_all(b"!<arch>\n")?;
    for (name, bytes) in members {
        let (mode, size) = ("100644", bytes.len());
        writeln!(out, "{name:<16}{TIME:<12}{:<6}{:<6}{mode:<8}{size:<10}`", 0, 0)?;
        out.write_all(bytes)?;
        if size % 2 == 1 {
            out.write_all(b"\n")?;
        }
    }
    Ok(out.flush()?)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(name: &str) -> PathBuf {
        let dir = std::env::temp_dir().join(format!("wasibox-{name}-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        dir
    }

    /// GNU tar is the authority.
    #[test]
    fn tar_reads_names_modes_owners_links_and_contents() {
        let dir = folder("tar");
        let long = format!("{}/{}", "d".repeat(90), "f".repeat(90));
        let mut tree = FileTree::default();
        tree.add_program("bin/p", Content::Bytes(vec![b'x'; 513]));
        tree.add_link("bin/q", "p");
        tree.add_folder("home/u", 0o700, 65532);
        tree.add_text(&long, "long\n");
        let tar = dir.join("a.tar");
        tree.write_tar(&tar, "w-1/").unwrap();
        let list = Command::new("tar")
            .args(["--numeric-owner", "--utc", "--full-time", "-tvf"])
            .arg(&tar)
            .env("LC_ALL", "C")
            .output()
            .unwrap();
        let read = Command::new("tar").arg("-xOf").arg(&tar).arg(format!("w-1/{long}")).output();
        std::fs::remove_dir_all(&dir).unwrap();
        assert!(list.status.success() && list.stderr.is_empty(), "{list:?}");
        let list = String::from_utf8(list.stdout).unwrap();
        let lines: Vec<String> =
            list.lines().map(|l| l.split_whitespace().collect::<Vec<_>>().join(" ")).collect();
        let date = "2026-01-01 00:00:00";
        assert_eq!(
            lines,
            [
                format!("drwxr-xr-x 0/0 0 {date} w-1/bin/"),
                format!("-rwxr-xr-x 0/0 513 {date} w-1/bin/p"),
                format!("lrwxrwxrwx 0/0 0 {date} w-1/bin/q -> p"),
                format!("drwxr-xr-x 0/0 0 {date} w-1/{}/", "d".repeat(90)),
                format!("-rw-r--r-- 0/0 5 {date} w-1/{long}"),
                format!("drwxr-xr-x 0/0 0 {date} w-1/home/"),
                format!("drwx------ 65532/65532 0 {date} w-1/home/u/"),
            ]
        );
        assert_eq!(read.unwrap().stdout, b"long\n");
    }

    #[test]
    fn names_that_do_not_fit_are_refused() {
        let path = "n".repeat(101);
        assert!(split_name(&path).is_none());
        let mut tree = FileTree::default();
        tree.add_text(&path, "");
        let dir = folder("tar-long");
        let wrong = tree.write_tar(&dir.join("a.tar"), "").unwrap_err().to_string();
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(wrong, format!("{path}: too long for tar"));
    }

    #[test]
    fn two_archives_of_one_tree_are_equal() {
        let dir = folder("tar-twice");
        let mut tree = FileTree::default();
        tree.add_text("a", "text\n");
        for name in ["a.tar.gz", "b.tar.gz"] {
            tree.write_tar_gz(&dir.join(name), "").unwrap();
        }
        let read = |name| std::fs::read(dir.join(name)).unwrap();
        let (first, second) = (read("a.tar.gz"), read("b.tar.gz"));
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(first, second);
    }
}
