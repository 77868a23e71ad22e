//! Runs `openssl`, `yq` and `uv` in the image. `tests/scripts` has a key, a certificate, its text
//! and a message, which OpenSSL 3.0.19 made (`req -x509 -new -key key.pem`, `x509 -noout -text`,
//! `enc -aes-256-cbc -pbkdf2 -k pw -a`). The other values of `openssl` are what it printed; those
//! of `uv` what uv 0.13.9 printed; those of `yq` are examples of the manual of mikefarah's yq 4.

use std::fs;
use std::process::Command;

use wasibox_tests::{image, root, runner};

/// Runs a script in the image, with `tests/scripts` as the folder `/w`. Returns standard output and
/// standard error together, and the status.
fn sh(script: &str) -> (String, i32) {
    let mount = format!("{}:/w:ro", root().join("tests/scripts").display());
    let mut cmd = Command::new(runner());
    cmd.args(["exec", "--timeout", "300", "--cwd", "/w", "--mount", &mount]);
    let script = format!("exec 2>&1; {script}");
    let out = cmd.arg(image()).args(["--", "bash", "-c", &script]).output().expect("runner");
    (String::from_utf8_lossy(&out.stdout).into_owned(), out.status.code().unwrap_or(-1))
}

fn check(script: &str, expected: &str, status: i32) {
    assert_eq!(sh(script), (expected.to_string(), status), "{script}");
}

#[test]
fn openssl_prints_a_certificate_as_openssl_does() {
    let text = fs::read_to_string(root().join("tests/scripts/cert.txt")).expect("cert.txt");
    check("openssl x509 -in cert.pem -noout -text", &text, 0);
    check(
        "openssl x509 -in cert.pem -noout -subject -hash -fingerprint -enddate -ext keyUsage",
        "subject=C = DE, O = \"Example, Ltd\", CN = localhost\n9fa19f64\n\
         SHA1 Fingerprint=54:D2:3D:AD:07:3B:0D:46:28:B9:68:89:2E:F3:83:51:7B:12:1D:E8\n\
         notAfter=Nov  5 13:18:17 2126 GMT\nX509v3 Key Usage: critical\n    Digital Signature\n",
        0,
    );
    check("openssl verify -CAfile cert.pem cert.pem", "cert.pem: OK\n", 0);
    check(
        "openssl verify cert.pem",
        "C = DE, O = \"Example, Ltd\", CN = localhost\n\
         error 18 at 0 depth lookup: self-signed certificate\n\
         error cert.pem: verification failed\n",
        2,
    );
}

#[test]
fn openssl_computes_what_openssl_does() {
    check("openssl enc -d -aes-256-cbc -pbkdf2 -k pw -a -in message.enc", "hi\n", 0);
    check(
        "printf 'hi\\n' | openssl dgst -sha256 -hmac k; openssl passwd -6 -salt abc pw; \
         openssl passwd -apr1 -salt abc pw",
        "HMAC-SHA2-256(stdin)= f250cf242747a468c97a098dc4dae309824c6261596685e28a4ceb84e9d84aac\n\
         $6$abc$MtSdWSZbhct2oe.SOqOUM2M/GA/uj5.vyVtJgRHgKi9uqXuWuJqOYE7H/YlsYGVg/YYzDV0xt3fEIwYt580.5.\n\
         $apr1$abc$NKxAkoTtUloZMd1uGIvNG0\n",
        0,
    );
    check(
        "cd /tmp; openssl req -x509 -newkey rsa:1024 -nodes -keyout k -out c -subj /CN=a -days 1; \
         openssl req -new -key k -subj /CN=b -out r; \
         openssl x509 -req -in r -CA c -CAkey k -CAcreateserial -days 1 -out d; \
         openssl verify -CAfile c d; openssl x509 -in d -noout -issuer; stat -c %a k",
        "Certificate request self-signature ok\nsubject=CN = b\nd: OK\nissuer=CN = a\n600\n",
        0,
    );
    let (text, status) = sh("openssl s_client -connect localhost:443");
    assert!(text.contains("no TLS connections here") && status == 1, "{text}");
}

#[test]
fn yq_keeps_comments_and_converts() {
    check(
        "printf 'a: # top\\n  b:\\n    - c: fruit\\n' > /tmp/f.yaml; cd /tmp; \
         yq -i '.a.b[0].c = \"cool\"' f.yaml; cat f.yaml; yq -o json -I 0 . f.yaml",
        "a: # top\n  b:\n    - c: cool\n{\"a\":{\"b\":[{\"c\":\"cool\"}]}}\n",
        0,
    );
    check(
        "printf 'a: {things: great}\\nb: {also: me}\\n' | yq '. * {\"c\": {\"x\": 1}} | keys'",
        "- a\n- b\n- c\n",
        0,
    );
    check(
        "echo '{\"a\":1}' | yq -P .; yq --version | head -1; yq -e .x -n",
        "a: 1\nyq (https://github.com/mikefarah/yq/) version v4.53.6\nnull\nError: no matches found\n",
        1,
    );
}

#[test]
fn uv_speaks_as_uv_does() {
    check(
        "cd /tmp; uv venv 2>&1 | grep -v '^Using'; uv venv 2>&1 | tail -3; uv frob 2>&1 | head -1; \
         uv run python -c 'import sys; print(sys.prefix)'; uv pip uninstall nosuch; \
         uv pip install -r nosuch.txt; uv run nosuchcmd",
        "Creating virtual environment at: .venv\nActivate with: source .venv/bin/activate\n\
         \x20 cause: A virtual environment already exists at: .venv\n\n\
         hint: Use the `--clear` flag or set `UV_VENV_CLEAR=1` to replace the existing virtual \
         environment\nerror: unrecognized subcommand 'frob'\n/tmp/.venv\n\
         warning: Skipping nosuch as it is not installed\nwarning: No packages to uninstall\n\
         error: File not found: nosuch.txt\nerror: Failed to spawn: nosuchcmd\n\
         \x20 cause: No such file or directory (os error 2)\n",
        2,
    );
}
