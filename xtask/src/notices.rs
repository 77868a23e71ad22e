//! The crates that our programs contain, with versions, licences and the texts of their notices.
//!
//! `cargo metadata` is the source. Crates of tests and of build scripts are not part of a program,
//! so they are left out.

use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

use anyhow::{Context, Result};
use serde::Deserialize;

use crate::env;
use crate::key::sorted;

/// The crates of the programs that a release contains: the runner, the guest's programs, the
/// packages' native modules, and the kernel for pages.
pub const SHIPPED: &[&str] =
    &["wasibox-cli", "wasibox-python", "wasibox-node", "wasibox-web", "box", "js"];

/// The targets that those programs are built for.
const TARGETS: &[&str] = &["x86_64-unknown-linux-gnu", "wasm32-wasip1", "wasm32-wasip1-threads"];

/// The beginnings of the names of files with licences and notices.
const NOTICE_FILES: &[&str] =
    &["LICENSE", "LICENCE", "COPYING", "COPYRIGHT", "NOTICE", "UNLICENSE"];

/// A crate of other authors in one of our programs.
pub struct LinkedCrate {
    pub name: String,
    pub version: String,
    /// The licence as an SPDX expression.
    pub licence: String,
    /// The SHA-256 of its file in the registry.
    pub checksum: Option<String>,
    dir: PathBuf,
}

#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Package>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Package {
    id: String,
    name: String,
    version: String,
    license: Option<String>,
    license_file: Option<String>,
    manifest_path: PathBuf,
    /// The registry; absent for crates of the checkout.
    source: Option<String>,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<DependencyNode>,
}

#[derive(Deserialize)]
struct DependencyNode {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<DependencyKind>,
}

#[derive(Deserialize)]
struct DependencyKind {
    kind: Option<String>,
}

/// Returns the crates of others in the programs of these crates of ours, by name and version.
///
/// # Errors
/// Returns an error if cargo fails or a crate states no licence.
pub fn linked_crates(roots: &[&str]) -> Result<Vec<LinkedCrate>> {
    let mut metadata = env::cargo();
    metadata.args(["metadata", "--locked", "--format-version", "1"]);
    for target in TARGETS {
        metadata.args(["--filter-platform", target]);
    }
    let text = env::command_output(&mut metadata)?;
    let metadata: Metadata = serde_json::from_str(&text).context("cargo metadata")?;
    let checksums = lock_checksums()?;
    let linked = linked_ids(&metadata, roots);
    let mut crates = Vec::new();
    for package in metadata.packages {
        if package.source.is_none() || !linked.contains(&package.id) {
            continue;
        }
        let licence = match (&package.license, &package.license_file) {
            // Cargo once separated alternatives by a slash.
            (Some(licence), _) => licence.replace('/', " OR "),
            (None, Some(_)) => "LicenseRef-in-its-file".to_string(),
            (None, None) => anyhow::bail!("{} {} states no licence", package.name, package.version),
        };
        let checksum = checksums.get(&(package.name.clone(), package.version.clone())).cloned();
        let dir = package.manifest_path.parent().context("a crate's folder")?.to_path_buf();
        let Package { name, version, .. } = package;
        crates.push(LinkedCrate { name, version, licence, checksum, dir });
    }
    crates.sort_by(|a, b| (&a.name, &a.version).cmp(&(&b.name, &b.version)));
    Ok(crates)
}

/// Returns the identities of all crates that the crates of ours named `roots` contain.
fn linked_ids(metadata: &Metadata, roots: &[&str]) -> BTreeSet<String> {
    let nodes: BTreeMap<&str, &DependencyNode> =
        metadata.resolve.nodes.iter().map(|node| (node.id.as_str(), node)).collect();
    let own = |package: &&Package| package.source.is_none() && roots.contains(&&*package.name);
    let mut next: Vec<&str> = metadata.packages.iter().filter(own).map(|p| &*p.id).collect();
    let mut all = BTreeSet::new();
    while let Some(id) = next.pop() {
        if !all.insert(id.to_string()) {
            continue;
        }
        let linked = |d: &&Dependency| d.dep_kinds.iter().any(|kind| kind.kind.is_none());
        let Some(node) = nodes.get(id) else { continue };
        next.extend(node.deps.iter().filter(linked).map(|d| d.pkg.as_str()));
    }
    all
}

