//! Fetches pinned files. A file is accepted only if its SHA-256 is the pinned one, whatever its
//! origin.
//!
//! Files are kept as `sources/SHA256-NAME`. Each kind of origin uses the machine's own client (apt,
//! cargo, pip), so that the client's mirrors and proxies are used and no server is named here.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, bail};

use super::host;
use super::pins::{Origin, Source};
use super::workshop::{Workshop, sha256_file, sorted};

/// The variable that names a folder of source files, which is searched before any origin.
const LOCAL: &str = "WASIBOX_SOURCES";

/// The downloader of apt, which knows the machine's proxies and mirrors.
const APT_HELPER: &str = "/usr/lib/apt/apt-helper";

/// Returns the verified file of `source`, and fetches it if necessary.
pub fn fetch(shop: &mut Workshop, source: &Source) -> Result<PathBuf> {
    let kept = shop.base.join("sources").join(format!("{}-{}", &source.sha256[..16], source.name));
    if kept.is_file() {
        verify_file(&kept, source).with_context(|| format!("{} (delete it)", kept.display()))?;
        return Ok(kept);
    }
    let room = shop.base.join("sources").join(format!(".{}.part", source.name));
    let mut failures = Vec::new();
    if let Some(file) = local_file(source)? {
        return keep_file(&file, &kept);
    }
    for origin in &source.origins {
        fresh_dir(&room)?;
        shop.say(&format!("python: fetching {} {} ({origin})", source.name, source.version));
        match take_file(origin, source, &room, &shop.recipe) {
            Ok(file) => {
                verify_file(&file, source)?;
                let file = keep_file(&file, &kept)?;
                fs::remove_dir_all(&room).with_context(|| room.display().to_string())?;
                return Ok(file);
            }
            Err(why) => failures.push(format!("  {origin}: {why:#}")),
        }
    }
    bail!(
        "{} {} could not be fetched:\n{}\nPut the file into a folder and name that in ${LOCAL}.",
        source.name,
        source.version,
        failures.join("\n")
    )
}

/// Fails, naming both hashes, unless the file is the pinned one.
fn verify_file(file: &Path, source: &Source) -> Result<()> {
    let got = sha256_file(file)?;
    if got != source.sha256 {
        bail!(
            "{} {}: wrong SHA-256; the build stops here\n  expected {}\n  got      {got}\n  file     {}",
            source.name,
            source.version,
            source.sha256,
            file.display()
        );
    }
    Ok(())
}

/// Copies a verified file to its place, whole or not at all.
fn keep_file(file: &Path, kept: &Path) -> Result<PathBuf> {
    let part = kept.with_extension("part");
    fs::copy(file, &part).with_context(|| file.display().to_string())?;
    fs::rename(&part, kept).with_context(|| kept.display().to_string())?;
    Ok(kept.to_path_buf())
}

fn fresh_dir(dir: &Path) -> Result<()> {
    if dir.exists() {
        fs::remove_dir_all(dir).with_context(|| dir.display().to_string())?;
    }
    fs::create_dir_all(dir).with_context(|| dir.display().to_string())
}

/// Returns the file from the user's own folder, where it is found by its content.
fn local_file(source: &Source) -> Result<Option<PathBuf>> {
    let Some(dir) = std::env::var_os(LOCAL).filter(|v| !v.is_empty()).map(PathBuf::from) else {
        return Ok(None);
    };
    for name in sorted(&dir)? {
        let file = dir.join(name);
        if file.is_file() && sha256_file(&file)? == source.sha256 {
            return Ok(Some(file));
        }
    }
    Ok(None)
}

fn take_file(origin: &Origin, source: &Source, room: &Path, recipe: &Path) -> Result<PathBuf> {
    match origin {
        Origin::DebianPool { path } => from_pool(path, room),
        Origin::Url { url } => from_url(url, room),
        Origin::Crate { name, version } => from_crate(name, version, room),
        Origin::Pypi { name, platform, python } => {
            from_pypi(name, platform.as_deref(), python.as_deref(), source, room)
        }
        Origin::PypiSource { name } => from_pypi_source(name, source, room, recipe),
    }
}

/// Fetches a file from the archives that apt is configured for, which are tried one after another.
fn from_pool(path: &str, room: &Path) -> Result<PathBuf> {
    if !Path::new(APT_HELPER).is_file() {
        bail!("no apt on this machine");
    }
    let mut list = Command::new("apt-get");
    list.args(["indextargets", "--no-release-info", "--format", "$(SITE)"]);
    let sites = command_output(&mut list)?;
    let mut sites: Vec<&str> = sites.lines().filter(|l| l.contains("://")).collect();
    sites.sort_unstable();
    sites.dedup();
    let file = room.join("file");
    let mut last = "apt has no sources".to_string();
    for site in sites {
        let url = format!("{}/{path}", site.trim_end_matches('/'));
        match run_quietly(Command::new(APT_HELPER).args(["download-file", &url]).arg(&file)) {
            Ok(()) => return Ok(file),
            Err(why) => last = format!("{why:#}"),
        }
    }
    bail!("{last}")
}

