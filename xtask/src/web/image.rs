//! Builds `dist/web/image/`, the image in parts for pages; see `runner/image/src/parts.rs` and
//! `sdk/web/parts.js`.
//!
//! Files are compressed by gzip, which all browsers support. Their names contain their digests, so
//! that they may be cached forever.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::process::{Command, Stdio};
use std::sync::Arc;
use std::sync::atomic::{AtomicUsize, Ordering};

use anyhow::{Context, Result, ensure};
use serde::Serialize;
use sha2::{Digest, Sha256};
use wasibox_image::parts::{ImagePart, split_image};
use wasibox_image::{EntryKind, Image};

use super::guest;
use crate::env;
use crate::key::Key;

/// The folder of Python's packages.
const PACKAGES: &str = "/usr/lib/python3.13/site-packages/";
const LIBRARY: &str = "/usr/lib/python3.13/";

/// Packages that are fetched together, because importing one of them imports the others.
const TOGETHER: &[(&str, &[&str])] = &[
    ("pandas", &["pandas", "pytz", "tzdata", "dateutil", "six"]),
    (
        "matplotlib",
        &[
            "matplotlib",
            "mpl_toolkits",
            "PIL",
            "fontTools",
            "contourpy",
            "cycler",
            "kiwisolver",
            "pyparsing",
            "packaging",
            "pylab",
        ],
    ),
    ("pip", &["pip", "setuptools", "pkg_resources"]),
    // These belong to `.pth` files and their imports, which every start of Python reads.
    (
        "stdlib",
        &[
            "distutils",
            "_distutils_hack",
            "wasibox_tools",
            "_wasibox_tools",
            "_wasibox_missing",
            "sitecustomize",
            "usercustomize",
        ],
    ),
    ("sympy", &["sympy", "mpmath"]),
];
/// Packages with fewer bytes are fetched together with all other small ones.
const SMALL: usize = 2 << 20;

/// The sources that determine the contents of the parts; other changes do not rebuild the folder.
const MADE_BY: &[&str] =
    &["runner/image/src/parts.rs", "xtask/src/web/image.rs", "xtask/src/web/guest.rs"];

/// The parts that a program needs soon after its start, which are fetched with it.
const THEN: &[(&str, &str)] = &[("python", "stdlib"), ("js", "js-library")];

/// A file of the folder, as `image.json` describes it.
#[derive(Serialize)]
struct ImageJsonFile {
    name: String,
    file: String,
    /// The length in bytes, and the compressed length.
    length: usize,
    packed: usize,
    /// The integrity value of the compressed bytes, in the format of browsers.
    integrity: String,
    /// The program in the file.
    #[serde(skip_serializing_if = "Option::is_none")]
    program: Option<String>,
    /// The numbers of the parts that are needed soon after this one.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    then: Vec<usize>,
    /// The prepared initial memory, in the format of `runner/web/src/prepare.rs`.
    #[serde(skip_serializing_if = "Option::is_none")]
    memory: Option<Box<ImageJsonFile>>,
}

/// The whole `image.json`.
#[derive(Serialize)]
struct ImageJson {
    kernel: ImageJsonFile,
    catalog: ImageJsonFile,
    parts: Vec<ImageJsonFile>,
}

/// The assignment of files to parts.
struct Grouping {
    /// Sources with compiled code beside them, which are only read for tracebacks.
    sources: BTreeSet<String>,
    sizes: BTreeMap<String, usize>,
}

impl Grouping {
    fn for_image(image: &Image) -> Result<Grouping> {
        let (mut compiled, mut all) = (BTreeSet::new(), Vec::new());
        let mut sizes = BTreeMap::new();
        for entry in image.rootfs()? {
            let EntryKind::File(bytes) = entry.kind else { continue };
            if let Some(package) = file_package(&entry.path) {
                *sizes.entry(package.to_owned()).or_default() += (*bytes).as_ref().len();
            }
            if let Some((folder, name)) = entry.path.split_once("/__pycache__/") {
                let name = name.split('.').next().unwrap_or_default();
                compiled.insert(format!("{folder}/{name}.py"));
            }
            all.push(entry.path);
        }
        let sources = all.into_iter().filter(|path| compiled.contains(path)).collect();
        Ok(Grouping { sources, sizes })
    }

    fn part_of(&self, path: &str) -> String {
        let name = self.name(path);
        if self.sources.contains(path) { format!("{name}-sources") } else { name }
    }

    fn name(&self, path: &str) -> String {
        if let Some(package) = file_package(path) {
            let together = TOGETHER.iter().find(|(_, all)| all.contains(&package));
            return match together {
                Some((name, _)) => (*name).into(),
                None if self.sizes.get(package).is_some_and(|size| *size >= SMALL) => {
                    package.into()
                }
                None => "packages".into(),
            };
        }
        let part = match path {
            _ if path.starts_with(LIBRARY) => "stdlib",
            _ if path.starts_with("/usr/lib/node") || path.starts_with("/usr/lib/js") => {
                "js-library"
            }
            _ if path.starts_with("/usr/share/") => "share",
            _ => "base",
        };
        part.into()
    }
}

