//! `python-dist/pins.toml` as types.

use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The whole file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Pins {
    /// CPython's version, `3.13.x`.
    pub python: String,
    #[serde(rename = "source")]
    pub sources: Vec<Source>,
    pub cpython: Cpython,
    pub link: Link,
}

/// One pinned file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Source {
    pub name: String,
    pub version: String,
    /// Of the file as it is fetched, hexadecimal.
    pub sha256: String,
    /// SPDX expression.
    pub licence: String,
    /// Licence texts inside the unpacked file.
    pub licence_files: Vec<String>,
    /// Compiler flags.
    #[serde(default)]
    pub flags: Vec<String>,
    /// Where it may come from, best first.
    pub origins: Vec<Origin>,
}

/// A place a file can be fetched from.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Origin {
    /// A path in the Debian archive, on whichever mirror apt is configured for.
    DebianPool { path: String },
    /// The upstream's own address.
    Url { url: String },
    /// The `.crate` file of a Rust crate.
    Crate { name: String, version: String },
    /// A wheel; `platform` is pip's platform tag where the wheel is not universal.
    Pypi { name: String, platform: Option<String> },
}

/// How CPython is configured.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Cpython {
    /// The optimisation level of the wasm build.
    pub optimise: String,
    /// Arguments of configure.
    pub configure: Vec<String>,
    /// Answers to configure's checks, `name=value`.
    pub cache: Vec<String>,
}

/// How the module is linked.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Link {
    /// Bytes of C stack.
    pub stack: u64,
    /// Bytes of memory at start.
    pub initial_memory: u64,
}

impl Pins {
    /// Reads the file and checks what types cannot.
    pub fn read(path: &Path) -> Result<Pins> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let pins: Pins = toml::from_str(&text).with_context(|| path.display().to_string())?;
        for source in &pins.sources {
            if source.sha256.len() != 64 || !source.sha256.bytes().all(|b| b.is_ascii_hexdigit()) {
                bail!("{}: {}: sha256 is not 64 hexadecimal digits", path.display(), source.name);
            }
            if source.origins.is_empty() {
                bail!("{}: {}: no origins", path.display(), source.name);
            }
        }
        if pins.source("cpython")?.version != pins.python {
            bail!("{}: python and the cpython source differ in version", path.display());
        }
        Ok(pins)
    }

    /// A source by name.
    pub fn source(&self, name: &str) -> Result<&Source> {
        self.sources
            .iter()
            .find(|s| s.name == name)
            .with_context(|| format!("pins.toml has no source '{name}'"))
    }

    /// `3.13` of `3.13.15`.
    pub fn series(&self) -> &str {
        self.python.rsplit_once('.').map_or(self.python.as_str(), |(series, _)| series)
    }
}
