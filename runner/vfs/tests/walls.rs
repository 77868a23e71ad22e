//! Files that a guest may not reach, and resources that it may not use up, by a mount.

mod common;

use common::*;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};
use wasibox_vfs::{DiskLimits, Errno, MountError, MountSpec, OpenFlags, Vfs};

const RW: OpenFlags = OpenFlags { write: true, ..READ };

fn with(mounts: &[MountSpec], protected: &[&Path]) -> Result<Vfs, MountError> {
    let paths = protected.iter().map(|p| p.to_path_buf()).collect();
    Vfs::new([], mounts, DiskLimits::default(), unlimited(), &ProtectedPaths { paths })
}

/// A home with a cache of machine code and an image in it.
struct Home {
    _tmp: tempfile::TempDir,
    dir: PathBuf,
    cache: PathBuf,
    image: PathBuf,
}

fn home() -> Home {
    let tmp = tempfile::tempdir().unwrap();
    let dir = tmp.path().join("home");
    let (cache, image) = (dir.join(".cache/box"), dir.join("dist/image"));
    std::fs::create_dir_all(&cache).unwrap();
    std::fs::create_dir_all(dir.join("dist")).unwrap();
    std::fs::write(cache.join("KEY.aot"), "code").unwrap();
    std::fs::write(&image, "image").unwrap();
    std::fs::write(dir.join("dist/other"), "other").unwrap();
    std::fs::hard_link(&image, dir.join("again")).unwrap();
    Home { dir, cache, image, _tmp: tmp }
}

#[test]
fn the_runners_own_files_are_not_there() {
    let h = home();
    let v = with(&[mount(&h.dir, "/h", true)], &[&h.cache, &h.image]).unwrap();
    let r = &ROOT_LOC;
    for p in ["/h/.cache/box", "/h/.cache/box/KEY.aot", "/h/dist/image", "/h/again"] {
        assert_eq!(v.stat(r, p.as_bytes(), false).err(), Some(Errno::NOENT), "{p}");
        assert_eq!(open(&v, p, READ).err(), Some(Errno::NOENT), "{p}");
        let how = OpenFlags { truncate: true, ..RW };
        assert_eq!(open(&v, p, how).err(), Some(Errno::NOENT), "{p}");
        assert!(write(&v, p, "x").is_err() && v.chmod(r, p.as_bytes(), 0o777).is_err(), "{p}");
        assert!(v.rename(r, p.as_bytes(), r, b"/h/moved").is_err(), "{p}");
        assert!(v.rename(r, b"/h/dist/other", r, p.as_bytes()).is_err(), "{p}");
        assert!(v.link(r, p.as_bytes(), false, r, b"/h/link").is_err(), "{p}");
        assert!(v.remove(r, p.as_bytes(), false).is_err(), "{p}");
        assert!(v.remove(r, p.as_bytes(), true).is_err(), "{p}");
        assert!(v.mkdir(r, format!("{p}/new").as_bytes(), 0o755).is_err(), "{p}");
    }
    assert_eq!(names(&v, "/h/.cache").unwrap(), [""; 0]);
    assert_eq!(names(&v, "/h/dist").unwrap(), ["other"]);
    // Nor can another file be put in their place by moving a directory above them.
    for p in ["/h/.cache", "/h/dist"] {
        assert_eq!(v.rename(r, p.as_bytes(), r, b"/h/old"), Err(Errno::BUSY), "{p}");
    }
    // All other files can be reached.
    assert_eq!(read(&v, "/h/dist/other").unwrap(), "other");
    write(&v, "/h/.cache/mine", "x").unwrap();
    v.rename(r, b"/h/dist/other", r, b"/h/.cache/other").unwrap();
    v.remove(r, b"/h/.cache/other", false).unwrap();
    assert_eq!(std::fs::read_to_string(&h.image).unwrap(), "image");
    assert_eq!(std::fs::read_to_string(h.cache.join("KEY.aot")).unwrap(), "code");
}

#[test]
fn a_cache_that_is_yet_to_be_made_cannot_be_made_by_a_guest() {
    let h = home();
    let later = h.dir.join("cache/of/code");
    let v = with(&[mount(&h.dir, "/h", true)], &[&later]).unwrap();
    assert!(v.mkdir(&ROOT_LOC, b"/h/cache", 0o755).is_err());
    assert!(v.symlink(b"dist", &ROOT_LOC, b"/h/cache").is_err());
    assert!(v.rename(&ROOT_LOC, b"/h/dist", &ROOT_LOC, b"/h/cache").is_err());
    assert!(!h.dir.join("cache").exists());
}

#[test]
fn a_mount_of_them_is_refused() {
    let h = home();
    std::fs::create_dir(h.cache.join("sub")).unwrap();
    std::os::unix::fs::symlink(&h.cache, h.dir.join("ln")).unwrap();
    for p in [&h.cache, &h.cache.join("sub"), &h.dir.join("ln/sub"), &h.image, &h.dir.join("again")]
    {
        for writable in [false, true] {
            let r = with(&[mount(p, "/m", writable)], &[&h.cache, &h.image]);
            assert!(matches!(r, Err(MountError::Protected { .. })), "{p:?}");
        }
    }
    assert!(with(&[mount(&h.dir.join("dist"), "/m", true)], &[&h.cache]).is_ok());
}

