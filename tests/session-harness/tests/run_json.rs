//! Tests `runner run-json` with the built image and runner.

use serde_json::{Value, json};
use std::io::Write;
use std::process::{Command, Stdio};
use wasibox_sessions::*;

fn run(request: &str) -> (i32, Value) {
    let mut c = Command::new(dist().join("runner"));
    c.args(["run-json", "--image"]).arg(dist().join("image.webc"));
    let mut child = c.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(request.as_bytes()).unwrap();
    let out = child.wait_with_output().unwrap();
    (out.status.code().unwrap(), serde_json::from_slice(&out.stdout).unwrap())
}

/// Returns a zip that Python has written, in base64.
fn zip(files: &[(&str, &str)]) -> String {
    let script = "import sys,io,base64,zipfile\nb=io.BytesIO()\nz=zipfile.ZipFile(b,'w')\n\
        for f in sys.argv[1:]: n,_,t=f.partition('='); z.writestr(n,t)\nz.close()\n\
        print(base64.b64encode(b.getvalue()).decode(),end='')";
    let files = files.iter().map(|(name, text)| format!("{name}={text}"));
    let out = Command::new("python3").args(["-c", script]).args(files).output().unwrap();
    String::from_utf8(out.stdout).unwrap()
}

/// Returns the files that Python finds in a zip, except for the host's folder.
fn unzipped(zip: &Value) -> String {
    let script = "import sys,io,base64,zipfile\n\
        z=zipfile.ZipFile(io.BytesIO(base64.b64decode(sys.stdin.read())))\n\
        print(*(f'{n}={z.read(n).decode()}' for n in sorted(z.namelist()) if n[-1] != '/' and n[0] != '.'),sep=';',end='')";
    let mut c = Command::new("python3");
    let mut child =
        c.args(["-c", script]).stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(zip.as_str().unwrap().as_bytes()).unwrap();
    String::from_utf8(child.wait_with_output().unwrap().stdout).unwrap()
}

#[test]
fn a_request_has_an_answer() {
    let files = [
        ("go.sh", "echo $A \"$@\"; pwd; cat d/in; echo out > out; rm d/in; echo e >&2; exit 3"),
        ("d/in", "i"),
        ("m.py", "import sys, os\nprint(sys.argv[1:], open('out').read(), os.listdir('d'))"),
    ];
    let request = json!({
        "zipBase64": zip(&files), "entryPath": "go.sh", "argv": ["x y", "z"], "env": {"A": "a"},
        "timeoutMs": 100_000,
    });
    let (status, said) = run(&request.to_string());
    assert_eq!((status, &said["ok"], &said["exitCode"]), (0, &json!(false), &json!(3)));
    assert_eq!((&said["stdout"], &said["stderr"]), (&json!("a x y z\n/work\ni"), &json!("e\n")));
    assert!(unzipped(&said["zipBase64"]).ends_with(";out=out\n"));
    let request = json!({"zipBase64": said["zipBase64"], "entryPath": "./m.py", "argv": ["-v"]});
    let (status, said) = run(&request.to_string());
    assert_eq!((status, &said["ok"]), (0, &json!(true)), "{said}");
    assert_eq!(said["stdout"], "['-v'] out\n []\n");
    assert_eq!(said.as_object().unwrap().len(), 5);
    // This program does not end.
    let request = json!({"zipBase64": zip(&[("a.sh", "echo b; while :; do :; done")]), "entryPath": "a.sh", "timeoutMs": 500});
    let (status, said) = run(&request.to_string());
    assert_eq!((status, &said["exitCode"], &said["stdout"]), (0, &json!(124), &json!("b\n")));
}

#[test]
fn javascript_and_typescript() {
    let files = [
        ("a.mjs", "import { b } from './b.ts'; console.log(b, process.argv.slice(2))"),
        ("b.ts", "export enum E { A = 4 }\nexport const b: number = E.A"),
        ("c.tsx", "/** @jsx h */\nconst h = (n: string) => n; console.log(<p/>); process.exit(6)"),
    ];
    let zip = zip(&files);
    let (_, said) =
        run(&json!({"zipBase64": zip, "entryPath": "a.mjs", "argv": ["x"]}).to_string());
    assert_eq!((&said["stdout"], &said["ok"]), (&json!("4 [ 'x' ]\n"), &json!(true)), "{said}");
    let (_, said) = run(&json!({"zipBase64": zip, "entryPath": "c.tsx"}).to_string());
    assert_eq!((&said["stdout"], &said["exitCode"]), (&json!("p\n"), &json!(6)), "{said}");
}

#[test]
fn wrong_requests_are_answered_with_status_2() {
    let good = zip(&[("a.sh", "true"), ("a.rb", "")]);
    for (request, words) in [
        ("{".to_owned(), "cannot be read"),
        (json!({"entryPath": "a.sh", "more": 1}).to_string(), "unknown field `more`"),
        (json!({"entryPath": "a.sh", "zipBase64": "%"}).to_string(), "zipBase64"),
        (json!({"entryPath": "a.sh", "zipBase64": "UEsDBA=="}).to_string(), "not a zip"),
        (json!({"entryPath": "b.sh", "zipBase64": good}).to_string(), "'b.sh' is not there"),
        (json!({"entryPath": "a.sh"}).to_string(), "'a.sh' is not there"),
        (json!({"entryPath": "a.rb", "zipBase64": good}).to_string(), "none of the extensions .sh"),
        (json!({"entryPath": "../a.sh", "zipBase64": good}).to_string(), "within the folder"),
    ] {
        let (status, said) = run(&request);
        let error = said["error"].as_str().unwrap();
        assert!(status == 2 && said["ok"] == false && error.contains(words), "{request}: {said}");
    }
}
