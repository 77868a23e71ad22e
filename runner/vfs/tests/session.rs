//! The session's own layer: quota, copy-on-write, changes, device nodes, permissions.

mod common;

use box_abi::{MetaRequest, STAT_LEN, Stat};
use common::*;
use std::sync::Arc;
use wasibox_vfs::{
    BaseFile, BaseKind, ChangeBounds, ChangeKind, DiskLimits, Errno, FileKind, OpenFlags,
    OpenResult, ProgramMark, StatResult, Vfs, VfsFile,
};

fn base(path: &str, text: &str, program: Option<ProgramMark>) -> BaseFile {
    let bytes = Arc::new(text.as_bytes().to_vec());
    let mode = if program.is_some() { 0o755 } else { 0o644 };
    BaseFile { path: path.into(), mode, time: 5, kind: BaseKind::File { bytes, program } }
}

fn limited(bytes: u64, entries: u64) -> Vfs {
    Vfs::new(
        [base("/etc/big", &"b".repeat(1 << 20), None)],
        &[],
        DiskLimits { bytes, entries, ..DiskLimits::default() },
        unlimited(),
        &ProtectedPaths::default(),
    )
    .unwrap()
}

#[test]
fn the_quota_is_exact_and_given_back() {
    let v = limited(1 << 20, 100);
    let f = open(&v, "/tmp/f", WRITE).unwrap();
    let block = [7u8; 64 << 10];
    let mut off = 0;
    let full = loop {
        match f.write(off, false, &block) {
            Ok((n, _)) => off += n as u64,
            Err(e) => break e,
        }
    };
    assert_eq!(full, Errno::NOSPC);
    assert!((900 << 10..=1 << 20).contains(&off), "{off}");
    assert_eq!(write(&v, "/tmp/g", &"x".repeat(70_000)), Err(Errno::NOSPC));
    // Existing bytes can still be read, and truncating and removing free space.
    assert_eq!(f.stat().unwrap().size, off);
    f.set_len(0).unwrap();
    write(&v, "/tmp/h", &"x".repeat(900 << 10)).unwrap();
    v.remove(&ROOT_LOC, b"/tmp/h", false).unwrap();
    write(&v, "/tmp/i", &"x".repeat(900 << 10)).unwrap();
}

#[test]
fn an_unlinked_open_file_counts_until_it_is_closed() {
    let v = limited(1 << 20, 100);
    write(&v, "/tmp/f", &"x".repeat(800 << 10)).unwrap();
    let held = open(&v, "/tmp/f", READ).unwrap();
    v.remove(&ROOT_LOC, b"/tmp/f", false).unwrap();
    assert_eq!(write(&v, "/tmp/g", &"x".repeat(800 << 10)), Err(Errno::NOSPC));
    let mut b = [0; 3];
    assert_eq!((held.read(0, &mut b), &b), (Ok(3), b"xxx"));
    drop(held);
    write(&v, "/tmp/g", &"x".repeat(800 << 10)).unwrap();
}

#[test]
fn names_links_and_directories_count_too() {
    let v = limited(64 << 20, 50);
    let mut n = 0;
    let e = loop {
        match v.mkdir(&ROOT_LOC, format!("/tmp/{n}").as_bytes(), 0o755) {
            Ok(()) => n += 1,
            Err(e) => break e,
        }
    };
    assert_eq!((n, e), (50, Errno::NOSPC));
    v.remove(&ROOT_LOC, b"/tmp/0", true).unwrap();
    write(&v, "/tmp/f", "x").unwrap();
    assert_eq!(v.link(&ROOT_LOC, b"/tmp/f", false, &ROOT_LOC, b"/tmp/g"), Err(Errno::NOSPC));
    let v = limited(10_000, 1 << 30);
    let e = (0..1000)
        .find_map(|i| v.symlink(&[b'x'; 300], &ROOT_LOC, format!("/tmp/{i}").as_bytes()).err());
    assert_eq!(e, Some(Errno::NOSPC));
}

