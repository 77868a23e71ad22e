//! A bucket in a folder.

use crate::{Bucket, BucketError, BucketObject, ObjectInfo, Version};
use rustix::fs::{FlockOperation, flock};
use std::fs::{self, File};
use std::io::{self, ErrorKind, Read, Seek, SeekFrom, Write};
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// A folder whose files are the objects. Processes that share it exclude each other by a lock
/// (`flock`), so a network file system must support that.
#[derive(Debug)]
pub struct FolderBucket {
    root: PathBuf,
}

/// The folder of the lock and of files that are being written. No key begins with a dot.
const OWN: &str = ".bucket";

impl FolderBucket {
    /// Opens a folder, which is made if it does not exist.
    ///
    /// ```
    /// let folder = tempfile::tempdir()?;
    /// wasibox_bucket::FolderBucket::open(&folder.path().join("new"))?;
    /// # Ok::<(), Box<dyn std::error::Error>>(())
    /// ```
    ///
    /// # Errors
    /// If it cannot be made.
    pub fn open(root: &Path) -> Result<FolderBucket, BucketError> {
        fs::create_dir_all(root.join(OWN)).map_err(|e| BucketError::Address {
            address: root.display().to_string(),
            reason: e.to_string(),
        })?;
        Ok(FolderBucket { root: root.to_path_buf() })
    }

    fn path(&self, key: &str) -> Result<PathBuf, BucketError> {
        let is_part = |part: &str| {
            !part.is_empty()
                && !part.starts_with('.')
                && part.bytes().all(|b| b.is_ascii_alphanumeric() || b"._-".contains(&b))
        };
        if key.split('/').all(is_part) {
            return Ok(self.root.join(key));
        }
        Err(BucketError::Failed { key: key.to_owned(), reason: "not a key".to_owned() })
    }

    /// Locks the bucket against changes by others until the file is dropped.
    fn lock(&self) -> io::Result<File> {
        let path = self.root.join(OWN).join("lock");
        let file = File::options().create(true).truncate(false).write(true).open(path)?;
        flock(&file, FlockOperation::LockExclusive)?;
        Ok(file)
    }

    /// Replaces a file at once: another process sees the old bytes or the new ones.
    fn replace(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        let folder = path.parent().unwrap_or(&self.root);
        fs::create_dir_all(folder)?;
        let mut file = tempfile::NamedTempFile::new_in(self.root.join(OWN))?;
        file.write_all(bytes)?;
        file.as_file().sync_data()?;
        file.persist(path)?;
        File::open(folder)?.sync_all()
    }
}

/// Returns the version of an object with these bytes.
fn version_of(bytes: &[u8]) -> Version {
    Version(blake3::hash(bytes).to_hex().to_string())
}

fn failed(key: &str, e: &io::Error) -> BucketError {
    let (key, reason) = (key.to_owned(), e.to_string());
    match e.kind() {
        ErrorKind::NotFound => BucketError::Missing(key),
        ErrorKind::PermissionDenied => BucketError::Denied { key, reason },
        _ => BucketError::Failed { key, reason },
    }
}

fn read_file(path: &Path, limit: u64) -> io::Result<Option<Vec<u8>>> {
    let file = match File::open(path) {
        Err(e) if e.kind() == ErrorKind::NotFound => return Ok(None),
        file => file?,
    };
    let mut bytes = Vec::new();
    file.take(limit.saturating_add(1)).read_to_end(&mut bytes)?;
    Ok(Some(bytes))
}

impl Bucket for FolderBucket {
    fn get(&self, key: &str, limit: u64) -> Result<Option<BucketObject>, BucketError> {
        let bytes = read_file(&self.path(key)?, limit).map_err(|e| failed(key, &e))?;
        match bytes {
            Some(bytes) if bytes.len() as u64 > limit => Err(BucketError::TooLarge(key.to_owned())),
            Some(bytes) => Ok(Some(BucketObject { version: version_of(&bytes), bytes })),
            None => Ok(None),
        }
    }

