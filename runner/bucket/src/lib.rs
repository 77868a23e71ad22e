//! Objects by key: the part of S3 and its like that a store of sessions needs.
//!
//! # Stages
//! [`open_bucket`] turns an address into a [`Bucket`]: a folder ([`FolderBucket`]), or with the
//! feature `cloud` a bucket of S3, Google Cloud Storage or Azure.
//!
//! # Invariants
//! - [`Bucket::put_if`] is atomic: of several that expect the same version, one succeeds.
//! - An object that was put is seen by every later `get`, and survives a crash of the caller.
//! - Everything that is read has a bound that the caller states.
//!
//! # Deliberately absent
//! Streams and multipart uploads, because the store's objects have at most some megabytes.
#![forbid(unsafe_code)]

#[cfg(feature = "cloud")]
mod cloud;
mod folder;
#[cfg(feature = "cloud")]
mod transport;

pub use folder::FolderBucket;

use std::fmt;
use std::sync::Arc;
use std::time::SystemTime;

/// The version of an object: the text by which [`Bucket::put_if`] recognizes it (HTTP's ETag).
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Version(pub String);

/// An object as [`Bucket::get`] returns it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct BucketObject {
    pub bytes: Vec<u8>,
    pub version: Version,
}

/// A listed object.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ObjectInfo {
    pub key: String,
    /// The size in bytes.
    pub len: u64,
    /// The time of the last change, by the bucket's clock.
    pub modified: SystemTime,
}

/// The reason why a bucket could not be used.
#[derive(Debug, thiserror::Error)]
pub enum BucketError {
    /// The address is not one of a bucket that this program knows.
    #[error("{address}: {reason}")]
    Address { address: String, reason: String },
    /// The object has another version than was expected, or exists although none was expected.
    #[error("{0} was changed by somebody else")]
    Changed(String),
    #[error("{0} is missing in the bucket")]
    Missing(String),
    /// The object is larger than the caller allows.
    #[error("{0} is too large")]
    TooLarge(String),
    #[error("the bucket refuses access to {key}: {reason}")]
    Denied { key: String, reason: String },
    /// The bucket did not answer. Whether a change took effect is unknown.
    #[error("the bucket failed at {key}: {reason}")]
    Failed { key: String, reason: String },
}

/// Objects by key. Keys have letters, digits, `.`, `_`, `-` and `/` between their parts.
///
/// ```
/// use wasibox_bucket::{Bucket, BucketError, FolderBucket};
///
/// let folder = tempfile::tempdir()?;
/// let bucket = FolderBucket::open(folder.path())?;
/// let first = bucket.put_if("heads/a", b"1", None)?;
/// bucket.put_if("heads/a", b"2", Some(&first))?;
/// let late = bucket.put_if("heads/a", b"3", Some(&first));
/// assert!(matches!(late, Err(BucketError::Changed(_))));
/// assert_eq!(bucket.get("heads/a", 100)?.unwrap().bytes, b"2");
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub trait Bucket: fmt::Debug + Send + Sync {
    /// Returns the object with that key, if there is one.
    ///
    /// # Errors
    /// If it has more than `limit` bytes, or the bucket fails.
    fn get(&self, key: &str, limit: u64) -> Result<Option<BucketObject>, BucketError>;

    /// Returns `len` bytes of an object from `start` on.
    ///
    /// # Errors
    /// If there is no such object, it is shorter, or the bucket fails.
    fn get_range(&self, key: &str, start: u64, len: u64) -> Result<Vec<u8>, BucketError>;

    /// Puts an object. One of that key is replaced.
    ///
    /// # Errors
    /// If the bucket fails.
    fn put(&self, key: &str, bytes: &[u8]) -> Result<(), BucketError>;

    /// Puts an object if the present one has the version `expected`; without a version, if there is
    /// none.
    ///
    /// # Errors
    /// [`BucketError::Changed`] if it has another version. If the bucket fails, the object may have
    /// been put nevertheless.
    fn put_if(
        &self,
        key: &str,
        bytes: &[u8],
        expected: Option<&Version>,
    ) -> Result<Version, BucketError>;

    /// Returns the objects whose keys begin with `prefix`, a part of a key with its slash.
    ///
    /// # Errors
    /// If the bucket fails.
    fn list(&self, prefix: &str) -> Result<Vec<ObjectInfo>, BucketError>;

    /// Removes an object, if there is one.
    ///
    /// # Errors
    /// If the bucket fails.
    fn delete(&self, key: &str) -> Result<(), BucketError>;
}

/// Opens a bucket by its address: `file:///folder`, and with the feature `cloud` also
/// `s3://bucket/prefix`, `gs://bucket/prefix` and `az://container/prefix`. Credentials, region and
/// endpoint of the latter come from the variables of the environment that their own tools read,
/// such as `AWS_ACCESS_KEY_ID` and `AWS_ENDPOINT_URL`.
///
/// ```
/// let folder = tempfile::tempdir()?;
/// let bucket = wasibox_bucket::open_bucket(&format!("file://{}", folder.path().display()))?;
/// assert!(bucket.list("heads/")?.is_empty());
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// If the address is wrong, or a folder cannot be made.
pub fn open_bucket(address: &str) -> Result<Arc<dyn Bucket>, BucketError> {
    let wrong = |reason: &str| BucketError::Address {
        address: address.to_owned(),
        reason: reason.to_owned(),
    };
    match address.split_once("://") {
        Some(("file", path)) if path.starts_with('/') => {
            Ok(Arc::new(FolderBucket::open(path.as_ref())?))
        }
        Some(("file", _)) => Err(wrong("the path must be absolute, as in file:///srv/sessions")),
        #[cfg(feature = "cloud")]
        Some(("s3" | "gs" | "az", _)) => Ok(Arc::new(cloud::CloudBucket::open(address)?)),
        _ => Err(wrong("not the address of a bucket")),
    }
}

/// Returns whether a text is the address of a bucket rather than a path.
///
/// ```
/// assert!(wasibox_bucket::is_address("s3://bucket/sessions"));
/// assert!(!wasibox_bucket::is_address("work.wbx"));
/// ```
pub fn is_address(text: &str) -> bool {
    let schemes = ["file", "s3", "gs", "az"];
    text.split_once("://").is_some_and(|(scheme, _)| schemes.contains(&scheme))
}
