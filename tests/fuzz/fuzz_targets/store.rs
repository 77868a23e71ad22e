//! Opens a store with some bytes changed. Every operation on it must end without a panic.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::path::PathBuf;
use std::sync::LazyLock;
use wasibox_fuzz::{patched, session};
use wasibox_snapshot::{FileTree, MemoryObjects, wbs};
use wasibox_store::{SnapshotLimits, Store, StoreError};

/// The folder of this process, and the bytes of a valid store.
static GOOD: LazyLock<(PathBuf, Vec<u8>)> = LazyLock::new(|| {
    let dir = std::env::temp_dir().join(format!("wasibox-fuzz-store-{}", std::process::id()));
    let _ = std::fs::remove_dir_all(&dir);
    std::fs::create_dir_all(&dir).unwrap();
    let objects = MemoryObjects::default();
    let mut bytes = Vec::new();
    wbs::write(&objects, &session(&objects), &mut bytes).unwrap();
    let path = dir.join("good.wbx");
    let store = Store::open(&path).unwrap();
    store.import("a", &bytes[..], &SnapshotLimits::default()).unwrap();
    store.collect_garbage().unwrap();
    drop(store);
    (dir, std::fs::read(path).unwrap())
});

fn use_all(path: &std::path::Path) -> Result<(), StoreError> {
    let store = Store::open(path)?;
    for info in store.sessions()? {
        let _ = store.history(&info.name);
        let _ = store.keys(&info.name);
        let _ = store.export(&info.name, true, std::io::sink());
        if let Ok(s) = store.session(&info.name) {
            let emit = &mut |_| Ok::<_, StoreError>(());
            let _ = s.changes(&FileTree::default(), &s.state().files, emit);
            let _ = s.undo();
            let _ = s.commit::<StoreError>(|w| w.set_command(b"x"));
            let _ = s.compact(1);
        }
    }
    store.collect_garbage()?;
    store.check().map(drop)
}

fuzz_target!(|data: &[u8]| {
    let (dir, good) = &*GOOD;
    let path = dir.join("w.wbx");
    for name in ["w.wbx-wal", "w.wbx-shm"] {
        let _ = std::fs::remove_file(dir.join(name));
    }
    std::fs::write(&path, patched(good, data)).unwrap();
    let _ = use_all(&path);
});
