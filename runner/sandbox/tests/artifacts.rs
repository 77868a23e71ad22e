//! Kept machine code: made once, checked, replaced when damaged, never trusted blindly.

use sha2::{Digest, Sha256};
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex};
use wasibox_image::{Image, ImageError, ImageSpec, pack_to};
use wasibox_sandbox::{ProgramError, compile_all};

/// A module that does nothing: one type, one function `_start`.
const MODULE: &[u8] = b"\0asm\x01\0\0\0\x01\x04\x01\x60\0\0\x03\x02\x01\0\x07\x0a\x01\x06_start\0\0\x0a\x04\x01\x02\0\x0b";

fn image(dir: &Path) -> Arc<Image> {
    let spec = ImageSpec {
        name: "t/t".into(),
        version: "0.0.0".into(),
        atoms: vec![("m".into(), MODULE.to_vec())],
        commands: vec![("m".into(), "m".into())],
        ..ImageSpec::default()
    };
    let path = dir.join("i.webc");
    pack_to(&spec, &path).unwrap();
    Arc::new(Image::open(&path).unwrap())
}

fn compile(image: &Arc<Image>, dir: &Path) -> Result<Vec<String>, ProgramError> {
    let said = Arc::new(Mutex::new(Vec::new()));
    let log = said.clone();
    let progress = Arc::new(move |l: &str| log.lock().unwrap().push(l.to_owned()));
    compile_all(image.clone(), Some(dir.into()), progress)?;
    Ok(std::mem::take(&mut *said.lock().unwrap()))
}

fn files(dir: &Path, ext: &str) -> Vec<PathBuf> {
    let all = std::fs::read_dir(dir).unwrap().map(|e| e.unwrap().path());
    all.filter(|p| p.extension().is_some_and(|e| e == ext)).collect()
}

#[test]
fn code_is_made_once_and_kept() {
    let tmp = tempfile::tempdir().unwrap();
    let (i, dir) = (image(tmp.path()), tmp.path().join("a/b/aot"));
    let said = compile(&i, &dir).unwrap();
    assert!(said[0].starts_with("compiling m"), "{said:?}");
    assert_eq!(compile(&i, &dir).unwrap(), [""; 0]);
    assert_eq!(dir.metadata().unwrap().permissions().mode() & 0o777, 0o700);
    assert_eq!(
        (files(&dir, "aot").len(), files(&dir, "part").len(), files(&dir, "lock").len()),
        (1, 0, 0)
    );
}

#[test]
fn a_flipped_byte_is_found_and_repaired() {
    let tmp = tempfile::tempdir().unwrap();
    let (i, dir) = (image(tmp.path()), tmp.path().join("aot"));
    compile(&i, &dir).unwrap();
    let code = &files(&dir, "aot")[0];
    let good = std::fs::read(code).unwrap();
    for at in [0, good.len() / 2, good.len() - 1] {
        let mut bad = good.clone();
        bad[at] ^= 1;
        std::fs::write(code, &bad).unwrap();
        let said = compile(&i, &dir).unwrap();
        assert_eq!(said[0], "the compiled code of m was damaged");
        assert!(said[1].starts_with("compiling m"), "{said:?}");
        assert_eq!(compile(&i, &dir).unwrap(), [""; 0]);
    }
    std::fs::write(code, &good[..good.len() / 2]).unwrap();
    assert!(compile(&i, &dir).unwrap()[0].contains("damaged"));
    for sum in files(&dir, "sum") {
        std::fs::write(sum, "nonsense").unwrap();
    }
    assert!(compile(&i, &dir).unwrap()[0].starts_with("compiling m"));
}

/// A copy of the same bytes (another inode, other times) is hashed again and accepted.
#[test]
fn a_changed_stamp_costs_one_check() {
    let tmp = tempfile::tempdir().unwrap();
    let (i, dir) = (image(tmp.path()), tmp.path().join("aot"));
    compile(&i, &dir).unwrap();
    let code = &files(&dir, "aot")[0];
    let bytes = std::fs::read(code).unwrap();
    std::fs::remove_file(code).unwrap();
    std::fs::write(code, &bytes).unwrap();
    let before = std::fs::read_to_string(&files(&dir, "sum")[0]).unwrap();
    assert_eq!(compile(&i, &dir).unwrap(), [""; 0]);
    let after = std::fs::read_to_string(&files(&dir, "sum")[0]).unwrap();
    assert_eq!(before.lines().next(), after.lines().next());
    assert_ne!(before, after);
}

#[test]
fn a_directory_that_others_can_write_is_not_used() {
    let tmp = tempfile::tempdir().unwrap();
    let (i, dir) = (image(tmp.path()), tmp.path().join("aot"));
    std::fs::create_dir(&dir).unwrap();
    std::fs::set_permissions(&dir, std::fs::Permissions::from_mode(0o777)).unwrap();
    let said = compile(&i, &dir).unwrap();
    assert!(said[0].contains("others can write to it"), "{said:?}");
    assert_eq!(std::fs::read_dir(&dir).unwrap().count(), 0);
}

/// Code is kept under the digest that the manifest claims, so a program that lies
/// about its digest must not be compiled.
#[test]
fn a_program_that_differs_from_its_digest_is_refused() {
    let tmp = tempfile::tempdir().unwrap();
    image(tmp.path());
    let path = tmp.path().join("i.webc");
    let mut bytes = std::fs::read(&path).unwrap();
    let at = bytes.windows(MODULE.len()).position(|w| w == MODULE).unwrap();
    // `_start` becomes `_stars`: still a module.
    let name = at + MODULE.windows(6).position(|w| w == b"_start").unwrap();
    bytes[name + 5] = b's';
    std::fs::write(&path, &bytes).unwrap();
    let lying = Arc::new(Image::open(&path).unwrap());
    let dir = tmp.path().join("aot");
    let e = compile(&lying, &dir).unwrap_err();
    assert!(matches!(e, ProgramError::Image(ImageError::Damaged { .. })), "{e}");
    assert!(files(&dir, "aot").is_empty());
    assert_ne!(Sha256::digest(&bytes).as_slice(), Sha256::digest(MODULE).as_slice());
}

#[test]
fn a_module_that_does_not_compile_is_one_clear_error() {
    let tmp = tempfile::tempdir().unwrap();
    let spec = ImageSpec {
        name: "t/t".into(),
        version: "0.0.0".into(),
        atoms: vec![("m".into(), b"not wasm".to_vec())],
        ..ImageSpec::default()
    };
    pack_to(&spec, &tmp.path().join("i.webc")).unwrap();
    let i = Arc::new(Image::open(&tmp.path().join("i.webc")).unwrap());
    let e = compile(&i, &tmp.path().join("aot")).unwrap_err().to_string();
    assert!(e.starts_with("cannot compile m:") && e.lines().count() == 1, "{e}");
}