#[test]
fn the_image_is_free_until_it_is_written_over() {
    let v = limited(200_000, 100);
    assert_eq!(read(&v, "/etc/big").unwrap().len(), 1 << 20);
    let f = open(&v, "/etc/big", OpenFlags { write: true, ..READ }).unwrap();
    f.write(1000, false, b"here").unwrap();
    f.write(500_000, false, b"there").unwrap();
    assert_eq!(f.write(900_000, false, b"x"), Ok((1, 900_001)));
    assert_eq!(f.write(200_000, false, b"x"), Err(Errno::NOSPC), "a fourth chunk of 64 KiB");
    let text = read(&v, "/etc/big").unwrap();
    assert_eq!((text.len(), &text[999..1005]), (1 << 20, "bhereb"));
}

#[test]
fn a_program_that_is_written_to_is_none_any_more() {
    let files =
        [base("/bin/ls", "\0asm", Some(ProgramMark(3))), base("/bin/x.sh", "#!/bin/sh\n", None)];
    let v = Vfs::new(files, &[], DiskLimits::default(), unlimited(), &ProtectedPaths::default())
        .unwrap();
    let exe = |p: &str| v.executable_kind(&ROOT_LOC, p.as_bytes(), 16);
    assert_eq!(exe("/bin/ls"), Ok(program_file(Some(ProgramMark(3)), "ls", "\0asm")));
    v.symlink(b"/bin/ls", &ROOT_LOC, b"/tmp/l").unwrap();
    assert_eq!(
        exe("/tmp/l"),
        Ok(program_file(Some(ProgramMark(3)), "ls", "\0asm")),
        "a link's target"
    );
    v.link(&ROOT_LOC, b"/bin/ls", false, &ROOT_LOC, b"/tmp/h").unwrap();
    assert_eq!(exe("/tmp/h").unwrap().program, Some(ProgramMark(3)));
    assert_eq!(exe("/bin/x.sh"), Err(Errno::ACCES), "not executable");
    v.chmod(&ROOT_LOC, b"/bin/x.sh", 0o755).unwrap();
    assert_eq!(exe("/bin/x.sh"), Ok(program_file(None, "x.sh", "#!/bin/sh\n")));
    assert_eq!(exe("/bin"), Err(Errno::ACCES));
    open(&v, "/tmp/h", OpenFlags { write: true, ..READ }).unwrap().write(0, false, b"!").unwrap();
    assert_eq!(exe("/bin/ls"), Ok(program_file(None, "ls", "!asm")));
}

#[test]
fn changes_are_what_differs() {
    let v = Vfs::new(
        [base("/etc/a", "1", None), base("/etc/b", "2", None)],
        &[],
        DiskLimits::default(),
        unlimited(),
        &ProtectedPaths::default(),
    )
    .unwrap();
    write(&v, "/tmp/before", "x").unwrap();
    let mark = v.mark_state();
    assert_eq!(v.changes_since(&mark, &ChangeBounds::default()).list, []);
    write(&v, "/etc/a", "changed").unwrap();
    v.remove(&ROOT_LOC, b"/etc/b", false).unwrap();
    v.chmod(&ROOT_LOC, b"/tmp/before", 0o600).unwrap();
    v.mkdir(&ROOT_LOC, b"/output/d", 0o755).unwrap();
    write(&v, "/output/d/new", "123").unwrap();
    v.symlink(b"new", &ROOT_LOC, b"/output/d/ln").unwrap();
    write(&v, "/tmp/gone", "x").unwrap();
    v.remove(&ROOT_LOC, b"/tmp/gone", false).unwrap();
    let list: Vec<_> = v
        .changes_since(&mark, &ChangeBounds::default())
        .list
        .into_iter()
        .map(|c| (String::from_utf8(c.path).unwrap(), c.kind, c.size))
        .collect();
    use ChangeKind::*;
    assert_eq!(
        list,
        [
            ("/etc/a".into(), Modified, 7),
            ("/etc/b".into(), Deleted, 0),
            ("/output/d/ln".into(), Created, 3),
            ("/output/d/new".into(), Created, 3),
        ]
    );
    assert_eq!(v.changes_since(&v.mark_state(), &ChangeBounds::default()).list, []);
}

