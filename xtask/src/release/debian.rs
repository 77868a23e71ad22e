//! The Debian package: an ar archive of `debian-binary`, `control.tar.gz` and `data.tar.gz`, as
//! deb(5) describes it.

use std::path::Path;

use anyhow::{Context, Result};

use super::archive::{Content, FileTree, write_ar};
use crate::env;

/// Writes the package with the tree of the program below `/usr`.
///
/// # Errors
/// Returns an error if a file cannot be read or written.
pub fn write_package(to: &Path, work: &Path, version: &str, program: &FileTree) -> Result<()> {
    let mut data = FileTree::default();
    data.add_tree("usr", program);
    // Debian's policy, 12.5: each package has this file.
    let notice = env::read(&env::root().join("LICENSE-MIT"))?;
    data.add_file("usr/share/doc/wasibox/copyright", Content::Bytes(copyright_text(&notice)));
    let files = data.file_sizes()?;
    let kibibytes: u64 = files.iter().map(|(_, size)| size.div_ceil(1024)).sum();
    let mut control = FileTree::default();
    control.add_text(
        "control",
        &control_text(
            version,
            &glibc_version(&env::read(&env::dist().join("runner"))?)?,
            kibibytes,
        ),
    );
    control.write_tar_gz(&work.join("control.tar.gz"), "")?;
    data.write_tar_gz(&work.join("data.tar.gz"), "")?;
    let members = [
        ("debian-binary", b"2.0\n".to_vec()),
        ("control.tar.gz", env::read(&work.join("control.tar.gz"))?),
        ("data.tar.gz", env::read(&work.join("data.tar.gz"))?),
    ];
    write_ar(to, &members)
}

fn control_text(version: &str, glibc: &str, kibibytes: u64) -> String {
    format!(
        "Package: wasibox\n\
         Version: {version}\n\
         Architecture: amd64\n\
         Maintainer: The Wasibox authors <{address}>\n\
         Installed-Size: {kibibytes}\n\
         Depends: libc6 (>= {glibc}), libgcc-s1\n\
         Recommends: ca-certificates\n\
         Section: utils\n\
         Priority: optional\n\
         Homepage: {address}\n\
         Description: Unix machine of its own for a language model, as WebAssembly\n\
         \x20A shell that speaks bash, Unix tools, CPython with NumPy and pandas, and JavaScript\n\
         \x20with Node's library, compiled to WebAssembly and packed in one image, which runs in\n\
         \x20a sandbox without a container or a virtual machine.\n",
        address = super::ADDRESS,
    )
}

fn copyright_text(mit: &[u8]) -> Vec<u8> {
    let mut text = String::from(
        "Wasibox is licensed under MIT or Apache-2.0, at your choice. The Apache license is in\n\
         /usr/share/common-licenses/Apache-2.0, and the MIT license is below. The licences of the\n\
         works of others in this package are in LICENCES.md and THIRD-PARTY.txt beside this file.\n\n",
    );
    text.push_str(&String::from_utf8_lossy(mit));
    text.into_bytes()
}

/// Returns the newest version of the C library that a program's symbols are from.
pub fn glibc_version(program: &[u8]) -> Result<String> {
    const NAME: &[u8] = b"GLIBC_";
    let versions = program.windows(NAME.len()).enumerate().filter(|(_, w)| *w == NAME);
    let newest = versions.filter_map(|(at, _)| version_at(&program[at + NAME.len()..])).max();
    let (major, minor) = newest.context("the runner is not linked to glibc")?;
    Ok(format!("{major}.{minor}"))
}

/// Returns the numbers in a text such as `2.34` at the beginning of bytes.
fn version_at(bytes: &[u8]) -> Option<(u32, u32)> {
    let is_part = |byte: &&u8| byte.is_ascii_digit() || **byte == b'.';
    let text: Vec<u8> = bytes.iter().take_while(is_part).copied().collect();
    let text = String::from_utf8(text).ok()?;
    let mut numbers = text.split('.').map(str::parse);
    Some((numbers.next()?.ok()?, numbers.next()?.ok()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_version_of_the_c_library_counts() {
        let program = b"x\0GLIBC_2.2.5\0GLIBC_2.34\0GLIBC_PRIVATE\0GLIBC_2.9\0";
        assert_eq!(glibc_version(program).unwrap(), "2.34");
        assert!(glibc_version(b"static").is_err());
    }

    /// dpkg-deb is the authority; machines without it have nothing to compare with.
    #[test]
    fn dpkg_reads_the_control_file() {
        if std::process::Command::new("dpkg-deb").arg("--version").output().is_err() {
            eprintln!("no dpkg-deb here");
            return;
        }
        let dir = std::env::temp_dir().join(format!("wasibox-deb-{}", std::process::id()));
        std::fs::create_dir_all(&dir).unwrap();
        let mut tree = FileTree::default();
        tree.add_text("control", &control_text("0.1.0", "2.34", 7));
        tree.write_tar_gz(&dir.join("control.tar.gz"), "").unwrap();
        let mut data = FileTree::default();
        data.add_text("usr/bin/odd", "odd");
        data.write_tar_gz(&dir.join("data.tar.gz"), "").unwrap();
        let read = |name: &str| std::fs::read(dir.join(name)).unwrap();
        let members = [
            ("debian-binary", b"2.0\n".to_vec()),
            ("control.tar.gz", read("control.tar.gz")),
            ("data.tar.gz", read("data.tar.gz")),
        ];
        write_ar(&dir.join("p.deb"), &members).unwrap();
        let mut dpkg = std::process::Command::new("dpkg-deb");
        let fields = dpkg.arg("-f").arg(dir.join("p.deb")).args(["Version", "Depends"]).output();
        let mut dpkg = std::process::Command::new("dpkg-deb");
        let list = dpkg.arg("-c").arg(dir.join("p.deb")).output().unwrap();
        std::fs::remove_dir_all(&dir).unwrap();
        assert_eq!(
            String::from_utf8(fields.unwrap().stdout).unwrap(),
            "Version: 0.1.0\nDepends: libc6 (>= 2.34), libgcc-s1\n"
        );
        assert!(String::from_utf8(list.stdout).unwrap().contains(" usr/bin/odd"));
    }
}
