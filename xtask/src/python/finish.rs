//! The finished folder: `python.wasm`, `root/`, `licences/`, and the sums of all three.

use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, bail, ensure};

use super::library;
use super::pins::Pins;
use super::toolchain::copy_tree;
use super::wheels::COMMANDS;
use super::workshop::{Workshop, sha256_file, sorted};

/// `HASH  PATH` per file, as sha256sum writes it.
pub const SUMS: &str = "SHA256SUMS";

/// What a finished folder consists of.
pub struct Parts {
    /// `python.wasm`.
    pub module: PathBuf,
    /// The folder with `root` and `licences`.
    pub library: PathBuf,
    /// What goes to site-packages.
    pub sites: Vec<PathBuf>,
}

/// Puts the parts together under `dist`, whole or not at all.
pub fn assemble(shop: &mut Workshop, pins: &Pins, parts: &Parts, dist: &Path) -> Result<()> {
    let Parts { module, library, sites } = parts;
    let part = dist.with_extension("part");
    for old in [&part, &dist.to_path_buf()] {
        if old.exists() {
            fs::remove_dir_all(old).with_context(|| old.display().to_string())?;
        }
    }
    fs::create_dir_all(&part).with_context(|| part.display().to_string())?;
    fs::copy(module, part.join("python.wasm")).with_context(|| module.display().to_string())?;
    for name in ["root", "licences"] {
        copy_tree(&library.join(name), &part.join(name))?;
    }
    let series = format!("root/usr/lib/python{}/site-packages", pins.series());
    for site in sites {
        copy_tree(site, &part.join(&series))?;
        let commands = site.with_file_name(COMMANDS);
        if commands.is_dir() {
            copy_tree(&commands, &part.join("root/usr/local").join(COMMANDS))?;
        }
    }
    let mut sums = String::new();
    for file in files(&part, "")? {
        sums += &format!("{}  {file}\n", sha256_file(&part.join(&file))?);
    }
    fs::write(part.join(SUMS), &sums).context(SUMS)?;
    fs::rename(&part, dist).with_context(|| dist.display().to_string())?;
    let size = fs::metadata(dist.join("python.wasm")).context("python.wasm")?.len();
    shop.say(&format!(
        "python {}: python.wasm {:.1} MB, {} files",
        pins.python,
        size as f64 / 1e6,
        sums.lines().count()
    ));
    Ok(())
}

/// Whether the build is there, and is what was recorded; an error says what is damaged.
pub fn check(dist: &Path) -> Result<bool> {
    if !dist.is_dir() {
        return Ok(false);
    }
    let sums = fs::read_to_string(dist.join(SUMS)).context(SUMS)?;
    let mut listed = Vec::new();
    for line in sums.lines() {
        let (sum, file) = line.split_once("  ").context("malformed sums")?;
        listed.push((sum, file));
    }
    ensure!(!listed.is_empty(), "empty sums");
    let here: Vec<String> = files(dist, "")?.into_iter().filter(|f| f != SUMS).collect();
    ensure!(
        here.iter().map(String::as_str).eq(listed.iter().map(|(_, file)| *file)),
        "files are missing or added"
    );
    // Hashing is all the work there is: one thread per core.
    let workers = std::thread::available_parallelism().map_or(1, usize::from);
    let pieces = listed.chunks(listed.len().div_ceil(workers * 8).max(1)).collect::<Vec<_>>();
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let threads: Vec<_> = (0..workers)
            .map(|_| {
                scope.spawn(|| -> Result<()> {
                    loop {
                        let turn = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                        let Some(piece) = pieces.get(turn) else { return Ok(()) };
                        for (sum, file) in *piece {
                            let got = sha256_file(&dist.join(file))?;
                            ensure!(got == *sum, "{file}: expected {sum}, got {got}");
                        }
                    }
                })
            })
            .collect();
        for thread in threads {
            match thread.join() {
                Ok(result) => result?,
                Err(_) => bail!("a checking thread died"),
            }
        }
        Ok(true)
    })
}

/// The licence files of a finished build.
pub fn licenses(dist: &Path) -> Result<Vec<(String, PathBuf)>> {
    library::licence_files(&dist.join("licences"))
}

/// All files below a folder, as sorted relative paths.
fn files(root: &Path, below: &str) -> Result<Vec<String>> {
    let mut found = Vec::new();
    for name in sorted(&root.join(below))? {
        let path = if below.is_empty() { name } else { format!("{below}/{name}") };
        if root.join(&path).is_dir() {
            found.extend(files(root, &path)?);
        } else {
            found.push(path);
        }
    }
    Ok(found)
}
