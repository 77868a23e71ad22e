//! Machine code that was made elsewhere: a package carries it beside its image, so that the first
//! start compiles nothing.
//!
//! Such code is as trusted as the package's program, because that already runs native code. This
//! module writes it to the store and signs it with this user's key, like code that was compiled
//! here; from then on all rules of `artifact` apply to it.
//!
//! # Invariants
//! - Code is accepted only for the engine and the kind of machine that it was made for, and only if
//!   the CPU has all features that it uses ([`CodeRequirements`]). The engine checks the features
//!   again when it loads the code.
//! - It is kept under this machine's key for the module. It may use fewer or more features than
//!   code that is compiled here, which is harmless because the features were checked.

use super::{ArtifactKey, ArtifactStore, ChecksummedFiles, program_files, snapshot_files};
use crate::engine;
use crate::key;
use crate::snapshot;
use crate::trusted;
use serde::{Deserialize, Serialize};
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use wasibox_image::Image;

/// The engine and CPU that machine code requires.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeRequirements {
    /// Engine, its version, and the kind of machine.
    pub engine: String,
    /// Names of CPU features, such as `sse4.1`.
    pub features: Vec<String>,
}

impl CodeRequirements {
    /// Returns the requirements of code that is compiled here.
    pub fn of_own() -> CodeRequirements {
        CodeRequirements { engine: engine::engine_kind(), features: engine::feature_names() }
    }

    /// Checks that such code can run here.
    ///
    /// # Errors
    /// The reason why it cannot, such as `it was made for another CPU: this one has no avx2`.
    pub fn check_host(&self) -> Result<(), String> {
        if self.engine != engine::engine_kind() {
            return Err("it was made for another version, or another kind of machine".to_owned());
        }
        let missing = engine::missing_features(&self.features);
        if missing.is_empty() {
            return Ok(());
        }
        Err(format!("it was made for another CPU: this one has no {}", missing.join(", ")))
    }
}

/// The program of an image that code is for.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct CodeSubject {
    /// Digest of its module, in hexadecimal.
    pub module: String,
    /// For a prepared memory: the digest of the root file system beside it.
    pub tree: Option<String>,
}

impl CodeSubject {
    /// Returns the key under which this machine keeps it; `None` if the digest is invalid.
    fn artifact_key(&self) -> Option<String> {
        let is_digest = self.module.len() == 64 && self.module.is_ascii();
        let byte = |i: usize| u8::from_str_radix(self.module.get(2 * i..2 * i + 2)?, 16).ok();
        let digest: Vec<u8> = (0..32).map(byte).collect::<Option<_>>().filter(|_| is_digest)?;
        let digest = digest.try_into().ok()?;
        Some(match &self.tree {
            None => super::artifact_key(&digest),
            Some(tree) => snapshot::snapshot_key(&digest, tree),
        })
    }
}

/// A program's code and its memory's template, or the prepared memory of one.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CarriedCode {
    Program { subject: CodeSubject, code: Vec<u8>, template: Vec<u8> },
    Snapshot { subject: CodeSubject, memory: Vec<u8> },
}

/// Reads all code of an image from a store; `None` if some is missing or not as it was written.
///
/// # Errors
/// If it cannot be read.
pub fn take_code(image: &Image, dir: &Path) -> std::io::Result<Option<Vec<CarriedCode>>> {
    let store = ArtifactStore { dir: Some(dir.to_owned()), progress: &|_| {}, waits: false };
    let Some((dir, secret)) = store.place(false) else { return Ok(None) };
    let mut all = Vec::new();
    for digest in image.atoms().values() {
        let files = program_files(dir, &super::artifact_key(digest));
        let Some([code, template]) = files.open(&secret, &|_| {}) else {
            return Ok(None);
        };
        let subject = CodeSubject { module: super::hex_text(digest), tree: None };
        let (code, template) = (read(code)?, read(template)?);
        all.push(CarriedCode::Program { subject: subject.clone(), code, template });
        let files = snapshot_files(dir, &snapshot::snapshot_key(digest, image.tree()));
        // Only some programs have a prepared memory.
        if let Some([memory]) = files.open(&secret, &|_| {}) {
            let subject = CodeSubject { tree: Some(image.tree().to_owned()), ..subject };
            all.push(CarriedCode::Snapshot { subject, memory: read(memory)? });
        }
    }
    Ok(Some(all))
}

