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
    image_of(dir, "i", MODULE)
}

fn image_of(dir: &Path, name: &str, module: &[u8]) -> Arc<Image> {
    let spec = ImageSpec {
        name: "t/t".into(),
        version: "0.0.0".into(),
        atoms: vec![("m".into(), module.to_vec())],
        commands: vec![("m".into(), "m".into())],
        ..ImageSpec::default()
    };
    let path = dir.join(format!("{name}.webc"));
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
    assert_eq!(before.lines().nth(1), after.lines().nth(1));
    assert_ne!(before, after);
}

/// The files are written without the key, for example by a guest whose mount contains them.
#[test]
fn code_that_we_did_not_write_is_not_run() {
    let tmp = tempfile::tempdir().unwrap();
    let (i, dir) = (image(tmp.path()), tmp.path().join("aot"));
    compile(&i, &dir).unwrap();
    let (code, sum) = (&files(&dir, "aot")[0], &files(&dir, "sum")[0]);
    let mut bytes = std::fs::read(code).unwrap();
    let middle = bytes.len() / 2;
    bytes[middle] ^= 1;
    std::fs::write(code, &bytes).unwrap();
    // Digest and stamp are right, in the present form and in the one without a signature.
    let m = code.metadata().unwrap();
    use std::os::unix::fs::MetadataExt;
    let stamp = format!(
        "{} {} {} {}.{:09} {}.{:09}",
        m.dev(),
        m.ino(),
        m.len(),
        m.mtime(),
        m.mtime_nsec(),
        m.ctime(),
        m.ctime_nsec()
    );
    let text = std::fs::read_to_string(sum).unwrap();
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    lines[1] = blake3::hash(&bytes).to_string();
    lines[2] = stamp.clone();
    let new = lines.join("\n") + "\n";
    lines[1] = Sha256::digest(&bytes).iter().map(|b| format!("{b:02x}")).collect();
    let old = lines[1..5].join("\n") + "\n";
    for (forged, is_told) in [(new, true), (old, false)] {
        std::fs::write(sum, forged).unwrap();
        let said = compile(&i, &dir).unwrap();
        let what = "the compiled code of m was not written by us, or with another key";
        assert_eq!(said[0] == what, is_told, "{said:?}");
        assert!(said[usize::from(is_told)].starts_with("compiling m"), "{said:?}");
        assert_ne!(std::fs::read(code).unwrap(), bytes);
        assert_eq!(compile(&i, &dir).unwrap(), [""; 0]);
        std::fs::write(code, &bytes).unwrap();
    }
}

/// A signature for one program is not accepted for another.
#[test]
fn signatures_are_for_one_program() {
    let tmp = tempfile::tempdir().unwrap();
    let dir = tmp.path().join("aot");
    let mut other = MODULE.to_vec();
    other.extend_from_slice(b"\0\x02\x01x");
    let (one, two) = (image_of(tmp.path(), "one", MODULE), image_of(tmp.path(), "two", &other));
    let name = |i: &Arc<Image>| wasibox_sandbox::artifact::artifact_key(&i.atoms()["m"]);
    compile(&one, &dir).unwrap();
    compile(&two, &dir).unwrap();
    for ext in ["aot", "mem", "sum"] {
        let at = |i: &Arc<Image>| dir.join(format!("{}.{ext}", name(i)));
        std::fs::rename(at(&one), at(&two)).unwrap();
    }
    assert!(compile(&two, &dir).unwrap()[0].contains("was not written by us"));
}

#[test]
fn pipes_in_place_of_files_keep_nobody_waiting() {
    let tmp = tempfile::tempdir().unwrap();
    let (i, dir) = (image(tmp.path()), tmp.path().join("aot"));
    compile(&i, &dir).unwrap();
    let name = files(&dir, "aot")[0].file_stem().unwrap().to_str().unwrap().to_owned();
    for ext in ["aot", "mem", "sum", "lock"] {
        let path = dir.join(format!("{name}.{ext}"));
        let _ = std::fs::remove_file(&path);
        assert!(std::process::Command::new("mkfifo").arg(&path).status().unwrap().success());
        compile(&i, &dir).unwrap();
        assert_eq!(compile(&i, &dir).unwrap(), [""; 0], "{ext}");
    }
}

#[test]
fn a_process_that_compiles_already_is_waited_for_and_reported() {
    let tmp = tempfile::tempdir().unwrap();
    let (i, dir) = (image(tmp.path()), tmp.path().join("aot"));
    compile(&i, &dir).unwrap();
    let code = files(&dir, "aot").remove(0);
    std::fs::remove_file(&code).unwrap();
    let lock = std::fs::File::create(code.with_extension("lock")).unwrap();
    lock.lock().unwrap();
    let other = std::thread::spawn(move || {
        std::thread::sleep(std::time::Duration::from_millis(1500));
        drop(lock);
    });
    let said = compile(&i, &dir).unwrap();
    assert!(said[0].starts_with("waiting for another process that compiles m ("), "{said:?}");
    other.join().unwrap();
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

/// The folder of the key cannot be mounted either.
#[test]
fn the_key_is_protected_like_the_code() {
    let dir = Path::new("/somewhere/aot");
    let paths = wasibox_sandbox::artifact::protected_paths(Some(dir));
    assert!(paths.iter().any(|p| p == dir));
    if std::env::var_os("HOME").is_some() {
        assert!(paths.iter().any(|p| p.ends_with("wasibox") && p != dir), "{paths:?}");
    }
}
