//! Packs images and reads them back, including damaged ones.

use std::path::Path;
use wasibox_image::{EntryKind, Image, ImageError, ImageSpec, pack_image, pack_to};

fn rootfs(dir: &Path) {
    for d in ["etc", "usr/lib/py"] {
        std::fs::create_dir_all(dir.join(d)).unwrap();
    }
    std::fs::write(dir.join("etc/passwd"), "user:x:1000\n").unwrap();
    std::fs::write(dir.join("usr/lib/py/a.py"), "print(1)\n").unwrap();
    std::fs::write(dir.join("usr/lib/py/run.sh"), "#!/bin/sh\n").unwrap();
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(dir.join("usr/lib/py/run.sh"), mode).unwrap();
    std::os::unix::fs::symlink("a.py", dir.join("usr/lib/py/b.py")).unwrap();
}

fn spec(dir: &Path) -> ImageSpec {
    ImageSpec {
        name: "wasibox/box".into(),
        version: "0.1.0".into(),
        atoms: vec![("box".into(), b"\0asm box".to_vec()), ("python".into(), vec![7; 5000])],
        commands: vec![
            ("ls".into(), "box".into()),
            ("sh".into(), "box".into()),
            ("python3".into(), "python".into()),
        ],
        entrypoint: Some("sh".into()),
        rootfs: vec![dir.into()],
        time: 1_700_000_000,
        ..ImageSpec::default()
    }
}

#[test]
fn images_differ_by_what_guests_see() {
    let tmp = tempfile::tempdir().unwrap();
    let root = tmp.path().join("root");
    rootfs(&root);
    let identity = |spec: &ImageSpec| {
        let file = tmp.path().join("i.webc");
        pack_to(spec, &file).unwrap();
        Image::open(&file).unwrap().identity()
    };
    let first = identity(&spec(&root));
    assert_eq!(identity(&spec(&root)), first);
    let mut renamed = spec(&root);
    renamed.commands[0].0 = "dir".into();
    let mut rebuilt = spec(&root);
    rebuilt.atoms[0].1.push(1);
    assert!(identity(&renamed) != first && identity(&rebuilt) != first);
    std::fs::write(root.join("etc/passwd"), "user:x:1001\n").unwrap();
    assert_ne!(identity(&spec(&root)), first);
}

#[test]
fn what_is_packed_is_read_back() {
    let tmp = tempfile::tempdir().unwrap();
    let root = tmp.path().join("root");
    rootfs(&root);
    let file = tmp.path().join("i.webc");
    let digest = pack_to(&spec(&root), &file).unwrap();
    let image = Image::open(&file).unwrap();
    assert_eq!(image.digest(), digest);
    image.verify().unwrap();
    assert_eq!(image.tree().len(), 64);
    image.check_tree().unwrap();
    assert_eq!(image.name_version(), ("wasibox/box".into(), "0.1.0".into()));
    assert_eq!(image.entrypoint(), Some("sh"));
    let names: Vec<_> = image.commands().iter().map(|c| (&*c.name, &*c.atom)).collect();
    assert_eq!(names, [("ls", "box"), ("sh", "box"), ("python3", "python")]);
    assert_eq!(image.checked_atom("box").unwrap(), b"\0asm box");
    let mut found: Vec<_> = image
        .rootfs()
        .unwrap()
        .into_iter()
        .map(|e| match e.kind {
            EntryKind::Dir => format!("d {:o} {}", e.mode, e.path),
            EntryKind::File(b) => format!("f {:o} {} {}", e.mode, e.path, (*b).as_ref().len()),
            EntryKind::Symlink(t) => format!("l {:o} {} {t}", e.mode, e.path),
        })
        .collect();
    found.sort();
    assert_eq!(
        found,
        [
            "d 755 /etc",
            "d 755 /usr/lib",
            "d 755 /usr/lib/py",
            "f 644 /etc/passwd 12",
            "f 644 /usr/lib/py/a.py 9",
            "f 755 /usr/lib/py/run.sh 10",
            "l 777 /usr/lib/py/b.py a.py",
        ]
    );
}

/// Wasmer's own reader accepts the image.
#[test]
fn the_image_is_a_valid_wasmer_package() {
    let tmp = tempfile::tempdir().unwrap();
    rootfs(tmp.path());
    let bytes = pack_image(&spec(tmp.path())).unwrap();
    let c = webc::Container::from_bytes_and_version(bytes.into(), webc::Version::V3).unwrap();
    c.validate().unwrap();
    let m = c.manifest();
    assert_eq!(m.commands["ls"].wasi().unwrap().unwrap().exec_name.as_deref(), Some("ls"));
    let mounts: Vec<_> =
        m.filesystem().unwrap().unwrap().0.into_iter().map(|m| m.mount_path).collect();
    assert_eq!(mounts, ["/etc", "/usr/lib"]);
    assert!(mounts.iter().all(|m| c.get_volume(m).is_some()));
}

#[test]
fn packing_is_reproducible() {
    let tmp = tempfile::tempdir().unwrap();
    rootfs(tmp.path());
    let a = pack_image(&spec(tmp.path())).unwrap();
    std::fs::write(tmp.path().join("etc/passwd"), "user:x:1000\n").unwrap();
    assert!(a == pack_image(&spec(tmp.path())).unwrap());
}

