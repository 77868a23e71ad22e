//! `read`, `download`, `upload`, `write`.

mod common;

use common::*;
use wasibox_files::{Answer, FileBytes, FileText, TextEncoding};

fn content(v: &wasibox_vfs::Vfs, json: &str) -> FileText {
    match ok(v, &format!("{{\"read\": {json}}}")) {
        Answer::Read { content, .. } => content,
        other => panic!("{other:?}"),
    }
}

#[test]
fn lines_have_numbers_as_cat_n_gives_them() {
    let v = vfs();
    put(&v, "/work/a", "one\ntwo\n\nfour");
    // The text is that of `cat -n a`, except for the end of the last line.
    assert_eq!(read(&v, r#"{"path": "a"}"#), "     1\tone\n     2\ttwo\n     3\t\n     4\tfour\n");
    assert_eq!(read(&v, r#"{"path": "a", "numbers": false}"#), "one\ntwo\n\nfour");
    assert_eq!(read(&v, r#"{"path": "/work/./a", "offset": 2, "limit": 1}"#), "     2\ttwo\n");
    assert_eq!(read(&v, r#"{"path": "a", "offset": -2, "numbers": false}"#), "\nfour");
    let FileText::Text { first, last, lines, next_offset, no_final_newline, .. } =
        content(&v, r#"{"path": "a", "offset": 2, "limit": 1}"#)
    else {
        panic!()
    };
    assert_eq!((first, last, lines, next_offset), (2, 2, Some(4), Some(3)));
    assert!(no_final_newline);
    assert!(err(&v, r#"{"read": {"path": "a", "offset": 5}}"#).contains("has 4 lines"));
}

#[test]
fn an_empty_file_is_reported() {
    let v = vfs();
    put(&v, "/work/e", "");
    let FileText::Text { text, first, note, .. } = content(&v, r#"{"path": "e"}"#) else {
        panic!()
    };
    assert_eq!((text.as_str(), first, note.as_deref()), ("", 0, Some("the file is empty")));
}

#[test]
fn parts_of_a_huge_file_need_little_memory() {
    let v = vfs();
    let line = "0123456789abcdef0123456789abcdef\n";
    let all = line.repeat(1_000_000);
    put(&v, "/work/big", &all);
    let FileText::Text { text, lines, next_offset, .. } =
        content(&v, r#"{"path": "big", "offset": 999990, "limit": 3}"#)
    else {
        panic!()
    };
    assert_eq!((text.lines().count(), lines, next_offset), (3, Some(1_000_000), Some(999_993)));
    // The defaults are at most 2000 lines and 128 KiB.
    let FileText::Text { text, last, .. } = content(&v, r#"{"path": "big"}"#) else { panic!() };
    assert!(last == 2000 && text.len() <= 128 << 10);
    let FileText::Text { text, next_offset, last, .. } =
        content(&v, r#"{"path": "big", "max_bytes": 100}"#)
    else {
        panic!()
    };
    assert!(text.len() <= 100 && next_offset == Some(last + 1));
}

#[test]
fn long_lines_are_cut_and_can_be_had() {
    let v = vfs();
    let long = "ü".repeat(100_000);
    put(&v, "/work/long", format!("a\n{long}\nb\n"));
    let FileText::Text { text, cut, .. } = content(&v, r#"{"path": "long"}"#) else { panic!() };
    assert!(text.len() < 2500 && text.ends_with("…\n     3\tb\n"), "{}", text.len());
    assert_eq!((cut[0].line, cut[0].offset, cut[0].bytes), (2, Some(2), 200_000));
    let Answer::Data { data, next_offset, .. } =
        ok(&v, r#"{"download": {"path": "long", "offset": 2, "limit": 200000}}"#)
    else {
        panic!()
    };
    assert_eq!((data.0, next_offset), (long.into_bytes(), Some(200_002)));
}

#[test]
fn encodings_are_found_or_given() {
    let v = vfs();
    let wide: Vec<u8> = [0xFEFFu16]
        .into_iter()
        .chain("grün 😀\r\nb".encode_utf16())
        .flat_map(u16::to_le_bytes)
        .collect();
    put(&v, "/work/wide", &wide);
    let FileText::Text { text, encoding, crlf, .. } = content(&v, r#"{"path": "wide"}"#) else {
        panic!()
    };
    assert_eq!(
        (text.as_str(), encoding, crlf),
        ("     1\tgrün 😀\n     2\tb\n", TextEncoding::Utf16Le, true)
    );
    put(&v, "/work/bom", b"\xef\xbb\xbfx\n");
    assert_eq!(read(&v, r#"{"path": "bom", "numbers": false}"#), "x\n");
    put(&v, "/work/latin", b"caf\xe9\n");
    let FileText::Text { text, invalid, note, .. } = content(&v, r#"{"path": "latin"}"#) else {
        panic!()
    };
    assert!(text.contains("caf\u{fffd}") && invalid == 1 && note.unwrap().contains("latin-1"));
    assert_eq!(read(&v, r#"{"path": "latin", "encoding": "latin-1", "numbers": false}"#), "café\n");
}

#[test]
fn binary_files_are_reported_and_images_returned() {
    let v = vfs();
    put(&v, "/work/x.bin", b"a\0b\x01");
    let FileText::Binary { mime, note } = content(&v, r#"{"path": "x.bin"}"#) else { panic!() };
    assert!(mime == "application/octet-stream" && note.contains("download"), "{note}");
    let png = b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR";
    put(&v, "/work/pic", png);
    let FileText::Data { mime, data } = content(&v, r#"{"path": "pic"}"#) else { panic!() };
    assert_eq!((mime.as_str(), data), ("image/png", FileBytes(png.to_vec())));
    let FileText::Data { data, .. } = content(&v, r#"{"path": "x.bin", "as_data": true}"#) else {
        panic!()
    };
    assert_eq!(serde_json::to_string(&data).unwrap(), r#""YQBiAQ==""#);
    let mut large = png.to_vec();
    large.resize(6 << 20, 0);
    put(&v, "/work/large.png", &large);
    assert!(matches!(content(&v, r#"{"path": "large.png"}"#), FileText::Binary { .. }));
}

#[test]
fn what_is_no_file_is_said() {
    let v = vfs();
    put(&v, "/work/config.toml", "");
    assert_eq!(
        err(&v, r#"{"read": {"path": "confg.toml"}}"#),
        "/work/confg.toml: no such file or directory; there is /work/config.toml"
    );
    assert!(err(&v, r#"{"read": {"path": "/dev/zero"}}"#).contains("is a device"));
    v.mkfifo(&ROOT_LOC, b"/work/pipe", 0o644).unwrap();
    assert!(err(&v, r#"{"read": {"path": "pipe"}}"#).contains("is a named pipe"));
    assert!(err(&v, r#"{"download": {"path": "/work"}}"#).contains("use ls"));
    let FileText::Directory { entries, .. } = content(&v, r#"{"path": "/work"}"#) else { panic!() };
    assert_eq!(
        entries.iter().map(|e| e.path.as_str()).collect::<Vec<_>>(),
        ["config.toml", "pipe"]
    );
    v.chmod(&ROOT_LOC, b"/work/config.toml", 0).unwrap();
    assert!(err(&v, r#"{"read": {"path": "config.toml"}}"#).contains("(EACCES)"));
}

#[test]
fn parts_come_and_go() {
    let v = vfs();
    for (offset, data) in [(0, "AAEC"), (3, "/w=="), (4, "/g==")] {
        let json =
            format!(r#"{{"upload": {{"path": "d/e/f", "data": "{data}", "offset": {offset}}}}}"#);
        ok(&v, &json);
    }
    assert_eq!(get(&v, "/work/d/e/f"), [0, 1, 2, 255, 254]);
    assert!(
        err(&v, r#"{"upload": {"path": "d/e/f", "data": "", "offset": 6}}"#)
            .contains("has 5 bytes")
    );
    ok(&v, r#"{"upload": {"path": "d/e/f", "data": "/w==", "mode": 493}}"#);
    assert_eq!(get(&v, "/work/d/e/f"), [255]);
    assert_eq!(v.stat(&ROOT_LOC, b"/work/d/e/f", true).unwrap().mode, 0o755);
    assert!(
        serde_json::from_str::<wasibox_files::Request>(r#"{"upload": {"path": "f", "data": "%"}}"#)
            .is_err()
    );
}

#[test]
fn writing_makes_folders_and_keeps_bits() {
    let v = vfs();
    let Answer::Written { path, created, size } =
        ok(&v, r#"{"write": {"path": "a/b/c.sh", "content": "x\n"}}"#)
    else {
        panic!()
    };
    assert_eq!((path.as_str(), created, size), ("/work/a/b/c.sh", true, 2));
    v.chmod(&ROOT_LOC, b"/work/a/b/c.sh", 0o755).unwrap();
    ok(&v, r#"{"write": {"path": "a/b/c.sh", "content": "y\n"}}"#);
    assert_eq!(v.stat(&ROOT_LOC, b"/work/a/b/c.sh", true).unwrap().mode, 0o755);
    ok(&v, r#"{"write": {"path": "a/b/c.sh", "content": "z\n", "append": true}}"#);
    assert_eq!(text(&v, "/work/a/b/c.sh"), "y\nz\n");
    assert!(
        err(&v, r#"{"write": {"path": "a/b/c.sh", "content": "", "create_only": true}}"#)
            .contains("already exists")
    );
    assert!(err(&v, r#"{"write": {"path": "a/b", "content": ""}}"#).contains("is a directory"));
    assert!(err(&v, r#"{"write": {"path": "a/b/c.sh/d", "content": ""}}"#).contains("(ENOTDIR)"));
    assert!(err(&v, r#"{"write": {"path": "", "content": ""}}"#).contains("empty"));
    ok(&v, r#"{"write": {"path": "w", "content": "é", "encoding": "utf-16be"}}"#);
    assert_eq!(get(&v, "/work/w"), [0xfe, 0xff, 0, 0xe9]);
    assert!(
        err(&v, r#"{"write": {"path": "w", "content": "€", "encoding": "latin-1"}}"#)
            .contains("'€'")
    );
}
