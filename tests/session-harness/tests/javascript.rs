//! Tests HTTP clients in JavaScript over the bridge, and cells in a history. Clients must behave as
//! in Node with such servers on any machine.

use std::net::SocketAddr;
use wasibox::{Engine, Exec, Isolation, Limits, NetworkPolicy, Policy, Session};
use wasibox_sessions::server::{Body, Reply, Request, serve};
use wasibox_sessions::*;

/// `gzip.compress(b"plain\n", mtime=0)`
const GZIP: [u8; 26] = [
    31, 139, 8, 0, 0, 0, 0, 0, 2, 3, 43, 200, 73, 204, 204, 227, 2, 0, 208, 249, 21, 57, 6, 0, 0, 0,
];

fn answer(request: &Request) -> Reply {
    let found = |to: &str| Reply::ok("").status(302).with("Location", to);
    match request.path.as_str() {
        "/none" => Reply::ok("none").status(404),
        "/gzip" => Reply::ok(GZIP).with("Content-Encoding", "gzip"),
        "/found" => found("/echo"),
        "/keep" => found("/echo").status(307),
        "/chunks" => {
            let parts = ["one", "two", "three"].map(|p| p.as_bytes().to_vec()).into();
            Reply { body: Body::Chunks(parts), ..Reply::ok("") }
        }
        "/short" => Reply { body: Body::Short(b"abc".to_vec(), 10), ..Reply::ok("") },
        "/large" => Reply { body: Body::Zeros(100 << 20), ..Reply::ok("") },
        "/never" => Reply { body: Body::Nothing, ..Reply::ok("") },
        "/size" => Reply::ok(request.body.len().to_string()),
        _ => Reply::ok(request.echo()).with("X-Own", "yes"),
    }
}

fn allowing(at: &[SocketAddr]) -> Policy {
    let allow = at.iter().map(|at| format!("* http://{at}/")).collect();
    Policy { network: NetworkPolicy { allow, ..NetworkPolicy::default() }, ..policy() }
}

/// JavaScript that returns the messages of the exception that a function throws.
const RAISES: &str = "const raises = async (f) => { try { return await f() } catch (e) { return `${e.message} ${e.cause?.message ?? ''}` } }";

/// Returns a session whose cells have the server's address in `U`.
fn session(engine: &Engine, at: SocketAddr) -> Session {
    let s = engine.session(allowing(&[at])).unwrap();
    js(&s, &format!("const U = 'http://{at}'; const http = require('http'); {RAISES}"));
    s
}

fn both() -> [Engine; 2] {
    [Isolation::Process, Isolation::Threads].map(engine)
}

