//! Tests of host mounts: which files a guest may reach, and that no path leads out of a mount.

mod common;

use common::*;
use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::{AtomicBool, Ordering};
use wasibox_vfs::{
    ChangeBounds, ChangeKind, DiskLimits, Errno, FileKind, MountError, OpenFlags, Vfs,
};

struct World {
    _tmp: tempfile::TempDir,
    dir: std::path::PathBuf,
}

/// Returns a mounted directory beside a secret.
fn world() -> World {
    let tmp = tempfile::tempdir().unwrap();
    let dir = tmp.path().join("m");
    std::fs::create_dir_all(dir.join("sub/deep")).unwrap();
    std::fs::write(tmp.path().join("secret"), "SECRET").unwrap();
    std::fs::write(dir.join("file"), "inside").unwrap();
    std::fs::write(dir.join("sub/deep/f"), "deep").unwrap();
    World { dir, _tmp: tmp }
}

fn link(target: &str, at: &Path) {
    std::os::unix::fs::symlink(target, at).unwrap();
}

#[test]
fn nothing_leads_out() {
    let w = world();
    let secret = w.dir.parent().unwrap().join("secret");
    link("../secret", &w.dir.join("rel"));
    link("../../secret", &w.dir.join("sub/rel"));
    link(secret.to_str().unwrap(), &w.dir.join("abs"));
    link("..", &w.dir.join("up"));
    link("/", &w.dir.join("top"));
    link("/proc/self/root", &w.dir.join("magic"));
    link("/proc/self/cwd", &w.dir.join("cwd"));
    for writable in [false, true] {
        let v = vfs(&[mount(&w.dir, "/m", writable)]);
        let host = secret.to_str().unwrap();
        for p in [
            "/m/rel",
            "/m/sub/rel",
            "/m/abs",
            "/m/up/secret",
            "/m/up/up/secret",
            "/m/sub/../../secret",
            "/m/../secret",
            "/m/../../../../../../../../secret",
            "/m/sub/../../../secret",
            "/secret",
            host,
            &format!("/m/top{host}"),
            &format!("/m/magic{host}"),
            "/m/cwd/Cargo.toml",
            "/m/magic/etc/hostname",
            "/m/top/etc/hostname",
            "/m/top/proc/self/environ",
        ] {
            let r = read(&v, p);
            // The file of an earlier write is the guest's own file of that name.
            let r = r.unwrap_or_else(|e| e.text().to_owned());
            let harmless = ["X", Errno::NOENT.text(), Errno::NOTDIR.text(), Errno::ISDIR.text()];
            assert!(harmless.contains(&&*r), "{p} {r}");
            let _ = write(&v, p, "X");
        }
        assert_eq!(std::fs::read_to_string(&secret).unwrap(), "SECRET");
    }
}

#[test]
fn links_resolve_in_the_guests_name_space() {
    let w = world();
    link("sub/deep", &w.dir.join("dir"));
    link("/m/file", &w.dir.join("to-own"));
    link("/tmp/made", &w.dir.join("to-tmp"));
    link("..", &w.dir.join("up"));
    link("loop", &w.dir.join("loop"));
    let v = vfs(&[mount(&w.dir, "/m", false)]);
    assert_eq!(read(&v, "/m/dir/f").unwrap(), "deep");
    assert_eq!(read(&v, "/m/dir/../deep/f").unwrap(), "deep");
    assert_eq!(read(&v, "/m/dir/../../file").unwrap(), "inside");
    assert_eq!(read(&v, "/m/to-own").unwrap(), "inside");
    assert_eq!(read(&v, "/m/to-tmp"), Err(Errno::NOENT));
    write(&v, "/tmp/made", "guest's own").unwrap();
    assert_eq!(read(&v, "/m/to-tmp").unwrap(), "guest's own");
    assert!(names(&v, "/m/up").unwrap().contains(&"tmp".to_owned()));
    assert_eq!(read(&v, "/m/loop"), Err(Errno::LOOP));
    v.symlink(b"/m/sub", &ROOT_LOC, b"/tmp/into").unwrap();
    assert_eq!(read(&v, "/tmp/into/deep/f").unwrap(), "deep");
}

