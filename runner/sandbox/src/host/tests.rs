//! The table of processes, with programs of an image.

use super::Kernel;
use crate::programs::{ProgramError, ProgramLibrary, Programs};
use std::sync::Arc;
use std::time::{Duration, Instant};
use wasibox_image::{Image, ImageSpec, pack_to};
use wasibox_kernel::{
    CellOrigin, ChildStart, Cwd, Descriptors, FIRST_PID, Limits, ProcessStart, ProcessStatus,
    SpawnError,
};
use wasibox_vfs::{Budget, DiskLimits, Errno, Loc, ProgramMark, Vfs};

fn kernel() -> Arc<Kernel> {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("image.webc");
    let nothing = r#"(module (memory (export "memory") 1) (func (export "_start")))"#;
    let spec = ImageSpec {
        name: "test/nothing".into(),
        version: "0.0.0".into(),
        atoms: vec![("it".into(), wat::parse_str(nothing).unwrap())],
        ..ImageSpec::default()
    };
    pack_to(&spec, &path).unwrap();
    let image = Arc::new(Image::open(&path).unwrap());
    let limits = Limits::default();
    let budget = Budget::new(limits.memory);
    let library = ProgramLibrary::new(image, limits.stack, None, Arc::new(|_| {}));
    let programs = Arc::new(Programs::new(Arc::new(library), limits.memory, false));
    let own = wasibox_vfs::ProtectedPaths::default();
    let vfs = Vfs::new(Vec::new(), &[], DiskLimits::default(), budget.clone(), &own).unwrap();
    let background = Arc::default();
    Kernel::new(vfs, programs, limits, budget, CellOrigin::default(), background)
}

fn spawn(k: &Arc<Kernel>, parent: u32) -> Result<u32, SpawnError<ProgramError>> {
    let start =
        ProcessStart { program: ProgramMark(0), argv: vec![b"it".to_vec()], env: Vec::new() };
    let cwd = Cwd::new(Loc::Tree(wasibox_vfs::tree::ROOT), b"/".to_vec());
    let fds = Descriptors::new(8);
    k.spawn_process(ChildStart { parent, start, fds, cwd, ignored: 0, held: None })
}

#[test]
fn nothing_starts_after_the_first_process_has_ended() {
    let k = kernel();
    assert_eq!(spawn(&k, 1).unwrap(), FIRST_PID);
    let end = k.finish_run();
    assert_eq!((end.status, end.stuck), (ProcessStatus::Exited(0), 0));
    let late = spawn(&k, FIRST_PID);
    assert!(matches!(late, Err(SpawnError::Errno(Errno::AGAIN))), "{late:?}");
    assert_eq!(k.alive_count(), 0);
}

#[test]
fn all_that_a_process_took_is_given_back() {
    let k = kernel();
    let before = k.budget.used_bytes();
    spawn(&k, 1).unwrap();
    k.finish_run();
    // A process's thread releases its memory a moment after it has reported the end.
    let until = Instant::now() + Duration::from_secs(10);
    while k.budget.used_bytes() > before && Instant::now() < until {
        std::thread::yield_now();
    }
    assert_eq!(k.budget.used_bytes(), before);
}
