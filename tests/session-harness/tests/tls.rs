//! Tests HTTPS from programs in the sandbox, end to end. An authority of the test signs a server's
//! certificate, and the runner finds the authority as OpenSSL's programs do, through
//! `SSL_CERT_FILE`.

use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use rustls::pki_types::PrivateKeyDer;
use rustls::{ServerConfig, ServerConnection, StreamOwned};
use std::io::{BufRead, BufReader, Write};
use std::net::{TcpListener, TcpStream};
use std::path::Path;
use std::process::Command;
use std::sync::Arc;
use wasibox_sessions::dist;

/// Starts a server for `localhost` that gives the same answer to every request. Writes the
/// authority to `pem`. Returns the server's URL.
fn serve(pem: &Path) -> String {
    let mut params = CertificateParams::new(Vec::new()).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    std::fs::write(pem, params.self_signed(&key).unwrap().pem()).unwrap();
    let authority = Issuer::new(params, key);
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_string()]).unwrap();
    let cert = params.signed_by(&key, &authority).unwrap();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let config = ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![cert.der().clone()],
            PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    let config = Arc::new(config);
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let url = format!("https://localhost:{}/", listener.local_addr().unwrap().port());
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            // A client that does not accept the certificate closes the connection.
            let _ = answer(config.clone(), stream);
        }
    });
    url
}

fn answer(config: Arc<ServerConfig>, stream: TcpStream) -> std::io::Result<()> {
    let tls = ServerConnection::new(config).map_err(std::io::Error::other)?;
    let mut stream = BufReader::new(StreamOwned::new(tls, stream));
    let mut line = String::new();
    while stream.read_line(&mut line)? > 0 && !line.trim_end().is_empty() {
        line.clear();
    }
    let stream = stream.get_mut();
    stream
        .write_all(b"HTTP/1.1 200 OK\r\nConnection: close\r\nContent-Length: 7\r\n\r\nsecure\n")?;
    stream.conn.send_close_notify();
    stream.flush()
}

/// Runs a command of the sandbox. Returns its status and output.
fn exec(url: &str, authority: Option<&Path>, command: &[&str]) -> (Option<i32>, String) {
    let mut c = Command::new(dist().join("runner"));
    c.args(["exec", "--allow", &format!("GET {url}")]).arg(dist().join("image.webc"));
    c.arg("--").args(command).env_remove("SSL_CERT_DIR").env_remove("SSL_CERT_FILE");
    if let Some(pem) = authority {
        c.env("SSL_CERT_FILE", pem);
    }
    let out = c.output().unwrap();
    let text = [out.stdout, out.stderr].concat();
    (out.status.code(), String::from_utf8_lossy(&text).into_owned())
}

#[test]
fn programs_speak_https() {
    let dir = tempfile::tempdir().unwrap();
    let pem = dir.path().join("authority.pem");
    let url = &serve(&pem);
    let urllib =
        format!("import urllib.request as u; print(u.urlopen('{url}').read().decode(), end='')");
    let requests = format!("import requests; print(requests.get('{url}').text, end='')");
    let commands: [&[&str]; 4] = [
        &["curl", "-sS", url],
        &["wget", "-qO-", url],
        &["python3", "-c", &urllib],
        &["python3", "-c", &requests],
    ];
    for command in commands {
        assert_eq!(exec(url, Some(&pem), command), (Some(0), "secure\n".into()), "{command:?}");
    }
    // These are the statuses of curl and wget for a certificate of an unknown authority.
    for (command, status) in commands.iter().zip([60, 5]) {
        let (code, said) = exec(url, None, command);
        assert_eq!(code, Some(status), "{said}");
    }
    let said = exec(url, None, commands[2]).1;
    assert!(said.contains("SSLCertVerificationError"), "{said}");
}