/// Reads the prepared memory of each program of an image from a store, by the program's name, as
/// [`wasibox_kernel::parked::PreparedHeader`] describes it: a head that fills a page, then the
/// content.
///
/// # Errors
/// If it cannot be read.
pub fn prepared_memories(image: &Image, dir: &Path) -> std::io::Result<Vec<(String, Vec<u8>)>> {
    let store = ArtifactStore { dir: Some(dir.to_owned()), progress: &|_| {}, waits: false };
    let Some((dir, secret)) = store.place(false) else { return Ok(Vec::new()) };
    let mut all = Vec::new();
    for (name, digest) in image.atoms() {
        let files = snapshot_files(dir, &snapshot::snapshot_key(digest, image.tree()));
        if let Some([memory]) = files.open(&secret, &|_| {}) {
            all.push((name.clone(), read(memory)?));
        }
    }
    Ok(all)
}

fn read(mut file: File) -> std::io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    file.read_to_end(&mut bytes)?;
    Ok(bytes)
}

/// The folder of a store, to which carried code is added.
pub struct ArtifactFolder {
    dir: PathBuf,
    key: ArtifactKey,
}

impl ArtifactFolder {
    /// Opens the folder of that name, and creates it if necessary.
    ///
    /// # Errors
    /// The reason why the folder cannot be trusted.
    pub fn open_dir(dir: &Path) -> Result<ArtifactFolder, String> {
        trusted::private_dir(dir)?;
        let key = ArtifactKey::load(key::default_dir().as_deref(), dir, &|_| {})?;
        Ok(ArtifactFolder { dir: dir.to_owned(), key })
    }

    /// Stores code, unless it is there already. The caller checks whether it runs here
    /// ([`CodeRequirements::check_host`]).
    ///
    /// # Errors
    /// If its digest is invalid, or it cannot be written.
    pub fn put_carried(&self, carried: &CarriedCode) -> std::io::Result<()> {
        match carried {
            CarriedCode::Program { subject, code, template } => {
                self.add_files(subject, program_files, [code, template])
            }
            CarriedCode::Snapshot { subject, memory } => {
                self.add_files(subject, snapshot_files, [memory])
            }
        }
    }

