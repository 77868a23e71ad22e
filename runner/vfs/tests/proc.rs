//! `/proc` with a source of its own. What the kernel's source says is tested in the sandbox.

mod common;

use common::*;
use std::sync::Arc;
use wasibox_vfs::{
    Budget, DiskLimits, Errno, OpenFlags, OpenResult, ProcNode, ProcSource, Vfs, show_proc,
};

/// Process 7 with one file, whose text says whether a lookup of `/proc/7/text` succeeds while
/// it is made.
struct Seven(Vfs);

impl ProcSource for Seven {
    fn find_node(&self, path: &[u8]) -> Option<ProcNode> {
        let names = |names: &[&str]| ProcNode::Dir(names.iter().map(|n| (*n).into()).collect());
        Some(match path {
            b"" => names(&["self", "7"]),
            b"self" => ProcNode::Link(b"7".to_vec()),
            b"7" => names(&["fd", "text"]),
            b"7/fd" => ProcNode::OwnDescriptors,
            b"7/text" => {
                let again = self.0.stat(&ROOT_LOC, b"/proc/7/text", true).is_ok();
                ProcNode::Text(format!("again {again}\n").into_bytes())
            }
            _ => return None,
        })
    }
}

#[test]
fn a_thread_sees_its_source() {
    let v = vfs(&[]);
    assert_eq!(names(&v, "/proc").unwrap(), ["self"]);
    let shown = show_proc(Arc::new(Seven(v.clone())));
    assert_eq!(names(&v, "/proc").unwrap(), ["7", "self"]);
    assert_eq!(names(&v, "/proc/self").unwrap(), ["fd", "text"]);
    assert_eq!(v.read_link(&ROOT_LOC, b"/proc/self"), Ok(b"7".to_vec()));
    let file = open(&v, "/proc/self/text", READ).expect("a file");
    let mut buf = [0; 8];
    assert_eq!((file.read(0, &mut buf), &buf), (Ok(8), b"again fa"));
    assert_eq!((file.read(8, &mut buf), &buf[..4]), (Ok(4), b"lse\n".as_slice()));
    assert_eq!(file.read(99, &mut buf), Ok(0));
    let fd = v.open(&ROOT_LOC, b"/proc/self/fd/5", READ, 0);
    assert!(matches!(fd, Ok(OpenResult::Descriptor(5))));
    assert_eq!(v.chdir(&ROOT_LOC, b"/proc/self").map(|at| at.1), Ok(b"/proc/7".to_vec()));
    assert_eq!(v.stat(&ROOT_LOC, b"/proc/8", true), Err(Errno::NOENT));
    drop(shown);
    assert_eq!(v.stat(&ROOT_LOC, b"/proc/7", true), Err(Errno::NOENT));
    assert_eq!(names(&v, "/proc").unwrap(), ["self"]);
}

#[test]
fn nothing_in_it_can_be_changed() {
    let v = vfs(&[]);
    let _shown = show_proc(Arc::new(Seven(v.clone())));
    let write = OpenFlags { write: true, ..READ };
    let create = OpenFlags { create: true, truncate: true, ..write };
    for how in [write, create, OpenFlags { truncate: true, ..READ }] {
        assert_eq!(open(&v, "/proc/7/text", how).err(), Some(Errno::ACCES));
    }
    assert_eq!(open(&v, "/proc/7/new", create).err(), Some(Errno::ACCES));
    assert!(v.mkdir(&ROOT_LOC, b"/proc/7/new", 0o755).is_err());
    assert!(v.chmod(&ROOT_LOC, b"/proc/7/text", 0o777).is_err());
    for (path, dir) in [("/proc/7/text", false), ("/proc/self", false), ("/proc/7", true)] {
        assert!(v.remove(&ROOT_LOC, path.as_bytes(), dir).is_err(), "{path}");
        assert!(v.rename(&ROOT_LOC, path.as_bytes(), &ROOT_LOC, b"/tmp/x").is_err(), "{path}");
        assert!(v.link(&ROOT_LOC, path.as_bytes(), false, &ROOT_LOC, b"/tmp/x").is_err());
    }
    assert_eq!(names(&v, "/proc").unwrap(), ["7", "self"]);
}

#[test]
fn open_files_are_charged() {
    let budget = Budget::new(1 << 20);
    let walls = ProtectedPaths::default();
    let v =
        Vfs::new([], &[], DiskLimits::default(), budget.clone(), &walls).expect("a file system");
    let _shown = show_proc(Arc::new(Seven(v.clone())));
    let before = budget.used_bytes();
    let file = open(&v, "/proc/7/text", READ).expect("a file");
    assert_eq!(budget.used_bytes() - before, 6 + 12);
    drop(file);
    assert_eq!(budget.used_bytes(), before);
}
