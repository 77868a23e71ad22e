//! Tests that a session's changes, written as data, can be restored in a new session.

mod common;

use common::sessions::*;
use common::*;
use std::convert::Infallible;
use wasibox_vfs::delta::{Delta, FileTotals, Id, Layer, NodeChange, emit_between};
use wasibox_vfs::{BaseFile, DiskLimits, Errno, OpenFlags, Vfs};

fn session() -> Vfs {
    Vfs::new(image(), &[], DiskLimits::default(), unlimited(), &ProtectedPaths::default()).unwrap()
}

/// Returns a delta after encoding and decoding it, as when it is sent.
fn sent(delta: Delta) -> Delta {
    let text = serde_json::to_vec(&delta).unwrap();
    serde_json::from_slice(&text).unwrap()
}

fn restored(layer: &Layer) -> Vfs {
    let v = session();
    let Ok(()) = layer.emit_parts::<Infallible>(&mut |part| {
        v.restore_delta(sent(part)).unwrap();
        Ok(())
    });
    v
}

#[test]
fn a_new_session_takes_up_what_another_one_did() {
    for seed in 0..8 {
        let mut random = Random(seed);
        let mut v = session();
        let mut known = v.tree_version();
        let mut layer = Layer::default();
        for step in 0..40 {
            for _ in 0..random.below(12) {
                let _ = random.act(&v);
            }
            let now = v.tree_version();
            let Ok(()) = emit_between::<Infallible>(&known, &now, &mut |part| {
                assert!(layer.add_delta(sent(part), u64::MAX));
                Ok(())
            });
            known = now;
            if random.below(4) == 0 {
                let other = restored(&layer);
                assert_eq!(dump(&other), dump(&v), "seed {seed}, step {step}");
                v = other;
                known = v.tree_version();
            }
        }
    }
}

#[test]
fn a_report_grows_with_the_number_of_changes() {
    let v = session();
    for n in 0..2000 {
        write(&v, &format!("/tmp/{n}"), "x").unwrap();
    }
    write(&v, "/tmp/large", &"l".repeat(3 << 20)).unwrap();
    let known = v.tree_version();
    let told = |v: &Vfs| {
        let mut bytes = 0;
        let Ok(()) = emit_between::<Infallible>(&known, &v.tree_version(), &mut |part| {
            bytes += serde_json::to_vec(&part).unwrap().len();
            Ok(())
        });
        bytes
    };
    assert_eq!(told(&v), 0);
    let file = open(&v, "/tmp/large", OpenFlags { truncate: false, ..WRITE }).unwrap();
    file.write(1 << 20, false, b"changed").unwrap();
    let bytes = told(&v);
    // One chunk of 64 KiB; JSON writes four characters a byte at most.
    assert!(bytes > 64 << 10 && bytes < 5 * (64 << 10), "{bytes}");
}

#[test]
fn a_delta_of_another_session_or_a_damaged_one_is_refused() {
    let v = session();
    write(&v, "/tmp/a", "text").unwrap();
    let mut parts = Vec::new();
    let Ok(()) =
        emit_between::<Infallible>(&session().tree_version(), &v.tree_version(), &mut |part| {
            parts.push(part);
            Ok(())
        });
    let text = serde_json::to_string(&parts[0]).unwrap();
    let changed = |from: &str, to: &str| {
        let text = text.replacen(from, to, 1);
        assert_ne!(text, serde_json::to_string(&parts[0]).unwrap(), "{from}: {text}");
        session().restore_delta(serde_json::from_str(&text).unwrap())
    };
    assert_eq!(changed("\"made\":", "\"made\":99999999999"), Err(Errno::INVAL));
    assert_eq!(changed("\"made\":1", "\"made\":0"), Err(Errno::INVAL));
    assert_eq!(changed("\"bytes\":", "\"bytes\":99999999999"), Err(Errno::NOSPC));
    assert_eq!(changed("\"put\":[[0,", "\"put\":[[7,"), Err(Errno::INVAL));
    assert_eq!(changed("{\"Made\":", "{\"Made\":4294967296"), Err(Errno::INVAL));
    for name in ["[46,46]", "[46]", "[]", "[97,0]", "[97,47]"] {
        assert_eq!(changed("[[97],{\"Made\"", &format!("[{name},{{\"Made\"")), Err(Errno::INVAL));
    }
}

