//! `python-dist/pins.toml` as types, and what the `pins.toml` of `python-dist/science` and
//! `python-dist/full` add to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, Result, bail};
use serde::Deserialize;

/// The files that add to the first one: what the profile `science` has in addition to `data`, and
/// what only `full` has.
const SCIENCE: &str = "science/pins.toml";
const FULL: &str = "full/pins.toml";

/// The contents of `pins.toml`.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Pins {
    /// CPython's version, `3.13.x`.
    pub python: String,
    /// Packages with C parts, by their folders in `packages/`. Each comes after those that it
    /// needs.
    pub packages: Vec<String>,
    /// Pure Python packages, each with the paths that are left out of it (as in package.toml).
    pub wheels: BTreeMap<String, Vec<String>>,
    /// Files and folders of such packages that come without bytecode.
    #[serde(default)]
    pub source_only: BTreeMap<String, Vec<String>>,
    #[serde(rename = "source")]
    pub sources: Vec<Source>,
    pub cpython: Cpython,
    pub link: Link,
    profiles: Profiles,
    /// Packages in Rust.
    #[serde(skip)]
    pub rust: BTreeMap<String, Rust>,
    /// Packages and wheels that the profile `science` has besides those of `data`.
    #[serde(skip)]
    science: BTreeSet<String>,
    /// The initial memory of the profiles with these packages, in bytes.
    #[serde(skip)]
    science_memory: Option<u64>,
}

/// The additions of a larger profile. They are in a separate file, so that the results of smaller
/// profiles do not depend on them.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
struct ProfilePins {
    /// The initial memory in bytes, if that of the smaller profiles is too small for the static
    /// data.
    initial_memory: Option<u64>,
    #[serde(default)]
    packages: Vec<String>,
    #[serde(default)]
    rust: BTreeMap<String, Rust>,
    #[serde(default)]
    wheels: BTreeMap<String, Vec<String>>,
    #[serde(rename = "source")]
    sources: Vec<Source>,
}

/// A package in Rust: see `rust.rs`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Rust {
    /// The compiled module's dotted name.
    pub module: String,
    /// The folder of its sources that goes to site-packages.
    pub python: String,
}

/// The packages that an image has in addition to the standard library.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Profile {
    /// No packages.
    Core,
    /// The packages for working with data.
    Data,
    /// The packages of `Data`, and SciPy.
    Science,
    /// Everything that is pinned.
    Full,
}

impl Profile {
    /// All profiles, by name.
    pub const ALL: [(&'static str, Profile); 4] = [
        ("core", Profile::Core),
        ("data", Profile::Data),
        ("science", Profile::Science),
        ("full", Profile::Full),
    ];

    /// Returns the profile of that name.
    pub fn named(name: &str) -> Option<Profile> {
        Profile::ALL.iter().find(|(n, _)| *n == name).map(|(_, profile)| *profile)
    }

    /// Returns whether SciPy is part of the profile.
    pub fn has_science(self) -> bool {
        matches!(self, Profile::Science | Profile::Full)
    }

    /// Returns the profile's name.
    pub fn name(self) -> &'static str {
        Profile::ALL.iter().find(|(_, p)| *p == self).map_or("", |(name, _)| name)
    }
}

/// Names of packages and wheels, by profile.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Profiles {
    data: Vec<String>,
}

/// One pinned file.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Source {
    pub name: String,
    pub version: String,
    /// SHA-256 of the file as it is fetched, in hexadecimal.
    pub sha256: String,
    /// SPDX expression.
    pub licence: String,
    /// Licence texts inside the unpacked file.
    pub licence_files: Vec<String>,
    /// Compiler flags.
    #[serde(default)]
    pub flags: Vec<String>,
    /// The package that it becomes part of, if it is not a package itself.
    pub part_of: Option<String>,
    /// Whether it is only used while building, so that no part of it gets into the result.
    #[serde(default)]
    pub build_only: bool,
    /// The origins of the file, the preferred one first.
    pub origins: Vec<Origin>,
}

/// A place that a file can be fetched from.
#[derive(Debug, Deserialize)]
#[serde(tag = "kind", rename_all = "kebab-case", deny_unknown_fields)]
pub enum Origin {
    /// A path in the Debian archive, on whichever mirror apt is configured for.
    DebianPool { path: String },
    /// The upstream's own address.
    Url { url: String },
    /// The `.crate` file of a Rust crate.
    Crate { name: String, version: String },
    /// A wheel. `platform` is pip's platform tag, unless the wheel is universal. `python` is the
    /// version of Python that the wheel is for, unless it is for any version.
    Pypi { name: String, platform: Option<String>, python: Option<String> },
    /// A source archive of the Python package index.
    PypiSource { name: String },
}

