//! `runner inspect` and `runner compile`.

use crate::args::exec::CompileArgs;
use crate::message::{json_shown, shown};
use crate::progress::compiling;
use crate::{CliFailure, print};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use wasibox::Image;

fn open(path: &Path) -> Result<Image, CliFailure> {
    Image::open(path).map_err(|e| CliFailure::new(125, e))
}

fn hex(b: &[u8]) -> String {
    b.iter().map(|b| format!("{b:02x}")).collect()
}

/// Prints what an image holds, after checking it against its digests.
pub fn inspect(path: &Path, json: bool) -> Result<u8, CliFailure> {
    let image = open(path)?;
    image.verify().map_err(|e| CliFailure::new(125, e))?;
    let digest = hex(&image.digest());
    let (name, version) = image.name_version();
    let extra = image.extra();
    let files = image.rootfs().map_err(|e| CliFailure::new(125, e))?;
    let size = |atom: &str| image.atom(atom).map_or(0, <[u8]>::len);
    if json {
        let atoms: Vec<_> = image
            .atoms()
            .iter()
            .map(|(a, d)| serde_json::json!({"name": a, "size": size(a), "sha256": hex(d)}))
            .collect();
        let commands: serde_json::Map<_, _> =
            image.commands().iter().map(|c| (c.name.clone(), c.atom.clone().into())).collect();
        let licenses: serde_json::Map<_, _> = extra
            .licenses
            .iter()
            .map(|l| (l.component.clone(), l.license.clone().into()))
            .collect();
        let all = serde_json::json!({
            "name": name,
            "version": version,
            "size": image.len(),
            "sha256": digest,
            "entrypoint": image.entrypoint(),
            "programs": atoms,
            "commands": commands,
            "volumes": image.volumes(),
            "files": files.len(),
            "versions": extra.versions,
            "licenses": licenses,
            "annotations": extra.annotations,
        });
        print(&json_shown(format!("{all:#}\n")))?;
        return Ok(0);
    }
    let mut out = String::new();
    let _ = writeln!(out, "{} {}", shown(&name), shown(&version));
    let _ = writeln!(out, "size      {} bytes", image.len());
    let _ = writeln!(out, "sha256    {digest}");
    for (atom, d) in image.atoms() {
        let _ = writeln!(out, "program   {}  {} bytes  sha256 {}", shown(atom), size(atom), hex(d));
    }
    let _ = writeln!(out, "files     {} in {}", files.len(), shown(&image.volumes().join(" ")));
    for (what, v) in &extra.versions {
        let _ = writeln!(out, "contains  {} {}", shown(what), shown(v));
    }
    for l in &extra.licenses {
        let _ = writeln!(out, "license   {}  {}", shown(&l.license), shown(&l.component));
    }
    for (k, v) in &extra.annotations {
        let _ = writeln!(out, "note      {}: {}", shown(k), shown(v));
    }
    let names: Vec<&str> = image.commands().iter().map(|c| c.name.as_str()).collect();
    let _ = writeln!(out, "commands  {}: {}", names.len(), shown(&names.join(" ")));
    print(&out)?;
    Ok(0)
}

/// Compiles every program of an image that this machine has no code for yet, and packs or writes what it is asked for of that.
pub fn compile(args: &CompileArgs) -> Result<u8, CliFailure> {
    let CompileArgs { image, program, bundle, memories } = args;
    let path = &image.path()?;
    let image = Arc::new(open(path)?);
    let artifacts = wasibox::default_artifact_dir();
    match program {
        None => wasibox::compile_all(image.clone(), artifacts.clone(), compiling()),
        Some(name) => wasibox::compile_program(image.clone(), name, artifacts.clone(), compiling()),
    }
    .map_err(|e| CliFailure::new(125, e))?;
    if bundle.is_none() && memories.is_none() {
        return Ok(0);
    }
    let artifacts = artifacts.ok_or_else(|| CliFailure::new(125, "no home directory is known"))?;
    if let Some(bundle) = bundle {
        wasibox::bundle::pack(path, &artifacts, bundle)?;
    }
    if let Some(folder) = memories {
        let failed = |e: std::io::Error| CliFailure::new(125, format!("{}: {e}", folder.display()));
        std::fs::create_dir_all(folder).map_err(failed)?;
        for (name, memory) in wasibox::bundle::memories(&image, &artifacts)? {
            std::fs::write(folder.join(name).with_extension("memory"), memory).map_err(failed)?;
        }
    }
    Ok(0)
}