#[test]
fn fetch_works_as_anywhere() {
    let at = serve(answer);
    for engine in both() {
        let s = session(&engine, at);
        let said = js(
            &s,
            "const r = await fetch(U + '/echo?a=b'); console.log(r.status, r.headers.get('x-own'), await r.text())",
        );
        assert!(said.starts_with("200 yes GET /echo?a=b HTTP/1.1\r\n"), "{said}");
        let said = js(
            &s,
            "console.log(await (await fetch(U + '/x', { method: 'PUT', body: 'body', headers: { 'X-A': 'b' } })).text())",
        );
        let lower = said.to_lowercase();
        assert!(said.starts_with("PUT /x ") && said.ends_with("--\nbody\n"), "{said}");
        assert!(lower.contains("x-a: b\r\n") && lower.contains("content-length: 4\r\n"), "{said}");
        assert_eq!(
            js(&s, "const f = await fetch(U + '/found'); [f.redirected, f.url === U + '/echo']"),
            "[ true, true ]"
        );
        let said = js(
            &s,
            "(await (await fetch(U + '/keep', { method: 'POST', body: 'x' })).text()).slice(-4)",
        );
        assert_eq!(said, r"'--\nx'");
        assert_eq!(
            js(&s, "const n = await fetch(U + '/none'); [n.ok, n.status, await n.text()]"),
            "[ false, 404, 'none' ]"
        );
        assert_eq!(js(&s, "await (await fetch(U + '/gzip')).text()"), r"'plain\n'");
        assert_eq!(
            js(
                &s,
                "const parts = []; for await (const p of (await fetch(U + '/chunks')).body) parts.push(Buffer.from(p)); Buffer.concat(parts).toString()"
            ),
            "'onetwothree'"
        );
        assert_eq!(
            js(&s, "await raises(async () => (await fetch(U + '/short')).text())")
                .split(' ')
                .next(),
            Some("'terminated")
        );
        assert_eq!(
            js(&s, "await raises(() => fetch(U + '/never', { signal: AbortSignal.timeout(300) }))"),
            "'The operation was aborted due to timeout '"
        );
        // The body takes more than one step; the next one also has no length.
        assert_eq!(
            js(
                &s,
                "await (await fetch(U + '/size', { method: 'POST', body: new Uint8Array(3_000_000) })).text()"
            ),
            "'3000000'"
        );
        let stream = "await (await fetch(U + '/size', { method: 'POST', duplex: 'half', body: new ReadableStream({ start(c) { for (let i = 0; i < 50; i++) c.enqueue(new Uint8Array(100_000)); c.close() } }) })).text()";
        assert_eq!(js(&s, stream), "'5000000'");
        // Several requests run at the same time.
        assert_eq!(
            js(
                &s,
                "(await Promise.all(Array.from({ length: 20 }, async (_, i) => (await (await fetch(`${U}/n${i}`)).text()).startsWith(`GET /n${i} `)))).every(Boolean)"
            ),
            "true"
        );
    }
}

#[test]
fn http_works_as_anywhere() {
    let at = serve(answer);
    let s = session(&engine(Isolation::Process), at);
    js(
        &s,
        "const ask = (path, options = {}, body) => new Promise((resolve, reject) => http.request(U + path, options, (res) => { let t = ''; res.on('data', (d) => { t += d }); res.on('error', reject); res.on('end', () => resolve([res.statusCode, t.length < 20 ? t : t.length])) }).on('error', reject).end(body))",
    );
    assert_eq!(js(&s, "await ask('/none')"), "[ 404, 'none' ]");
    assert_eq!(
        js(&s, "await ask('/size', { method: 'POST' }, 'x'.repeat(1000))"),
        "[ 200, '1000' ]"
    );
    assert_eq!(js(&s, "await ask('/echo', { method: 'HEAD' })"), "[ 200, '' ]");
    assert_eq!(
        js(
            &s,
            "await ask('/size', { method: 'POST', headers: { 'Transfer-Encoding': 'chunked' } }, 'xyz')"
        ),
        "[ 200, '3' ]"
    );
    // This request is written without a client, byte by byte.
    let code = format!(
        "const net = require('net'); const c = net.connect({}, '{}'); for (const b of Buffer.from('POST /echo HTTP/1.1\\r\\nHost: {at}\\r\\nContent-Length: 3\\r\\n\\r\\nabc')) c.write(Buffer.of(b)); let t = ''; for await (const d of c) t += d; [t.slice(0, 15), t.slice(-6)]",
        at.port(),
        at.ip()
    );
    assert_eq!(js(&s, &code), r"[ 'HTTP/1.1 200 OK', '--\nabc' ]");
}