#[test]
fn modes_links_and_times_are_kept() {
    let v = vfs(&[]);
    let stat = |p: &str| v.stat(&ROOT_LOC, p.as_bytes(), false).unwrap();
    let links = |p: &str| stat(p).nlink;
    let before = links("/tmp");
    v.mkdir(&ROOT_LOC, b"/tmp/d", 0o755).unwrap();
    v.mkdir(&ROOT_LOC, b"/tmp/d/e", 0o755).unwrap();
    assert_eq!((links("/tmp"), links("/tmp/d"), links("/tmp/d/e")), (before + 1, 3, 2));
    v.rename(&ROOT_LOC, b"/tmp/d/e", &ROOT_LOC, b"/tmp/e").unwrap();
    assert_eq!((links("/tmp"), links("/tmp/d")), (before + 2, 2));
    write(&v, "/tmp/f", "x").unwrap();
    v.link(&ROOT_LOC, b"/tmp/f", false, &ROOT_LOC, b"/tmp/g").unwrap();
    assert_eq!((links("/tmp/f"), stat("/tmp/f").ino), (2, stat("/tmp/g").ino));
    assert_eq!(stat("/tmp/f").mode, 0o644);
    v.chmod(&ROOT_LOC, b"/tmp/g", 0o4711).unwrap();
    assert_eq!(stat("/tmp/f").mode, 0o4711);
    v.set_times(&ROOT_LOC, b"/tmp/f", None, Some(123), true).unwrap();
    assert_eq!(stat("/tmp/g").mtime, 123);
    assert_eq!(stat("/tmp").mode, 0o1777);
    assert_eq!(v.chown(&ROOT_LOC, b"/tmp/f", 1000, u32::MAX, true), Ok(()));
    assert_eq!(v.chown(&ROOT_LOC, b"/tmp/f", 0, 0, true), Err(Errno::PERM));
}

#[test]
fn mode_bits_are_enforced_for_the_owner() {
    let v = vfs(&[]);
    write(&v, "/tmp/f", "x").unwrap();
    v.chmod(&ROOT_LOC, b"/tmp/f", 0o044).unwrap();
    assert_eq!(read(&v, "/tmp/f"), Err(Errno::ACCES));
    v.chmod(&ROOT_LOC, b"/tmp/f", 0o444).unwrap();
    assert_eq!(read(&v, "/tmp/f").unwrap(), "x");
    assert_eq!(write(&v, "/tmp/f", "y"), Err(Errno::ACCES));
    v.mkdir(&ROOT_LOC, b"/tmp/d", 0o755).unwrap();
    write(&v, "/tmp/d/f", "x").unwrap();
    v.chmod(&ROOT_LOC, b"/tmp/d", 0o555).unwrap();
    assert_eq!(write(&v, "/tmp/d/g", "x"), Err(Errno::ACCES));
    assert_eq!(v.remove(&ROOT_LOC, b"/tmp/d/f", false), Err(Errno::ACCES));
    v.chmod(&ROOT_LOC, b"/tmp/d", 0o644).unwrap();
    assert_eq!(read(&v, "/tmp/d/f"), Err(Errno::ACCES));
    assert_eq!(names(&v, "/tmp/d").unwrap(), ["f"]);
}

fn ask(f: &VfsFile, req: &MetaRequest<'_>) -> Result<Option<Stat>, u16> {
    f.write(0, false, &req.encode()).unwrap();
    let mut b = [0; 2 + STAT_LEN];
    let n = f.read(0, &mut b).unwrap();
    match u16::from_le_bytes([b[0], b[1]]) {
        0 => Ok(Stat::decode(&b[2..n])),
        e => Err(e),
    }
}

