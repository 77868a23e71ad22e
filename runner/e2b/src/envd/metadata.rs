//! Metadata of uploaded files, kept with the session. Files here have no attributes of their own,
//! so it belongs to a path, and follows it when a client moves or removes the file.

use crate::fault::Fault;
use axum::http::HeaderMap;
use std::collections::{BTreeMap, HashMap};
use std::sync::Mutex;
use wasibox::{Session, lock_mutex};

/// The key-value that has it.
const KEY: &[u8] = b"wasibox.e2b.files";
/// The beginning of the headers with metadata.
const HEADER: &str = "x-metadata-";
/// The maximum bytes of all metadata of a sandbox, and the maximum number of keys of a file.
const BYTES: usize = 1 << 20;
const KEYS: usize = 64;

type MetadataMap = BTreeMap<String, BTreeMap<String, String>>;

/// The metadata of a sandbox's files, by path.
pub struct FileMetadata(Mutex<MetadataMap>);

impl FileMetadata {
    /// Reads the metadata that are kept with a session.
    ///
    /// # Errors
    /// If the store cannot be read.
    pub fn load(session: &Session) -> Result<FileMetadata, Fault> {
        let kept = session.value(KEY)?;
        let all = kept.and_then(|kept| serde_json::from_slice(&kept).ok()).unwrap_or_default();
        Ok(FileMetadata(Mutex::new(all)))
    }

    /// Returns the metadata of a file.
    pub fn of(&self, path: &str) -> HashMap<String, String> {
        let all = lock_mutex(&self.0);
        all.get(path)
            .map(|of| of.iter().map(|(k, v)| (k.clone(), v.clone())).collect())
            .unwrap_or_default()
    }

    /// Replaces the metadata of a file.
    ///
    /// # Errors
    /// If there is too much of it, or it cannot be kept.
    pub fn set(
        &self,
        session: &Session,
        path: &str,
        of: &BTreeMap<String, String>,
    ) -> Result<(), Fault> {
        self.change(session, |all| {
            all.remove(path);
            if !of.is_empty() {
                all.insert(path.to_owned(), of.clone());
            }
        })
    }

    /// Lets metadata follow a file, or the files in a directory.
    ///
    /// # Errors
    /// If it cannot be kept.
    pub fn move_path(&self, session: &Session, from: &str, to: &str) -> Result<(), Fault> {
        self.change(session, |all| {
            let moved: Vec<String> =
                all.keys().filter(|path| is_below(path, from)).cloned().collect();
            all.retain(|path, _| !is_below(path, to));
            for path in moved {
                if let Some(of) = all.remove(&path) {
                    all.insert(format!("{to}{}", &path[from.len()..]), of);
                }
            }
        })
    }

    /// Removes the metadata of a file, or of the files in a directory.
    ///
    /// # Errors
    /// If the change cannot be kept.
    pub fn forget_path(&self, session: &Session, path: &str) -> Result<(), Fault> {
        self.change(session, |all| all.retain(|of, _| !is_below(of, path)))
    }

    fn change(&self, session: &Session, act: impl FnOnce(&mut MetadataMap)) -> Result<(), Fault> {
        let mut all = lock_mutex(&self.0);
        let mut new = all.clone();
        act(&mut new);
        if new == *all {
            return Ok(());
        }
        let bytes = serde_json::to_vec(&new).map_err(|_| Fault::internal())?;
        if bytes.len() > BYTES {
            return Err(Fault::invalid(format!(
                "the metadata of all files has at most {BYTES} bytes"
            )));
        }
        session.set_value(KEY, &bytes)?;
        *all = new;
        Ok(())
    }
}

fn is_below(path: &str, top: &str) -> bool {
    path.strip_prefix(top).is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
}

/// Returns the metadata in a request's headers.
///
/// # Errors
/// If there is too much of it, or a value is not printable ASCII.
pub fn header_metadata(headers: &HeaderMap) -> Result<BTreeMap<String, String>, Fault> {
    let mut all = BTreeMap::new();
    for (name, value) in headers {
        let Some(key) = name.as_str().strip_prefix(HEADER).filter(|key| !key.is_empty()) else {
            continue;
        };
        let value = value.to_str().map_err(|_| {
            Fault::invalid(format!("invalid metadata: the value of '{key}' is not printable ASCII"))
        })?;
        all.entry(key.to_owned()).or_insert_with(|| value.to_owned());
    }
    if all.len() > KEYS {
        return Err(Fault::invalid(format!("invalid metadata: more than {KEYS} keys")));
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn paths_below_a_folder_are_whole_parts() {
        assert!(is_below("/a/b", "/a") && is_below("/a", "/a"));
        assert!(!is_below("/ab", "/a") && !is_below("/", "/a"));
    }
}