    fn add_files<const N: usize>(
        &self,
        subject: &CodeSubject,
        files: impl Fn(&Path, &str) -> ChecksummedFiles<N>,
        contents: [&[u8]; N],
    ) -> std::io::Result<()> {
        let key = subject.artifact_key().ok_or(std::io::ErrorKind::InvalidData)?;
        let files = files(&self.dir, &key);
        match files.open(&self.key, &|_| {}) {
            Some(_) => Ok(()),
            None => files.put(&self.key, contents),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::artifact::ArtifactError;
    use crate::compile::compile_for;
    use sha2::{Digest, Sha256};
    use std::os::unix::fs::PermissionsExt;
    use wasmer::sys::{CpuFeature, Target};

    fn subject(digest: &[u8; 32]) -> CodeSubject {
        CodeSubject { module: crate::artifact::hex_text(digest), tree: None }
    }

    #[test]
    fn what_is_taken_in_is_found() {
        let tmp = tempfile::tempdir().unwrap();
        let dir = tmp.path().join("aot");
        let into = ArtifactFolder::open_dir(&dir).unwrap();
        let digest = [0x5a; 32];
        let (code, template) = (b"code".to_vec(), b"template".to_vec());
        let carried = CarriedCode::Program { subject: subject(&digest), code, template };
        into.put_carried(&carried).unwrap();
        let key = crate::artifact::artifact_key(&digest);
        let [code, template] = program_files(&dir, &key).open(&into.key, &|_| {}).unwrap();
        assert_eq!(
            (read(code).unwrap(), read(template).unwrap()),
            (b"code".to_vec(), b"template".to_vec())
        );
        // Stored code is not written again.
        let stamp = |name: &str| std::fs::metadata(dir.join(name)).unwrap().modified().unwrap();
        let name = format!("{key}.aot");
        let before = stamp(&name);
        into.put_carried(&carried).unwrap();
        assert_eq!(stamp(&name), before);
        let subject = CodeSubject { tree: Some("tree".into()), ..subject(&digest) };
        into.put_carried(&CarriedCode::Snapshot { subject, memory: vec![7; 10] }).unwrap();
        let key = snapshot::snapshot_key(&digest, "tree");
        assert!(snapshot_files(&dir, &key).open(&into.key, &|_| {}).is_some());
    }

    #[test]
    fn names_and_folders_are_looked_at() {
        let tmp = tempfile::tempdir().unwrap();
        let into = ArtifactFolder::open_dir(&tmp.path().join("aot")).unwrap();
        let long = format!("{}é", "a".repeat(62));
        for module in
            ["", "../../../../etc/passwd", &"g".repeat(64), &"a".repeat(63), &"a".repeat(66), &long]
        {
            let subject = CodeSubject { module: module.to_owned(), tree: None };
            let carried = CarriedCode::Snapshot { subject, memory: vec![] };
            assert!(into.put_carried(&carried).is_err(), "{module}");
        }
        let open = tmp.path().join("open");
        std::fs::create_dir(&open).unwrap();
        std::fs::set_permissions(&open, PermissionsExt::from_mode(0o777)).unwrap();
        assert!(ArtifactFolder::open_dir(&open).is_err());
    }

    #[test]
    fn code_for_features_that_this_cpu_lacks_is_refused() {
        let own = CodeRequirements::of_own();
        own.check_host().unwrap();
        let fewer = CodeRequirements { features: vec![own.features[0].clone()], ..own.clone() };
        fewer.check_host().unwrap();
        let more = [own.features.clone(), vec!["sse9".to_owned()]].concat();
        let why = CodeRequirements { features: more, ..own.clone() }.check_host().unwrap_err();
        assert_eq!(why, "it was made for another CPU: this one has no sse9");
        let engine = format!("{} of tomorrow", own.engine);
        let why = CodeRequirements { engine, ..own }.check_host().unwrap_err();
        assert!(why.contains("another version"), "{why}");
    }

    /// Loads code that uses fewer features than code compiled here, and code that uses all features
    /// of this CPU.
    #[test]
    fn code_with_other_features_is_used() {
        // (func (export "f") (result i32) i32.const 7)
        let wasm = b"\0asm\x01\0\0\0\x01\x05\x01\x60\0\x01\x7f\x03\x02\x01\0\x07\x05\x01\x01f\0\0\
            \x0a\x06\x01\x04\0\x41\x07\x0b";
        let digest = Sha256::digest(wasm).into();
        let host = Target::default();
        let has_sse2 = host.cpu_features().contains(CpuFeature::SSE2);
        let least = if has_sse2 {
            Target::new(host.triple().clone(), CpuFeature::SSE2.into())
        } else {
            host.clone()
        };
        for target in [least, host] {
            let tmp = tempfile::tempdir().unwrap();
            let dir = tmp.path().join("aot");
            let made = compile_for(target, "m", wasm.to_vec()).unwrap();
            let (subject, code) = (subject(&digest), made.code);
            let carried = CarriedCode::Program { subject, code, template: made.template };
            ArtifactFolder::open_dir(&dir).unwrap().put_carried(&carried).unwrap();
            let store =
                ArtifactStore { dir: Some(dir), progress: &|line| panic!("{line}"), waits: false };
            let engine = engine::new(1 << 20);
            let loaded = store.load::<ArtifactError>(&engine, "m", &digest, || panic!("compiled"));
            let mut instances = wasmer::Store::new(engine);
            let module = loaded.unwrap().module;
            let made = wasmer::Instance::new(&mut instances, &module, &wasmer::imports! {});
            let f = made.unwrap().exports.get_typed_function::<(), i32>(&instances, "f").unwrap();
            assert_eq!(f.call(&mut instances).unwrap(), 7);
        }
    }
}