    fn get_range(&self, key: &str, start: u64, len: u64) -> Result<Vec<u8>, BucketError> {
        let read = || {
            let mut file = File::open(self.path(key).map_err(io::Error::other)?)?;
            file.seek(SeekFrom::Start(start))?;
            let mut bytes = Vec::new();
            file.take(len).read_to_end(&mut bytes)?;
            if bytes.len() as u64 == len { Ok(bytes) } else { Err(ErrorKind::UnexpectedEof.into()) }
        };
        read().map_err(|e| failed(key, &e))
    }

    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), BucketError> {
        self.replace(&self.path(key)?, bytes).map_err(|e| failed(key, &e))
    }

    fn put_if(
        &self,
        key: &str,
        bytes: &[u8],
        expected: Option<&Version>,
    ) -> Result<Version, BucketError> {
        let path = self.path(key)?;
        let put = || {
            let _alone = self.lock()?;
            let present = read_file(&path, u64::MAX - 1)?.map(|bytes| version_of(&bytes));
            if present.as_ref() != expected {
                return Ok(None);
            }
            self.replace(&path, bytes)?;
            Ok(Some(version_of(bytes)))
        };
        let put: io::Result<_> = put();
        put.map_err(|e| failed(key, &e))?.ok_or_else(|| BucketError::Changed(key.to_owned()))
    }

    fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, BucketError> {
        let folder = prefix.trim_end_matches('/');
        let root = self.path(folder)?;
        let list = || {
            let mut found = Vec::new();
            let mut todo = vec![(root, format!("{folder}/"))];
            while let Some((dir, before)) = todo.pop() {
                let entries = match fs::read_dir(&dir) {
                    Err(e) if e.kind() == ErrorKind::NotFound => continue,
                    entries => entries?,
                };
                for entry in entries {
                    let entry = entry?;
                    let Ok(name) = entry.file_name().into_string() else { continue };
                    let key = format!("{before}{name}");
                    // A file may have been removed since.
                    let Ok(facts) = entry.metadata() else { continue };
                    if facts.is_dir() {
                        todo.push((entry.path(), format!("{key}/")));
                    } else {
                        let modified = facts.modified().unwrap_or(SystemTime::UNIX_EPOCH);
                        found.push(ObjectInfo { key, len: facts.len(), modified });
                    }
                }
            }
            found.sort_by(|a: &ObjectInfo, b| a.key.cmp(&b.key));
            Ok(found)
        };
        let list: io::Result<_> = list();
        list.map_err(|e| failed(prefix, &e))
    }

    fn delete(&self, key: &str) -> Result<(), BucketError> {
        match fs::remove_file(self.path(key)?) {
            Err(e) if e.kind() != ErrorKind::NotFound => Err(failed(key, &e)),
            _ => Ok(()),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn one_of_many_changes_succeeds() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = FolderBucket::open(folder.path()).unwrap();
        let first = bucket.put_if("a/b", b"0", None).unwrap();
        let won: usize = std::thread::scope(|threads| {
            let all: Vec<_> = (0..8_u8)
                .map(|n| {
                    let (bucket, first) = (&bucket, &first);
                    threads.spawn(move || bucket.put_if("a/b", &[b'1', n], Some(first)).is_ok())
                })
                .collect();
            all.into_iter().map(|one| usize::from(one.join().unwrap())).sum()
        });
        assert_eq!(won, 1);
        assert!(matches!(bucket.put_if("a/b", b"x", None), Err(BucketError::Changed(_))));
        assert_eq!(bucket.list("a/").unwrap().len(), 1);
        bucket.delete("a/b").unwrap();
        bucket.delete("a/b").unwrap();
        assert_eq!(bucket.get("a/b", 10).unwrap(), None);
    }

    #[test]
    fn keys_stay_in_the_folder() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = FolderBucket::open(folder.path()).unwrap();
        for key in ["", "/etc/passwd", "../x", "a/../x", "a//b", ".bucket/lock", "a/.b", "a\0b"] {
            assert!(bucket.put(key, b"x").is_err(), "{key}");
            assert!(bucket.get(key, 9).is_err(), "{key}");
            assert!(bucket.delete(key).is_err(), "{key}");
        }
    }

    #[test]
    fn sizes_are_bounded() {
        let folder = tempfile::tempdir().unwrap();
        let bucket = FolderBucket::open(folder.path()).unwrap();
        bucket.put("a", b"12345").unwrap();
        assert!(matches!(bucket.get("a", 4), Err(BucketError::TooLarge(_))));
        assert_eq!(bucket.get_range("a", 1, 3).unwrap(), b"234");
        assert!(bucket.get_range("a", 3, 3).is_err());
        assert!(matches!(bucket.get_range("b", 0, 1), Err(BucketError::Missing(_))));
    }
}
