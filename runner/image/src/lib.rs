//! The image: one file with programs, a root file system and a manifest.
//!
//! The format is Wasmer's package format, webc v3, so that `wasmer run` and the Wasmer SDKs take
//! the same file. It contains
//! - *atoms*: WebAssembly modules (`box`, `python`),
//! - *commands*: names with the atom that implements them; the name is `argv[0]`,
//! - *volumes*: directories of the root file system, one per mount path,
//! - a manifest with versions, SHA-256 digests, licences and our own annotation
//!   ([`manifest::ManifestExtra`]) for facts that the format lacks, such as execute bits.
//!
//! # Invariants
//! - [`Image::open`] maps the file and reads only the manifest and the directory of each part:
//!   about 1 ms for any size. Hashes are checked on use: [`Image::verify`] checks everything, and a
//!   program is checked before it is compiled.
//! - Hostile bytes give [`ImageError`], never a panic or an endless loop, because the work and the
//!   memory are bounded by the image's own length.
//! - An image can also be opened from memory ([`Image::from_bytes`]), for example in a browser,
//!   where this crate builds without files and without packing.
//! - An image that is split into a catalog and parts can be loaded piece by piece ([`parts`]).
//! - The bytes do not change while the image is open, because a file that other users can write is
//!   copied.
//!
//! # Deliberately absent
//! The crate does not depend on the engine that runs the programs.
#![forbid(unsafe_code)]

#[cfg(unix)]
mod extract;
pub mod manifest;
pub mod module;
mod open;
#[cfg(unix)]
mod pack;
pub mod parts;
mod source;
mod tree;
mod walk;

#[cfg(unix)]
pub use extract::{PROGRAMS, ROOT};
pub use manifest::{License, ManifestExtra};
pub use open::{Bytes, EntryKind, Image, ImageCommand, ImageDir, ImageEntry};
#[cfg(unix)]
pub use pack::{ImageSpec, pack_image, pack_to};
pub use tree::TreeDigest;

use std::path::PathBuf;

/// The reason why an image cannot be created or used.
#[derive(Debug, thiserror::Error)]
pub enum ImageError {
    #[error("{path}: {source}")]
    Io { path: PathBuf, source: std::io::Error },
    #[error("{path}: not a Wasibox image")]
    NotAnImage { path: PathBuf },
    #[error("{path}: damaged image: {why}")]
    Damaged { path: PathBuf, why: String },
    #[error("{path}: others may change it, and its {len} bytes are too many to copy")]
    TooLarge { path: PathBuf, len: u64 },
    #[error("cannot pack: {0}")]
    Pack(String),
}