#[test]
fn wrong_specifications_are_refused() {
    let tmp = tempfile::tempdir().unwrap();
    rootfs(tmp.path());
    let good = spec(tmp.path());
    let mut s = good.clone();
    s.commands.push(("x".into(), "nowhere".into()));
    assert!(matches!(pack_image(&s), Err(ImageError::Pack(_))));
    let mut s = good.clone();
    s.commands.push(("ls".into(), "box".into()));
    assert!(matches!(pack_image(&s), Err(ImageError::Pack(_))));
    let mut s = good.clone();
    s.entrypoint = Some("nope".into());
    assert!(matches!(pack_image(&s), Err(ImageError::Pack(_))));
    std::fs::create_dir_all(tmp.path().join("usr/bin")).unwrap();
    assert!(matches!(pack_image(&good), Err(ImageError::Pack(_))));
}

#[test]
fn other_files_are_not_images() {
    let tmp = tempfile::tempdir().unwrap();
    let file = tmp.path().join("x");
    assert!(matches!(Image::open(&file), Err(ImageError::Io { .. })));
    for bytes in [&b""[..], b"hello, this is text", b"\0asm\x01\0\0\0aaaa"] {
        std::fs::write(&file, bytes).unwrap();
        assert!(matches!(Image::open(&file), Err(ImageError::NotAnImage { .. })), "{bytes:?}");
    }
    assert!(matches!(Image::open(tmp.path()), Err(ImageError::NotAnImage { .. })));
}

/// Every truncation, and a flip of every byte, leads to an error or a sound image, and never to a
/// panic. A changed program never passes its check.
#[test]
fn damage_is_found_or_harmless() {
    let tmp = tempfile::tempdir().unwrap();
    rootfs(tmp.path());
    let mut s = spec(tmp.path());
    s.atoms[1].1.truncate(100);
    let good = pack_image(&s).unwrap();
    let file = tmp.path().join("i.webc");
    let hook = std::panic::take_hook();
    std::panic::set_hook(Box::new(|_| {}));
    let result = std::panic::catch_unwind(|| {
        let check = |bytes: &[u8]| {
            std::fs::write(&file, bytes).unwrap();
            if let Ok(image) = Image::open(&file) {
                let _ = image.rootfs();
                if image.verify().is_ok() && image.atom("box").is_some() {
                    assert_eq!(image.atom("box").unwrap(), b"\0asm box");
                }
            }
        };
        for n in (0..good.len()).step_by(3) {
            check(&good[..n]);
        }
        for i in 0..good.len() {
            let mut bad = good.clone();
            bad[i] ^= 0xff;
            check(&bad);
            bad[i] = 0;
            check(&bad);
        }
    });
    std::panic::set_hook(hook);
    result.unwrap();
}

/// 45 directories that each contain the next one twice have 2^45 paths. One walk must end with one
/// error.
#[test]
fn directories_that_share_their_entries_are_refused() {
    const DEPTH: usize = 45;
    let tmp = tempfile::tempdir().unwrap();
    let mut dir = tmp.path().join("root/etc");
    for _ in 0..DEPTH {
        std::fs::create_dir_all(dir.join("b")).unwrap();
        dir = dir.join("a");
        std::fs::create_dir(&dir).unwrap();
    }
    std::fs::write(dir.join("leaf"), "x").unwrap();
    let mut bytes = pack_image(&spec(&tmp.path().join("root"))).unwrap();
    // Each entry is an offset, a digest, and the name's length before the name.
    let name = |n: u8| [&1u64.to_le_bytes()[..], &[n]].concat();
    let (a, b) = (name(b'a'), name(b'b'));
    let mut shared = 0;
    for at in 40..bytes.len() - 58 {
        if bytes[at..].starts_with(&a) && bytes[at + 49..].starts_with(&b) {
            let target = bytes[at - 40..at].to_vec();
            bytes[at + 9..at + 49].copy_from_slice(&target);
            shared += 1;
        }
    }
    assert_eq!(shared, DEPTH);
    let file = tmp.path().join("i.webc");
    std::fs::write(&file, &bytes).unwrap();
    let image = std::sync::Arc::new(Image::open(&file).unwrap());
    for e in [image.verify().unwrap_err(), image.rootfs().err().unwrap()] {
        assert!(e.to_string().contains("are one directory"), "{e}");
    }
    assert!(image.check_tree().is_err());
    // A guest's `find` lists directories one by one. It finds no more of them than the image has.
    let mut waiting = image.folders().unwrap();
    let (mut listed, mut refused) = (0, 0);
    while let Some(folder) = waiting.pop() {
        match folder.list() {
            Ok(entries) => {
                listed += 1;
                assert_eq!(folder.list().unwrap().len(), entries.len());
                waiting.extend(entries.into_iter().filter_map(|(_, f)| f));
            }
            Err(_) => refused += 1,
        }
    }
    assert_eq!((listed, refused), (DEPTH + 1, DEPTH));
}