#[test]
fn what_is_refused_says_why() {
    let at = serve(answer);
    for engine in both() {
        let s = session(&engine, at);
        let refused = |code: &str, why: &str| {
            let said = js(&s, &format!("await raises(() => {code})"));
            assert!(said.contains(why), "{code}: {said}");
        };
        refused("fetch('https://example.com/x')", "example.com:443 is not allowed by the sandbox");
        refused("fetch('https://example.com/x')", "GET https://example.com/x");
        refused(
            "fetch('http://169.254.169.254/latest')",
            "169.254.169.254:80 is not allowed by the sandbox",
        );
        let ask = "new Promise((_, no) => http.get(U, { headers: { Host: 'other.example' } }).on('error', no))";
        refused(ask, "the header Host is made by the sandbox");
        let ask = "new Promise((_, no) => http.get(U, { headers: { Connection: 'Upgrade', Upgrade: 'x' } }).on('error', no))";
        refused(ask, "the connection cannot be upgraded");
        let ask = format!(
            "new Promise((_, no) => require('net').connect({}, '{}').on('error', no).write('EHLO x\\r\\n\\r\\n'))",
            at.port(),
            at.ip()
        );
        refused(&ask, "only HTTP leaves the sandbox");
        let tls = "new Promise((_, no) => { const s = require('net').createServer().listen(0, () => require('tls').connect(s.address().port).on('error', (e) => { s.close(); no(e) })) })";
        refused(tls, "servers of the session have none");
    }
    // No rule allows anything.
    let s = engine(Isolation::Threads).session(policy()).unwrap();
    let said = js(&s, "try { await fetch('http://example.com/') } catch (e) { e.cause.message }");
    assert_eq!(said, "");
    let said = js(&s, "await fetch('http://example.com/').catch((e) => e.cause.message)");
    assert!(said.contains("example.com:80 is not allowed by the sandbox"), "{said}");
}

#[test]
fn secrets_are_added_and_not_seen() {
    let at = serve(answer);
    let mut policy = allowing(&[at]);
    policy.network.secrets = vec![format!("http://{at}/: Authorization=Bearer hunter2hunter2")];
    let s = engine(Isolation::Process).session(policy).unwrap();
    let said = js(
        &s,
        &format!(
            "await (await fetch('http://{at}/x', {{ headers: {{ Authorization: 'mine' }} }})).text()"
        ),
    );
    assert!(said.to_lowercase().contains("authorization: ****"), "{said}");
    assert!(!said.contains("hunter2") && !said.contains("mine"), "{said}");
}

#[test]
fn bodies_stream_within_bounds() {
    let at = serve(answer);
    let limits = Limits { memory: 96 << 20, ..policy().limits };
    let s = engine(Isolation::Process).session(Policy { limits, ..allowing(&[at]) }).unwrap();
    let script = format!(
        "node -e \"fetch('http://{at}/large').then(async (r) => {{ let n = 0; for await (const p of r.body) n += p.length; console.log(n) }})\""
    );
    assert_eq!(sh(&s, &script), "104857600\n");
}

#[test]
fn undo_fork_and_reset_reach_the_interpreter() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        assert_eq!(js(&s, "let x = [1]; const f = () => x"), "");
        s.park();
        js(&s, "x.push(2)");
        let fork = s.fork("f").unwrap();
        js(&fork, "x.push(3)");
        s.undo().unwrap();
        assert_eq!((js(&s, "f()").as_str(), js(&fork, "f()").as_str()), ("[ 1 ]", "[ 1, 2, 3 ]"));
        // Python has another interpreter; both are reset.
        assert_eq!(py(&s, "x = 7; x"), "7");
        s.reset().unwrap();
        assert_eq!(js(&s, "typeof x"), "'undefined'");
        assert!(py(&s, "x").contains("NameError"));
    }
}

#[test]
fn an_interpreter_that_is_lost_is_put_back() {
    for engine in both() {
        let s = engine.session(policy()).unwrap();
        js(&s, "let x = 1");
        let mut endless = Exec::javascript("x = 2; for (;;) ;");
        endless.timeout = Some(std::time::Duration::from_millis(300));
        assert_eq!(s.exec(endless).unwrap().exit_code, 124);
        assert_eq!(js(&s, "x"), "1");
        let o = s.javascript("({ a: [x, null, 'é'] })").unwrap();
        assert_eq!(o.value_json.as_deref(), Some("{\"a\":[1,null,\"é\"]}"));
    }
}
