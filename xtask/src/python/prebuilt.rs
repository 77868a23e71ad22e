//! The recipe's result as an archive in the checkout, which saves compiling it.
//!
//! `python-dist/prebuilt/PROFILE.tar.xz` holds a finished folder (see `finish`), and `PROFILE.toml`
//! says which: the archive's SHA-256, and the hash of the recipe that made it. An archive of
//! another recipe is not used. It is an error if the archive's digest differs from the recorded
//! one. The unpacked files are checked again, one by one, against the sums in the archive.
//!
//! The recipe's hash does not depend on the architecture, because the result is for the guest.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail, ensure};
use serde::{Deserialize, Serialize};

use super::finish;
use super::pins::Profile;
use super::workshop::sha256_file;

/// The maximum size of an archive in bytes. It is limited because the repository's history keeps
/// every archive.
const MOST_BYTES: u64 = 50_000_000;

/// The compressor. Its window holds the whole archive, because pip and setuptools contain copies of
/// other packages.
const XZ: &str = "xz -T1 --lzma2=preset=9e,dict=256MiB";

/// The date of all files in an archive. It is fixed so that equal inputs give equal archives.
const DATE: &str = "@1767225600";

/// The record of an archive.
#[derive(Debug, Deserialize, Serialize)]
#[serde(deny_unknown_fields)]
struct ArchiveRecord {
    /// Hash of the recipe.
    recipe: String,
    /// SHA-256 of the archive.
    sha256: String,
}

/// The archive of a profile.
pub struct Prebuilt {
    dir: PathBuf,
    name: &'static str,
}

impl Prebuilt {
    /// Returns the profile's archive in the recipe's folder, whether it exists or not.
    pub fn for_profile(recipe: &Path, profile: Profile) -> Prebuilt {
        Prebuilt { dir: recipe.join("prebuilt"), name: profile.name() }
    }

    fn archive(&self) -> PathBuf {
        self.dir.join(format!("{}.tar.xz", self.name))
    }

    fn record(&self) -> Result<Option<ArchiveRecord>> {
        let file = self.dir.join(format!("{}.toml", self.name));
        if !file.is_file() {
            return Ok(None);
        }
        let text = fs::read_to_string(&file).with_context(|| file.display().to_string())?;
        toml::from_str(&text).map(Some).with_context(|| file.display().to_string())
    }

    /// Unpacks the archive to `dist` if it is of this recipe. Returns whether it was.
    ///
    /// # Errors
    /// If the archive differs from its record.
    pub fn unpack(&self, recipe: &str, dist: &Path, say: &mut dyn FnMut(&str)) -> Result<bool> {
        let Some(record) = self.record()? else { return Ok(false) };
        if record.recipe != recipe {
            say(&format!(
                "python: the prebuilt archive is of another recipe ({:.8}, this is {recipe:.8}): \
                 building from sources",
                record.recipe
            ));
            return Ok(false);
        }
        let archive = self.archive();
        let got = sha256_file(&archive)?;
        ensure!(
            got == record.sha256,
            "{}: expected {}, got {got}; get it anew, or build with --from-source",
            archive.display(),
            record.sha256
        );
        let part = dist.with_extension("part");
        for old in [part.as_path(), dist] {
            if old.exists() {
                fs::remove_dir_all(old).with_context(|| old.display().to_string())?;
            }
        }
        fs::create_dir_all(&part).with_context(|| part.display().to_string())?;
        run(Command::new("tar").arg("-xJf").arg(&archive).arg("-C").arg(&part))?;
        ensure!(finish::check(&part)?, "{}: no finished build", archive.display());
        fs::rename(&part, dist).with_context(|| dist.display().to_string())?;
        say(&format!("python: unpacked {} ({:.8})", archive.display(), record.sha256));
        Ok(true)
    }

    /// Returns whether the archive exists and is of this recipe.
    pub fn is_of(&self, recipe: &str) -> Result<bool> {
        Ok(self.record()?.is_some_and(|record| record.recipe == recipe))
    }

    /// Removes the archive's record, so that the next build is not compared with the archive.
    pub fn forget(&self) -> Result<()> {
        let record = self.dir.join(format!("{}.toml", self.name));
        if record.exists() {
            fs::remove_file(&record).with_context(|| record.display().to_string())?;
        }
        Ok(())
    }

    /// Makes the archive of a finished build.
    pub fn write(&self, recipe: &str, dist: &Path) -> Result<PathBuf> {
        fs::create_dir_all(&self.dir).with_context(|| self.dir.display().to_string())?;
        let archive = self.archive();
        let mut tar = Command::new("tar");
        tar.args(["--create", "--sort=name", "--format=gnu", "--owner=0", "--group=0"]);
        tar.args(["--numeric-owner", "--mode=u=rwX,go=rX", "--mtime", DATE, "-C"]).arg(dist);
        tar.args(["--use-compress-program", XZ, "--file"]).arg(&archive);
        run(tar.args(["SHA256SUMS", "licences", "python.wasm", "root"]))?;
        let size = fs::metadata(&archive).with_context(|| archive.display().to_string())?.len();
        ensure!(size <= MOST_BYTES, "{}: {size} bytes are too many", archive.display());
        let record = ArchiveRecord { recipe: recipe.to_string(), sha256: sha256_file(&archive)? };
        let text = toml::to_string(&record).context("the archive's record")?;
        let file = self.dir.join(format!("{}.toml", self.name));
        fs::write(&file, text).with_context(|| file.display().to_string())?;
        Ok(archive)
    }

    /// Checks that a build from sources has the same files as the archive. Returns `None` if there
    /// is no archive of this recipe.
    ///
    /// # Errors
    /// If files differ; the error names them.
    pub fn compare(&self, recipe: &str, dist: &Path) -> Result<Option<()>> {
        if !self.is_of(recipe)? {
            return Ok(None);
        }
        let mut tar = Command::new("tar");
        tar.arg("-xJOf").arg(self.archive()).arg(finish::SUMS).stdin(Stdio::null());
        let output = tar.output().context("tar")?;
        ensure!(output.status.success(), "tar: {}", String::from_utf8_lossy(&output.stderr));
        let theirs = String::from_utf8(output.stdout).context(finish::SUMS)?;
        let built = fs::read_to_string(dist.join(finish::SUMS)).context(finish::SUMS)?;
        let lines = |text: &str| text.lines().map(ToString::to_string).collect::<Vec<_>>();
        let (theirs, built) = (lines(&theirs), lines(&built));
        let differing: Vec<&str> = built
            .iter()
            .filter(|line| !theirs.contains(line))
            .filter_map(|line| line.split_once("  ").map(|(_, file)| file))
            .take(20)
            .collect();
        if theirs != built {
            bail!("the build does not give the prebuilt archive's bytes: {}", differing.join(", "));
        }
        Ok(Some(()))
    }
}

fn run(command: &mut Command) -> Result<()> {
    let status = command.stdin(Stdio::null()).status();
    let status = status.with_context(|| format!("cannot start {:?}", command.get_program()))?;
    ensure!(status.success(), "{command:?}: {status}");
    Ok(())
}