#[test]
fn the_metadata_node_answers_each_opening_for_itself() {
    let v = vfs(&[]);
    let node = || open(&v, box_abi::META, OpenFlags { write: true, ..READ }).unwrap();
    let (a, b) = (node(), node());
    a.write(0, false, &MetaRequest::Stat { path: b"/tmp", follow: true }.encode()).unwrap();
    assert_eq!(ask(&b, &MetaRequest::Stat { path: b"/nowhere", follow: true }), Err(44));
    let mut reply = [0; 100];
    assert_eq!(a.read(0, &mut reply), Ok(2 + STAT_LEN));
    assert_eq!(a.read(0, &mut reply), Ok(0), "one reply per request");
    assert_eq!(ask(&a, &MetaRequest::Mkfifo { path: b"/tmp/p", mode: 0o600 }), Ok(None));
    let s = ask(&a, &MetaRequest::Stat { path: b"/tmp/p", follow: true }).unwrap().unwrap();
    assert_eq!((s.kind, s.mode), (FileKind::Fifo, 0o600));
    assert_eq!(ask(&a, &MetaRequest::Chmod { path: b"/tmp/p", mode: 0o777 }), Ok(None));
    let times =
        MetaRequest::SetTimes { path: b"/tmp/p", atime: Some(1), mtime: None, follow: true };
    assert_eq!(ask(&a, &times), Ok(None));
    assert_eq!(v.stat(&ROOT_LOC, b"/tmp/p", true).unwrap().atime, 1);
    // Hostile bytes.
    for req in [&b""[..], b"\x01", b"\xff\xff\xff", &[1; 5000]] {
        match a.write(0, false, req) {
            Ok(_) => assert_eq!(a.read(0, &mut reply), Ok(2)),
            Err(e) => assert_eq!(e, Errno::INVAL),
        }
    }
}

#[test]
fn bridge_pipes_are_bounded_and_private() {
    let v = vfs(&[]);
    assert!(!names(&v, "/").unwrap().contains(&".box".to_owned()));
    let r = open(&v, "/.box/pipe/x/r", READ).unwrap();
    assert_eq!(r.read(0, &mut [0; 4]), Err(Errno::AGAIN));
    let w = open(&v, "/.box/pipe/x/w", OpenFlags { write: true, read: false, ..READ }).unwrap();
    assert_eq!(w.write(0, false, &[1; 100_000]).unwrap().0, box_abi::PIPE_CAPACITY);
    assert_eq!(w.write(0, false, &[1; 100_000]), Err(Errno::AGAIN));
    assert!(w.ready(true).is_none() && r.ready(false).is_some());
    drop(r);
    assert_eq!(w.write(0, false, b"x"), Err(Errno::PIPE));
    for p in ["/.box/new", "/.box/pipe/new", "/.box/pipe/x/z"] {
        assert!(write(&v, p, "x").is_err(), "{p}");
    }
    assert!(v.remove(&ROOT_LOC, b"/.box/meta", false).is_err());
    assert!(v.rename(&ROOT_LOC, b"/.box", &ROOT_LOC, b"/box").is_err());
    assert!(v.chmod(&ROOT_LOC, b"/.box", 0o777).is_err());
    assert!(v.mkdir(&ROOT_LOC, b"/.box", 0o777).is_err());
    assert_eq!(v.remove(&ROOT_LOC, b"/.box", true), Err(Errno::BUSY));
}

#[test]
fn code_from_strings_is_forbidden_for_good() {
    const NODE: &str = "/.box/code-from-strings";
    let v = vfs(&[]);
    assert!(v.stat(&ROOT_LOC, NODE.as_bytes(), true).is_ok());
    assert!(v.remove(&ROOT_LOC, NODE.as_bytes(), false).is_err());
    assert!(v.chmod(&ROOT_LOC, NODE.as_bytes(), 0o777).is_err());
    v.forbid_code_from_strings();
    assert_eq!(v.stat(&ROOT_LOC, NODE.as_bytes(), true).unwrap_err(), Errno::NOENT);
    write(&v, "/tmp/f", "").unwrap();
    assert!(write(&v, NODE, "").is_err());
    assert!(v.mkdir(&ROOT_LOC, NODE.as_bytes(), 0o777).is_err());
    assert!(v.symlink(b"/tmp/f", &ROOT_LOC, NODE.as_bytes()).is_err());
    assert!(v.rename(&ROOT_LOC, b"/tmp/f", &ROOT_LOC, NODE.as_bytes()).is_err());
    assert!(v.link(&ROOT_LOC, b"/tmp/f", false, &ROOT_LOC, NODE.as_bytes()).is_err());
    assert_eq!(v.stat(&ROOT_LOC, NODE.as_bytes(), true).unwrap_err(), Errno::NOENT);
}

