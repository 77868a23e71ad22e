//! Wheels from this machine's index, for tests of packages.

use std::path::Path;

/// A wheel: its file's name and bytes.
pub type Wheel = (String, Vec<u8>);

/// Downloads the wheels of a list of this crate, by this machine's pip.
pub fn download_wheels(list: &str) -> Vec<Wheel> {
    let folder = tempfile::tempdir().expect("a folder");
    let list = Path::new(env!("CARGO_MANIFEST_DIR")).join(list);
    let got = std::process::Command::new("python3")
        .args(["-m", "pip", "download", "-q", "--no-deps", "--require-hashes"])
        .args(["--only-binary", ":all:", "--python-version", "3.13", "-r"])
        .arg(list)
        .arg("-d")
        .arg(folder.path())
        .output()
        .expect("python3 with pip");
    let errors = String::from_utf8_lossy(&got.stderr);
    assert!(got.status.success(), "the wheels cannot be had from this machine's index: {errors}");
    let wheel = |entry: std::io::Result<std::fs::DirEntry>| {
        let entry = entry.expect("an entry");
        let name = entry.file_name().into_string().expect("a name");
        (name, std::fs::read(entry.path()).expect("a wheel"))
    };
    std::fs::read_dir(folder.path()).expect("a folder").map(wheel).collect()
}