/// The configuration of CPython.
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

/// The parameters for linking the module.
#[derive(Debug, Deserialize)]
#[serde(rename_all = "kebab-case", deny_unknown_fields)]
pub struct Link {
    /// Bytes of C stack.
    pub stack: u64,
    /// The initial memory in bytes.
    pub initial_memory: u64,
}

impl ProfilePins {
    /// Returns the names of its packages and wheels.
    fn package_names(&self) -> BTreeSet<String> {
        let names = self.packages.iter().chain(self.rust.keys()).chain(self.wheels.keys());
        names.cloned().collect()
    }
}

impl Pins {
    /// Reads the file and those of the larger profiles, and checks what the types cannot express.
    pub fn read(path: &Path) -> Result<Pins> {
        let text = std::fs::read_to_string(path).with_context(|| path.display().to_string())?;
        let mut pins: Pins = toml::from_str(&text).with_context(|| path.display().to_string())?;
        for name in [SCIENCE, FULL] {
            let more = path.with_file_name(name);
            let text =
                std::fs::read_to_string(&more).with_context(|| more.display().to_string())?;
            let added: ProfilePins =
                toml::from_str(&text).with_context(|| more.display().to_string())?;
            if name == SCIENCE {
                pins.science = added.package_names();
                pins.science_memory = added.initial_memory;
            }
            pins.add(added);
        }
        for source in &pins.sources {
            if source.sha256.len() != 64 || !source.sha256.bytes().all(|b| b.is_ascii_hexdigit()) {
                bail!("{}: {}: sha256 is not 64 hexadecimal digits", path.display(), source.name);
            }
            if source.origins.is_empty() {
                bail!("{}: {}: no origins", path.display(), source.name);
            }
        }
        let known = |name: &String| pins.packages.contains(name) || pins.wheels.contains_key(name);
        if let Some(name) = pins.profiles.data.iter().find(|name| !known(name)) {
            bail!("{}: the profile's {name} is neither a package nor a wheel", path.display());
        }
        if let Some(name) = pins.source_only.keys().find(|name| !pins.wheels.contains_key(*name)) {
            bail!("{}: source-only names {name}, which is no wheel", path.display());
        }
        if pins.source("cpython")?.version != pins.python {
            bail!("{}: python and the cpython source differ in version", path.display());
        }
        Ok(pins)
    }

    fn add(&mut self, added: ProfilePins) {
        self.packages.extend(added.packages);
        self.rust.extend(added.rust);
        self.wheels.extend(added.wheels);
        self.sources.extend(added.sources);
    }

    /// Sets the values that depend on the profile.
    pub fn choose(&mut self, profile: Profile) {
        if let (true, Some(bytes)) = (profile.has_science(), self.science_memory) {
            self.link.initial_memory = bytes;
        }
    }

    /// Returns whether a package or wheel is in `science` but not in `data`.
    pub fn is_science(&self, name: &str) -> bool {
        self.science.contains(name)
    }

    /// Returns whether a package or wheel is in the image of this profile.
    pub fn has(&self, profile: Profile, name: &str) -> bool {
        match profile {
            Profile::Core => false,
            Profile::Data => self.profiles.data.iter().any(|n| n == name),
            Profile::Science => self.has(Profile::Data, name) || self.is_science(name),
            Profile::Full => true,
        }
    }

    /// Returns whether any part of a source is in the image of this profile.
    pub fn ships(&self, profile: Profile, source: &Source) -> bool {
        let name = source.part_of.as_ref().unwrap_or(&source.name);
        let optional = self.packages.contains(name)
            || self.wheels.contains_key(name)
            || self.rust.contains_key(name);
        // The compiler for the other architecture is not used here, and its libc is the same.
        let here = !name.starts_with("zig-") || name.ends_with(std::env::consts::ARCH);
        here && !source.build_only && (!optional || self.has(profile, name))
    }

    /// Returns the source of that name.
    pub fn source(&self, name: &str) -> Result<&Source> {
        self.sources
            .iter()
            .find(|s| s.name == name)
            .with_context(|| format!("pins.toml has no source '{name}'"))
    }

    /// Returns the series of the version, for example `3.13` for `3.13.15`.
    pub fn series(&self) -> &str {
        self.python.rsplit_once('.').map_or(self.python.as_str(), |(series, _)| series)
    }
}
