//! `runner inspect` and `runner compile`.

use crate::args::exec::CompileArgs;
use crate::message::{escape_text, json_shown};
use crate::progress::compile_progress;
use crate::{CliFailure, print_text};
use std::fmt::Write;
use std::path::Path;
use std::sync::Arc;
use wasibox::Image;
use wasibox::watchdog::{self, LastWords};

/// The status of `runner compile` after its time limit.
pub const TIMED_OUT: i32 = 124;

fn open_image(path: &Path) -> Result<Image, CliFailure> {
    Image::open(path).map_err(|e| CliFailure::new(125, e))
}

fn hex_text(b: &[u8]) -> String {
    b.iter().map(|b| format!("{b:02x}")).collect()
}

/// Prints the contents of an image, after checking it against its digests.
pub fn inspect_image(path: &Path, json: bool) -> Result<u8, CliFailure> {
    let image = open_image(path)?;
    image.verify().map_err(|e| CliFailure::new(125, e))?;
    let digest = hex_text(&image.digest());
    let (name, version) = image.name_version();
    let extra = image.extra();
    let files = image.rootfs().map_err(|e| CliFailure::new(125, e))?;
    let size = |atom: &str| image.atom(atom).map_or(0, <[u8]>::len);
    if json {
        let atoms: Vec<_> = image
            .atoms()
            .iter()
            .map(|(a, d)| serde_json::json!({"name": a, "size": size(a), "sha256": hex_text(d)}))
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
        print_text(&json_shown(format!("{all:#}\n")))?;
        return Ok(0);
    }
    let mut out = String::new();
    let _ = writeln!(out, "{} {}", escape_text(&name), escape_text(&version));
    let _ = writeln!(out, "size      {} bytes", image.len());
    let _ = writeln!(out, "sha256    {digest}");
    for (atom, d) in image.atoms() {
        let _ = writeln!(
            out,
            "program   {}  {} bytes  sha256 {}",
            escape_text(atom),
            size(atom),
            hex_text(d)
        );
    }
    let _ =
        writeln!(out, "files     {} in {}", files.len(), escape_text(&image.volumes().join(" ")));
    for (what, v) in &extra.versions {
        let _ = writeln!(out, "contains  {} {}", escape_text(what), escape_text(v));
    }
    for l in &extra.licenses {
        let _ =
            writeln!(out, "license   {}  {}", escape_text(&l.license), escape_text(&l.component));
    }
    for (k, v) in &extra.annotations {
        let _ = writeln!(out, "note      {}: {}", escape_text(k), escape_text(v));
    }
    let names: Vec<&str> = image.commands().iter().map(|c| c.name.as_str()).collect();
    let _ = writeln!(out, "commands  {}: {}", names.len(), escape_text(&names.join(" ")));
    print_text(&out)?;
    Ok(0)
}

/// Compiles every program of an image for which this machine has no code yet, and packs or writes
/// the results as requested.
pub fn compile_image(args: &CompileArgs) -> Result<u8, CliFailure> {
    let CompileArgs { image, program, prepare_timeout, bundle, memories } = args;
    if let Some(timeout) = prepare_timeout.flatten() {
        let text = wasibox::Error::Unready(timeout);
        let error = format!("{}: {text}\n", crate::installed::name()).into_bytes();
        let words = LastWords { output: Vec::new(), error, status: TIMED_OUT };
        watchdog::arm_watchdog(timeout, words).map_err(|e| CliFailure::new(125, e))?;
    }
    let path = &image.path()?;
    let image = Arc::new(open_image(path)?);
    let artifacts = wasibox::default_artifact_dir();
    match program {
        None => wasibox::compile_all(image.clone(), artifacts.clone(), compile_progress()),
        Some(name) => {
            wasibox::compile_program(image.clone(), name, artifacts.clone(), compile_progress())
        }
    }
    .map_err(|e| CliFailure::new(125, e))?;
    if bundle.is_none() && memories.is_none() {
        return Ok(0);
    }
    let artifacts = artifacts.ok_or_else(|| CliFailure::new(125, "no home directory is known"))?;
    if let Some(bundle) = bundle {
        wasibox::bundle::pack_bundle(path, &artifacts, bundle)?;
    }
    if let Some(folder) = memories {
        let failed = |e: std::io::Error| CliFailure::new(125, format!("{}: {e}", folder.display()));
        std::fs::create_dir_all(folder).map_err(failed)?;
        for (name, memory) in wasibox::bundle::prepared_memories(&image, &artifacts)? {
            std::fs::write(folder.join(name).with_extension("memory"), memory).map_err(failed)?;
        }
    }
    Ok(0)
}
