//! Tests that the memory which a session makes the host keep is reserved from its budget, and
//! released.

mod common;

use common::*;
use wasibox_vfs::{Budget, DiskLimits, Errno, Vfs};

fn small(memory: u64) -> (Vfs, std::sync::Arc<Budget>) {
    let budget = Budget::new(memory);
    (
        Vfs::new([], &[], DiskLimits::default(), budget.clone(), &ProtectedPaths::default())
            .unwrap(),
        budget,
    )
}

#[test]
fn files_that_are_cut_give_their_memory_back() {
    let (v, budget) = small(4 << 20);
    for i in 0..1000 {
        let f = open(&v, &format!("/tmp/{i}"), WRITE).unwrap();
        f.write(0, false, &[1; 64 << 10]).unwrap();
        f.set_len(1).unwrap();
    }
    assert!(budget.used_bytes() < 1 << 20, "{}", budget.used_bytes());
}

#[test]
fn making_and_removing_files_occupies_nothing() {
    let (v, budget) = small(4 << 20);
    write(&v, "/tmp/stays", "x").unwrap();
    let before = budget.used_bytes();
    for i in 0..20_000 {
        let path = format!("/tmp/{i}");
        write(&v, &path, "x").unwrap();
        v.symlink(b"x", &ROOT_LOC, format!("{path}.ln").as_bytes()).unwrap();
        v.mkdir(&ROOT_LOC, format!("{path}.d").as_bytes(), 0o755).unwrap();
        v.remove(&ROOT_LOC, path.as_bytes(), false).unwrap();
        v.remove(&ROOT_LOC, format!("{path}.ln").as_bytes(), false).unwrap();
        v.remove(&ROOT_LOC, format!("{path}.d").as_bytes(), true).unwrap();
    }
    assert!(budget.used_bytes() <= before + 4096, "{} {before}", budget.used_bytes());
    assert_eq!(read(&v, "/tmp/stays").unwrap(), "x");
}

#[test]
fn names_count_and_are_refused_past_the_ceiling() {
    let (v, budget) = small(1 << 20);
    let (mut n, mut d) = (0, 0);
    let e = loop {
        match v.mkdir(&ROOT_LOC, format!("/tmp/{n:0200}").as_bytes(), 0o755) {
            Ok(()) => n += 1,
            Err(e) => break e,
        }
    };
    assert_eq!(e, Errno::NOMEM);
    assert!((1000..4000).contains(&n), "{n}");
    assert!(budget.used_bytes() <= budget.limit() + (8 << 10), "{}", budget.used_bytes());
    assert_eq!(write(&v, &format!("/tmp/{n:0200}"), "x"), Err(Errno::NOMEM));
    while v.remove(&ROOT_LOC, format!("/tmp/{d:0200}").as_bytes(), true).is_ok() {
        d += 1;
    }
    assert_eq!(d, n);
    write(&v, "/tmp/f", "x").unwrap();
}

#[test]
fn a_mark_holds_what_it_keeps() {
    let (v, budget) = small(3 << 20);
    write(&v, "/tmp/old", &"x".repeat(2 << 20)).unwrap();
    let mark = v.mark_state();
    v.remove(&ROOT_LOC, b"/tmp/old", false).unwrap();
    assert!(budget.used_bytes() > 2 << 20);
    assert_eq!(write(&v, "/tmp/new", &"x".repeat(2 << 20)), Err(Errno::NOSPC));
    drop(mark);
    write(&v, "/tmp/new", &"x".repeat(2 << 20)).unwrap();
}

#[test]
fn a_session_that_ends_gives_everything_back() {
    let (v, budget) = small(4 << 20);
    v.mkdir(&ROOT_LOC, b"/tmp/d", 0o755).unwrap();
    write(&v, "/tmp/d/f", &"x".repeat(100_000)).unwrap();
    let (held, mark) = (open(&v, "/tmp/d/f", READ).unwrap(), v.mark_state());
    v.remove(&ROOT_LOC, b"/tmp/d/f", false).unwrap();
    v.rename(&ROOT_LOC, b"/tmp/d", &ROOT_LOC, b"/tmp/e").unwrap();
    assert!(budget.used_bytes() > 100_000);
    drop((v, held, mark));
    assert_eq!(budget.used_bytes(), 0);
}
