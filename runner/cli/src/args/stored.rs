//! The options for store and image; `snapshot ...` and `kv ...`.

use crate::{CliFailure, installed};
use clap::builder::{OsStringValueParser, TypedValueParser};
use clap::{Args, Subcommand, ValueEnum};
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use wasibox::store::{Store, is_address};

/// Returns a parser of paths that accepts an empty path, because a variable may be set to an empty
/// string.
fn path() -> impl TypedValueParser<Value = PathBuf> {
    OsStringValueParser::new().map(PathBuf::from)
}

// The path of the store.
#[derive(Args)]
pub struct StoreArg {
    /// The store of sessions: a file, or the address of a bucket, such as s3://NAME/PREFIX
    #[arg(long, value_name = "FILE", env = "WASIBOX_STORE", hide_env_values = true, value_parser = path())]
    pub store: Option<PathBuf>,
}

impl StoreArg {
    /// Returns the path.
    ///
    /// # Errors
    /// If no store is named.
    pub fn path(&self) -> Result<&PathBuf, CliFailure> {
        let named = self.store.as_ref().filter(|p| !p.as_os_str().is_empty());
        named.ok_or_else(|| {
            CliFailure::usage("a store is missing: name it with --store or in WASIBOX_STORE")
        })
    }

    /// Opens the store, which must exist.
    ///
    /// # Errors
    /// If the store does not exist or cannot be opened.
    pub fn open(&self) -> Result<Store, CliFailure> {
        let path = self.path()?;
        let is_bucket = path.to_str().is_some_and(is_address);
        if !is_bucket && !path.exists() {
            return Err(CliFailure::new(125, format!("{}: no such store", path.display())));
        }
        self.open_or_make()
    }

    /// Opens the store, or creates it if it does not exist.
    ///
    /// # Errors
    /// If it cannot be opened or made.
    pub fn open_or_make(&self) -> Result<Store, CliFailure> {
        let path = self.path()?;
        Store::open(path).map_err(|e| {
            let text = e.to_string();
            let named = text.contains(&*path.to_string_lossy());
            let text = if named { text } else { format!("{}: {text}", path.display()) };
            CliFailure::new(125, text)
        })
    }
}

// The path of the image.
#[derive(Args)]
pub struct ImageArg {
    /// The image (default: image.webc beside this program, or the image of its package)
    #[arg(long, value_name = "FILE", env = "WASIBOX_IMAGE", hide_env_values = true, value_parser = path())]
    pub image: Option<PathBuf>,
}

impl ImageArg {
    /// Returns the path.
    ///
    /// # Errors
    /// If no image is named and none came with this program, or if the image that came with it
    /// cannot be unpacked.
    pub fn path(&self) -> Result<PathBuf, CliFailure> {
        self.find()?.ok_or_else(|| {
            CliFailure::usage("an image is missing: name it with --image or in WASIBOX_IMAGE")
        })
    }

    /// Returns the path, if there is one.
    ///
    /// # Errors
    /// If the image that came with this program cannot be unpacked.
    pub fn find(&self) -> Result<Option<PathBuf>, CliFailure> {
        if let Some(path) = self.image.as_ref().filter(|p| !p.as_os_str().is_empty()) {
            return Ok(Some(path.clone()));
        }
        let own = std::env::current_exe().ok();
        let beside = own.as_deref().and_then(Path::parent).map(|dir| dir.join("image.webc"));
        match beside.filter(|path| path.is_file()) {
            Some(path) => Ok(Some(path)),
            None => installed::packaged_image(),
        }
    }
}

// The image that a command works on, which may also be given as an argument.
#[derive(Args)]
pub struct ImageFileArg {
    #[command(flatten)]
    named: ImageArg,
    /// The image, as with --image
    #[arg(value_name = "IMAGE")]
    file: Option<PathBuf>,
}

impl ImageFileArg {
    /// Returns the image's path.
    ///
    /// # Errors
    /// The same as [`ImageArg::path`].
    pub fn path(&self) -> Result<PathBuf, CliFailure> {
        self.file.clone().map_or_else(|| self.named.path(), Ok)
    }
}

/// The format of a snapshot.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum SnapshotFormat {
    /// The whole session, which can be imported again
    Wbs,
    /// Its files alone, as tar in a Zstandard frame
    #[value(name = "tar.zst")]
    TarZst,
    /// Its files alone, as zip
    Zip,
}

#[derive(Subcommand)]
#[command(about = "Write a session as one file, or take one in")]
pub enum SnapshotCommand {
    /// Write a session, or its files, as one file
    #[command(after_help = "Examples:\n  runner snapshot export --store work.wbx a a.wbs\n  \
        runner snapshot export --store work.wbx --history a - | ssh host runner snapshot import --store w.wbx --name a -\n  \
        runner snapshot export --store work.wbx a files.zip")]
    Export {
        #[command(flatten)]
        store: StoreArg,
        #[command(flatten)]
        image: ImageArg,
        /// Include the whole history, not only the present state
        #[arg(long)]
        history: bool,
        /// The format; by default that of the suffix of FILE, or wbs
        #[arg(long, value_enum, value_name = "wbs|tar.zst|zip", hide_possible_values = true)]
        format: Option<SnapshotFormat>,
        /// The session
        #[arg(value_name = "NAME")]
        name: String,
        /// The file, or - for standard output
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
    /// Make a session from a snapshot (.wbs); it grants nothing
    #[command(after_help = "Example:\n  runner snapshot import --store other.wbx --name b a.wbs")]
    Import {
        #[command(flatten)]
        store: StoreArg,
        /// The session's name; by default that of FILE
        #[arg(long, value_name = "NAME")]
        name: Option<String>,
        /// The file, or - for standard input
        #[arg(value_name = "FILE")]
        file: PathBuf,
    },
}

#[derive(Subcommand)]
#[command(about = "Key-values of a session")]
pub enum KvCommand {
    /// Print a value; status 1 if there is none
    Get {
        #[command(flatten)]
        store: StoreArg,
        /// The session
        #[arg(value_name = "NAME")]
        name: String,
        /// The key
        #[arg(value_name = "KEY")]
        key: OsString,
    },
    /// Set a value
    #[command(after_help = "Examples:\n  runner kv set --store work.wbx a key value\n  \
        runner kv set --store work.wbx a picture - < picture.png")]
    Set {
        #[command(flatten)]
        store: StoreArg,
        /// The session
        #[arg(value_name = "NAME")]
        name: String,
        /// The key
        #[arg(value_name = "KEY")]
        key: OsString,
        /// The value, or - for standard input
        #[arg(value_name = "VALUE")]
        value: OsString,
    },
    /// Print all keys
    List {
        #[command(flatten)]
        store: StoreArg,
        /// Print a JSON list
        #[arg(long)]
        json: bool,
        /// The session
        #[arg(value_name = "NAME")]
        name: String,
    },
    /// Remove a value; status 1 if there is none
    Delete {
        #[command(flatten)]
        store: StoreArg,
        /// The session
        #[arg(value_name = "NAME")]
        name: String,
        /// The key
        #[arg(value_name = "KEY")]
        key: OsString,
    },
}