/// Returns the package of a file: the text before the first `-`, `.` or `/` below the folder of
/// packages.
fn file_package(path: &str) -> Option<&str> {
    let name = path.strip_prefix(PACKAGES)?.split('/').next()?;
    // Compiled modules that consist of a single file are in this folder.
    let name = if name == "__pycache__" { path.rsplit('/').next()? } else { name };
    let name = name.split(['-', '.']).next()?;
    Some(name)
}

/// Compresses by gzip, at the highest level.
fn pack_bytes(bytes: &[u8]) -> Result<Vec<u8>> {
    use std::io::Write;
    let mut gzip = Command::new("gzip")
        .args(["-9", "--no-name", "--stdout"])
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("gzip")?;
    let mut input = gzip.stdin.take().context("gzip")?;
    let out = std::thread::scope(|scope| {
        scope.spawn(move || input.write_all(bytes));
        gzip.wait_with_output()
    })?;
    ensure!(out.status.success(), "gzip: {}", out.status);
    Ok(out.stdout)
}

/// Writes a part into the folder.
fn write(folder: &Path, name: &str, ending: &str, bytes: &[u8]) -> Result<ImageJsonFile> {
    let packed = pack_bytes(bytes)?;
    let digest = Sha256::digest(&packed);
    let hex: String = digest[..6].iter().map(|b| format!("{b:02x}")).collect();
    let file = format!("{name}-{hex}{ending}.gz");
    env::write(&folder.join(&file), &packed)?;
    Ok(ImageJsonFile {
        name: name.into(),
        file,
        length: bytes.len(),
        packed: packed.len(),
        integrity: format!("sha256-{}", base64_text(&digest)),
        program: None,
        then: Vec::new(),
        memory: None,
    })
}

fn base64_text(bytes: &[u8]) -> String {
    const DIGITS: &[u8] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let mut out = String::new();
    for three in bytes.chunks(3) {
        let n = three.iter().chain([&0, &0]).take(3).fold(0u32, |n, b| n << 8 | u32::from(*b));
        for place in 0..4 {
            let digit = DIGITS[(n >> (18 - 6 * place) & 63) as usize];
            out.push(if place <= three.len() { digit.into() } else { '=' });
        }
    }
    out
}

/// Writes all parts, two at once.
fn write_all(folder: &Path, parts: &[ImagePart], programs: usize) -> Result<Vec<ImageJsonFile>> {
    let next = AtomicUsize::new(0);
    let work = || {
        let mut out = Vec::new();
        loop {
            let n = next.fetch_add(1, Ordering::Relaxed);
            let Some(part) = parts.get(n) else { return Ok(out) };
            let ending = if n < programs { ".wasm" } else { "" };
            let mut file = write(folder, &part.name, ending, &part.bytes)?;
            file.program = (n < programs).then(|| part.name.clone());
            out.push((n, file));
        }
    };
    let done: Vec<Result<Vec<(usize, ImageJsonFile)>>> = std::thread::scope(|scope| {
        let threads = [(); 2].map(|()| scope.spawn(work));
        threads
            .into_iter()
            .map(|t| t.join().unwrap_or_else(|e| std::panic::resume_unwind(e)))
            .collect()
    });
    let mut files = Vec::new();
    for some in done {
        files.extend(some?);
    }
    files.sort_by_key(|(n, _)| *n);
    Ok(files.into_iter().map(|(_, file)| file).collect())
}

/// Runs the native runner to prepare the image's programs, and writes the memories beside them.
fn write_memories(folder: &Path, programs: &mut [ImageJsonFile]) -> Result<()> {
    let own = folder.join("memories");
    let (runner, image) = (env::dist().join("runner"), env::dist().join("image.webc"));
    env::run(Command::new(runner).arg("compile").arg("--memories").arg(&own).arg(image))?;
    for program in programs {
        let path = own.join(&program.name).with_extension("memory");
        if path.is_file() {
            let memory = memory_for_pages(&env::read(&path)?)?;
            let name = format!("{}-memory", program.name);
            program.memory = Some(Box::new(write(folder, &name, "", &memory)?));
        }
    }
    std::fs::remove_dir_all(&own).with_context(|| own.display().to_string())
}

/// Converts the native runner's file of a prepared memory (`runner/kernel/src/parked.rs`,
/// `PreparedHeader`: a page with the header, then the content) to the format for pages
/// (`runner/web/src/prepare.rs`): the content, its start, the memory's size in bytes, and the
/// digest.
fn memory_for_pages(file: &[u8]) -> Result<Vec<u8>> {
    const PAGE: usize = 64 << 10;
    let head = file.strip_prefix(b"wasibox memory 1").filter(|_| file.len() >= PAGE);
    let head = head.context("it is no prepared memory")?;
    let (start, len, size, digest) = (&head[..8], &head[8..16], &head[17..25], &head[25..57]);
    let content = &file[PAGE..];
    ensure!(len == (content.len() as u64).to_le_bytes(), "a prepared memory is cut off");
    Ok([content, start, size, digest].concat())
}

