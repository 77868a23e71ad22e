//! `ls`, `glob`, `grep`, `search`, `stat`, `delete`, `move`.

mod common;

use common::*;
use std::process::Command;
use std::time::{Duration, Instant};
use wasibox_files::{
    Answer, FileEntryKind, FileLimits, FilesError, GrepAnswer, GrepOf, PatternSyntax, Request,
    SearchAnswer, apply_within,
};
use wasibox_vfs::{DiskLimits, MountSpec, Vfs};

fn paths(v: &Vfs, json: &str) -> Vec<String> {
    match ok(v, &format!("{{\"glob\": {json}}}")) {
        Answer::Paths { paths, .. } => paths,
        other => panic!("{other:?}"),
    }
}

fn grep(v: &Vfs, json: &str) -> GrepAnswer {
    match ok(v, &format!("{{\"grep\": {json}}}")) {
        Answer::Matches(m) => m,
        other => panic!("{other:?}"),
    }
}

fn search(v: &Vfs, json: &str) -> SearchAnswer {
    match ok(v, &format!("{{\"search\": {json}}}")) {
        Answer::Found(f) => f,
        other => panic!("{other:?}"),
    }
}

fn project() -> Vfs {
    let v = vfs();
    for d in ["/work/src/deep", "/work/.git", "/work/docs"] {
        dirs(&v, d);
    }
    for (i, (path, text)) in [
        ("/work/src/main.rs", "fn main() {\n    helper();\n}\n"),
        ("/work/src/deep/helper.rs", "pub fn helper() {}\n// helper\n"),
        ("/work/.git/config", "helper\n"),
        ("/work/docs/a.md", "# Helper\n"),
        ("/work/.env", "KEY=helper\n"),
    ]
    .into_iter()
    .enumerate()
    {
        put(&v, path, text);
        let time = Some((1000 - i as u64) * 1_000_000_000);
        v.set_times(&ROOT_LOC, path.as_bytes(), time, time, true).unwrap();
    }
    put(&v, "/work/blob", b"helper\0\x01");
    v.symlink(b"/work", &ROOT_LOC, b"/work/src/loop").unwrap();
    v
}

