//! Whole command lines against a host of the test. Expected results were seen with curl 7.88.1 and
//! Python's `http.server`, or are documented in curl(1).

mod host;

use std::cell::RefCell;
use std::path::{Path, PathBuf};
use std::rc::Rc;

use box_applet::{AppletTable, Ctx, Env, Exit, InputSource, OutStream, OutputSink, StdInput};
use box_sys::{Os, Processes};

use crate::run;
use crate::world::TransferHost;
pub(crate) use host::Host;

pub(crate) struct Ran {
    pub(crate) status: u8,
    pub(crate) out: String,
    pub(crate) err: String,
    pub(crate) host: Host,
}

static TABLE: AppletTable = AppletTable::new(&[], &[]);

/// A temporary folder, removed at the end.
pub(crate) struct Folder(pub(crate) PathBuf);

impl Folder {
    pub(crate) fn new(name: &str) -> Folder {
        let path = std::env::temp_dir().join(format!("box-curl-{}-{name}", std::process::id()));
        std::fs::create_dir_all(&path).unwrap();
        Folder(path)
    }

    pub(crate) fn file(&self, name: &str, text: &str) {
        std::fs::write(self.0.join(name), text).unwrap();
    }

    pub(crate) fn text(&self, name: &str) -> String {
        String::from_utf8_lossy(&std::fs::read(self.0.join(name)).unwrap()).into_owned()
    }

    fn run(&self, line: &[&str]) -> Ran {
        in_folder(&self.0, Host::default(), "", line)
    }
}

