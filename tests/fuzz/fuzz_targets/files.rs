//! Executes a random request about a random text. It must be answered or refused within a short
//! time.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::time::{Duration, Instant};
use wasibox_files::{
    EditOf, FileLimits, GlobOf, GrepOf, PatchLines, PatchOf, PatternSyntax, ReadOf, Request,
    SearchOf, UploadOf, apply_request, apply_within,
};
use wasibox_vfs::{Budget, DiskLimits, ProtectedPaths, Vfs};

/// The time limit of a request, and the time by which a step may exceed it.
const TIME: Duration = Duration::from_millis(500);
const LATE: Duration = Duration::from_secs(5);

fuzz_target!(|data: &[u8]| {
    let Some((&how, rest)) = data.split_first() else { return };
    let mut parts = rest.splitn(3, |b| *b == 0xF5);
    let mut next = || parts.next().unwrap_or_default();
    let (file, a, b) = (next().to_vec(), next(), next());
    let (a, b) = (String::from_utf8_lossy(a).into_owned(), String::from_utf8_lossy(b).into_owned());
    let (limits, budget) = (DiskLimits::default(), Budget::new(64 << 20));
    let vfs = Vfs::new([], &[], limits, budget, &ProtectedPaths::default()).unwrap();
    let data = wasibox_files::FileBytes(file);
    let upload = UploadOf { path: "f".into(), data, offset: None, mode: None };
    apply_request(&vfs, "/tmp", &Request::Upload(upload)).unwrap();
    let number = a.len() as u64;
    let syntax = [PatternSyntax::Perl, PatternSyntax::Extended, PatternSyntax::Literal]
        [usize::from(how / 16) % 3];
    let request = match how % 8 {
        0 => Request::Read(ReadOf { offset: Some(number as i64 - 8), ..ReadOf::new("f") }),
        1 => Request::Edit(EditOf::new("f", a, b)),
        2 => Request::ApplyPatch(PatchOf { patch: a, strip: None, fuzz: None, dry_run: false }),
        3 => Request::PatchLines(PatchLines {
            path: "f".into(),
            first: number,
            last: b.len() as u64,
            text: a,
            expect: None,
            encoding: None,
        }),
        4 => Request::Grep(GrepOf { syntax, before: 1, after: 2, ..GrepOf::new(a) }),
        5 => Request::Search(SearchOf {
            pattern: a,
            path: ".".into(),
            syntax,
            ignore_case: true,
            include: vec![b],
            hidden: true,
            offset: 0,
            limit: None,
        }),
        6 => Request::Glob(GlobOf {
            pattern: a,
            path: ".".into(),
            hidden: true,
            newest: false,
            directories: true,
            limit: None,
        }),
        _ => Request::ApplyPatch(PatchOf {
            patch: format!("--- f\n+++ f\n@@ -{number} +1 @@\n{a}"),
            strip: None,
            fuzz: Some(3),
            dry_run: true,
        }),
    };
    let limits = FileLimits { time: TIME, ..FileLimits::default() };
    let start = Instant::now();
    let done = apply_within(&vfs, "/tmp", &request, &limits);
    assert!(start.elapsed() < LATE, "{:?}", start.elapsed());
    if let Err(e) = done {
        let _ = e.to_string();
    }
});