#[test]
fn globs() {
    let v = project();
    assert_eq!(
        paths(&v, r#"{"pattern": "**/*.rs"}"#),
        ["/work/src/deep/helper.rs", "/work/src/main.rs"]
    );
    assert_eq!(paths(&v, r#"{"pattern": "*.{md,rs}", "path": "docs"}"#), ["/work/docs/a.md"]);
    assert_eq!(paths(&v, r#"{"pattern": "/work/src/*.rs"}"#), ["/work/src/main.rs"]);
    assert_eq!(paths(&v, r#"{"pattern": "**/.env"}"#), ["/work/.env"]);
    assert_eq!(
        paths(&v, r#"{"pattern": "**", "hidden": true, "path": ".git"}"#),
        ["/work/.git/config"]
    );
    let newest = paths(&v, r#"{"pattern": "**/*.{rs,md}", "newest": true}"#);
    assert_eq!(newest, ["/work/src/main.rs", "/work/src/deep/helper.rs", "/work/docs/a.md"]);
    assert_eq!(
        paths(&v, r#"{"pattern": "**/*.{rs,md}", "newest": true, "limit": 1}"#),
        ["/work/src/main.rs"]
    );
    let Answer::Paths { more, .. } = ok(&v, r#"{"glob": {"pattern": "**", "limit": 2}}"#) else {
        panic!()
    };
    assert!(more);
    assert!(err(&v, r#"{"glob": {"pattern": "*", "path": "nowhere"}}"#).contains("no such file"));
}

#[test]
fn listings() {
    let v = project();
    let list = |json: &str| match ok(&v, &format!("{{\"ls\": {json}}}")) {
        Answer::Entries { entries, next_offset, .. } => {
            (entries.into_iter().map(|e| e.path).collect::<Vec<_>>(), next_offset)
        }
        other => panic!("{other:?}"),
    };
    assert_eq!(list("{}").0, [".env", ".git", "blob", "docs", "src"]);
    assert_eq!(
        list(r#"{"hidden": false, "limit": 2}"#),
        (vec!["blob".into(), "docs".into()], Some(2))
    );
    assert_eq!(list(r#"{"hidden": false, "offset": 2}"#).0, ["src"]);
    assert_eq!(
        list(r#"{"path": "src", "depth": 2}"#).0,
        ["deep", "deep/helper.rs", "loop", "main.rs"]
    );
    let Answer::Stat(e) = ok(&v, r#"{"stat": {"path": "src/loop", "follow": false}}"#) else {
        panic!()
    };
    assert_eq!((e.kind, e.target.as_deref()), (FileEntryKind::Symlink, Some("/work")));
    let Answer::Stat(e) = ok(&v, r#"{"stat": {"path": "src/loop"}}"#) else { panic!() };
    assert_eq!(e.kind, FileEntryKind::Directory);
}

#[test]
fn lines_are_found() {
    let v = project();
    let m = grep(&v, r#"{"pattern": "helper"}"#);
    let found: Vec<_> = m.files.iter().map(|f| (f.path.as_str(), f.count)).collect();
    assert_eq!(found, [("/work/src/deep/helper.rs", 2), ("/work/src/main.rs", 1)]);
    assert_eq!((m.binary, m.searched, m.count), (1, 3, 3));
    let m =
        grep(&v, r#"{"pattern": "HELPER", "ignore_case": true, "include": ["*.md"], "before": 1}"#);
    assert_eq!(m.files[0].lines[0].text, "# Helper");
    let m = grep(
        &v,
        r#"{"pattern": "helper", "hidden": true, "exclude": [".git"], "output": "files"}"#,
    );
    assert_eq!(m.files.len(), 3);
    let m = grep(&v, r#"{"pattern": "helper", "output": "count", "limit": 1}"#);
    assert_eq!((m.files[0].count, m.next_offset), (2, Some(1)));
    let m = grep(&v, r#"{"pattern": "helper", "output": "count", "limit": 1, "offset": 1}"#);
    assert_eq!((m.files[0].path.as_str(), m.next_offset), ("/work/src/main.rs", None));
    assert!(err(&v, r#"{"grep": {"pattern": "("}}"#).starts_with("bad pattern '('"));
    assert!(err(&v, r#"{"grep": {"pattern": "x", "path": "nowhere"}}"#).contains("no such file"));
    assert_eq!(grep(&v, r#"{"pattern": "^    helper\\(\\);$", "path": "src/main.rs"}"#).count, 1);
}

#[test]
fn matches_go_on_where_they_ended() {
    let v = vfs();
    let text: String = (1..=1000).map(|i| format!("line {i}\n")).collect();
    put(&v, "/work/a", &text);
    put(&v, "/work/b", &text);
    let (mut offset, mut seen) = (0, Vec::new());
    loop {
        let m =
            grep(&v, &format!(r#"{{"pattern": "line \\d*7$", "offset": {offset}, "limit": 33}}"#));
        for f in &m.files {
            seen.extend(f.lines.iter().map(|l| (f.path.clone(), l.number)));
        }
        match m.next_offset {
            Some(next) => offset = next,
            None => break,
        }
    }
    let want: Vec<(String, u64)> = ["/work/a", "/work/b"]
        .into_iter()
        .flat_map(|p| (1..=1000).filter(|i| i % 10 == 7).map(move |i| (p.to_owned(), i)))
        .collect();
    assert_eq!(seen, want);
}

/// Compares with GNU grep, with context, over several windows and with all engines.
#[test]
fn agrees_with_gnu_grep() {
    let dir = tempfile::tempdir().unwrap();
    let mut seed = 7u64;
    let mut next = |n: u64| {
        seed = seed.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
        (seed >> 33) % n
    };
    // A text of several windows, with matches near each other and far apart.
    let mut text = String::new();
    for i in 0..30_000 {
        let word = match next(400) {
            0 => "needle",
            1 => "need",
            _ => "hay",
        };
        text.push_str(&format!("{i} {word} {}\n", "x".repeat(next(30) as usize)));
    }
    text.push_str("last needle");
    std::fs::write(dir.path().join("f"), &text).unwrap();
    let v = vfs();
    put(&v, "/work/f", &text);
    for (pattern, syntax, flag) in [
        ("needle", PatternSyntax::Literal, "-F"),
        (r"need(le)?\s", PatternSyntax::Perl, "-P"),
        (r"(?<!1)1 need", PatternSyntax::Perl, "-P"),
        ("(need|nothing)le x{3,5}$", PatternSyntax::Extended, "-E"),
        ("(n)e\\1?ed.*l", PatternSyntax::Extended, "-E"),
    ] {
        for (before, after) in [(0, 0), (2, 1), (0, 3), (7, 7)] {
            let g = GrepOf {
                syntax,
                before,
                after,
                path: "f".into(),
                limit: Some(100_000),
                max_bytes: Some(4 << 20),
                ..GrepOf::new(pattern)
            };
            let Answer::Matches(m) =
                wasibox_files::apply_request(&v, "/work", &Request::Grep(g)).unwrap()
            else {
                panic!()
            };
            let ours: String = m.files.iter().flat_map(|f| &f.lines).fold(String::new(), |s, l| {
                s + &format!("{}{}{}\n", l.number, if l.matches { ':' } else { '-' }, l.text)
            });
            let (b, a) = (format!("-B{before}"), format!("-A{after}"));
            let out = Command::new("grep")
                .args([flag, "-n", "--no-group-separator", &b, &a, "-e", pattern, "f"])
                .current_dir(dir.path())
                .env("LC_ALL", "C.UTF-8")
                .output()
                .unwrap();
            assert_eq!(ours, String::from_utf8(out.stdout).unwrap(), "{pattern} {before} {after}");
        }
    }
}

#[test]
fn windows_ends_of_lines_do_not_hide_matches() {
    let v = vfs();
    put(&v, "/work/f", "foo\r\nbar\r\nfoo");
    for syntax in ["perl", "extended"] {
        let m = grep(&v, &format!(r#"{{"pattern": "foo$", "syntax": "{syntax}"}}"#));
        assert_eq!((m.count, m.files[0].lines[0].text.as_str()), (2, "foo"), "{syntax}");
    }
    let wide: Vec<u8> = [0xFEFFu16]
        .into_iter()
        .chain("a\nfoo\n".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    put(&v, "/work/f", wide);
    assert_eq!(grep(&v, r#"{"pattern": "^foo"}"#).files[0].lines[0].number, 2);
}

#[test]
fn hostile_searches_end() {
    let v = vfs();
    put(&v, "/work/long", "a".repeat(5 << 20));
    let many = format!("{}\n", "a".repeat(40)).repeat(5000);
    put(&v, "/work/many", many);
    let limits = FileLimits { time: Duration::from_secs(1), ..FileLimits::default() };
    // A walk that does not stop would run for hours.
    let start = Instant::now();
    for pattern in [r"^(a|aa)+\1$b", r"(a*)*\1c", "(a+)+b"] {
        let asked = Request::Grep(GrepOf::new(pattern));
        let done = apply_within(&v, "/work", &asked, &limits);
        assert!(
            matches!(done, Err(FilesError::Time { .. }) | Ok(Answer::Matches(_))),
            "{pattern}: {done:?}"
        );
    }
    assert!(start.elapsed() < Duration::from_secs(600), "{:?}", start.elapsed());
    // A part of the matching line is shown.
    let m = grep(&v, r#"{"pattern": "a", "path": "long", "syntax": "literal"}"#);
    assert!(m.files[0].lines.iter().all(|l| l.text.len() < 600));
}

#[test]
fn places_to_edit_are_found_once() {
    let v = vfs();
    put(&v, "/work/f", "def a():\n    x = 1\n    return x\n\ndef b():\n    x = 1\n    return x\n");
    let f = search(&v, r#"{"pattern": "x = 1"}"#);
    let places: Vec<_> =
        f.places.iter().map(|p| (p.first, p.last, p.text.as_str(), p.unique)).collect();
    assert_eq!(places, [(1, 2, "def a():\n    x = 1", true), (5, 6, "def b():\n    x = 1", true),]);
    // The snippet is accepted by `edit`.
    let old = serde_json::to_string(&f.places[1].text).unwrap();
    ok(
        &v,
        &format!(
            r#"{{"edit": {{"path": "f", "edits": [{{"old": {old}, "new": "def b():\n    x = 2"}}]}}}}"#
        ),
    );
    assert!(text(&v, "/work/f").ends_with("x = 2\n    return x\n"));
    put(&v, "/work/f", "same\n".repeat(50));
    let f = search(&v, r#"{"pattern": "same"}"#);
    assert!(!f.places[0].unique && f.places.len() <= 20);
    let f = search(&v, r#"{"pattern": "sa.e", "syntax": "perl", "limit": 1}"#);
    assert_eq!((f.places.len(), f.next_offset), (1, Some(1)));
}

#[test]
fn deleting_and_moving() {
    let v = project();
    assert!(err(&v, r#"{"delete": {"path": "src"}}"#).contains("recursive"));
    // The link is deleted, not its target.
    let Answer::Deleted { count, .. } = ok(&v, r#"{"delete": {"path": "src", "recursive": true}}"#)
    else {
        panic!()
    };
    assert_eq!(count, 5);
    assert!(v.stat(&ROOT_LOC, b"/work/docs/a.md", true).is_ok());
    ok(&v, r#"{"move": {"from": "docs/a.md", "to": "x/y/b.md"}}"#);
    assert_eq!(text(&v, "/work/x/y/b.md"), "# Helper\n");
    ok(&v, r#"{"move": {"from": "x/y/b.md", "to": "docs"}}"#);
    assert_eq!(text(&v, "/work/docs/b.md"), "# Helper\n");
    let Answer::Made { created: true, .. } = ok(&v, r#"{"make_dir": {"path": "p/q"}}"#) else {
        panic!()
    };
    let Answer::Made { created: false, .. } = ok(&v, r#"{"make_dir": {"path": "p/q"}}"#) else {
        panic!()
    };
}

#[test]
fn mounts_are_searched_and_their_links_stay_inside() {
    let host = tempfile::tempdir().unwrap();
    std::fs::create_dir_all(host.path().join("in/a")).unwrap();
    std::fs::write(host.path().join("secret"), "needle\n").unwrap();
    std::fs::write(host.path().join("in/a/f"), "needle\n").unwrap();
    std::os::unix::fs::symlink("..", host.path().join("in/up")).unwrap();
    let spec =
        MountSpec { host: host.path().join("in"), guest: "/m".into(), writable: true, quota: None };
    let v = with(&[spec], DiskLimits::default());
    let m = grep(&v, r#"{"pattern": "needle", "path": "/m"}"#);
    assert_eq!(m.files.iter().map(|f| f.path.as_str()).collect::<Vec<_>>(), ["/m/a/f"]);
    // `..` at the mount's root is the guest's root.
    assert!(err(&v, r#"{"read": {"path": "/m/up/secret"}}"#).contains("no such file"));
    let Answer::Deleted { count, .. } =
        ok(&v, r#"{"delete": {"path": "/m/a", "recursive": true}}"#)
    else {
        panic!()
    };
    assert_eq!(count, 2);
    assert!(!host.path().join("in/a").exists() && host.path().join("secret").exists());
    assert!(err(&v, r#"{"delete": {"path": "/m", "recursive": true}}"#).contains("EBUSY"));
}

#[test]
fn unknown_fields_are_reported() {
    for json in
        [r#"{"read": {"path": "a", "lines": 3}}"#, r#"{"reed": {"path": "a"}}"#, r#"{"grep": {}}"#]
    {
        assert!(serde_json::from_str::<Request>(json).is_err(), "{json}");
    }
}