impl Drop for Folder {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

fn in_folder(cwd: &Path, host: Host, stdin: &str, line: &[&str]) -> Ran {
    let out = Rc::new(RefCell::new(Vec::new()));
    let mut ran = to_sink(cwd, host, stdin, OutputSink::Buffer(out.clone()), line);
    ran.out = String::from_utf8_lossy(&out.borrow()).into_owned();
    ran
}

fn to_sink(cwd: &Path, host: Host, stdin: &str, out: OutputSink, line: &[&str]) -> Ran {
    applet("curl", run::run_with, cwd, host, stdin, out, line)
}

type With = fn(&mut Ctx<'_>, &[Vec<u8>], &mut dyn TransferHost) -> Exit;

/// Runs an applet of this crate with a command line; `out` of the result stays empty.
pub(crate) fn applet(
    name: &'static str,
    with: With,
    cwd: &Path,
    mut host: Host,
    stdin: &str,
    out: OutputSink,
    line: &[&str],
) -> Ran {
    let err = Rc::new(RefCell::new(Vec::new()));
    let os = Os::default();
    let mut ctx = Ctx {
        name: name.into(),
        applet: name,
        arg0: name.as_bytes().to_vec(),
        env: [(b"HOME".to_vec(), cwd.as_os_str().as_encoded_bytes().to_vec())]
            .into_iter()
            .collect::<Env>(),
        cwd: cwd.to_path_buf(),
        stdin: StdInput::new(InputSource::Bytes(Rc::new(stdin.as_bytes().to_vec()))),
        stdout: OutStream::buffered(out),
        stderr: OutStream::unbuffered(OutputSink::Buffer(err.clone())),
        extra_fds: Vec::new(),
        procs: &os,
        table: &TABLE,
    };
    let args: Vec<Vec<u8>> = line.iter().map(|a| a.as_bytes().to_vec()).collect();
    let exit = with(&mut ctx, &args, &mut host);
    let exit = ctx.finish(Ok(exit));
    let err = String::from_utf8_lossy(&err.borrow()).into_owned();
    Ran { status: exit.0, out: String::new(), err, host }
}

fn curl(line: &[&str]) -> Ran {
    in_folder(Path::new("/nonexistent"), Host::default(), "", line)
}

const AGENT: &str = "User-Agent: curl/8.11.1\nAccept: */*\n";
const FORM: &str = "Content-Type: application/x-www-form-urlencoded\n";

#[track_caller]
fn echoes(line: &[&str], expected: &str) {
    let ran = curl(line);
    assert_eq!((ran.status, ran.out.as_str(), ran.err.as_str()), (0, expected, ""), "{line:?}");
    assert_eq!(ran.host.closed, ran.host.requests.len());
}

#[test]
fn methods_headers_and_bodies() {
    let u = "h/echo";
    echoes(&[u], &format!("GET /echo\n{AGENT}\n\n"));
    echoes(&["-sX", "DELETE", u], &format!("DELETE /echo\n{AGENT}\n\n"));
    echoes(&["-d", "a=b", u], &format!("POST /echo\n{AGENT}{FORM}\na=b\n"));
    echoes(&["-d", "", u], &format!("POST /echo\n{AGENT}{FORM}\n\n"));
    let encoded = [
        "-da=b",
        "-d",
        "c=d",
        "--data-urlencode",
        "x= é&",
        "--data-urlencode",
        "a b",
        "--data-urlencode",
        "=q r",
        u,
    ];
    echoes(&encoded, &format!("POST /echo\n{AGENT}{FORM}\na=b&c=d&x=+%C3%A9%26&a+b&q+r\n"));
    echoes(
        &["-G", "-d", "a=b", "--data-urlencode", "c= d", "h/echo?x=1"],
        &format!("GET /echo?x=1&a=b&c=+d\n{AGENT}\n\n"),
    );
    let json =
        "User-Agent: curl/8.11.1\nAccept: application/json\nContent-Type: application/json\n";
    echoes(&["--json", "{}", "--json", "1", u], &format!("POST /echo\n{json}\n{{}}1\n"));
    let many = [
        "-u", "a:b", "-e", "ref", "-A", "ag", "-r", "1-2", "-H", "X-A: 1", "-H", "Accept:", "-H",
        "X-E;", u,
    ];
    echoes(
        &many,
        "GET /echo\nAuthorization: Basic YTpi\nRange: bytes=1-2\nUser-Agent: ag\nReferer: ref\nX-A: 1\nX-E: \n\n\n",
    );
    echoes(
        &["http://a:b@h/echo", "-H", "Connection: close", "-H", "Host: h"],
        &format!("GET /echo\nAuthorization: Basic YTpi\n{AGENT}\n\n"),
    );
    echoes(
        &["--data-raw", "@x", "-H", "Content-Type: t/x", u],
        &format!("POST /echo\n{AGENT}Content-Type: t/x\n\n@x\n"),
    );
    echoes(&["--url-query", "a=b c", u], &format!("GET /echo?a=b+c\n{AGENT}\n\n"));
    echoes(
        &["--compressed", u],
        &format!("GET /echo\n{AGENT}Accept-Encoding: deflate, gzip\n\n\n"),
    );
}

#[test]
fn urls_without_a_scheme_are_http() {
    let urls = |line: &[&str]| -> Vec<String> {
        curl(line).host.requests.iter().map(|r| String::from_utf8(r.url.clone()).unwrap()).collect()
    };
    assert_eq!(urls(&["h:8000/x"]), ["http://h:8000/x"]);
    assert_eq!(urls(&["https://h"]), ["https://h/"]);
    assert_eq!(
        urls(&["-s", "--url", "h/1", "h/{2,3}", "--next", "h/4"]),
        ["http://h/1", "http://h/2", "http://h/3", "http://h/4"]
    );
    assert_eq!(urls(&["-g", "h/{2,3}"]), ["http://h/{2,3}"]);
}

#[test]
fn bodies_from_files() {
    let f = Folder::new("bodies");
    f.file("t.txt", "a\r\nb\n");
    let sent = |line: &[&str]| f.run(line).out.split_once("\n\n").unwrap().1.to_string();
    assert_eq!(sent(&["-d", "@t.txt", "h/echo"]), "ab\n");
    assert_eq!(sent(&["--data-binary", "@t.txt", "h/echo"]), "a\r\nb\n\n");
    assert_eq!(sent(&["--data-urlencode", "n@t.txt", "h/echo"]), "n=a%0D%0Ab%0A\n");
    let ran = f.run(&["-T", "t.txt", "h/up/"]);
    assert_eq!(ran.out, format!("PUT /up/t.txt\n{AGENT}\na\r\nb\n\n"));
    let stdin = in_folder(&f.0, Host::default(), "in", &["-T", "-", "h/up"]);
    assert_eq!((stdin.out, stdin.host.requests[0].body), (format!("PUT /up\n{AGENT}\nin\n"), None));
    // The second URL has no file.
    let two = f.run(&["-s", "-T", "t.txt", "h/a", "h/b"]);
    assert!(two.out.ends_with(&format!("GET /b\n{AGENT}\n\n")), "{}", two.out);
    f.file("heads", "X-A: 1\r\n\nX-B: 2\n");
    assert_eq!(
        f.run(&["-H", "@heads", "h/echo"]).out,
        format!("GET /echo\n{AGENT}X-A: 1\nX-B: 2\n\n\n")
    );
}

#[test]
fn forms() {
    let f = Folder::new("forms");
    f.file("pid", "1\n");
    let line = [
        "-F",
        "a=b",
        "-F",
        "f=@pid;type=text/x",
        "-F",
        "g=<pid",
        "-F",
        "h=@pid;filename=q\"z",
        "-F",
        "j=x;y;type=a/b",
        "-F",
        "k=@pid;filename=\"z.PNG\"",
        "h/echo",
    ];
    let ran = f.run(&line);
    let (head, body) = ran.out.split_once("\n\n").unwrap();
    let boundary = head.rsplit_once("Content-Type: multipart/form-data; boundary=").unwrap().1;
    let part = |head: &str, body: &str| {
        format!("--{boundary}\r\nContent-Disposition: form-data; name={head}\r\n\r\n{body}\r\n")
    };
    let expected = part("\"a\"", "b")
        + &part("\"f\"; filename=\"pid\"\r\nContent-Type: text/x", "1\n")
        + &part("\"g\"", "1\n")
        + &part("\"h\"; filename=\"q%22z\"\r\nContent-Type: application/octet-stream", "1\n")
        + &part("\"j\"\r\nContent-Type: a/b", "x")
        + &part("\"k\"; filename=\"z.PNG\"\r\nContent-Type: image/png", "1\n")
        + &format!("--{boundary}--\r\n\n");
    assert_eq!(body, expected);
    assert_eq!(f.run(&["-sS", "-F", "a=@nofile", "h/echo"]).status, 26);
}

#[test]
fn heads_are_shown() {
    let ran = curl(&["-sI", "h/404"]);
    assert_eq!(
        (ran.out.as_str(), ran.host.requests[0].method.as_slice()),
        ("HTTP/1.1 404 Not Found\r\nA: b\r\n\r\n", &b"HEAD"[..])
    );
    assert_eq!(curl(&["-si", "h/404"]).out, "HTTP/1.1 404 Not Found\r\nA: b\r\n\r\nerr\n");
    let both = curl(&["-siL", "h/r301"]).out;
    assert!(both.starts_with(
        "HTTP/1.1 301 Moved Permanently\r\nLocation: /echo\r\n\r\nHTTP/1.1 200 OK\r\n"
    ));
    assert_eq!(
        curl(&["-s", "-D", "-", "-o", "/dev/null", "h/404"]).out,
        "HTTP/1.1 404 Not Found\r\nA: b\r\n\r\n"
    );
    let verbose = curl(&["-sv", "-d", "q", "h/404"]).err;
    for line in [
        "> POST /404 HTTP/1.1\r\n> Host: h\r\n",
        "> Content-Length: 1\r\n> \r\n",
        "< HTTP/1.1 404 Not Found\r\n< A: b\r\n< \r\n",
    ] {
        assert!(verbose.contains(line), "{verbose}");
    }
}

#[test]
fn statuses_of_the_server() {
    let heads = curl(&["-sfi", "h/404"]);
    assert_eq!((heads.out.as_str(), heads.status), ("HTTP/1.1 404 Not Found\r\nA: b\r\n\r\n", 22));
    for (option, out, err, status) in [
        ("-s", "err\n", "", 0),
        ("-sSf", "", "curl: (22) The requested URL returned error: 404\n", 22),
        ("-sf", "", "", 22),
        ("--fail-with-body", "err\n", "curl: (22) The requested URL returned error: 404\n", 22),
    ] {
        let ran = curl(&[option, "h/404"]);
        assert_eq!(
            (ran.out.as_str(), ran.err.as_str(), ran.status),
            (out, err, status),
            "{option}"
        );
    }
}

#[test]
fn redirects() {
    echoes(&["-L", "-d", "a=b", "h/r301"], &format!("GET /echo\n{AGENT}\n\n"));
    echoes(&["-L", "-X", "PUT", "-d", "a=b", "h/r301"], &format!("PUT /echo\n{AGENT}\n\n"));
    echoes(&["-L", "-d", "a=b", "h/r307"], &format!("POST /echo\n{AGENT}{FORM}\na=b\n"));
    echoes(
        &["-L", "--post301", "-d", "a=b", "h/r301"],
        &format!("POST /echo\n{AGENT}{FORM}\na=b\n"),
    );
    echoes(&["-s", "h/r301"], "moved");
    let secrets = ["-u", "a:b", "-H", "Cookie: x", "-b", "y=1", "-L", "h/away"];
    echoes(&secrets, &format!("GET /echo\n{AGENT}\n\n"));
    let trusted = curl(&["-u", "a:b", "--location-trusted", "h/away"]).out;
    assert!(trusted.contains("Authorization: Basic YTpi\n"));
    let looped = curl(&["-sSL", "--max-redirs", "3", "h/loop"]);
    assert_eq!(
        (looped.status, looped.err.as_str()),
        (47, "curl: (47) Maximum (3) redirects followed\n")
    );
    assert_eq!((looped.host.requests.len(), curl(&["-sL", "h/loop"]).host.requests.len()), (4, 51));
    assert_eq!(curl(&["-sL", "h/ftp"]).status, 1);
    let body = in_folder(Path::new("/"), Host::default(), "in", &["-sL", "-T", "-", "h/r307"]);
    assert_eq!(body.status, 65);
}

#[test]
fn cookies() {
    let f = Folder::new("cookies");
    let ran = f.run(&["-sL", "-c", "jar", "h/ck"]);
    assert_eq!(ran.out, format!("GET /echo\n{AGENT}Cookie: b=2; a=1\n\n\n"));
    assert!(f.text("jar").ends_with(
        "#HttpOnly_h\tFALSE\t/\tFALSE\t2145916800\tb\t2\nh\tFALSE\t/\tFALSE\t0\ta\t1\n"
    ));
    assert_eq!(
        f.run(&["-b", "jar", "h/echo"]).out,
        format!("GET /echo\n{AGENT}Cookie: a=1; b=2\n\n\n")
    );
    assert_eq!(
        f.run(&["-b", "jar", "-j", "h/echo"]).out,
        format!("GET /echo\n{AGENT}Cookie: b=2\n\n\n")
    );
    assert_eq!(f.run(&["-b", "jar", "other/echo"]).out, format!("GET /echo\n{AGENT}\n\n"));
    echoes(&["-L", "-b", "z=9; y=8", "h/ck"], &format!("GET /echo\n{AGENT}Cookie: z=9; y=8\n\n\n"));
}

#[test]
fn outputs() {
    let f = Folder::new("outputs");
    assert_eq!(f.run(&["-s", "-o", "#1_#2.txt", "h/{a,b}/[1-2]"]).out, "");
    assert!(f.text("b_1.txt").starts_with("GET /b/1\n"));
    assert_eq!(f.run(&["-sO", "h/x/bytes.bin?q", "-sO", "h/cd"]).status, 0);
    assert!(f.text("bytes.bin").starts_with("GET /x/bytes.bin?q\n"));
    let named = f.run(&["-sOJ", "-w", "%{filename_effective}", "h/cd"]);
    assert_eq!((named.out.as_str(), f.text("x y.txt").as_str()), ("x y.txt", "file\n"));
    // An existing file is not replaced by a name of the server's.
    assert_eq!(f.run(&["-sOJ", "h/cd"]).status, 23);
    assert_eq!(
        f.run(&["-s", "--create-dirs", "--output-dir", "d/e", "-o", "f", "h/empty"]).status,
        0
    );
    assert_eq!(f.text("d/e/f"), "");
    let missing = f.run(&["-o", "none/f", "h/echo"]);
    let err = "Warning: Failed to open the file none/f: No such file or directory\ncurl: (23) Failure writing output to destination\n";
    assert_eq!((missing.status, missing.err.as_str()), (23, err));
    assert_eq!(f.run(&["-sO", "h/"]).status, 23);
    f.run(&["-sf", "-o", "failed", "h/404"]);
    assert!(!f.0.join("failed").exists());
    f.run(&["-s", "-o", "raw", "h/bytes"]);
    assert_eq!(std::fs::read(f.0.join("raw")).unwrap(), b"\0\xff\r\n\n");
    // The second URL has no output of its own.
    assert_eq!(f.run(&["-s", "h/404", "h/cd", "-o", "first"]).out, "file\n");
}

#[test]
fn resuming() {
    let f = Folder::new("resuming");
    f.file("p", "0123");
    assert_eq!(f.run(&["-sC", "-", "-o", "p", "h/part"]).status, 0);
    assert_eq!(f.text("p"), "0123bytes=4-");
    assert_eq!(f.run(&["-sC", "3", "h/echo"]).status, 33);
    assert_eq!(f.run(&["-sC", "-", "-o", "new", "h/part"]).status, 0);
    assert_eq!(f.text("new"), "0123");
}

#[test]
fn retries() {
    let ran = curl(&["--retry", "5", "h/busy", "-w", "%{num_retries}"]);
    assert_eq!((ran.status, ran.host.slept.as_slice()), (0, &[7, 7][..]));
    assert!(ran.out.ends_with("\n2"));
    assert!(ran.err.contains("Will retry in 7 seconds. 5 retries left."));
    let ran = curl(&["-s", "--retry", "2", "h/503"]);
    assert_eq!(
        (ran.out.as_str(), ran.status, ran.host.slept.as_slice()),
        ("err\nerr\nerr\n", 0, &[1, 2][..])
    );
    let ran = curl(&["-sSf", "--retry", "1", "--retry-delay", "3", "h/503"]);
    let err = "curl: (22) The requested URL returned error: 503\n";
    assert_eq!((ran.err, ran.status, ran.host.slept), (err.repeat(2), 22, vec![3]));
    for (line, tries) in [
        (["--retry", "3", "-s", "h/404"], 1),
        (["--retry", "3", "-s", "h/slow"], 4),
        (["--retry", "3", "-s", "h/refused"], 1),
        (["--retry", "3", "--retry-connrefused", "h/refused"], 4),
        (["--retry", "1", "--retry-all-errors", "h/refused"], 2),
        (["--retry=3", "--retry", "3", "h/echo"], 0),
    ] {
        assert_eq!(curl(&line).host.requests.len(), tries, "{line:?}");
    }
    let f = Folder::new("retries");
    f.run(&["-s", "--retry", "2", "-o", "out", "h/503"]);
    assert_eq!(f.text("out"), "err\n");
}

#[test]
fn encodings() {
    assert_eq!(curl(&["--compressed", "h/gz"]).out, "plain\n");
    assert_ne!(curl(&["h/gz"]).out, "plain\n");
    assert_eq!(curl(&["-s", "--compressed", "h/gz/bad"]).status, 61);
    assert_eq!(curl(&["-s", "--compressed", "h/br"]).status, 61);
}

#[test]
fn written_out() {
    let out = |format: &str, more: &[&str]| {
        curl(&[&["-s", "-o", "/dev/null", "-w", format], more].concat()).out
    };
    let format = "%{http_code} %{size_download} %{size_upload} %{content_type} %{url_effective} %{num_redirects} %{method} %{exitcode} %{filename_effective} %%{x}\\t\\n%{onerror}err";
    assert_eq!(
        out(format, &["-d", "abc", "h/bytes"]),
        "200 5 3 x/y http://h/bytes 0 POST 0 /dev/null %{x}\t\n"
    );
    assert_eq!(
        out("%{num_redirects} %{url_effective} %{response_code}", &["-L", "h/r301"]),
        "1 http://h/echo 200"
    );
    assert_eq!(out("%{redirect_url}", &["h/r301"]), "http://h/echo");
    assert_eq!(
        out("%{header_json}", &["h/ck"]),
        "{\"location\":[\"/echo\"],\n\"set-cookie\":[\"a=1; Path=/\",\"b=2; Path=/; HttpOnly; Expires=Fri, 01 Jan 2038 00:00:00 GMT\"]\n}"
    );
    assert_eq!(out("%header{content-type}|%{http_code}", &["h/bytes"]), "x/y|200");
    let json = out("%{json}", &["h/404"]);
    assert!(
        json.contains("\"errormsg\":null,\"exitcode\":0,") && json.contains("\"http_code\":404,"),
        "{json}"
    );
    let ran = curl(&[
        "-sS",
        "-f",
        "-w",
        "%{onerror}%{stderr}E%{stdout}O%{exitcode} %{errormsg}\\n",
        "h/404",
    ]);
    assert_eq!(ran.out, "O22 The requested URL returned error: 404\n");
    assert_eq!(ran.err, "curl: (22) The requested URL returned error: 404\nE");
    let failed = curl(&["-s", "-w", "%{http_code}", "h/refused"]);
    assert_eq!((failed.out.as_str(), failed.status), ("000", 7));
}

#[test]
fn config_files() {
    let f = Folder::new("config");
    f.file("c", "# comment\nurl = \"h/echo\"\nsilent\n-H \"X: a\\\"b\"\nuser-agent: ag\ndata=x\n");
    assert_eq!(
        f.run(&["-K", "c"]).out,
        format!("POST /echo\nUser-Agent: ag\nAccept: */*\n{FORM}X: a\"b\n\nx\n")
    );
    let stdin = in_folder(&f.0, Host::default(), "url=h/echo\n", &["-K", "-"]);
    assert_eq!(stdin.out, format!("GET /echo\n{AGENT}\n\n"));
    f.file(".curlrc", "user-agent = mine\n");
    assert!(f.run(&["h/echo"]).out.contains("User-Agent: mine\n"));
    assert!(f.run(&["-q", "h/echo"]).out.contains("User-Agent: curl/"));
    f.file("self", "config = self\n");
    let ran = f.run(&["-K", "self", "h/echo"]);
    assert_eq!((ran.status, f.run(&["-K", "none", "h/echo"]).status), (26, 26));
}

#[test]
fn errors() {
    let nowhere = Host::nowhere();
    let ran = in_folder(
        Path::new("/"),
        nowhere,
        "",
        &["-sS", "--retry", "3", "--retry-all-errors", "https://example.com/"],
    );
    let err = "curl: (7) example.com:443 is not allowed by the sandbox's policy\n";
    assert_eq!((ran.status, ran.err.as_str()), (7, err));
    for (line, status, err) in [
        (&["h/refused"][..], 7, "curl: (7) could not connect to h\n"),
        (&["-s", "h/refused"], 7, ""),
        (&["h/slow"], 28, "curl: (28) the request took too long\n"),
        (&["ftp://h/"], 1, "curl: (1) Protocol \"ftp\" not supported\n"),
        (&["file:///etc/passwd"], 1, "curl: (1) Protocol \"file\" not supported\n"),
        (&["http://"], 3, "curl: (3) URL using bad/illegal format or missing URL\n"),
        (&["h/[a]"], 3, "curl: (3) bad range in URL position 4:\nh/[a]\n   ^\n"),
        (&["--max-filesize", "2", "h/echo"], 63, "curl: (63) Maximum file size exceeded\n"),
    ] {
        let ran = curl(line);
        assert_eq!((ran.status, ran.err.as_str()), (status, err), "{line:?}");
    }
    assert_eq!(curl(&["-s", "h/refused", "h/echo"]).status, 0);
    assert_eq!(curl(&["-s", "--fail-early", "h/refused", "h/echo"]).host.requests.len(), 1);
}

#[test]
fn command_lines_that_do_not_fit() {
    let more = "curl: try 'curl --help' for more information\n";
    for (line, status, err) in [
        (&[][..], 2, ""),
        (&["-s"], 2, "curl: no URL specified!\n"),
        (&["--bogus"], 2, "curl: option --bogus: is unknown\n"),
        (&["-s", "h/", "-o"], 2, "curl: option -o: requires parameter\n"),
        (
            &["--max-time", "abc", "h/"],
            2,
            "curl: option --max-time: expected a proper numerical parameter\n",
        ),
        (&["-K", "nofile", "h/"], 26, "curl: option -K: error encountered when reading a file\n"),
        (&["-T", "nofile", "h/"], 26, "curl: Can't open 'nofile'!\n"),
        (&["-I", "-d", "x", "h/"], 2, "curl: You can only select one HTTP request method!\n"),
        (
            &["-C", "3", "-T", "x", "h/"],
            2,
            "curl: option --continue-at: uploads cannot be resumed here\n",
        ),
        (
            &["--no-output", "h/"],
            2,
            "curl: option --no-output: the given option cannot be reversed with a --no- prefix\n",
        ),
        (
            &["-sk", "https://h/"],
            2,
            "curl: option -k: certificates are always checked: the sandbox's host speaks TLS\n",
        ),
        (
            &["-x", "p:1", "h/"],
            2,
            "curl: option -x: there are no proxies here: the sandbox's host makes the connections\n",
        ),
    ] {
        let ran = curl(line);
        assert_eq!((ran.status, ran.err), (status, format!("{err}{more}")), "{line:?}");
        assert!(ran.host.requests.is_empty());
    }
    echoes(
        &["-f", "--no-fail", "-S", "--no-include", "-x", "", "-Z", "-4", "-N", "h/echo"],
        &format!("GET /echo\n{AGENT}\n\n"),
    );
    assert!(curl(&["--help"]).out.contains(" -d, --data <data>, --data-ascii <data>\n"));
    assert!(curl(&["-V"]).out.starts_with("curl 8.11.1 "));
}

/// The transfer ends quietly when its reader is gone.
#[test]
fn a_reader_that_has_gone() {
    let (reader, writer) = Os::default().pipe().unwrap();
    drop(reader);
    let sink = OutputSink::File(Rc::new(writer));
    let line = ["-w", "%{http_code}", "h/echo", "h/echo"];
    let ran = to_sink(Path::new("/"), Host::default(), "", sink, &line);
    assert_eq!((ran.status, ran.err.as_str(), ran.host.requests.len()), (23, "", 1));
    let closed =
        to_sink(Path::new("/"), Host::default(), "", OutputSink::Closed, &["-s", "h/echo"]);
    assert_eq!(closed.status, 23);
}

/// Time limits are sent to the host with each request.
#[test]
fn times() {
    let request =
        &curl(&["--max-time", "2000", "--connect-timeout", "1.5", "h/echo"]).host.requests[0];
    assert!((1..=2_000_000).contains(&request.time));
    assert_eq!((request.connect_time, request.redirects), (1500, 0));
}

/// Every option is named once, and an option that takes a value names it.
#[test]
fn options_are_declared_once() {
    use crate::options::OPTIONS;
    for (i, opt) in OPTIONS.iter().enumerate() {
        for other in &OPTIONS[i + 1..] {
            assert_ne!(opt.long, other.long);
            assert!(opt.short.is_none() || opt.short != other.short, "{:?}", opt.short);
        }
    }
}