#[test]
fn a_read_only_mount_cannot_be_changed() {
    let w = world();
    link("file", &w.dir.join("ln"));
    let v = vfs(&[mount(&w.dir, "/m", false)]);
    let p = |s: &'static str| s.as_bytes();
    let r = &ROOT_LOC;
    assert_eq!(write(&v, "/m/file", "x"), Err(Errno::ROFS));
    assert_eq!(write(&v, "/m/new", "x"), Err(Errno::ROFS));
    assert_eq!(write(&v, "/m/ln", "x"), Err(Errno::ROFS));
    assert_eq!(v.mkdir(r, p("/m/d"), 0o755), Err(Errno::ROFS));
    assert_eq!(v.remove(r, p("/m/file"), false), Err(Errno::ROFS));
    assert_eq!(v.remove(r, p("/m/sub"), true), Err(Errno::ROFS));
    assert_eq!(v.rename(r, p("/m/file"), r, p("/m/g")), Err(Errno::ROFS));
    assert_eq!(v.link(r, p("/m/file"), false, r, p("/m/g")), Err(Errno::ROFS));
    assert_eq!(v.symlink(b"x", r, p("/m/g")), Err(Errno::ROFS));
    assert_eq!(v.chmod(r, p("/m/file"), 0o777), Err(Errno::ROFS));
    assert_eq!(v.set_times(r, p("/m/file"), Some(1), Some(1), true), Err(Errno::ROFS));
    let f = open(&v, "/m/file", READ).unwrap();
    assert!(f.write(0, false, b"x").is_err() && f.set_len(0).is_err());
    assert_eq!(f.set_times(Some(1), None), Err(Errno::ROFS));
    assert_eq!(v.rename(r, p("/m/file"), r, p("/tmp/g")), Err(Errno::XDEV));
    assert_eq!(std::fs::read_to_string(w.dir.join("file")).unwrap(), "inside");
}

#[test]
fn the_mount_point_itself_stays() {
    let w = world();
    let v = vfs(&[mount(&w.dir, "/mnt/m", true)]);
    let r = &ROOT_LOC;
    assert_eq!(v.remove(r, b"/mnt/m", true), Err(Errno::BUSY));
    assert_eq!(v.rename(r, b"/mnt/m", r, b"/mnt/n"), Err(Errno::BUSY));
    assert_eq!(v.rename(r, b"/mnt", r, b"/other"), Ok(()), "what is above may move");
    assert_eq!(read(&v, "/other/m/file").unwrap(), "inside");
    assert_eq!(v.chdir(r, b"/other/m/sub").unwrap().1, b"/other/m/sub");
}

#[test]
fn modes_are_exact_and_harmless() {
    use std::os::unix::fs::PermissionsExt;
    let w = world();
    let v = vfs(&[mount(&w.dir, "/m", true)]);
    write(&v, "/m/new", "x").unwrap();
    v.mkdir(&ROOT_LOC, b"/m/dir", 0o755).unwrap();
    let mode = |n: &str| w.dir.join(n).metadata().unwrap().permissions().mode() & 0o7777;
    assert_eq!((mode("new"), mode("dir")), (0o644, 0o755));
    v.chmod(&ROOT_LOC, b"/m/new", 0o6755).unwrap();
    assert_eq!(mode("new"), 0o755, "set-id bits are not handed out");
    v.set_times(&ROOT_LOC, b"/m/new", Some(5_000_000_000), Some(7_000_000_000), true).unwrap();
    let s = v.stat(&ROOT_LOC, b"/m/new", true).unwrap();
    assert_eq!((s.atime, s.mtime, s.mode, s.uid), (5_000_000_000, 7_000_000_000, 0o755, 1000));
}

#[test]
fn special_files_are_not_opened() {
    let w = world();
    let fifo = std::ffi::CString::new(w.dir.join("fifo").to_str().unwrap()).unwrap();
    rustix::fs::mknodat(rustix::fs::CWD, &fifo, rustix::fs::FileType::Fifo, 0o644.into(), 0)
        .unwrap();
    let socket = std::os::unix::net::UnixListener::bind(w.dir.join("sock")).unwrap();
    let v = vfs(&[mount(&w.dir, "/m", true)]);
    // Opening a FIFO for reading would block for ever.
    assert_eq!(open(&v, "/m/fifo", READ).err(), Some(Errno::NXIO));
    assert_eq!(open(&v, "/m/fifo", WRITE).err(), Some(Errno::NXIO));
    assert_eq!(open(&v, "/m/sock", READ).err(), Some(Errno::NXIO));
    drop(socket);
}

