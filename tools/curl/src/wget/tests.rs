//! Whole command lines against a host of the test. Expected results were seen with GNU Wget 1.21.3
//! and Python's `http.server`, or are documented in wget(1).

use std::cell::RefCell;
use std::path::Path;
use std::rc::Rc;

use box_applet::OutputSink;

use crate::tests::{Folder, Host, Ran, applet};

fn run(cwd: &Path, stdin: &str, line: &[&str]) -> Ran {
    let out = Rc::new(RefCell::new(Vec::new()));
    let sink = OutputSink::Buffer(out.clone());
    let mut ran = applet("wget", super::with, cwd, Host::default(), stdin, sink, line);
    ran.out = String::from_utf8_lossy(&out.borrow()).into_owned();
    ran
}

/// Returns the messages without the parts that differ from run to run: `T` for times, `R` for
/// rates, and no rows of dots.
fn said(ran: &Ran) -> String {
    let mut out = String::new();
    for line in ran.err.lines().filter(|l| !(l.starts_with("  ") && l.contains("K "))) {
        let words: Vec<&str> = line.split(' ').collect();
        let mut kept = Vec::new();
        for (at, word) in words.iter().enumerate() {
            let is_date = |w: &str| {
                let digits = w.trim_start_matches('-');
                digits.len() >= 10 && digits.as_bytes()[4] == b'-' && digits.as_bytes()[7] == b'-'
            };
            let is_time = |w: &str| {
                w.matches(':').count() == 2 && w.starts_with(|c: char| c.is_ascii_digit())
            };
            match *word {
                w if is_date(w) => {}
                w if is_time(w) && at > 0 && is_date(words[at - 1]) => kept.push("T".to_owned()),
                w if w.starts_with('(')
                    && words.get(at + 1).is_some_and(|w| w.ends_with("B/s)")) => {}
                w if w.ends_with("B/s)") => kept.push("R".to_owned()),
                w => kept.push(w.to_owned()),
            }
        }
        out += &(kept.join(" ") + "\n");
    }
    out
}

#[test]
fn a_file_is_fetched_with_gnus_lines() {
    let f = Folder::new("wget-file");
    let ran = run(&f.0, "", &["http://h:8731/file"]);
    let head = "T  http://h:8731/file\nConnecting to h:8731... connected.\n\
                HTTP request sent, awaiting response... 200 OK\nLength: 6 [text/plain]\n";
    let saved = |name: &str| format!("Saving to: ‘{name}’\n\n\nT R - ‘{name}’ saved [6/6]\n\n");
    assert_eq!((ran.status, said(&ran)), (0, format!("{head}{}", saved("file"))));
    assert_eq!(f.text("file"), "hello\n");
    assert!(ran.err.contains("     0K"), "{}", ran.err);
    assert!(ran.err.contains("100%"), "{}", ran.err);
    // A second download gets another name.
    let ran = run(&f.0, "", &["http://h:8731/file"]);
    assert_eq!(said(&ran), format!("{head}{}", saved("file.1")));
    let ran = run(&f.0, "", &["-nv", "http://h:8731/file", "-O", "x"]);
    assert_eq!(said(&ran), "T URL:http://h:8731/file [6/6] -> \"x\" [1]\n");
    let ran = run(&f.0, "", &["-q", "-P", "sub/dir", "http://h:8731/file?a/b"]);
    assert_eq!((ran.err.as_str(), f.text("sub/dir/file?a%2Fb").is_empty()), ("", false));
    let ran = run(&f.0, "", &["-qO-", "http://h/file"]);
    assert_eq!((ran.status, ran.out.as_str(), ran.err.as_str()), (0, "hello\n", ""));
}

#[test]
fn statuses_are_gnus() {
    let f = Folder::new("wget-status");
    let fails = |line: &[&str], status: u8, text: &str| {
        let ran = run(&f.0, "", line);
        assert_eq!(ran.status, status, "{line:?}: {}", ran.err);
        assert!(said(&ran).contains(text), "{line:?}: {}", said(&ran));
    };
    fails(&[], 1, "wget: missing URL\nUsage: wget [OPTION]... [URL]...\n");
    fails(&["--foo"], 2, "wget: unrecognized option '--foo'\n");
    fails(&["--post-data=a", "--method=PUT", "h"], 2, "You cannot use --post-data");
    fails(&["--no-check-certificate", "https://h/"], 2, "certificates are always checked");
    fails(&["-r", "http://h/"], 2, "-r: what a page needs or links to is not fetched");
    fails(&["ftp://h/x"], 1, "ftp://h/x: Unsupported scheme ‘ftp’.\n");
    fails(&["http://h/404"], 8, "awaiting response... 404 Not Found\nT ERROR 404: Not Found.\n\n");
    fails(&["-nv", "http://h/404"], 8, "http://h/404:\nT ERROR 404: Not Found.\n");
    fails(&["http://h/refused"], 4, "Connecting to h:80... failed: could not connect to h.\n");
    fails(&["http://h/file", "-O", "/nonexistent/x"], 3, "/nonexistent/x: No such file");
    fails(&["--post-file", "none", "http://h/x"], 3, "BODY data file ‘none’ missing\n");
    fails(&["http://h/auth"], 6, "Username/Password Authentication Failed.\n");
    // The smallest exit status takes precedence.
    fails(&["-q", "http://h/404", "http://h/refused"], 4, "");
    let host = Host::nowhere();
    let sink = OutputSink::Buffer(Rc::default());
    let ran = applet("wget", super::with, &f.0, host, "", sink, &["http://example.com/"]);
    assert_eq!(ran.status, 4);
    assert!(
        ran.err.contains("example.com:80 is not allowed by the sandbox's policy"),
        "{}",
        ran.err
    );
}