/// Builds the folder beside the kernel, unless it exists for the same image and kernel. Returns its
/// size in bytes.
pub fn build_image(out: &Path, kernel: &[u8]) -> Result<u64> {
    let source = env::dist().join("image.webc");
    let folder = out.join("image");
    let mut key = Key::new("web image");
    key.bytes(kernel);
    key.text(&crate::key::sha256_file(&source)?);
    key.tree(&env::root(), MADE_BY)?;
    let (key, stamp) = (key.finish(), folder.join(".key"));
    let fresh = std::fs::read_to_string(&stamp).is_ok_and(|old| old == key);
    if !fresh {
        let _ = std::fs::remove_dir_all(&folder);
        std::fs::create_dir_all(&folder).with_context(|| folder.display().to_string())?;
        let image = Arc::new(Image::open(&source)?);
        let grouping = Grouping::for_image(&image)?;
        let (mut catalog, mut parts) = split_image(&image, &|path| grouping.part_of(path))?;
        // A program's digest stays that of the original module, which is the same everywhere.
        for (part, length) in parts.iter_mut().zip(&mut catalog.parts).take(catalog.programs.len())
        {
            part.bytes = guest::for_pages(&part.bytes)?;
            *length = u32::try_from(part.bytes.len())?;
        }
        let mut files = write_all(&folder, &parts, catalog.programs.len())?;
        for (program, then) in THEN {
            let number = |name: &str| files.iter().position(|file| file.name == name);
            if let (Some(program), Some(then)) = (number(program), number(then)) {
                files[program].then.push(then);
            }
        }
        write_memories(&folder, &mut files[..catalog.programs.len()])?;
        let list = ImageJson {
            kernel: write(&folder, "kernel", ".wasm", kernel)?,
            catalog: write(&folder, "catalog", "", &catalog.encode()?)?,
            parts: files,
        };
        env::write(&folder.join("image.json"), &serde_json::to_vec(&list)?)?;
        env::write(&stamp, key.as_bytes())?;
    }
    let mut size = 0;
    for entry in std::fs::read_dir(&folder)? {
        size += entry?.metadata()?.len();
    }
    Ok(size)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn base64_is_rfc_4648s() {
        let known =
            [("", ""), ("f", "Zg=="), ("fo", "Zm8="), ("foo", "Zm9v"), ("foobar", "Zm9vYmFy")];
        for (bytes, text) in known {
            assert_eq!(base64_text(bytes.as_bytes()), text);
        }
    }

    #[test]
    fn prepared_memories_differ_from_their_heads() {
        let number = u64::to_le_bytes;
        let head = [&number(1 << 16)[..], &number(3), &[2], &number(1 << 20), &[7; 32]].concat();
        let mut file = [b"wasibox memory 1", &head[..]].concat();
        file.resize(64 << 10, 0);
        file.extend(b"abc");
        let pages = [b"abc", &number(1 << 16)[..], &number(1 << 20), &[7; 32]].concat();
        assert_eq!(memory_for_pages(&file).unwrap(), pages);
        assert!(memory_for_pages(&file[..file.len() - 1]).is_err());
        assert!(memory_for_pages(&file[..70]).is_err());
        assert!(memory_for_pages(b"").is_err());
    }

    #[test]
    fn files_are_parts_of_their_packages() {
        let path = |rest: &str| format!("{PACKAGES}{rest}");
        let name = |rest: &str| file_package(&path(rest)).map(str::to_owned);
        assert_eq!(name("pandas/core/api.py").as_deref(), Some("pandas"));
        assert_eq!(name("pandas-3.0.dist-info/METADATA").as_deref(), Some("pandas"));
        assert_eq!(name("six.py").as_deref(), Some("six"));
        assert_eq!(name("__pycache__/six.cpython-313.pyc").as_deref(), Some("six"));
        assert_eq!(file_package("/usr/lib/python3.13/os.py"), None);
        let sizes = BTreeMap::from([("plotly".to_owned(), SMALL), ("tqdm".to_owned(), SMALL - 1)]);
        let sources = BTreeSet::from([path("tqdm/a.py")]);
        let grouping = Grouping { sources, sizes };
        assert_eq!(grouping.part_of(&path("plotly/a.json")), "plotly");
        assert_eq!(grouping.part_of(&path("tqdm/a.py")), "packages-sources");
        assert_eq!(grouping.part_of(&path("dateutil/tz.py")), "pandas");
        assert_eq!(grouping.part_of("/etc/passwd"), "base");
    }
}