/// Returns the digests in Cargo.lock by name and version.
fn lock_checksums() -> Result<BTreeMap<(String, String), String>> {
    #[derive(Deserialize)]
    struct Lock {
        package: Vec<LockedPackage>,
    }
    #[derive(Deserialize)]
    struct LockedPackage {
        name: String,
        version: String,
        checksum: Option<String>,
    }
    let text = String::from_utf8(env::read(&env::root().join("Cargo.lock"))?)?;
    let lock: Lock = toml::from_str(&text).context("Cargo.lock")?;
    let sums = lock.package.into_iter().filter_map(|p| Some(((p.name, p.version), p.checksum?)));
    Ok(sums.collect())
}

/// Returns the licences and notices of crates as one text. Equal texts occur once, after the names
/// of all crates that have them.
///
/// # Errors
/// Returns an error if a crate's folder cannot be read.
pub fn notices_text(crates: &[LinkedCrate]) -> Result<String> {
    let mut texts: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    let mut out = String::from(
        "The program contains the following crates, whose licences and notices follow.\n\n",
    );
    for found in crates {
        let name = format!("{} {}", found.name, found.version);
        out.push_str(&format!("{name}: {}\n", found.licence));
        for text in notice_files(&found.dir)? {
            texts.entry(text).or_default().insert(name.clone());
        }
    }
    let mut texts: Vec<(BTreeSet<String>, String)> =
        texts.into_iter().map(|(text, names)| (names, text)).collect();
    texts.sort();
    for (names, text) in texts {
        let names: Vec<String> = names.into_iter().collect();
        let line = "-".repeat(72);
        out.push_str(&format!("\n{line}\n{}\n\n{}\n", names.join(", "), text.trim_end()));
    }
    Ok(out)
}

/// Returns the texts of a folder's files with licences and notices.
fn notice_files(dir: &Path) -> Result<Vec<String>> {
    let mut texts = Vec::new();
    for name in sorted(dir)? {
        let path = dir.join(&name);
        let upper = name.to_uppercase();
        if NOTICE_FILES.iter().any(|begin| upper.starts_with(begin)) && path.is_file() {
            texts.push(String::from_utf8_lossy(&env::read(&path)?).into_owned());
        }
    }
    Ok(texts)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn crates_of_tests_and_builds_are_left_out() {
        let package = |id: &str, source: Option<&str>| Package {
            id: id.into(),
            name: id.into(),
            version: "1.0.0".into(),
            license: Some("MIT".into()),
            license_file: None,
            manifest_path: "/c/Cargo.toml".into(),
            source: source.map(str::to_string),
        };
        let uses = |id: &str, kind: Option<&str>| Dependency {
            pkg: id.into(),
            dep_kinds: vec![DependencyKind { kind: kind.map(str::to_string) }],
        };
        let deps =
            vec![uses("linked", None), uses("tested", Some("dev")), uses("built", Some("build"))];
        let names = ["linked", "tested", "built", "inner", "other"];
        let mut nodes = vec![DependencyNode { id: "ours".into(), deps }];
        nodes.push(DependencyNode { id: "linked".into(), deps: vec![uses("inner", None)] });
        let mut packages = vec![package("ours", None)];
        packages.extend(names.map(|name| package(name, Some("registry"))));
        let metadata = Metadata { packages, resolve: Resolve { nodes } };
        let ids: Vec<String> = linked_ids(&metadata, &["ours"]).into_iter().collect();
        assert_eq!(ids, ["inner", "linked", "ours"]);
    }

    #[test]
    fn equal_texts_occur_once() {
        let dir = std::env::temp_dir().join(format!("wasibox-notices-{}", std::process::id()));
        let mut crates = Vec::new();
        for name in ["a", "b"] {
            std::fs::create_dir_all(dir.join(name)).unwrap();
            std::fs::write(dir.join(name).join("LICENSE-MIT"), "the terms\n").unwrap();
            std::fs::write(dir.join(name).join("lib.rs"), "code").unwrap();
            crates.push(LinkedCrate {
                name: name.into(),
                version: "1.0.0".into(),
                licence: "MIT".into(),
                checksum: None,
                dir: dir.join(name),
            });
        }
        let text = notices_text(&crates).unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(text.matches("the terms").count(), 1, "{text}");
        assert!(text.contains("a 1.0.0: MIT\nb 1.0.0: MIT\n"), "{text}");
        assert!(text.contains("\na 1.0.0, b 1.0.0\n\nthe terms\n") && !text.contains("code"));
    }
}
