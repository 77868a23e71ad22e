//! Tests that the list of changes is bounded while it is made.

mod common;

use common::*;
use std::time::{Duration, Instant};
use wasibox_vfs::{ChangeBounds, ChangeKind, Loc, TreeChanges, Vfs, VfsFile};

/// Makes nested directories below `/tmp`. Returns the last one.
fn nest(v: &Vfs, name: &str, depth: usize) -> Loc {
    let mut at = v.chdir(&ROOT_LOC, b"/tmp").unwrap().0;
    for _ in 0..depth {
        v.mkdir(&at, name.as_bytes(), 0o755).unwrap();
        let how = wasibox_vfs::OpenFlags { directory: true, ..READ };
        let wasibox_vfs::OpenResult::File(f) = v.open(&at, name.as_bytes(), how, 0).unwrap() else {
            panic!("{name}");
        };
        at = f.loc().unwrap().clone();
    }
    at
}

fn make(v: &Vfs, dir: &Loc, name: &str) {
    let made = v.open(dir, name.as_bytes(), WRITE, 0o644).unwrap();
    assert!(matches!(made, wasibox_vfs::OpenResult::File(VfsFile::Tree(_))));
}

fn size(c: &TreeChanges) -> usize {
    c.list.iter().map(|c| c.path.len()).sum()
}

#[test]
fn count_and_bytes_are_bounded() {
    let v = vfs(&[]);
    let mark = v.mark_state();
    let at = nest(&v, &"n".repeat(255), 14);
    for i in 0..3000 {
        make(&v, &at, &format!("{i:04}"));
    }
    let all = v.changes_since(&mark, &ChangeBounds::default());
    assert!(all.truncated && size(&all) <= 4 << 20 && all.list.len() > 1000);
    let ten = v.changes_since(&mark, &ChangeBounds { count: 10, ..ChangeBounds::default() });
    assert!(ten.truncated && ten.list.len() == 10);
    let v = vfs(&[]);
    let mark = v.mark_state();
    for i in 0..10 {
        write(&v, &format!("/tmp/{i}"), "x").unwrap();
    }
    let exact = v.changes_since(&mark, &ChangeBounds { count: 10, bytes: 60, deadline: None });
    assert!(!exact.truncated && exact.list.len() == 10);
    let less = v.changes_since(&mark, &ChangeBounds { count: 10, bytes: 59, deadline: None });
    assert!(less.truncated && less.list.len() == 9);
}

#[test]
fn paths_that_no_call_takes_are_not_listed() {
    let v = vfs(&[]);
    let mark = v.mark_state();
    let at = nest(&v, &"n".repeat(255), 200);
    for i in 0..5000 {
        make(&v, &at, &i.to_string());
    }
    write(&v, "/tmp/z", "x").unwrap();
    let begun = Instant::now();
    let c = v.changes_since(&mark, &ChangeBounds::default());
    assert!(c.truncated && c.list.len() == 1 && c.list[0].kind == ChangeKind::Created, "{c:?}");
    assert!(begun.elapsed() < Duration::from_secs(1));
    v.rename(&ROOT_LOC, format!("/tmp/{}", "n".repeat(255)).as_bytes(), &ROOT_LOC, b"/tmp/m")
        .unwrap();
    assert_eq!(v.changes_since(&mark, &ChangeBounds::default()).list[0].path, b"/tmp/z");
}

#[test]
fn depth_costs_no_stack_and_little_time() {
    let v = vfs(&[]);
    let mark = v.mark_state();
    let at = nest(&v, "d", 20_000);
    make(&v, &at, "f");
    let begun = Instant::now();
    let c = v.changes_since(&mark, &ChangeBounds::default());
    assert!(c.truncated && c.list.is_empty());
    assert!(begun.elapsed() < Duration::from_secs(1));
}

#[test]
fn the_deadline_ends_it() {
    let v = vfs(&[]);
    let mark = v.mark_state();
    for i in 0..2000 {
        write(&v, &format!("/tmp/{i}"), "x").unwrap();
    }
    let past = ChangeBounds { deadline: Some(Instant::now()), ..ChangeBounds::default() };
    let c = v.changes_since(&mark, &past);
    assert!(c.truncated && c.list.len() < 2000);
}
