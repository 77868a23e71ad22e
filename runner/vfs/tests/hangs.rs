//! A path that takes long does not hold up other callers, and its walk ends.

mod common;

use common::*;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, AtomicUsize, Ordering};
use std::time::{Duration, Instant};
use wasibox_vfs::{Errno, Vfs};

/// Makes links whose targets are long paths that lead through other links: some 80,000 components
/// in all.
fn maze(dir: &std::path::Path) {
    std::fs::create_dir(dir.join("d")).unwrap();
    std::fs::write(dir.join("end"), "x").unwrap();
    for i in 0..39 {
        let target = format!("{}l{}", "d/../".repeat(800), i + 1);
        std::os::unix::fs::symlink(target, dir.join(format!("l{i}"))).unwrap();
    }
    std::os::unix::fs::symlink("end", dir.join("l39")).unwrap();
}

fn mazed() -> (tempfile::TempDir, Vfs) {
    let tmp = tempfile::tempdir().unwrap();
    maze(tmp.path());
    let v = vfs(&[mount(tmp.path(), "/m", true)]);
    (tmp, v)
}

#[test]
fn components_are_bounded() {
    let (_tmp, v) = mazed();
    assert_eq!(read(&v, "/m/l0"), Err(Errno::LOOP));
    // A long path and a few links are not a maze.
    assert_eq!(read(&v, &format!("/m/{}l37", "d/../".repeat(800))).unwrap(), "x");
}

#[test]
fn other_lookups_go_on_meanwhile() {
    let (_tmp, v) = mazed();
    write(&v, "/tmp/f", "x").unwrap();
    let (done, walks) = (Arc::new(AtomicBool::new(false)), Arc::new(AtomicUsize::new(0)));
    let walker = {
        let (v, done, walks) = (v.clone(), done.clone(), walks.clone());
        std::thread::spawn(move || {
            while !done.load(Ordering::Relaxed) {
                // In an earlier version this held the write lock during the whole walk.
                assert_eq!(open(&v, "/m/l0", WRITE).err(), Some(Errno::LOOP));
                walks.fetch_add(1, Ordering::Relaxed);
            }
        })
    };
    let begun = Instant::now();
    let mut opened = 0;
    while walks.load(Ordering::Relaxed) < 3 {
        assert_eq!(read(&v, "/tmp/f").unwrap(), "x");
        opened += 1;
        assert!(begun.elapsed() < Duration::from_secs(60));
    }
    done.store(true, Ordering::Relaxed);
    walker.join().unwrap();
    assert!(opened > 100, "{opened} while the other was walking");
}

#[test]
fn who_is_killed_leaves() {
    let (_tmp, v) = mazed();
    let looks = std::rc::Rc::new(std::cell::Cell::new(0));
    let count = looks.clone();
    let guard = wasibox_vfs::stop_when(move || {
        count.set(count.get() + 1);
        count.get() > 100
    });
    assert_eq!(read(&v, "/m/l0"), Err(Errno::INTR));
    assert_eq!(looks.get(), 101);
    drop(guard);
    assert_eq!(read(&v, "/m/l38").unwrap(), "x");
}

#[test]
fn what_changes_under_a_walk_is_found_again() {
    let v = vfs(&[]);
    v.mkdir(&ROOT_LOC, b"/tmp/d", 0o755).unwrap();
    let threads: Vec<_> = (0..4)
        .map(|t| {
            let v = v.clone();
            std::thread::spawn(move || {
                for i in 0..3000 {
                    // All threads make, move, write and remove the same name.
                    let ok = [Errno::NOENT, Errno::EXIST];
                    let fine = |r: Result<(), Errno>| {
                        assert!(r.is_ok() || ok.contains(&r.unwrap_err()), "{r:?}")
                    };
                    fine(write(&v, "/tmp/d/a", "x"));
                    fine(v.rename(&ROOT_LOC, b"/tmp/d/a", &ROOT_LOC, b"/tmp/d/b"));
                    fine(v.link(&ROOT_LOC, b"/tmp/d/b", false, &ROOT_LOC, b"/tmp/d/c"));
                    fine(read(&v, "/tmp/d/b").map(drop));
                    fine(v.stat(&ROOT_LOC, b"/tmp/d/c", true).map(drop));
                    fine(v.remove(
                        &ROOT_LOC,
                        if (i + t) % 2 == 0 { b"/tmp/d/b" } else { b"/tmp/d/c" },
                        false,
                    ));
                    fine(v.mkdir(&ROOT_LOC, b"/tmp/d/e", 0o755));
                    fine(v.remove(&ROOT_LOC, b"/tmp/d/e", true));
                }
            })
        })
        .collect();
    threads.into_iter().for_each(|t| t.join().unwrap());
    for name in ["a", "b", "c"] {
        let _ = v.remove(&ROOT_LOC, format!("/tmp/d/{name}").as_bytes(), false);
    }
    v.remove(&ROOT_LOC, b"/tmp/d", true).unwrap();
}
