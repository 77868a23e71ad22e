//! Hashes of the inputs that results are built from, and of the results.

use std::fs;
use std::io::Read;
use std::path::Path;

use anyhow::{Context, Result, bail};
use sha2::{Digest, Sha256};

/// A hash under construction. Parts are length-prefixed, so that different parts cannot have the
/// same concatenation.
pub struct Key(Sha256);

impl Key {
    /// Creates a key for the step of this name.
    pub fn new(name: &str) -> Key {
        let mut key = Key(Sha256::new());
        key.text(name);
        key
    }

    /// Adds bytes.
    pub fn bytes(&mut self, part: &[u8]) {
        self.0.update((part.len() as u64).to_le_bytes());
        self.0.update(part);
    }

    /// Adds text.
    pub fn text(&mut self, part: &str) {
        self.bytes(part.as_bytes());
    }

    /// Adds the names and contents of files, and of all files in folders, below `root`.
    pub fn tree(&mut self, root: &Path, names: &[&str]) -> Result<()> {
        for name in names {
            let path = root.join(name);
            if path.is_dir() {
                let inner: Vec<String> =
                    sorted(&path)?.iter().map(|child| format!("{name}/{child}")).collect();
                let inner: Vec<&str> = inner.iter().map(String::as_str).collect();
                self.tree(root, &inner)?;
            } else {
                self.text(name);
                self.bytes(&fs::read(&path).with_context(|| path.display().to_string())?);
            }
        }
        Ok(())
    }

    /// Returns the key in hexadecimal.
    pub fn finish(self) -> String {
        hex(&self.0.finalize())
    }
}

/// Returns bytes in hexadecimal.
pub fn hex(bytes: &[u8]) -> String {
    bytes.iter().map(|b| format!("{b:02x}")).collect()
}

/// Returns the SHA-256 of a file, which is read in pieces.
pub fn sha256_file(path: &Path) -> Result<String> {
    let mut file = fs::File::open(path).with_context(|| path.display().to_string())?;
    let mut sha = Sha256::new();
    let mut buffer = vec![0; 1 << 20];
    loop {
        match file.read(&mut buffer).with_context(|| path.display().to_string())? {
            0 => return Ok(hex(&sha.finalize())),
            n => sha.update(&buffer[..n]),
        }
    }
}

/// Returns the names in a folder, sorted.
pub fn sorted(dir: &Path) -> Result<Vec<String>> {
    let entries = fs::read_dir(dir).with_context(|| dir.display().to_string())?;
    let mut names = Vec::new();
    for entry in entries {
        let name = entry.with_context(|| dir.display().to_string())?.file_name();
        match name.into_string() {
            Ok(name) => names.push(name),
            Err(name) => bail!("{}: {} is not UTF-8", dir.display(), name.to_string_lossy()),
        }
    }
    names.sort();
    Ok(names)
}