#[test]
fn the_kernels_file_systems_are_refused() {
    for p in ["/proc", "/proc/self", "/proc/self/environ", "/sys", "/dev/pts"] {
        if Path::new(p).exists() {
            let r = with(&[mount(Path::new(p), "/m", false)], &[]);
            assert!(matches!(r, Err(MountError::Kernel { .. })), "{p}");
        }
    }
    // A mount of a directory above does not lead to them either.
    let v = vfs(&[mount(Path::new("/"), "/host", false)]);
    assert_eq!(read(&v, "/host/proc/self/environ"), Err(Errno::ACCES));
    assert_eq!(names(&v, "/host/proc"), Err(Errno::ACCES));
    assert!(names(&v, "/host/etc").is_ok());
}

#[test]
fn mounts_do_not_hide_each_other() {
    let h = home();
    let pairs = [("/w/a/b", "/w"), ("/w", "/w/a/b"), ("/w", "/w"), ("/w/", "//w/a")];
    for (a, b) in pairs {
        let r = with(&[mount(&h.dir, a, false), mount(&h.dir, b, true)], &[]);
        assert!(matches!(r, Err(MountError::Guest { .. })), "{a} {b}");
    }
    assert!(with(&[mount(&h.dir, "/w/a", false), mount(&h.dir, "/w/ab", true)], &[]).is_ok());
}

#[test]
fn appending_does_not_depend_on_how_a_file_was_opened() {
    let h = home();
    let v = vfs(&[mount(&h.dir, "/h", true)]);
    write(&v, "/h/f", "0123456789").unwrap();
    // The append flag is set after opening ...
    let f = open(&v, "/h/f", RW).unwrap();
    assert_eq!(f.write(0, true, b"ab"), Ok((2, 12)));
    // ... or is taken away.
    let f = open(&v, "/h/f", OpenFlags { append: true, ..RW }).unwrap();
    assert_eq!(f.write(0, true, b"cd"), Ok((2, 14)));
    assert_eq!(f.write(1, false, b"X"), Ok((1, 2)));
    assert_eq!(read(&v, "/h/f").unwrap(), "0X23456789abcd");
}

#[test]
fn a_mounts_root_keeps_its_mode() {
    let h = home();
    let v = vfs(&[mount(&h.dir, "/h", true), mount(&h.dir.join("again"), "/f", true)]);
    let mode = |p: &Path| p.metadata().unwrap().permissions().mode();
    let before = (mode(&h.dir), mode(&h.dir.join("again")));
    for p in ["/h", "/h/", "/h/.", "/h/dist/..", "/f"] {
        assert_eq!(v.chmod(&ROOT_LOC, p.as_bytes(), 0o777), Err(Errno::PERM), "{p}");
    }
    assert_eq!((mode(&h.dir), mode(&h.dir.join("again"))), before);
    v.chmod(&ROOT_LOC, b"/h/dist", 0o700).unwrap();
}

#[test]
fn a_mounts_quota_bounds_what_is_added() {
    let h = home();
    let v = vfs(&[MountSpec { quota: Some(10_000), ..mount(&h.dir, "/h", true) }]);
    let f = open(&v, "/h/f", WRITE).unwrap();
    f.write(0, false, &[1; 9000]).unwrap();
    assert_eq!(f.write(9000, false, &[1; 1000]), Err(Errno::NOSPC));
    assert_eq!(f.write(0, true, &[1; 1000]), Err(Errno::NOSPC));
    assert_eq!(f.write(1 << 40, false, &[1]), Err(Errno::NOSPC));
    assert_eq!(f.set_len(1 << 40), Err(Errno::NOSPC));
    // Overwriting adds nothing; truncating gives bytes back to the quota.
    f.write(0, false, &[2; 9000]).unwrap();
    f.set_len(100).unwrap();
    f.write(100, false, &[3; 8000]).unwrap();
    drop(f);
    let f = open(&v, "/h/f", WRITE).unwrap();
    f.write(0, false, &[1; 9000]).unwrap();
    // Truncating the host's own bytes gives nothing back, because the quota counts additions to
    // them.
    drop(open(&v, "/h/dist/other", WRITE).unwrap());
    let made = (0..100)
        .take_while(|i| v.mkdir(&ROOT_LOC, format!("/h/{i}").as_bytes(), 0o755).is_ok())
        .count();
    assert!((2..4).contains(&made), "{made}");
    assert_eq!(v.symlink(b"x", &ROOT_LOC, b"/h/ln"), Err(Errno::NOSPC));
    assert_eq!(write(&v, "/h/new", "x"), Err(Errno::NOSPC));
}

#[test]
fn open_files_of_mounts_are_bounded() {
    let h = home();
    let limits = DiskLimits { host_descriptors: 10, ..DiskLimits::default() };
    let mounts = [mount(&h.dir, "/h", true)];
    let v = Vfs::new([], &mounts, limits, unlimited(), &ProtectedPaths::default()).unwrap();
    let mut held: Vec<_> = (0..10).map(|_| open(&v, "/h/dist/other", READ).unwrap()).collect();
    assert_eq!(open(&v, "/h/dist/other", READ).err(), Some(Errno::NFILE));
    assert_eq!(write(&v, "/h/new", "x"), Err(Errno::NFILE));
    assert_eq!(v.reopen(&held[0], READ, false).err(), Some(Errno::NFILE));
    assert_eq!(open(&v, "/h/nowhere", READ).err(), Some(Errno::NOENT));
    write(&v, "/tmp/f", "x").unwrap();
    held.pop();
    held.push(v.reopen(&held[0], READ, false).unwrap().unwrap());
}
