//! A store on a full file system: reading works, writing is refused, and nothing is lost.

mod common;

use common::*;
use std::fs::File;
use std::io::Write;
use std::path::Path;
use std::process::Command;
use wasibox_store::{Store, StoreError, StoreSession};
use wasibox_vfs::Vfs;
use wasibox_vfs::delta::{TreeVersion, emit_between};

/// The folder of the small file system.
const FOLDER: &str = "WASIBOX_SMALL_DISK";
/// The status of the shell that cannot mount it.
const NO_MOUNT: i32 = 77;

/// Runs the test below in a mount namespace of its own, on a file system of a few megabytes.
#[test]
fn a_full_file_system_loses_nothing() {
    let dir = tempfile::tempdir().unwrap();
    let script =
        format!("mount -t tmpfs -o size=6m,mode=700 none \"$0\" || exit {NO_MOUNT}; exec \"$@\"");
    let out = Command::new("unshare")
        .args(["-rm", "sh", "-c", &script])
        .arg(dir.path())
        .arg(std::env::current_exe().unwrap())
        .args(["--exact", "in_a_small_file_system", "--ignored", "--nocapture"])
        .env(FOLDER, dir.path())
        .output();
    let why = match &out {
        Err(e) => e.to_string(),
        Ok(out) => String::from_utf8_lossy(&out.stderr).into_owned(),
    };
    match out {
        Ok(out) if out.status.success() => {
            let text = String::from_utf8_lossy(&out.stdout).into_owned();
            assert!(text.contains("1 passed"), "{text}");
        }
        Ok(out) if out.status.code() != Some(NO_MOUNT) && !why.starts_with("unshare:") => {
            panic!("{}{why}", String::from_utf8_lossy(&out.stdout))
        }
        _ => eprintln!("skipped: there is no file system for this test: {}", why.trim()),
    }
}

/// Takes all space that is left, until the returned value is dropped.
fn fill_up(dir: &Path) -> Filler {
    let path = dir.join("filler");
    let mut file = File::create(&path).unwrap();
    while file.write_all(&[7; 4096]).is_ok() {}
    while file.write_all(&[7]).is_ok() {}
    Filler(path)
}

struct Filler(std::path::PathBuf);

impl Drop for Filler {
    fn drop(&mut self) {
        std::fs::remove_file(&self.0).unwrap();
    }
}

fn try_commit(s: &StoreSession, v: &Vfs, known: &TreeVersion) -> Result<(), StoreError> {
    let now = v.tree_version();
    s.commit(|w| emit_between(known, &now, &mut |delta| w.add_delta(delta))).map(drop)
}

fn is_full<T>(result: Result<T, StoreError>) -> bool {
    match result {
        Err(StoreError::DiskFull) => true,
        Err(e) => panic!("{e}"),
        Ok(_) => false,
    }
}

#[test]
#[ignore = "needs a small file system; the test above provides it"]
fn in_a_small_file_system() {
    let Some(dir) = std::env::var_os(FOLDER) else { return };
    let dir = Path::new(&dir);
    let path = dir.join("w.wbx");
    let v = session();
    let mut known = v.tree_version();
    let mut random = Random(7);
    let noise: Vec<u8> = (0..1_500_000).map(|_| random.below(256) as u8).collect();
    {
        let store = Store::open(&path).unwrap();
        let s = store.create("a", None).unwrap();
        write(&v, "/tmp/noise", &noise).unwrap();
        commit(&s, &v, &mut known);
        s.set_value(b"key", b"value").unwrap();
    }
    // It is full before it is opened: there is not even space for SQLite's index of the log.
    let filler = fill_up(dir);
    {
        let store = Store::open(&path).unwrap();
        let names: Vec<String> = store.sessions().unwrap().into_iter().map(|i| i.name).collect();
        assert_eq!(names, ["a"]);
        assert_eq!(store.history("a").unwrap().len(), 2);
        assert_eq!(store.value("a", b"key").unwrap().as_deref(), Some(&b"value"[..]));
        assert!(store.check().unwrap().is_whole());
        let mut snapshot = Vec::new();
        store.export("a", true, &mut snapshot).unwrap();
        // It is longer than what is kept in memory on its way.
        assert!(snapshot.len() > 1_500_000);
        let other = Store::in_memory().unwrap();
        other.import("a", &*snapshot, &Default::default()).unwrap();
        assert_eq!(dump(&restored(&other.session("a").unwrap())), dump(&v));
        let s = store.session("a").unwrap();
        assert_eq!(dump(&restored(&s)), dump(&v));
        write(&v, "/tmp/more", b"more").unwrap();
        assert!(is_full(try_commit(&s, &v, &known)));
        assert!(is_full(store.create("b", None)));
        assert!(is_full(s.undo()));
        assert!(is_full(store.import("b", &*snapshot, &Default::default())));
        store.collect_garbage().unwrap();
        assert_eq!((s.head().number, store.history("a").unwrap().len()), (2, 2));
        assert!(store.check().unwrap().is_whole());
    }
    drop(filler);
    // It becomes full while it is open.
    let store = Store::open(&path).unwrap();
    let s = store.session("a").unwrap();
    commit(&s, &v, &mut known);
    let filler = fill_up(dir);
    let before = s.head().number;
    write(&v, "/tmp/noise", &noise[1..]).unwrap();
    assert!(is_full(try_commit(&s, &v, &known)));
    assert_eq!(s.head().number, before);
    let other = Store::open(&path).unwrap();
    for store in [&store, &other] {
        assert_eq!(store.history("a").unwrap().len(), 3);
        assert!(store.check().unwrap().is_whole());
        store.export("a", true, &mut std::io::sink()).unwrap();
    }
    drop(filler);
    commit(&s, &v, &mut known);
    // A little is left, and old commits are to be compacted: the result of each commit says whether
    // it was made.
    let filler = fill_up(dir);
    File::options().write(true).open(&filler.0).unwrap().set_len(2 << 20).unwrap();
    s.limit_growth(6000, 6000);
    let mut failed = 0;
    for n in 0..400_u64 {
        let before = s.head().number;
        write(&v, "/tmp/n", &n.to_le_bytes().repeat(600)).unwrap();
        let made = !is_full(try_commit(&s, &v, &known));
        assert_eq!(s.head().number, before + u64::from(made), "{n}");
        let now = v.tree_version();
        known = if made { now } else { known };
        failed += u64::from(!made);
        if failed > 5 {
            break;
        }
    }
    drop(filler);
    commit(&s, &v, &mut known);
    assert_eq!(dump(&restored(&s)), dump(&v));
    assert!(store.check().unwrap().is_whole());
}