#[test]
fn one_file_can_be_mounted() {
    let w = world();
    let v = vfs(&[mount(&w.dir.join("file"), "/data/one.txt", false)]);
    assert_eq!(read(&v, "/data/one.txt").unwrap(), "inside");
    assert_eq!(write(&v, "/data/one.txt", "x"), Err(Errno::ROFS));
    assert_eq!(read(&v, "/data/one.txt/../one.txt"), Err(Errno::NOTDIR));
    let v = vfs(&[mount(&w.dir.join("file"), "/data/one.txt", true)]);
    write(&v, "/data/one.txt", "changed").unwrap();
    assert_eq!(std::fs::read_to_string(w.dir.join("file")).unwrap(), "changed");
    assert_eq!(v.remove(&ROOT_LOC, b"/data/one.txt", false), Err(Errno::BUSY));
}

#[test]
fn bad_mounts_are_refused() {
    let w = world();
    let try_all = |m: &[(&Path, &str)]| {
        let specs: Vec<_> = m.iter().map(|(h, g)| mount(h, g, false)).collect();
        Vfs::new([], &specs, DiskLimits::default(), unlimited(), &ProtectedPaths::default())
    };
    for guest in ["m", "/", "/a/../b", "/a/./b", "/dev", "/dev/x", "/.box/x", "/a\0b"] {
        let r = try_all(&[(&w.dir, guest)]);
        assert!(matches!(r, Err(MountError::Guest { .. })), "{guest}");
    }
    let r = try_all(&[(&w.dir, "/m"), (&w.dir, "/m/sub")]);
    assert!(matches!(r, Err(MountError::Guest { .. })));
    let r = try_all(&[(&w.dir.join("nowhere"), "/m")]);
    assert!(matches!(r, Err(MountError::Host { .. })));
    assert!(matches!(try_all(&[(Path::new("/dev/null"), "/m")]), Err(MountError::Kind { .. })));
}

/// Another process swaps a directory for a link that leads out, thousands of times,
/// while the guest reads, writes, lists, makes and removes through it.
#[test]
fn races_do_not_lead_out() {
    let w = world();
    let outside = w.dir.parent().unwrap().join("outside");
    std::fs::create_dir_all(&outside).unwrap();
    std::fs::write(outside.join("f"), "SECRET").unwrap();
    std::fs::create_dir(w.dir.join("flip")).unwrap();
    std::fs::write(w.dir.join("flip/f"), "harmless").unwrap();
    link("../outside", &w.dir.join("flop"));
    let stop = Arc::new(AtomicBool::new(false));
    let swapper = {
        let (stop, dir) =
            (stop.clone(), rustix::fs::open(&w.dir, rustix::fs::OFlags::PATH, 0.into()).unwrap());
        std::thread::spawn(move || {
            let mut n = 0u64;
            while !stop.load(Ordering::Relaxed) {
                let flags = rustix::fs::RenameFlags::EXCHANGE;
                rustix::fs::renameat_with(&dir, "flip", &dir, "flop", flags).unwrap();
                n += 1;
            }
            n
        })
    };
    let v = vfs(&[mount(&w.dir, "/m", true)]);
    let mut seen = std::collections::HashMap::new();
    let end = std::time::Instant::now() + std::time::Duration::from_millis(1500);
    while std::time::Instant::now() < end {
        let r = read(&v, "/m/flip/f");
        assert_ne!(r.as_deref(), Ok("SECRET"));
        *seen.entry(r.is_ok()).or_insert(0) += 1;
        let _ = write(&v, "/m/flip/f", "harmless");
        let _ = write(&v, "/m/flip/new", "x");
        let _ = v.mkdir(&ROOT_LOC, b"/m/flip/d", 0o755);
        let _ = v.remove(&ROOT_LOC, b"/m/flip/f2", false);
        let _ = v.rename(&ROOT_LOC, b"/m/flip/new", &ROOT_LOC, b"/m/flip/f3");
        let _ = v.link(&ROOT_LOC, b"/m/flip/f", true, &ROOT_LOC, b"/m/flip/l");
        let _ = v.chmod(&ROOT_LOC, b"/m/flip/f", 0o644);
        let _ = v.set_times(&ROOT_LOC, b"/m/flip/f", Some(1), None, true);
        if let Ok(list) = names(&v, "/m/flip") {
            assert!(!list.contains(&"outside-only".to_owned()));
        }
    }
    stop.store(true, Ordering::Relaxed);
    let swaps = swapper.join().unwrap();
    assert!(swaps > 1000 && seen.len() == 2, "the race was not run: {swaps} {seen:?}");
    let left: Vec<_> =
        std::fs::read_dir(&outside).unwrap().map(|e| e.unwrap().file_name()).collect();
    assert_eq!(left, ["f"]);
    assert_eq!(std::fs::read_to_string(outside.join("f")).unwrap(), "SECRET");
}

