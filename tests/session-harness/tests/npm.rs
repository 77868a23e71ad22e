//! Tests `npm` with a registry of the test. It must do the same as npm 11 with the same packages:
//! places of files, the lock file, refusals.

use std::collections::BTreeMap;
use std::net::SocketAddr;
use std::process::Command;
use std::sync::{Arc, Mutex};

use serde_json::{Value, json};
use wasibox::{Isolation, NetworkPolicy, Policy, Session};
use wasibox_sessions::server::{Reply, serve};
use wasibox_sessions::*;

/// Creates packages: for each `name@version` the tarball in base64, its digest, and the manifest.
const PACK: &str = r#"
import base64, gzip, hashlib, io, json, sys, tarfile
out = {}
for name, version, extra, files in json.loads(sys.argv[1]):
    manifest = {"name": name, "version": version, **extra}
    data = io.BytesIO()
    tar = tarfile.open(fileobj=data, mode="w")
    for path, text in {"package.json": json.dumps(manifest), **files}.items():
        info = tarfile.TarInfo("package/" + path)
        info.size = len(text.encode())
        tar.addfile(info, io.BytesIO(text.encode()))
    tar.close()
    packed = gzip.compress(data.getvalue(), mtime=0)
    digest = "sha512-" + base64.b64encode(hashlib.sha512(packed).digest()).decode()
    out[name + "@" + version] = [base64.b64encode(packed).decode(), digest, manifest]
print(json.dumps(out))
"#;

/// Decodes base64.
fn unpacked(text: &str) -> Vec<u8> {
    let digit = |c: u8| match c {
        b'A'..=b'Z' => c - b'A',
        b'a'..=b'z' => c - b'a' + 26,
        b'0'..=b'9' => c - b'0' + 52,
        b'+' => 62,
        _ => 63,
    };
    let digits: Vec<u8> = text.bytes().filter(|c| *c != b'=').map(digit).collect();
    let bits = digits.chunks(4).flat_map(|four| {
        let word = four.iter().fold(0u32, |w, d| w << 6 | u32::from(*d)) << (6 * (4 - four.len()));
        word.to_be_bytes()[1..four.len()].to_vec()
    });
    bits.collect()
}

/// Starts a registry. Returns its address and the list of requested paths.
fn registry() -> (SocketAddr, Arc<Mutex<Vec<String>>>) {
    let packages = json!([
        ["left", "1.0.0", {}, {"index.js": "module.exports = 'left 1.0.0'"}],
        ["left", "1.2.0", {"bin": "cli.js"}, {"index.js": "module.exports = 'left 1.2.0'",
            "cli.js": "#!/usr/bin/env node\nconsole.log('cli', process.argv.slice(2).join())"}],
        ["left", "2.0.0", {}, {"index.js": "module.exports = 'left 2.0.0'"}],
        ["right", "1.0.0", {"dependencies": {"left": "^1.0.0"}}, {"index.js": "module.exports = 'right with ' + require('left')"}],
        ["@s/both", "3.1.0", {"dependencies": {"left": "2.x", "right": "*"}, "scripts": {"postinstall": "touch /tmp/ran"}},
            {"index.js": "module.exports = [require('left'), require('right')]"}],
        ["native", "1.0.0", {"os": ["plan9"]}, {}],
        ["esbuild", "0.1.0", {}, {"index.js": "module.exports = 'native code'"}],
        ["esbuild", "0.2.0", {}, {"index.js": "module.exports = 'native code'"}],
        ["esbuild-wasm", "0.1.0", {}, {"index.js": "module.exports = 'WebAssembly'"}],
        ["some", "1.0.0", {"optionalDependencies": {"native": "1", "gone": "1"}, "peerDependencies": {"left": "^2"}}, {}],
    ]);
    let done = Command::new("python3").args(["-c", PACK, &packages.to_string()]).output().unwrap();
    let made: BTreeMap<String, Value> = serde_json::from_slice(&done.stdout).unwrap();
    let asked = Arc::new(Mutex::new(Vec::new()));
    let log = asked.clone();
    let at = serve(move |request| {
        log.lock().unwrap().push(request.path.clone());
        let host = request.header("host").unwrap_or_default().to_string();
        let path = request.path.trim_start_matches('/').replace("%2f", "/");
        if let Some(key) = path.strip_suffix(".tgz") {
            let key = key.trim_start_matches("files/");
            return match made.get(key) {
                Some(found) => Reply::ok(unpacked(found[0].as_str().unwrap())),
                None => Reply::ok("").status(404),
            };
        }
        let mut versions = serde_json::Map::new();
        for (key, found) in &made {
            let (name, version) = key.rsplit_once('@').unwrap();
            if name == path {
                let mut manifest = found[2].clone();
                let url = format!("http://{host}/files/{key}.tgz");
                manifest["dist"] = json!({"tarball": url, "integrity": found[1]});
                versions.insert(version.to_string(), manifest);
            }
        }
        let Some(last) = versions.keys().next_back().cloned() else {
            return Reply::ok("{}").status(404);
        };
        let tags = json!({"latest": last, "old": "1.0.0"});
        let all = json!({"name": path, "dist-tags": tags, "versions": versions});
        Reply::ok(all.to_string())
    });
    (at, asked)
}