#[test]
fn devices_and_descriptors() {
    let v = vfs(&[]);
    let rw = OpenFlags { write: true, ..READ };
    let mut b = [9; 100];
    assert_eq!(open(&v, "/dev/null", rw).unwrap().read(0, &mut b), Ok(0));
    assert_eq!(open(&v, "/dev/zero", rw).unwrap().read(0, &mut b), Ok(100));
    assert_eq!(b, [0; 100]);
    assert_eq!(open(&v, "/dev/full", rw).unwrap().write(0, false, b"x"), Err(Errno::NOSPC));
    open(&v, "/dev/urandom", READ).unwrap().read(0, &mut b).unwrap();
    assert_ne!(b, [0; 100]);
    assert_eq!(open(&v, "/dev/tty", READ).err(), Some(Errno::NXIO));
    for (p, n) in
        [("/dev/stdin", 0), ("/dev/stderr", 2), ("/dev/fd/17", 17), ("/proc/self/fd/5", 5)]
    {
        let o = v.open(&ROOT_LOC, p.as_bytes(), READ, 0).unwrap();
        assert!(matches!(o, OpenResult::Descriptor(k) if k == n), "{p}");
        assert_eq!(
            v.stat_or_descriptor(&ROOT_LOC, p.as_bytes(), true),
            Ok(StatResult::Descriptor(n))
        );
    }
    write(&v, "/tmp/f", "text").unwrap();
    let f = open(&v, "/tmp/f", READ).unwrap();
    let again = v.reopen(&f, READ, false).unwrap().unwrap();
    assert_eq!(again.read(0, &mut b), Ok(4));
    v.remove(&ROOT_LOC, b"/tmp/f", false).unwrap();
    assert_eq!(v.reopen(&again, READ, false).unwrap().unwrap().read(0, &mut b), Ok(4));
    let null = open(&v, "/dev/null", READ).unwrap();
    assert!(v.reopen(&null, READ, false).unwrap().is_none());
    assert_eq!(open(&v, "/dev/fd/x", READ).err(), Some(Errno::NOENT));
    // Redirecting to a device must not make or truncate anything.
    write(&v, "/dev/null", "gone").unwrap();
    assert_eq!(v.stat(&ROOT_LOC, b"/dev/null", true).unwrap().kind, FileKind::CharDevice);
}

#[test]
fn above_the_root_is_the_root() {
    let v = vfs(&[]);
    write(&v, "/tmp/f", "x").unwrap();
    assert_eq!(read(&v, "/../../tmp/../../tmp/f").unwrap(), "x");
    assert_eq!(v.chdir(&ROOT_LOC, b"/../..").unwrap().1, b"/");
    let (loc, path) = v.chdir(&ROOT_LOC, b"/home/user").unwrap();
    assert_eq!(path, b"/home/user");
    assert_eq!(v.chdir(&loc, b"../../tmp").unwrap().1, b"/tmp");
}

#[test]
fn hostile_paths_are_refused() {
    let v = vfs(&[]);
    let long = "a/".repeat(3000);
    assert_eq!(read(&v, &long), Err(Errno::NAMETOOLONG));
    assert_eq!(write(&v, &format!("/tmp/{}", "n".repeat(256)), "x"), Err(Errno::NAMETOOLONG));
    assert_eq!(read(&v, ""), Err(Errno::NOENT));
    // Links that multiply: forty are followed, then no more.
    v.symlink(b"/tmp/b/b", &ROOT_LOC, b"/tmp/a").unwrap();
    v.symlink(b"/tmp/a/a", &ROOT_LOC, b"/tmp/b").unwrap();
    assert_eq!(read(&v, "/tmp/a"), Err(Errno::LOOP));
}
