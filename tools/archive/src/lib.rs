//! Archives and compression: `tar`, `cpio`, `zip`, and `gzip` with its relatives.
//!
//! | file | contents |
//! |---|---|
//! | `codec` | one reader and one writer for gzip, bzip2, xz and zstd streams |
//! | `compress` | `gzip gunzip zcat bzip2 bunzip2 bzcat xz unxz xzcat zstd unzstd zstdcat` |
//! | `cpio` | `cpio`; see its own table |
//! | `zip` | `zip`, `unzip`, `zipinfo`; see its own table |
//! | `tar` | `tar`; see its own table |
//!
//! Compression comes from libraries. The archive formats are read and written here, because their
//! names are bytes and their headers are printed. Names, messages and rules follow GNU tar 1.34 and
//! gzip 1.12.
#![forbid(unsafe_code)]

mod codec;
mod compress;
mod cpio;
mod tar;
mod zip;

use box_applet::Applet;

/// The applets of this crate, sorted by name.
pub const APPLETS: &[Applet] = &[
    Applet::new("bunzip2", compress::run, "decompress bzip2 files"),
    Applet::new("bzcat", compress::run, "print bzip2 files decompressed"),
    Applet::new("bzip2", compress::run, "compress files with bzip2"),
    Applet::new("cpio", cpio::run, "copy files into and out of archives"),
    Applet::new("gunzip", compress::run, "decompress gzip files"),
    Applet::new("gzip", compress::run, "compress files with gzip"),
    Applet::new("tar", tar::run, "create, list and extract archives"),
    Applet::new("unxz", compress::run, "decompress xz files"),
    Applet::new("unzstd", compress::run, "decompress zstd files"),
    Applet::new("unzip", zip::run_unzip, "list, test and extract ZIP archives"),
    Applet::new("xz", compress::run, "compress files with xz"),
    Applet::new("xzcat", compress::run, "print xz files decompressed"),
    Applet::new("zcat", compress::run, "print gzip files decompressed"),
    Applet::new("zip", zip::zip, "package files into ZIP archives"),
    Applet::new("zipinfo", zip::run_zipinfo, "list ZIP archives in detail"),
    Applet::new("zstd", compress::run, "compress files with zstd"),
    Applet::new("zstdcat", compress::run, "print zstd files decompressed"),
];