/// Returns a session with the registry in `.npmrc` and a package in `/tmp/p`.
fn session(at: SocketAddr) -> Session {
    let network = NetworkPolicy { allow: vec![format!("* http://{at}/")], ..Default::default() };
    let policy = Policy { network, ..policy() };
    let s = engine(Isolation::Process).session(policy).unwrap();
    sh(&s, &format!("mkdir /tmp/p; cd /tmp/p; echo 'registry=http://{at}' > .npmrc; npm init -y"));
    s
}

fn lock(s: &Session) -> Value {
    serde_json::from_str(&sh(s, "cd /tmp/p; cat package-lock.json")).unwrap()
}

#[test]
fn packages_lie_where_npm_puts_them() {
    let (at, asked) = registry();
    let s = session(at);
    let said = sh(&s, "cd /tmp/p; npm install left@1 @s/both 2>&1");
    assert!(said.contains("added 4 packages"), "{said}");
    assert!(said.contains("install scripts never run here: @s/both@3.1.0"), "{said}");
    assert_eq!(sh(&s, "ls /tmp/ran 2>/dev/null; true"), "");
    let lock = lock(&s);
    let places: Vec<&String> = lock["packages"].as_object().unwrap().keys().collect();
    let wanted = [
        "",
        "node_modules/@s/both",
        "node_modules/@s/both/node_modules/left",
        "node_modules/left",
        "node_modules/right",
    ];
    assert_eq!(places, wanted);
    assert_eq!(lock["lockfileVersion"], 3);
    assert_eq!(lock["packages"]["node_modules/left"]["version"], "1.2.0");
    assert_eq!(lock["packages"]["node_modules/@s/both/node_modules/left"]["version"], "2.0.0");
    assert_eq!(
        lock["packages"][""]["dependencies"],
        json!({"@s/both": "^3.1.0", "left": "^1.2.0"})
    );
    let shown =
        sh(&s, "cd /tmp/p; node -p 'JSON.stringify([require(\"left\"), ...require(\"@s/both\")])'");
    assert_eq!(shown.trim(), r#"["left 1.2.0","left 2.0.0","right with left 1.2.0"]"#);
    assert_eq!(
        sh(&s, "cd /tmp/p; npx left a b; node_modules/.bin/left c").trim(),
        "cli a,b\ncli c"
    );
    let tree = sh(&s, "cd /tmp/p; npm ls --all");
    let wanted = "p@1.0.0 /tmp/p\n├─┬ @s/both@3.1.0\n│ ├── left@2.0.0\n│ └─┬ right@1.0.0\n│   └── left@1.2.0 deduped\n└── left@1.2.0\n";
    assert!(
        tree.starts_with(wanted)
            || tree.replace(" deduped", "").starts_with(&wanted.replace(" deduped", "")),
        "{tree}"
    );
    // The second time nothing is fetched.
    asked.lock().unwrap().clear();
    assert!(sh(&s, "cd /tmp/p; npm install").contains("up to date"));
    assert!(asked.lock().unwrap().is_empty(), "{asked:?}");
    // From the lock file alone, only tarballs are fetched.
    assert!(sh(&s, "cd /tmp/p; npm ci").contains("added 4 packages"));
    assert!(asked.lock().unwrap().iter().all(|path| path.ends_with(".tgz")), "{asked:?}");
    assert!(sh(&s, "cd /tmp/p; npm uninstall @s/both; ls node_modules").ends_with("left\n"));
}

#[test]
fn packages_with_a_build_for_webassembly() {
    let (at, _) = registry();
    let s = session(at);
    sh(&s, "cd /tmp/p; npm install esbuild@0.1.0");
    assert_eq!(sh(&s, "cd /tmp/p; node -p 'require(\"esbuild\")'"), "WebAssembly\n");
    let lock = lock(&s);
    assert_eq!(lock["packages"][""]["dependencies"], json!({"esbuild": "^0.1.0"}));
    assert_eq!(lock["packages"]["node_modules/esbuild"]["name"], "esbuild-wasm");
    // The second version has no such build.
    sh(&s, "cd /tmp/p; npm install esbuild@0.2.0");
    assert_eq!(sh(&s, "cd /tmp/p; node -p 'require(\"esbuild\")'"), "native code\n");
}

#[test]
fn what_npm_refuses() {
    let (at, _) = registry();
    let s = session(at);
    let run = |command: &str| sh(&s, &format!("cd /tmp/p; {command} 2>&1; echo \"= $?\""));
    let refused = |command: &str, code: &str| {
        let said = run(command);
        assert!(
            said.contains(&format!("npm error code {code}\n")) && said.ends_with("= 1\n"),
            "{said}"
        );
    };
    refused("npm install absent", "E404");
    refused("npm install left@9", "ETARGET");
    refused("npm install native", "EBADPLATFORM");
    refused("npm install github:a/b", "EUNSUPPORTEDPROTOCOL");
    refused("npm ci", "EUSAGE");
    refused("npm frob", "EUSAGE");
    refused("npx nothing", "ENOTFOUND");
    // One byte of the digest is changed.
    assert!(run("npm install left@old").contains("added 1 package"));
    assert!(run("npm ls").contains("left@1.0.0"), "the tag's own version");
    run("sed -i 's/sha512-..../sha512-AAAA/' package-lock.json; rm -r node_modules");
    refused("npm ci", "EINTEGRITY");
    assert_eq!(run("ls node_modules/left 2>/dev/null | head -n 1"), "= 0\n");
    // The session's rules do not allow this registry.
    refused("npm install left --registry http://127.0.0.1:9/", "ENETWORK");
    // Optional packages may be missing; peers that do not fit are reported.
    run("rm -r package-lock.json node_modules; npm init -y; npm pkg delete dependencies");
    let said = run("npm install left@1 some");
    assert!(
        said.contains("ERESOLVE some@1.0.0 wants the peer left@\"^2\", but left@1.2.0 is there"),
        "{said}"
    );
    assert!(said.contains("added 2 packages") && said.ends_with("= 0\n"), "{said}");
}

#[test]
fn files_folders_and_scripts() {
    let (at, _) = registry();
    let s = session(at);
    let said = sh(&s, "mkdir -p /tmp/q/package /tmp/link; cd /tmp/q; echo '{\"name\":\"packed\",\"version\":\"0.1.0\"}' > package/package.json
        echo 'module.exports = 7' > package/index.js; tar -czf packed.tgz package; cd /tmp/link; echo '{\"name\":\"linked\",\"version\":\"0.2.0\"}' > package.json
        echo 'exports.x = 8' > index.js; cd /tmp/p; npm install ../q/packed.tgz ../link; node -p 'require(\"packed\") + require(\"linked\").x'");
    assert!(said.contains("added 2 packages") && said.ends_with("15\n"), "{said}");
    let lock = lock(&s);
    assert_eq!(
        lock["packages"]["node_modules/linked"],
        json!({"resolved": "../link", "link": true})
    );
    assert_eq!(lock["packages"]["node_modules/packed"]["resolved"], "file:../q/packed.tgz");
    sh(
        &s,
        "cd /tmp/p; npm pkg set scripts.pretest='echo before' scripts.test='echo $npm_lifecycle_event $npm_package_name'",
    );
    let said = sh(&s, "cd /tmp/p; npm test -- 'a b'");
    assert_eq!(
        said,
        "\n> p@1.0.0 pretest\n> echo before\n\nbefore\n\n> p@1.0.0 test\n> echo $npm_lifecycle_event $npm_package_name 'a b'\n\ntest p a b\n"
    );
    assert_eq!(
        sh(&s, "cd /tmp/p; npm pkg set scripts.bad='exit 7'; npm run -s bad; echo $?"),
        "7\n"
    );
}
