//! `cargo xtask python --sizes`: the size of each part of the result, plain and compressed.

use std::collections::BTreeMap;
use std::fs;
use std::path::Path;
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};

use super::workshop::sorted;

/// Returns a Markdown table of the sizes in a finished build: its module, library, time zones and
/// packages.
///
/// # Errors
/// If a file cannot be read, or `tar` or `xz` is missing.
pub fn sizes_table(dist: &Path) -> Result<String> {
    let library = sorted(&dist.join("root/usr/lib"))?
        .into_iter()
        .find(|name| name.starts_with("python"))
        .context("no library")?;
    let library = format!("root/usr/lib/{library}");
    let site = format!("{library}/site-packages");
    let mut parts: Vec<(String, Vec<String>)> = vec![
        ("python.wasm".to_string(), vec!["python.wasm".to_string()]),
        (
            "standard library".to_string(),
            sorted(&dist.join(&library))?
                .into_iter()
                .filter(|name| name != "site-packages")
                .map(|name| format!("{library}/{name}"))
                .collect(),
        ),
        ("time zones".to_string(), vec!["root/usr/share/zoneinfo".to_string()]),
    ];
    let mut packages: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for name in sorted(&dist.join(&site))? {
        packages.entry(entry_package(&name)).or_default().push(format!("{site}/{name}"));
    }
    let mut rows: Vec<(String, u64, u64, u64)> = Vec::new();
    parts.extend(packages);
    for (name, paths) in parts {
        let (mut files, mut bytes) = (0, 0);
        for path in &paths {
            count_files(&dist.join(path), &mut files, &mut bytes)?;
        }
        rows.push((name, files, bytes, compressed_size(dist, &paths)?));
    }
    rows.sort_by_key(|(_, _, bytes, _)| std::cmp::Reverse(*bytes));
    let mut text = "| part | files | MB | MB as tar.xz |\n|---|---|---|---|\n".to_string();
    for (name, files, bytes, packed) in rows {
        let (bytes, packed) = (bytes as f64 / 1e6, packed as f64 / 1e6);
        text += &format!("| {name} | {files} | {bytes:.2} | {packed:.2} |\n");
    }
    Ok(text)
}

/// Returns the package that an entry of site-packages belongs to, because a package has a folder
/// and a record.
fn entry_package(entry: &str) -> String {
    let name = entry.strip_suffix(".dist-info").and_then(|n| n.split('-').next()).unwrap_or(entry);
    let name = name.trim_end_matches(".py").trim_start_matches('_').to_lowercase();
    match name.as_str() {
        "pil" => "pillow",
        "bs4" => "beautifulsoup4",
        "mpl_toolkits" | "pylab" => "matplotlib",
        "dateutil" => "python_dateutil",
        "yaml" => "pyyaml",
        "tabulate" | "version_check" => "tabulate",
        "readme" | "pycache__" | "__pycache__" => "others",
        other => other,
    }
    .to_string()
}

fn count_files(path: &Path, files: &mut u64, bytes: &mut u64) -> Result<()> {
    if path.is_dir() {
        for name in sorted(path)? {
            count_files(&path.join(name), files, bytes)?;
        }
    } else {
        *files += 1;
        *bytes += fs::metadata(path).with_context(|| path.display().to_string())?.len();
    }
    Ok(())
}

/// Returns the size in bytes of a compressed archive of these paths.
fn compressed_size(dist: &Path, paths: &[String]) -> Result<u64> {
    let mut tar = Command::new("tar");
    tar.args(["--create", "--sort=name", "--owner=0", "--group=0", "--mtime=@0", "-C"]).arg(dist);
    tar.args(["--use-compress-program", "xz -6 -T1", "--file=-"]).args(paths);
    let output = tar.stdin(Stdio::null()).output().context("tar")?;
    ensure!(output.status.success(), "tar: {}", String::from_utf8_lossy(&output.stderr));
    Ok(output.stdout.len() as u64)
}
