//! The container image: an OCI image layout in a tar file, which `docker load`, podman and skopeo
//! read.
//!
//! There is no base image. The first layer has the libraries that the runner is linked to, copied
//! from the machine that makes the release, certificates and a user; the second has Wasibox. The
//! user is not root and owns only the home folder, where the image is unpacked on first use.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};
use serde_json::json;

use super::archive::{Content, FileTree};
use super::sbom::Component;
use crate::env;
use crate::key::sha256_file;

/// The number of the image's user and group.
pub const USER: u32 = 65532;

/// A library that the runner is linked to, with the package of the machine that it is from.
pub struct SystemLibrary {
    path: PathBuf,
    package: String,
    version: String,
    source: String,
}

/// Returns the libraries that a program is linked to.
///
/// # Errors
/// Returns an error if the machine has no `ldd`, or no package database of Debian's kind.
pub fn system_libraries(program: &Path) -> Result<Vec<SystemLibrary>> {
    let list = env::command_output(Command::new("ldd").arg(program))?;
    let is_path = |word: &&str| word.starts_with('/');
    let mut paths: Vec<&str> =
        list.lines().filter_map(|line| line.split_whitespace().find(is_path)).collect();
    paths.sort_unstable();
    let mut libraries = Vec::new();
    for path in paths {
        // The database has the path that the package was made with, which may be behind a link.
        let real = std::fs::canonicalize(path).with_context(|| path.to_string())?;
        let file = real.file_name().context("a library's name")?.to_string_lossy().into_owned();
        let found = env::command_output(Command::new("dpkg").args(["-S", &format!("*/{file}")]))
            .context("the container image needs a machine with dpkg")?;
        let package = found.split(':').next().unwrap_or_default().to_string();
        let format = "-f=${Version}\t${source:Package} ${source:Version}";
        let facts = env::command_output(Command::new("dpkg-query").args(["-W", format, &package]))?;
        let Some((version, source)) = facts.split_once('\t') else { bail!("{package}: {facts}") };
        libraries.push(SystemLibrary {
            path: path.into(),
            package,
            version: version.into(),
            source: source.into(),
        });
    }
    Ok(libraries)
}

/// Returns the packages of the libraries as components.
pub fn library_components(libraries: &[SystemLibrary]) -> Vec<Component> {
    let component = |library: &SystemLibrary| {
        let (name, version) = library.source.split_once(' ').unwrap_or_default();
        Component {
            kind: "deb/debian".into(),
            name: library.package.clone(),
            version: library.version.clone(),
            licence: if name.starts_with("gcc") {
                "GPL-3.0-or-later WITH GCC-exception-3.1".into()
            } else {
                "LGPL-2.1-or-later".into()
            },
            sha256: None,
            source: format!("https://snapshot.debian.org/package/{name}/{version}/"),
        }
    };
    let mut components: Vec<Component> = libraries.iter().map(component).collect();
    components.sort();
    components.dedup();
    components
}

/// Returns the first layer.
fn system_layer(libraries: &[SystemLibrary]) -> FileTree {
    let mut tree = FileTree::default();
    for library in libraries {
        let path = library.path.to_string_lossy();
        tree.add_program(path.trim_start_matches('/'), Content::File(library.path.clone()));
        let copyright = format!("usr/share/doc/{}/copyright", library.package);
        let on_host = Path::new("/").join(&copyright);
        if on_host.is_file() {
            tree.add_file(&copyright, Content::File(on_host));
        }
    }
    let certificates = Path::new("/etc/ssl/certs/ca-certificates.crt");
    if certificates.is_file() {
        tree.add_file("etc/ssl/certs/ca-certificates.crt", Content::File(certificates.into()));
    }
    tree.add_text(
        "etc/passwd",
        &format!(
            "root:x:0:0:root:/root:/sbin/nologin\nwasibox:x:{USER}:{USER}::/home/wasibox:/sbin/nologin\n"
        ),
    );
    tree.add_text("etc/group", &format!("root:x:0:\nwasibox:x:{USER}:\n"));
    tree.add_text("etc/nsswitch.conf", "passwd: files\ngroup: files\nhosts: files dns\n");
    tree.add_folder("home/wasibox", 0o750, USER);
    tree.add_folder("tmp", 0o1777, 0);
    tree
}

