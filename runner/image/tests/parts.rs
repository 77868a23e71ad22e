//! Images that are split into a catalog and parts.

use std::path::Path;
use std::sync::Arc;
use wasibox_image::parts::{Catalog, CatalogDir, CatalogEntryKind, ImagePart, split_image};
use wasibox_image::{EntryKind, Image, ImageSpec, pack_image};

fn image(root: &Path) -> Arc<Image> {
    for (path, text) in
        [("etc/hosts", "a"), ("usr/lib/py/a.py", "print(1)\n"), ("usr/lib/py/empty", "")]
    {
        let path = root.join(path);
        std::fs::create_dir_all(path.parent().unwrap()).unwrap();
        std::fs::write(path, text).unwrap();
    }
    let mode = std::os::unix::fs::PermissionsExt::from_mode(0o755);
    std::fs::set_permissions(root.join("usr/lib/py/a.py"), mode).unwrap();
    std::os::unix::fs::symlink("a.py", root.join("usr/lib/py/b.py")).unwrap();
    let spec = ImageSpec {
        name: "a/b".into(),
        version: "1.0.0".into(),
        atoms: vec![("box".into(), b"\0asm box".to_vec()), ("python".into(), vec![7; 5000])],
        commands: vec![("sh".into(), "box".into()), ("python3".into(), "python".into())],
        rootfs: vec![root.into()],
        time: 1_700_000_000,
        ..ImageSpec::default()
    };
    Arc::new(Image::from_bytes("a", pack_image(&spec).unwrap()).unwrap())
}

/// Returns everything that the catalog lists, with the files' bytes from the parts.
fn listed(
    catalog: &Catalog,
    (path, dir): (&str, CatalogDir),
    parts: &[ImagePart],
    out: &mut Vec<(String, u16, Vec<u8>)>,
) {
    for item in catalog.list_dir(dir).unwrap() {
        let path = format!("{path}/{}", item.name);
        let bytes = match &item.what {
            CatalogEntryKind::Dir(_) => Vec::new(),
            CatalogEntryKind::Symlink(target) => target.clone().into_bytes(),
            CatalogEntryKind::File { part, at, len } => {
                parts[*part as usize].bytes[*at as usize..(*at + *len) as usize].to_vec()
            }
        };
        out.push((path.clone(), item.mode, bytes));
        if let CatalogEntryKind::Dir(dir) = &item.what {
            listed(catalog, (&path, *dir), parts, out);
        }
    }
}

#[test]
fn parts_hold_what_the_image_does() {
    let root = tempfile::tempdir().unwrap();
    let image = image(root.path());
    let part_of = |path: &str| if path.starts_with("/usr") { "usr" } else { "base" }.to_owned();
    let (catalog, parts) = split_image(&image, &part_of).unwrap();
    let names: Vec<&str> = parts.iter().map(|part| part.name.as_str()).collect();
    assert_eq!(names, ["box", "python", "base", "usr"]);
    assert_eq!(parts[0].bytes, b"\0asm box");
    assert_eq!((catalog.identity, catalog.time), (image.identity(), image.time()));
    assert_eq!(catalog.commands, [("sh".into(), 0), ("python3".into(), 1)]);
    assert_eq!(catalog.programs[1].digest, image.atoms()["python"]);

    let again = Catalog::decode(&catalog.encode().unwrap()).unwrap();
    assert_eq!(again, catalog);
    let mut found = Vec::new();
    for (path, dir) in &again.volumes {
        found.push((path.clone(), 0o755, Vec::new()));
        listed(&again, (path, *dir), &parts, &mut found);
    }
    let mut expected = Vec::new();
    for entry in image.rootfs().unwrap() {
        let bytes = match entry.kind {
            EntryKind::Dir => Vec::new(),
            EntryKind::Symlink(target) => target.into_bytes(),
            EntryKind::File(bytes) => (*bytes).as_ref().to_vec(),
        };
        expected.push((entry.path, entry.mode, bytes));
    }
    found.sort();
    expected.sort();
    assert_eq!(found, expected);
}

#[test]
fn catalogs_that_do_not_fit_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let (catalog, _) = split_image(&image(root.path()), &|_| "all".into()).unwrap();
    let refused = |change: &dyn Fn(&mut Catalog)| {
        let mut changed = catalog.clone();
        change(&mut changed);
        Catalog::decode(&changed.encode().unwrap()).is_err()
    };
    assert!(!refused(&|_| {}));
    assert!(refused(&|c| c.parts.truncate(1)));
    assert!(refused(&|c| c.commands[0].1 = 2));
    let bytes = catalog.encode().unwrap();
    for at in 0..bytes.len() {
        assert!(Catalog::decode(&bytes[..at]).is_err(), "cut at {at}");
    }
}

/// Returns whether all directories can be listed.
fn can_be_listed(catalog: &Catalog) -> bool {
    fn below(catalog: &Catalog, dir: CatalogDir) -> bool {
        catalog.list_dir(dir).is_ok_and(|items| {
            items.iter().all(|item| match item.what {
                CatalogEntryKind::Dir(dir) => below(catalog, dir),
                CatalogEntryKind::File { .. } | CatalogEntryKind::Symlink(_) => true,
            })
        })
    }
    catalog.volumes.iter().all(|(_, dir)| below(catalog, *dir))
}

#[test]
fn files_beyond_their_parts_are_refused() {
    let root = tempfile::tempdir().unwrap();
    let (catalog, _) = split_image(&image(root.path()), &|_| "all".into()).unwrap();
    assert!(can_be_listed(&catalog));
    let mut short = catalog.clone();
    short.parts[2] -= 1;
    assert!(!can_be_listed(&short));
    let mut none = catalog;
    none.parts.truncate(2);
    assert!(!can_be_listed(&none));
}

/// Walks of directories that contain themselves must end.
#[test]
fn damaged_directories_end() {
    let root = tempfile::tempdir().unwrap();
    let (catalog, _) = split_image(&image(root.path()), &|_| "all".into()).unwrap();
    let bytes = catalog.encode().unwrap();
    let mut refused = 0;
    for at in 0..bytes.len() {
        for bit in 0..8 {
            let mut damaged = bytes.clone();
            damaged[at] ^= 1 << bit;
            if !Catalog::decode(&damaged).is_ok_and(|catalog| can_be_listed(&catalog)) {
                refused += 1;
            }
        }
    }
    assert!(refused > bytes.len(), "{refused} of {} changes were seen", bytes.len() * 8);
}
