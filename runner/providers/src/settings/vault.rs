//! Keys at rest: encrypted with age to an identity in a file of its own, which only its owner may
//! read. A copy of the settings without that file gives no key.

use age::secrecy::ExposeSecret;
use age::x25519::Identity;
use std::fs::{File, OpenOptions};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};
use zeroize::Zeroizing;

/// The maximum number of bytes of an identity's file.
const MAX_FILE: u64 = 4096;

/// The reason why a key cannot be kept or used.
#[derive(Debug, thiserror::Error)]
pub enum VaultError {
    #[error("{path}: {source}")]
    File { path: PathBuf, source: std::io::Error },
    #[error(
        "{0} does not exist, and without it the keys in the settings cannot be read; set them again"
    )]
    Missing(PathBuf),
    #[error("{0} may be read by others than its owner; change that (chmod 600)")]
    Open(PathBuf),
    #[error("{0} has no identity of age")]
    Identity(PathBuf),
    #[error("a key in the settings was not encrypted for {0}; set it again")]
    Key(PathBuf),
    #[error("encrypting a key failed")]
    Encrypt,
}

/// The file of the identity.
#[derive(Clone, Debug)]
pub struct KeyVault {
    path: PathBuf,
}

impl KeyVault {
    /// Names the file, which is made with the first key.
    pub fn new(path: PathBuf) -> KeyVault {
        KeyVault { path }
    }

    /// Encrypts a key.
    ///
    /// # Errors
    /// Returns an error if the identity cannot be read or made.
    pub fn lock_key(&self, key: &str) -> Result<String, VaultError> {
        let identity = match self.read_identity() {
            Err(VaultError::Missing(_)) => self.make_identity()?,
            other => other?,
        };
        age::encrypt_and_armor(&identity.to_public(), key.as_bytes())
            .map_err(|_| VaultError::Encrypt)
    }

    /// Decrypts a key.
    ///
    /// # Errors
    /// Returns an error if the identity cannot be read, or the key was encrypted for another one.
    pub fn open_key(&self, locked: &str) -> Result<Zeroizing<String>, VaultError> {
        let identity = self.read_identity()?;
        let failed = || VaultError::Key(self.path.clone());
        let bytes = age::decrypt(&identity, locked.trim().as_bytes()).map_err(|_| failed())?;
        let bytes = Zeroizing::new(bytes);
        let text = std::str::from_utf8(&bytes).map_err(|_| failed())?;
        Ok(Zeroizing::new(text.to_owned()))
    }

    fn read_identity(&self) -> Result<Identity, VaultError> {
        let file = File::open(&self.path).map_err(|source| match source.kind() {
            ErrorKind::NotFound => VaultError::Missing(self.path.clone()),
            _ => self.failed(source),
        })?;
        if is_open_to_others(&file).map_err(|source| self.failed(source))? {
            return Err(VaultError::Open(self.path.clone()));
        }
        let mut text = Zeroizing::new(String::new());
        file.take(MAX_FILE).read_to_string(&mut text).map_err(|source| self.failed(source))?;
        let line = text.lines().map(str::trim).find(|line| line.starts_with("AGE-SECRET-KEY-"));
        line.and_then(|line| line.parse().ok())
            .ok_or_else(|| VaultError::Identity(self.path.clone()))
    }

    fn make_identity(&self) -> Result<Identity, VaultError> {
        let identity = Identity::generate();
        let mut options = OpenOptions::new();
        options.write(true).create_new(true);
        #[cfg(unix)]
        std::os::unix::fs::OpenOptionsExt::mode(&mut options, 0o600);
        let secret = identity.to_string();
        let write = || {
            let mut file = options.open(&self.path)?;
            writeln!(file, "# The identity for the keys in the tools' settings (age).")?;
            writeln!(file, "# public key: {}", identity.to_public())?;
            writeln!(file, "{}", secret.expose_secret())?;
            file.sync_all()
        };
        match write() {
            Ok(()) => Ok(identity),
            // Another program has made it meanwhile.
            Err(e) if e.kind() == ErrorKind::AlreadyExists => self.read_identity(),
            Err(source) => Err(self.failed(source)),
        }
    }

    fn failed(&self, source: std::io::Error) -> VaultError {
        VaultError::File { path: self.path.clone(), source }
    }

    /// Returns the file's path.
    pub fn path(&self) -> &Path {
        &self.path
    }
}

/// Returns whether others than a file's owner may read it.
#[cfg(unix)]
fn is_open_to_others(file: &File) -> std::io::Result<bool> {
    Ok(std::os::unix::fs::MetadataExt::mode(&file.metadata()?) & 0o077 != 0)
}

/// Elsewhere the folder of the user's settings protects the file.
#[cfg(not(unix))]
fn is_open_to_others(_: &File) -> std::io::Result<bool> {
    Ok(false)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn keys_come_back_and_only_with_their_identity() {
        let dir = tempfile::tempdir().unwrap();
        let vault = KeyVault::new(dir.path().join("tools.key"));
        let locked = vault.lock_key("sk-0123456789").unwrap();
        assert!(locked.starts_with("-----BEGIN AGE ENCRYPTED FILE-----"));
        assert!(!locked.contains("0123456789"));
        assert_eq!(*vault.open_key(&locked).unwrap(), "sk-0123456789");
        let other = KeyVault::new(dir.path().join("other.key"));
        assert!(matches!(other.open_key(&locked), Err(VaultError::Missing(_))));
        other.lock_key("sk-9876543210").unwrap();
        assert!(matches!(other.open_key(&locked), Err(VaultError::Key(_))));
    }

    #[cfg(unix)]
    #[test]
    fn the_identity_is_its_owners_alone() {
        use std::os::unix::fs::PermissionsExt;
        let dir = tempfile::tempdir().unwrap();
        let vault = KeyVault::new(dir.path().join("tools.key"));
        let locked = vault.lock_key("sk-0123456789").unwrap();
        let mode = std::fs::metadata(vault.path()).unwrap().permissions().mode();
        assert_eq!(mode & 0o777, 0o600);
        let open = std::fs::Permissions::from_mode(0o640);
        std::fs::set_permissions(vault.path(), open).unwrap();
        assert!(matches!(vault.open_key(&locked), Err(VaultError::Open(_))));
        assert!(matches!(vault.lock_key("sk-0123456789"), Err(VaultError::Open(_))));
    }
}