/// Writes the image with the tree of the program below `/usr` to a tar file.
///
/// # Errors
/// Returns an error if a file cannot be read or written.
pub fn write_image(
    to: &Path,
    work: &Path,
    version: &str,
    libraries: &[SystemLibrary],
    program: &FileTree,
) -> Result<()> {
    let mut usr = FileTree::default();
    usr.add_tree("usr", program);
    let mut layout = FileTree::default();
    let (mut layers, mut plain_digests) = (Vec::new(), Vec::new());
    for (name, tree) in [("system", system_layer(libraries)), ("wasibox", usr)] {
        let tar = work.join(format!("{name}.tar"));
        tree.write_tar(&tar, "")?;
        plain_digests.push(format!("sha256:{}", sha256_file(&tar)?));
        super::archive::gzip_file(&tar)?;
        let layer = work.join(format!("{name}.tar.gz"));
        let digest = sha256_file(&layer)?;
        layers.push(json!({
            "mediaType": "application/vnd.oci.image.layer.v1.tar+gzip",
            "digest": format!("sha256:{digest}"),
            "size": std::fs::metadata(&layer)?.len(),
        }));
        layout.add_file(&format!("blobs/sha256/{digest}"), Content::File(layer));
    }
    let mut add_blob = |bytes: String| {
        let digest = env::sha256(bytes.as_bytes());
        layout.add_text(&format!("blobs/sha256/{digest}"), &bytes);
        (digest, bytes.len())
    };
    let created = "2026-01-01T00:00:00Z";
    let config = json!({
        "created": created,
        "architecture": "amd64",
        "os": "linux",
        "config": {
            "User": format!("{USER}:{USER}"),
            "Env": ["PATH=/usr/bin", "HOME=/home/wasibox"],
            "Entrypoint": ["/usr/bin/wasibox"],
            "Cmd": ["--help"],
            "WorkingDir": "/home/wasibox",
            "Labels": {
                "org.opencontainers.image.title": "wasibox",
                "org.opencontainers.image.version": version,
                "org.opencontainers.image.source": super::ADDRESS,
                "org.opencontainers.image.licenses": "MIT OR Apache-2.0",
            },
        },
        "rootfs": { "type": "layers", "diff_ids": plain_digests },
        "history": [
            { "created": created, "created_by": "libraries, certificates, user" },
            { "created": created, "created_by": "wasibox" },
        ],
    });
    let (config_digest, config_size) = add_blob(config.to_string());
    let manifest = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.manifest.v1+json",
        "config": {
            "mediaType": "application/vnd.oci.image.config.v1+json",
            "digest": format!("sha256:{config_digest}"),
            "size": config_size,
        },
        "layers": layers,
    });
    let (digest, size) = add_blob(manifest.to_string());
    let name = format!("wasibox:{version}");
    let index = json!({
        "schemaVersion": 2,
        "mediaType": "application/vnd.oci.image.index.v1+json",
        "manifests": [{
            "mediaType": "application/vnd.oci.image.manifest.v1+json",
            "digest": format!("sha256:{digest}"),
            "size": size,
            "platform": { "architecture": "amd64", "os": "linux" },
            "annotations": {
                "org.opencontainers.image.ref.name": version,
                "io.containerd.image.name": format!("docker.io/library/{name}"),
            },
        }],
    });
    layout.add_text("index.json", &index.to_string());
    layout.add_text("oci-layout", "{\"imageLayoutVersion\":\"1.0.0\"}");
    // Docker before version 25 reads this file instead of the index.
    let blob = |digest: &str| format!("blobs/sha256/{}", digest.trim_start_matches("sha256:"));
    let files: Vec<String> =
        layers.iter().filter_map(|layer| Some(blob(layer["digest"].as_str()?))).collect();
    let older = json!([{ "Config": blob(&config_digest), "RepoTags": [name], "Layers": files }]);
    layout.add_text("manifest.json", &older.to_string());
    layout.write_tar(to, "")
}
