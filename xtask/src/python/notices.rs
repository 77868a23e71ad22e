//! The licence texts of the crates that become part of a package in Rust.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::rust;
use super::workshop::{Bench, sorted};

/// How files with such texts are named, in capitals.
const NAMES: &[&str] = &["COPYING", "LICENCE", "LICENSE", "NOTICE", "UNLICENSE"];

/// What `cargo metadata` says of a package and what it is built from.
#[derive(Deserialize)]
struct Metadata {
    packages: Vec<Crate>,
    resolve: Resolve,
}

#[derive(Deserialize)]
struct Crate {
    id: String,
    name: String,
    version: String,
    manifest_path: PathBuf,
}

#[derive(Deserialize)]
struct Resolve {
    nodes: Vec<Node>,
    root: String,
}

#[derive(Deserialize)]
struct Node {
    id: String,
    deps: Vec<Dependency>,
}

#[derive(Deserialize)]
struct Dependency {
    pkg: String,
    dep_kinds: Vec<Kind>,
}

#[derive(Deserialize)]
struct Kind {
    /// Nothing for what is linked; `build` and `dev` are not.
    kind: Option<String>,
}

/// Writes `CRATE-VERSION/FILE` into a folder.
///
/// # Errors
/// If cargo cannot tell, or a crate has no such file.
pub fn collect(bench: &Bench, tree: &Path, to: &Path) -> Result<()> {
    let mut cargo = rust::cargo(tree);
    cargo.args(["metadata", "--format-version=1", "--locked", "--filter-platform"]);
    let text = bench.output(cargo.arg(rust::TARGET))?;
    let data: Metadata = serde_json::from_str(&text).context("cargo metadata")?;
    for part in linked(&data).context("cargo metadata names unknown crates")? {
        let from = part.manifest_path.parent().context("a crate's folder")?;
        let into = to.join(format!("{}-{}", part.name, part.version));
        fs::create_dir_all(&into).with_context(|| into.display().to_string())?;
        let mut found = 0;
        for name in sorted(from)? {
            let file = from.join(&name);
            let named = name.to_uppercase();
            if file.is_file() && NAMES.iter().any(|start| named.starts_with(start)) {
                fs::copy(&file, into.join(&name)).with_context(|| file.display().to_string())?;
                found += 1;
            }
        }
        ensure!(found > 0, "{} {}: no licence text", part.name, part.version);
    }
    Ok(())
}

/// All crates that the root is linked from, without itself.
fn linked(data: &Metadata) -> Option<Vec<&Crate>> {
    let crates: BTreeMap<&str, &Crate> = data.packages.iter().map(|c| (c.id.as_str(), c)).collect();
    let nodes: BTreeMap<&str, &Node> =
        data.resolve.nodes.iter().map(|n| (n.id.as_str(), n)).collect();
    let (mut met, mut to_do) = (BTreeMap::new(), vec![data.resolve.root.as_str()]);
    while let Some(id) = to_do.pop() {
        if met.insert(id, *crates.get(id)?).is_some() {
            continue;
        }
        let deps = nodes.get(id)?.deps.iter();
        let deps = deps.filter(|dep| dep.dep_kinds.iter().any(|kind| kind.kind.is_none()));
        to_do.extend(deps.map(|dep| dep.pkg.as_str()));
    }
    met.remove(data.resolve.root.as_str());
    Some(met.into_values().collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_linked_is_named_and_what_builds_is_not() {
        let text = r#"{"packages": [
            {"id": "r", "name": "root", "version": "1", "manifest_path": "/r/Cargo.toml"},
            {"id": "a", "name": "a", "version": "2", "manifest_path": "/a/Cargo.toml"},
            {"id": "b", "name": "b", "version": "3", "manifest_path": "/b/Cargo.toml"},
            {"id": "c", "name": "c", "version": "4", "manifest_path": "/c/Cargo.toml"}],
          "resolve": {"root": "r", "nodes": [
            {"id": "r", "deps": [{"pkg": "a", "dep_kinds": [{"kind": null}, {"kind": "build"}]},
                                 {"pkg": "c", "dep_kinds": [{"kind": "build"}]}]},
            {"id": "a", "deps": [{"pkg": "b", "dep_kinds": [{"kind": null}]}]},
            {"id": "b", "deps": [{"pkg": "a", "dep_kinds": [{"kind": null}]}]},
            {"id": "c", "deps": []}]}}"#;
        let data: Metadata = serde_json::from_str(text).expect("JSON");
        let names: Vec<&str> =
            linked(&data).expect("crates").iter().map(|c| c.name.as_str()).collect();
        assert_eq!(names, ["a", "b"]);
    }
}