#[test]
fn what_is_there_is_kept_completed_or_compared() {
    let f = Folder::new("wget-there");
    f.file("ranges", "01234");
    let ran = run(&f.0, "", &["-c", "http://h/ranges"]);
    assert!(said(&ran).contains("206 Partial Content\nLength: 10, 5 remaining\n"), "{}", ran.err);
    assert_eq!(f.text("ranges"), "0123456789");
    let done = "\n    The file is already fully retrieved; nothing to do.\n\n";
    let ran = run(&f.0, "", &["-c", "http://h/ranges"]);
    assert!(ran.status == 0 && ran.err.contains(done), "{}", ran.err);
    f.file("file", "mine");
    let ran = run(&f.0, "", &["-nc", "http://h/file"]);
    assert_eq!(
        (ran.status, ran.err.as_str(), ran.host.requests.len()),
        (0, "File ‘file’ already there; not retrieving.\n\n", 0)
    );
    // The file gets the server's time. It is not loaded again if it has that time already.
    assert_eq!(run(&f.0, "", &["-q", "http://h/dated"]).status, 0);
    let time = std::fs::metadata(f.0.join("dated")).unwrap().modified().unwrap();
    let time = time.duration_since(std::time::UNIX_EPOCH).unwrap().as_secs();
    assert_eq!(time, 784_111_777);
    let ran = run(&f.0, "", &["-N", "http://h/dated"]);
    let kept = "File ‘dated’ not modified on server. Omitting download.\n\n";
    assert!(ran.status == 0 && ran.err.ends_with(kept), "{}", ran.err);
}

#[test]
fn tries_redirects_and_passwords() {
    let f = Folder::new("wget-tries");
    let ran = run(&f.0, "", &["-t", "2", "-O", "x", "http://h/short"]);
    assert_eq!(ran.status, 4);
    assert!(
        said(&ran).ends_with("T R - Connection closed at byte 3. Giving up.\n\n"),
        "{}",
        said(&ran)
    );
    let ran = run(&f.0, "", &["-t", "3", "http://h/short"]);
    assert_eq!((ran.status, ran.host.requests.len(), ran.host.slept.clone()), (4, 3, vec![1, 2]));
    assert!(
        said(&ran)
            .contains("Connection closed at byte 3. Retrying.\n\nT  (try: 2)  http://h/short\n")
    );
    let ran = run(&f.0, "", &["http://h/loop", "--max-redirect=3"]);
    assert_eq!((ran.status, ran.host.requests.len()), (8, 4));
    assert!(ran.err.ends_with("3 redirections exceeded.\n"), "{}", ran.err);
    let ran = run(&f.0, "", &["http://h/r301", "--post-data=a=b"]);
    assert!(
        said(&ran)
            .contains("301 Moved Permanently\nLocation: /echo [following]\nT  http://h/echo\n")
    );
    assert_eq!(ran.host.requests[1].method, b"GET");
    assert!(f.text("r301").starts_with("GET /echo\n"), "{}", f.text("r301"));
    let ran = run(&f.0, "", &["--user=a", "--password=b", "-O-", "http://h/auth"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, "Basic YTpi"));
    assert!(ran.err.contains("Authentication selected: Basic realm=\"x\"\n"), "{}", ran.err);
    // A password is sent to no other host.
    let ran = run(&f.0, "", &["--user=a", "--auth-no-challenge", "-qO-", "http://h/away"]);
    assert_eq!(ran.status, 0);
    assert!(!ran.out.contains("Authorization"), "{}", ran.out);
}

#[test]
fn requests_are_what_options_say() {
    let cwd = Path::new("/nonexistent");
    let common = "User-Agent: Wget/1.21.3\nAccept: */*\nAccept-Encoding: identity\n";
    let form = "Content-Type: application/x-www-form-urlencoded\n";
    for (line, expected) in [
        (&["h/echo"][..], format!("GET /echo\n{common}\n\n")),
        (&["--post-data", "a=b", "h/echo"], format!("POST /echo\n{common}{form}\na=b\n")),
        (
            &["--method=put", "--body-data=x", "--header=Content-Type: text/x", "h/echo"],
            format!("PUT /echo\n{common}Content-Type: text/x\n\nx\n"),
        ),
        (
            &["-U", "me", "--header", "A: b", "--header=Accept: x/y", "h/echo"],
            "GET /echo\nUser-Agent: me\nAccept-Encoding: identity\nA: b\nAccept: x/y\n\n\n".into(),
        ),
    ] {
        let ran = run(cwd, "", &[&["-qO-"], line].concat());
        assert_eq!((ran.status, ran.out), (0, expected), "{line:?}");
    }
    let ran = run(cwd, "http://h/file\n\nhttp://h/file\n", &["-qO-", "-i", "-"]);
    assert_eq!((ran.status, ran.out.as_str()), (0, "hello\nhello\n"));
    let ran = run(cwd, "", &["-S", "--spider", "http://h/bytes"]);
    let head = "awaiting response... \n  HTTP/1.1 200 OK\n  Content-Type: x/y\n";
    assert!(ran.err.contains(head) && ran.err.ends_with("Remote file exists.\n\n"), "{}", ran.err);
    assert_eq!((ran.host.requests[0].method.as_slice(), ran.status), (&b"HEAD"[..], 0));
    let ran = run(cwd, "", &["--spider", "http://h/404"]);
    assert!(ran.err.ends_with("Remote file does not exist -- broken link!!!\n\n"), "{}", ran.err);
    assert_eq!(ran.status, 8);
}