#[test]
fn changes_in_a_writable_mount_are_listed() {
    let w = world();
    let v = vfs(&[mount(&w.dir, "/m", true)]);
    let mark = v.mark_state();
    write(&v, "/m/file", "longer than before").unwrap();
    write(&v, "/m/sub/new", "1").unwrap();
    v.remove(&ROOT_LOC, b"/m/sub/deep/f", false).unwrap();
    write(&v, "/m/gone", "1").unwrap();
    v.remove(&ROOT_LOC, b"/m/gone", false).unwrap();
    let list: Vec<_> = v
        .changes_since(&mark, &ChangeBounds::default())
        .list
        .into_iter()
        .map(|c| (String::from_utf8(c.path).unwrap(), c.kind, c.size))
        .collect();
    assert_eq!(
        list,
        [
            ("/m/file".into(), ChangeKind::Modified, 18),
            ("/m/sub/deep/f".into(), ChangeKind::Deleted, 0),
            ("/m/sub/new".into(), ChangeKind::Created, 1),
        ]
    );
}

#[test]
fn named_pipes_exist_for_the_session_only() {
    let w = world();
    let v = vfs(&[mount(&w.dir, "/m", true)]);
    let rw = OpenFlags { write: true, ..READ };
    let fifo = |p: &str| v.mkfifo(&ROOT_LOC, p.as_bytes(), 0o644);
    let kind = |p: &str| v.stat(&ROOT_LOC, p.as_bytes(), true).map(|s| s.kind);
    let mv = |a: &str, b: &str| v.rename(&ROOT_LOC, a.as_bytes(), &ROOT_LOC, b.as_bytes());
    fifo("/m/sub/p").unwrap();
    assert_eq!((fifo("/m/sub/p"), fifo("/m/file")), (Err(Errno::EXIST), Err(Errno::EXIST)));
    assert!(names(&v, "/m/sub").unwrap().contains(&"p".to_owned()));
    assert!(!w.dir.join("sub/p").exists());
    let p = open(&v, "/m/sub/p", rw).unwrap();
    p.write(0, false, b"hi").unwrap();
    // Names move with their directory, and a directory with a pipe is not empty.
    mv("/m/sub", "/m/other").unwrap();
    assert_eq!(kind("/m/sub/p"), Err(Errno::NOENT));
    assert_eq!(kind("/m/other/p"), Ok(FileKind::Fifo));
    mv("/m/other/deep/f", "/m/other/g").unwrap();
    v.mkdir(&ROOT_LOC, b"/m/empty", 0o755).unwrap();
    mv("/m/other/p", "/m/empty/q").unwrap();
    assert_eq!(v.remove(&ROOT_LOC, b"/m/empty", true), Err(Errno::NOTEMPTY));
    assert_eq!(v.remove(&ROOT_LOC, b"/m/empty/q", true), Err(Errno::NOTDIR));
    let mut b = [0; 4];
    assert_eq!(open(&v, "/m/empty/q", rw).unwrap().read(0, &mut b), Ok(2));
    // A pipe replaces a file and a file a pipe.
    mv("/m/empty/q", "/m/file").unwrap();
    assert_eq!(kind("/m/file"), Ok(FileKind::Fifo));
    assert!(!w.dir.join("file").exists());
    mv("/m/other/g", "/m/file").unwrap();
    assert_eq!(kind("/m/file"), Ok(FileKind::File));
    assert_eq!(mv("/m/file", "/tmp/f"), Err(Errno::XDEV));
    fifo("/m/p").unwrap();
    v.remove(&ROOT_LOC, b"/m/p", false).unwrap();
    assert_eq!(kind("/m/p"), Err(Errno::NOENT));
    v.remove(&ROOT_LOC, b"/m/empty", true).unwrap();
    let r = vfs(&[mount(&w.dir, "/m", false)]);
    assert_eq!(r.mkfifo(&ROOT_LOC, b"/m/p", 0o644), Err(Errno::ROFS));
}
