//! Archives whose bytes depend only on their contents: tar (POSIX ustar), gzip and ar.
//!
//! Entries are sorted by name, belong to root unless stated otherwise, and have the date of the
//! image.

use std::collections::BTreeMap;
use std::fs::File;
use std::io::{BufWriter, Write};
use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result};

use crate::env;
use crate::key::sorted;

/// The date of all entries, 2026-01-01, which is that of the image as well.
pub const TIME: u64 = 1_767_225_600;

/// The contents of a file.
#[derive(Clone)]
pub enum Content {
    Bytes(Vec<u8>),
    File(PathBuf),
}

#[derive(Clone)]
enum EntryKind {
    Folder,
    File(Content),
    Link(String),
}

#[derive(Clone)]
struct Entry {
    kind: EntryKind,
    mode: u32,
    owner: u32,
}

/// Files, folders and links by their paths, which are relative to the archive's root.
#[derive(Clone, Default)]
pub struct FileTree(BTreeMap<String, Entry>);

impl FileTree {
    /// Adds a file with the mode 644, and the folders above it.
    pub fn add_file(&mut self, path: &str, content: Content) {
        self.add_entry(path, Entry { kind: EntryKind::File(content), mode: 0o644, owner: 0 });
    }

    /// Adds a file with text.
    pub fn add_text(&mut self, path: &str, text: &str) {
        self.add_file(path, Content::Bytes(text.as_bytes().to_vec()));
    }

    /// Adds a file with the mode 755.
    pub fn add_program(&mut self, path: &str, content: Content) {
        self.add_entry(path, Entry { kind: EntryKind::File(content), mode: 0o755, owner: 0 });
    }

    /// Adds a symbolic link.
    pub fn add_link(&mut self, path: &str, target: &str) {
        self.add_entry(path, Entry { kind: EntryKind::Link(target.into()), mode: 0o777, owner: 0 });
    }

    /// Adds a folder that belongs to a user and a group of this number.
    pub fn add_folder(&mut self, path: &str, mode: u32, owner: u32) {
        self.add_entry(path, Entry { kind: EntryKind::Folder, mode, owner });
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
            let folder = Entry { kind: EntryKind::Folder, mode: 0o755, owner: 0 };
            self.0.entry(path[..at].to_string()).or_insert(folder);
        }
        self.0.insert(path.to_string(), entry);
    }

    /// Returns the paths and sizes of the files in bytes.
    pub fn file_sizes(&self) -> Result<Vec<(String, u64)>> {
        let mut sizes = Vec::new();
        for (path, entry) in &self.0 {
            if let EntryKind::File(content) = &entry.kind {
                sizes.push((path.clone(), content_size(content)?));
            }
        }
        Ok(sizes)
    }

    /// Writes the tree as a tar archive; `prefix` precedes every name.
    pub fn write_tar(&self, to: &Path, prefix: &str) -> Result<()> {
        let out = BufWriter::new(File::create(to).with_context(|| to.display().to_string())?);
        let mut out = tar::Builder::new(out);
        for (path, entry) in &self.0 {
            let name = format!("{prefix}{path}");
            let mut header = tar::Header::new_ustar();
            header.set_mode(entry.mode);
            header.set_uid(entry.owner.into());
            header.set_gid(entry.owner.into());
            header.set_mtime(TIME);
            header.set_size(0);
            let written = match &entry.kind {
                EntryKind::Folder => {
                    header.set_entry_type(tar::EntryType::Directory);
                    out.append_data(&mut header, format!("{name}/"), std::io::empty())
                }
                EntryKind::Link(target) => {
                    header.set_entry_type(tar::EntryType::Symlink);
                    out.append_link(&mut header, &name, target)
                }
                EntryKind::File(content) => {
                    header.set_entry_type(tar::EntryType::Regular);
                    header.set_size(content_size(content)?);
                    match content {
                        Content::Bytes(bytes) => out.append_data(&mut header, &name, &bytes[..]),
                        Content::File(from) => {
                            let from =
                                File::open(from).with_context(|| from.display().to_string())?;
                            out.append_data(&mut header, &name, from)
                        }
                    }
                }
            };
            written.with_context(|| name.clone())?;
        }
        Ok(out.into_inner()?.flush()?)
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