/// Fetches a URL with Python's own client, because there may be neither curl nor wget.
fn from_url(url: &str, room: &Path) -> Result<PathBuf> {
    let file = room.join("file");
    let program = "import shutil, sys, urllib.request as r\n\
                   with r.urlopen(sys.argv[1], timeout=30) as i, open(sys.argv[2], 'wb') as o:\n\
                   \x20   shutil.copyfileobj(i, o)";
    run_quietly(Command::new("python3").args(["-I", "-c", program, url]).arg(&file))?;
    Ok(file)
}

/// Fetches a crate: `cargo fetch` of a manifest with this one dependency leaves the file in cargo's
/// cache.
fn from_crate(name: &str, version: &str, room: &Path) -> Result<PathBuf> {
    let (plain, _) = version.split_once('+').unwrap_or((version, ""));
    let manifest = format!(
        "[package]\nname = \"fetch\"\nversion = \"0.0.0\"\nedition = \"2021\"\n[workspace]\n\
         [lib]\npath = \"lib.rs\"\n[dependencies]\n{name} = {{ version = \"={plain}\", default-features = false }}\n"
    );
    fs::write(room.join("Cargo.toml"), manifest).context("the manifest to fetch with")?;
    fs::write(room.join("lib.rs"), "").context("the manifest to fetch with")?;
    let home = room.join("cargo-home");
    run_quietly(Command::new(host::cargo()).args(["fetch", "--quiet"]).current_dir(room))?;
    let cargo_home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = cargo_home
        .or_else(|| std::env::var_os("HOME").map(|h| PathBuf::from(h).join(".cargo")))
        .unwrap_or(home);
    let caches = home.join("registry/cache");
    for registry in sorted(&caches)? {
        let file = caches.join(registry).join(format!("{name}-{version}.crate"));
        if file.is_file() {
            return Ok(file);
        }
    }
    bail!("cargo fetched {name} {version}, but {} does not have it", caches.display())
}

fn from_pypi(
    name: &str,
    platform: Option<&str>,
    python: Option<&str>,
    source: &Source,
    room: &Path,
) -> Result<PathBuf> {
    let mut pip = Command::new("python3");
    pip.args(["-m", "pip", "download", "--only-binary=:all:"]);
    if let Some(platform) = platform {
        pip.args(["--platform", platform]);
    }
    if let Some(python) = python {
        pip.args(["--python-version", python]);
    }
    pip_download(&mut pip, name, source, room)
}

/// Fetches a source archive. pip would run the archive's build backend to get metadata; a backend
/// of ours answers instead.
fn from_pypi_source(name: &str, source: &Source, room: &Path, recipe: &Path) -> Result<PathBuf> {
    let mut pip = Command::new("python3");
    let backends = ["recipe/backends", "full/backends"].map(|dir| recipe.join(dir));
    let path = std::env::join_paths(backends).context("the folders of backends")?;
    pip.env("PYTHONPATH", path).env("PYTHONDONTWRITEBYTECODE", "1");
    pip.args(["-m", "pip", "download", "--no-binary=:all:", "--no-build-isolation"]);
    pip_download(pip.arg("--ignore-requires-python"), name, source, room)
}

/// Runs pip, which rejects a file with a different hash before it reads the contents.
fn pip_download(pip: &mut Command, name: &str, source: &Source, room: &Path) -> Result<PathBuf> {
    let pinned = format!("{name}=={} --hash=sha256:{}\n", source.version, source.sha256);
    let list = room.join("requirements.txt");
    fs::write(&list, pinned).with_context(|| list.display().to_string())?;
    let files = room.join("files");
    pip.args(["--quiet", "--no-deps", "--disable-pip-version-check", "--require-hashes"]);
    run_quietly(pip.arg("--dest").arg(&files).arg("-r").arg(&list))?;
    match sorted(&files)?.as_slice() {
        [one] => Ok(files.join(one)),
        _ => bail!("pip did not leave one file in {}", files.display()),
    }
}

/// Runs a client without showing its output, which is the error's text if it fails.
fn run_quietly(command: &mut Command) -> Result<()> {
    command_output(command).map(drop)
}

fn command_output(command: &mut Command) -> Result<String> {
    let name = command.get_program().to_string_lossy().into_owned();
    let done =
        command.stdin(Stdio::null()).output().with_context(|| format!("cannot start {name}"))?;
    if !done.status.success() {
        let text = String::from_utf8_lossy(&done.stderr);
        let lines: Vec<&str> = text.lines().filter(|l| !l.trim().is_empty()).collect();
        bail!("{}", lines[lines.len().saturating_sub(3)..].join("; "));
    }
    Ok(String::from_utf8_lossy(&done.stdout).into_owned())
}

impl std::fmt::Display for Origin {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        match self {
            Origin::DebianPool { path } => write!(f, "Debian archive, {path}"),
            Origin::Url { url } => f.write_str(url),
            Origin::Crate { name, version } => write!(f, "crate {name} {version}"),
            Origin::Pypi { name, .. } => write!(f, "Python package {name}"),
            Origin::PypiSource { name } => write!(f, "Python package {name}, sources"),
        }
    }
}
