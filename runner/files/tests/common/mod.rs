//! Shorthands for the tests.
#![allow(dead_code)] // each test file uses some

use wasibox_files::{Answer, FileText, FilesError, Request, apply_request};
use wasibox_vfs::tree::ROOT;
use wasibox_vfs::{Budget, DiskLimits, Loc, MountSpec, OpenFlags, OpenResult, ProtectedPaths, Vfs};

pub const ROOT_LOC: Loc = Loc::Tree(ROOT);
const READ: OpenFlags = OpenFlags {
    read: true,
    write: false,
    append: false,
    create: false,
    excl: false,
    truncate: false,
    directory: false,
    follow: true,
};

pub fn with(mounts: &[MountSpec], limits: DiskLimits) -> Vfs {
    let vfs =
        Vfs::new([], mounts, limits, Budget::new(1 << 30), &ProtectedPaths::default()).unwrap();
    if vfs.stat(&ROOT_LOC, b"/work", true).is_err() {
        vfs.mkdir(&ROOT_LOC, b"/work", 0o755).unwrap();
    }
    vfs
}

pub fn vfs() -> Vfs {
    with(&[], DiskLimits::default())
}

/// Writes a file as a guest would.
pub fn put(v: &Vfs, path: &str, bytes: impl AsRef<[u8]>) {
    let how = OpenFlags { write: true, create: true, truncate: true, ..READ };
    let OpenResult::File(f) = v.open(&ROOT_LOC, path.as_bytes(), how, 0o644).unwrap() else {
        panic!()
    };
    f.write(0, false, bytes.as_ref()).unwrap();
}

/// Reads a file as a guest would.
pub fn get(v: &Vfs, path: &str) -> Vec<u8> {
    let OpenResult::File(f) = v.open(&ROOT_LOC, path.as_bytes(), READ, 0).unwrap() else {
        panic!()
    };
    let (mut out, mut piece) = (Vec::new(), vec![0; 1 << 16]);
    loop {
        match f.read(out.len() as u64, &mut piece).unwrap() {
            0 => return out,
            n => out.extend_from_slice(&piece[..n]),
        }
    }
}

pub fn text(v: &Vfs, path: &str) -> String {
    String::from_utf8(get(v, path)).unwrap()
}

pub fn dirs(v: &Vfs, path: &str) {
    let mut at = String::new();
    for part in path.split('/').filter(|p| !p.is_empty()) {
        at = format!("{at}/{part}");
        let _ = v.mkdir(&ROOT_LOC, at.as_bytes(), 0o755);
    }
}

/// Sends a request as JSON and, as it travels to a worker, in binary form.
pub fn ask(v: &Vfs, json: &str) -> Result<Answer, FilesError> {
    let request: Request = serde_json::from_str(json).unwrap_or_else(|e| panic!("{json}: {e}"));
    let wire = postcard::to_stdvec(&request).unwrap();
    assert_eq!(postcard::from_bytes::<Request>(&wire).unwrap(), request);
    let result = apply_request(v, "/work", &request);
    let wire = postcard::to_stdvec(&result).unwrap();
    assert_eq!(postcard::from_bytes::<Result<Answer, FilesError>>(&wire).unwrap(), result);
    let json = serde_json::to_string(&result).unwrap();
    assert_eq!(serde_json::from_str::<Result<Answer, FilesError>>(&json).unwrap(), result);
    result
}

pub fn ok(v: &Vfs, json: &str) -> Answer {
    ask(v, json).unwrap_or_else(|e| panic!("{json}: {e}"))
}

/// Returns the text of the error.
pub fn err(v: &Vfs, json: &str) -> String {
    match ask(v, json) {
        Ok(a) => panic!("{json}: {a:?}"),
        Err(e) => e.to_string(),
    }
}

/// Returns the text that `read` returns.
pub fn read(v: &Vfs, json: &str) -> String {
    match ok(v, &format!("{{\"read\": {json}}}")) {
        Answer::Read { content: FileText::Text { text, .. }, .. } => text,
        other => panic!("{json}: {other:?}"),
    }
}
