//! The root file system of the image: fixed files of the project, libraries of the interpreters,
//! and licences.

use std::path::{Path, PathBuf};

use anyhow::{Context, Result};

use crate::env;

/// Assembles the files in `to`, which is emptied first. The trees of interpreters are copied to `/`
/// as they are; each licence file goes to `/usr/share/licenses/COMPONENT/`.
pub fn assemble_rootfs(to: &Path, trees: &[&Path], licenses: &[(String, PathBuf)]) -> Result<()> {
    if to.exists() {
        std::fs::remove_dir_all(to).with_context(|| to.display().to_string())?;
    }
    copy_tree(&env::root().join("tools/box/rootfs"), to)?;
    for tree in trees {
        copy_tree(tree, to)?;
    }
    for name in ["LICENSE-MIT", "LICENSE-APACHE"] {
        copy_file(&env::root().join(name), &to.join("usr/share/licenses/wasibox").join(name))?;
    }
    for (component, file) in licenses {
        let name = file.file_name().context("licence file without a name")?;
        copy_file(file, &to.join("usr/share/licenses").join(component).join(name))?;
    }
    Ok(())
}

fn copy_file(from: &Path, to: &Path) -> Result<()> {
    if let Some(dir) = to.parent() {
        std::fs::create_dir_all(dir).with_context(|| dir.display().to_string())?;
    }
    std::fs::copy(from, to).with_context(|| from.display().to_string())?;
    Ok(())
}

/// Copies files, directories and symbolic links; existing directories are merged.
fn copy_tree(from: &Path, to: &Path) -> Result<()> {
    std::fs::create_dir_all(to).with_context(|| to.display().to_string())?;
    let entries = std::fs::read_dir(from).with_context(|| from.display().to_string())?;
    for entry in entries {
        let entry = entry.with_context(|| from.display().to_string())?;
        let (kind, target) = (entry.file_type()?, to.join(entry.file_name()));
        if kind.is_dir() {
            copy_tree(&entry.path(), &target)?;
        } else if kind.is_symlink() {
            std::os::unix::fs::symlink(std::fs::read_link(entry.path())?, &target)?;
        } else {
            copy_file(&entry.path(), &target)?;
        }
    }
    Ok(())
}