#[test]
fn over_another_image_or_other_mounts_what_can_be_is_taken_up() {
    let v = session();
    let beginning = v.tree_version();
    write(&v, "/tmp/a", "text").unwrap();
    write(&v, "/usr/a/new", "new").unwrap();
    write(&v, "/usr/f", "replaced").unwrap();
    let append = OpenFlags { truncate: false, append: true, ..WRITE };
    open(&v, "/usr/g", append).unwrap().write(0, true, b"more").unwrap();
    v.rename(&ROOT_LOC, b"/usr/b", &ROOT_LOC, b"/tmp/b").unwrap();
    let mut parts = Vec::new();
    let Ok(()) = emit_between::<Infallible>(&beginning, &v.tree_version(), &mut |part| {
        parts.push(part);
        Ok(())
    });
    let with = |base: Vec<BaseFile>, mounts: &[_]| {
        Vfs::new(base, mounts, DiskLimits::default(), unlimited(), &ProtectedPaths::default())
            .unwrap()
    };
    let bare = with(vec![], &[]);
    assert_eq!(bare.restore_delta(parts[0].clone()), Err(Errno::INVAL));
    let (bare, mut lost) = (with(vec![], &[]), Vec::new());
    parts.iter().for_each(|p| bare.restore_elsewhere(p.clone(), &mut lost).unwrap());
    lost.sort();
    lost.dedup();
    assert_eq!(read(&bare, "/tmp/a").unwrap(), "text");
    let lost: Vec<_> = lost.iter().map(|p| String::from_utf8_lossy(p)).collect();
    assert_eq!(lost, ["/usr/a", "/usr/b", "/usr/f", "/usr/g"]);
    // A session with more mounts has other node numbers.
    let host = tempfile::tempdir().unwrap();
    let mounted = with(image().into(), &[mount(host.path(), "/mnt/one/two", false)]);
    parts.iter().for_each(|p| mounted.restore_delta(p.clone()).unwrap());
    assert_eq!(read(&mounted, "/usr/g").unwrap(), read(&v, "/usr/g").unwrap());
    assert_eq!(read(&mounted, "/usr/f").unwrap(), "replaced");
    assert_eq!(names(&mounted, "/tmp/b").unwrap(), names(&v, "/tmp/b").unwrap());
    assert!(read(&mounted, "/usr/b/f").is_err());
}

#[test]
fn what_a_session_began_with_can_be_put_back() {
    let v = session();
    let given = |names: &[&str]| {
        let names = names.iter().map(|n| n.as_bytes().to_vec().into()).collect();
        (Id::Given(names), NodeChange::Given)
    };
    let before = dump(&v);
    write(&v, "/usr/f", "replaced").unwrap();
    v.remove(&ROOT_LOC, b"/usr/g", false).unwrap();
    write(&v, "/usr/a/new", "new").unwrap();
    assert_ne!(dump(&v), before);
    let nodes =
        vec![given(&["usr"]), given(&["usr", "f"]), given(&["usr", "g"]), given(&["usr", "a"])];
    v.restore_delta(Delta { totals: Default::default(), nodes }).unwrap();
    assert_eq!(dump(&v), before);
    let made = vec![(Id::Made(0), NodeChange::Given)];
    assert_eq!(
        v.restore_delta(Delta {
            totals: FileTotals { made: 1, ..Default::default() },
            nodes: made
        }),
        Err(Errno::INVAL)
    );
}

#[test]
fn a_layer_has_a_limit() {
    let v = session();
    let known = v.tree_version();
    write(&v, "/tmp/a", &"l".repeat(300_000)).unwrap();
    let mut layer = Layer::default();
    let Ok(()) = emit_between::<Infallible>(&known, &v.tree_version(), &mut |part| {
        assert!(!layer.add_delta(part, 200_000));
        Ok(())
    });
    assert!(layer.size() > 300_000);
}
