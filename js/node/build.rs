//! Packs the JavaScript half (`lib/*.js`) into one compressed file that the program contains,
//! because the plain text would be a twentieth of the program.

use std::path::Path;
use std::{env, fs, io};

/// Zstandard's second highest level. The highest one does not make the file smaller.
const LEVEL: i32 = 21;

fn main() -> io::Result<()> {
    println!("cargo::rerun-if-changed=lib");
    let mut files: Vec<_> = fs::read_dir("lib")?.collect::<io::Result<_>>()?;
    files.sort_by_key(fs::DirEntry::file_name);
    let mut all = Vec::new();
    for file in files {
        let path = file.path();
        let name = path.file_stem().unwrap_or_default().to_string_lossy().into_owned();
        all.extend_from_slice(name.as_bytes());
        all.push(0);
        all.extend_from_slice(&fs::read(&path)?);
        all.push(0);
    }
    let mut packed = vec![0; zstd_safe::compress_bound(all.len())];
    let length = zstd_safe::compress(&mut packed[..], &all, LEVEL)
        .map_err(|code| io::Error::other(zstd_safe::get_error_name(code)))?;
    packed.truncate(length);
    let out = env::var_os("OUT_DIR").ok_or_else(|| io::Error::other("cargo sets OUT_DIR"))?;
    let out = Path::new(&out);
    fs::write(out.join("parts.len"), all.len().to_string())?;
    fs::write(out.join("parts.zst"), packed)
}
