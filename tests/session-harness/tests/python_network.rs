//! Tests Python's HTTP clients over the bridge. They must behave as CPython, requests and urllib3
//! do with such servers on any machine.

use std::net::SocketAddr;
use std::sync::Mutex;
use std::sync::mpsc::{Receiver, channel};
use wasibox::{Engine, Isolation, Limits, NetworkPolicy, Policy, Session};
use wasibox_sessions::server::{Body, Reply, Request, serve};
use wasibox_sessions::wheels::download_wheels;
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
        "/cookie" => found("/echo").with("Set-Cookie", "a=b; Path=/"),
        "/post" => found("/echo").status(303),
        "/keep" => found("/echo").status(307),
        "/chunks" => chunks(&["one", "two", "three"]),
        "/short" => Reply { body: Body::Short(b"abc".to_vec(), 10), ..Reply::ok("") },
        "/large" => Reply { body: Body::Zeros(100 << 20), ..Reply::ok("") },
        "/never" => Reply { body: Body::Nothing, ..Reply::ok("") },
        "/size" => Reply::ok(request.body.len().to_string()),
        _ => Reply::ok(request.echo()).with("X-Own", "yes"),
    }
}

fn chunks(parts: &[&str]) -> Reply {
    let parts = parts.iter().map(|p| p.as_bytes().to_vec()).collect();
    Reply { body: Body::Chunks(parts), ..Reply::ok("") }
}

fn allowing(at: &[SocketAddr]) -> Policy {
    let allow = at.iter().map(|at| format!("* http://{at}/")).collect();
    Policy { network: NetworkPolicy { allow, ..NetworkPolicy::default() }, ..policy() }
}

/// Returns a session whose cells have the server's address in `U`.
fn session(engine: &Engine, at: SocketAddr) -> Session {
    let s = engine.session(allowing(&[at])).unwrap();
    py(&s, &format!("U = 'http://{at}'; HOST, PORT = '{}', {}", at.ip(), at.port()));
    s
}

fn both() -> [Engine; 2] {
    [Isolation::Process, Isolation::Threads].map(engine)
}

/// A Python function that returns the exception that another function raises.
const RAISES: &str = "
def raises(f):
    try: return f()
    except Exception as e: return e
";

#[test]
fn urllib_and_http_client() {
    let at = serve(answer);
    for engine in both() {
        let s = session(&engine, at);
        py(&s, "import http.client, urllib.request, urllib.error, socket");
        py(&s, "from urllib.request import urlopen, Request");
        py(&s, RAISES);
        let said = py(
            &s,
            "r = urlopen(U + '/echo?a=b'); print(r.status, r.headers['x-own'], r.read().decode())",
        );
        assert!(said.starts_with("200 yes GET /echo?a=b HTTP/1.1\r\n"), "{said}");
        let said = py(
            &s,
            "print(urlopen(Request(U + '/x', b'body', {'X-A': 'b'}, method='PUT')).read().decode())",
        );
        let lower = said.to_lowercase();
        assert!(said.starts_with("PUT /x ") && said.ends_with("--\nbody\n"), "{said}");
        assert!(lower.contains("x-a: b\r\n") && lower.contains("content-length: 4\r\n"), "{said}");
        assert_eq!(py(&s, "urlopen(U + '/cookie').url == U + '/echo'"), "True");
        assert_eq!(
            py(&s, "e = raises(lambda: urlopen(U + '/none')); (e.code, e.read())"),
            "(404, b'none')"
        );
        assert_eq!(py(&s, "urlopen(U + '/chunks').read()"), "b'onetwothree'");
        assert_eq!(
            py(&s, "type(raises(lambda: urlopen(U + '/short').read())).__name__"),
            "'IncompleteRead'"
        );
        assert_eq!(
            py(&s, "raises(lambda: urlopen(U + '/never', timeout=0.3)).__class__"),
            "<class 'TimeoutError'>"
        );
        // One body is sent in chunks, and another is sent from a file. A request lives as long as
        // the call that makes it.
        let said = py(
            &s,
            "c = http.client.HTTPConnection(HOST, PORT); c.request('POST', '/x', iter([b'ab', b'', b'cd']))
print(c.getresponse().read().decode())",
        )
        .to_lowercase();
        assert!(
            said.contains("transfer-encoding: chunked") && said.ends_with("--\nabcd\n"),
            "{said}"
        );
        let said = py(
            &s,
            "open('/tmp/f', 'wb').write(bytes(3_000_000))
c.request('POST', '/size', open('/tmp/f', 'rb')); c.getresponse().read()",
        );
        assert_eq!(said, "b'3000000'");
        // One object makes several requests and receives answers without a body.
        let said = py(
            &s,
            "c.request('HEAD', '/echo'); r = c.getresponse()
r.status, r.read(), int(r.headers['content-length']) > 0",
        );
        assert_eq!(said, "(200, b'', True)");
        let said = py(
            &s,
            "c.request('GET', '/echo', headers={'Expect': '100-continue'}); r = c.getresponse()
r.status, r.read()[:5]",
        );
        assert_eq!(said, "(200, b'GET /')");
        // This request is written without a client, byte by byte.
        let said = py(
            &s,
            "k = socket.create_connection((HOST, PORT), 60)
request = b'POST /echo HTTP/1.1\\r\\nHost: %s:%d\\r\\nContent-Length: 3\\r\\n\\r\\nabc' % (HOST.encode(), PORT)
for n in range(len(request)): k.send(request[n : n + 1])
f = k.makefile('rb')
f.readline(), f.read()[-6:]",
        );
        assert_eq!(said, r"(b'HTTP/1.1 200 OK\r\n', b'--\nabc')");
    }
}

#[test]
fn what_is_refused_says_which_rule_would_allow_it() {
    let at = serve(answer);
    for engine in both() {
        let s = session(&engine, at);
        py(
            &s,
            "import http.client, urllib.request, requests, socket; from urllib.request import urlopen",
        );
        py(&s, RAISES);
        let rule = "example.com:443 is not allowed by the sandbox's policy; the rule 'GET https://example.com/x' would allow it";
        let said = py(
            &s,
            "e = raises(lambda: urlopen('https://example.com/x')); print(type(e).__name__, type(e.reason).__name__, e.reason.strerror)",
        );
        assert_eq!(said, format!("URLError ConnectionRefusedError {rule}\n"));
        let said = py(
            &s,
            "e = raises(lambda: requests.get('https://example.com/x')); print(type(e).__name__, e)",
        );
        assert!(said.starts_with("ConnectionError ") && said.contains(rule), "{said}");
        // The bridge judges addresses of internal networks.
        let said = py(&s, "print(raises(lambda: urlopen('http://169.254.169.254/latest')))");
        assert!(
            said.contains("169.254.169.254:80 is not allowed by the sandbox's policy"),
            "{said}"
        );
        // These responses are not HTTP, or belong to another protocol.
        let refused = |code: &str, why: &str| {
            let said = py(&s, &format!("print(raises(lambda: {code}))"));
            assert!(said.contains(why), "{code}: {said}");
        };
        refused(
            "requests.get(U, proxies={'http': 'http://p.example:1'})",
            "proxies cannot be used",
        );
        refused(
            "requests.get(U, headers={'Host': 'other.example'})",
            "the header Host is made by the sandbox's host",
        );
        refused(
            "socket.create_connection((HOST, PORT)).send(b'EHLO x\\r\\n\\r\\n')",
            "only HTTP leaves the sandbox",
        );
        refused("socket.create_connection((HOST, PORT)).recv(1)", "only HTTP leaves the sandbox");
        refused(
            "urlopen(urllib.request.Request(U, headers={'Upgrade': 'websocket'}))",
            "the connection cannot be upgraded",
        );
        // Python itself checks headers and duplicates.
        refused(
            "urlopen(urllib.request.Request(U, headers={'A': 'b\\r\\nC: d'}))",
            "Invalid header value",
        );
        refused(
            "socket.create_connection((HOST, PORT)).send(b'GET / HTTP/1.1\\r\\nContent-Length: 1\\r\\nTransfer-Encoding: chunked\\r\\n\\r\\n')",
            "a body is either chunked or has a Content-Length",
        );
    }
    // No rule allows anything.
    let s = engine(Isolation::Threads).session(policy()).unwrap();
    let said = py(
        &s,
        "import urllib.request as u\ntry: u.urlopen('http://example.com/')\nexcept OSError as e: print(e.reason)",
    );
    assert!(said.contains("example.com:80 is not allowed by the sandbox's policy"), "{said}");
}

#[test]
fn requests_works_as_anywhere() {
    let at = serve(answer);
    for engine in both() {
        let s = session(&engine, at);
        py(
            &s,
            "import requests, os; os.environ['HTTP_PROXY'] = os.environ['http_proxy'] = 'http://p.example:1'",
        );
        py(&s, RAISES);
        assert_eq!(py(&s, "requests.get(U + '/gzip').text"), r"'plain\n'");
        py(&s, "s = requests.Session(); r = s.get(U + '/cookie')");
        assert_eq!(
            py(&s, "[h.status_code for h in r.history], s.cookies['a'], 'a=b' in r.text"),
            "([302], 'b', True)"
        );
        assert_eq!(py(&s, "requests.post(U + '/post', data='x').text[:5]"), "'GET /'");
        assert_eq!(py(&s, "requests.post(U + '/keep', data='x').text[-3:]"), r"'-\nx'");
        let said = py(
            &s,
            "print(requests.post(U + '/x', data={'k': 'v'}, files={'f': ('a.txt', b'hello')}).text)",
        );
        assert!(
            said.contains("name=\"k\"\r\n\r\nv\r\n")
                && said.contains("filename=\"a.txt\"\r\n\r\nhello\r\n"),
            "{said}"
        );
        assert_eq!(
            py(&s, "requests.post(U + '/size', data=(b'x' * 100_000 for _ in range(50))).text"),
            "'5000000'"
        );
        assert_eq!(py(&s, "requests.post(U + '/x', json={'a': 1}).text[-8:]"), "'{\"a\": 1}'");
        assert_eq!(
            py(
                &s,
                "requests.get(U + '/x', auth=('u', 'p')).text.lower().count('authorization: basic dtpw')"
            ),
            "1"
        );
        assert_eq!(
            py(&s, "type(raises(lambda: requests.get(U + '/never', timeout=0.3))).__name__"),
            "'ReadTimeout'"
        );
        assert_eq!(
            py(&s, "type(raises(lambda: requests.get(U + '/short'))).__name__"),
            "'ChunkedEncodingError'"
        );
        assert_eq!(
            py(&s, "[c for c in requests.get(U + '/chunks', stream=True).iter_content(None)]"),
            "[b'one', b'two', b'three']"
        );
        // The host verifies certificates, and a warning says so when verification is switched off.
        py(&s, "import warnings");
        let said = py(
            &s,
            "with warnings.catch_warnings(record=True) as w:\n  warnings.simplefilter('always'); raises(lambda: requests.get('https://example.com/', verify=False))\nprint([str(w.message) for w in w])",
        );
        assert!(said.contains("verifies certificates whatever verify_mode says"), "{said}");
    }
}

#[test]
fn redirects_leave_secrets_behind() {
    let other = serve(answer);
    let at = serve(move |request| match request.path.as_str() {
        "/away" => Reply::ok("").status(302).with("Location", format!("http://{other}/echo")),
        "/out" => Reply::ok("").status(302).with("Location", "http://127.0.0.9:1/"),
        _ => answer(request),
    });
    let engine = engine(Isolation::Process);
    let s = engine.session(allowing(&[at, other])).unwrap();
    py(&s, &format!("U = 'http://{at}'; import requests, urllib.request"));
    // requests drops the header for another host, and another port counts as another host.
    assert_eq!(
        py(&s, "requests.get(U + '/away', auth=('u', 'p')).text.lower().count('authorization')"),
        "0"
    );
    assert_eq!(py(&s, "urllib.request.urlopen(U + '/away').read()[:5]"), "b'GET /'");
    // The rules apply to every redirection.
    py(&s, RAISES);
    let said = py(&s, "print(raises(lambda: requests.get(U + '/out')))");
    assert!(said.contains("127.0.0.9"), "{said}");
}

#[test]
fn headers_of_the_policy_are_added_and_not_seen() {
    let at = serve(answer);
    for engine in both() {
        let mut policy = allowing(&[at]);
        policy.network.secrets = vec![format!("http://{at}/: Authorization=Bearer hunter2hunter2")];
        let s = engine.session(policy).unwrap();
        let said = py(
            &s,
            &format!(
                "import requests; print(requests.get('http://{at}/x', headers={{'Authorization': 'mine'}}).text)"
            ),
        );
        assert!(said.to_lowercase().contains("\nauthorization: ****"), "{said}");
        assert!(!said.contains("hunter2") && !said.contains("mine"), "{said}");
        assert_eq!(py(&s, &format!("requests.get('http://{at}/gzip').text")), r"'plain\n'");
    }
}

#[test]
fn bodies_stream_within_bounds() {
    let at = serve(answer);
    // The memory limit is smaller than the body; with it, Python starts the ordinary way.
    let limits = Limits { memory: 96 << 20, ..policy().limits };
    let s = engine(Isolation::Process).session(Policy { limits, ..allowing(&[at]) }).unwrap();
    let script = format!(
        "python3 -c \"import urllib.request as u\nr = u.urlopen('http://{at}/large'); n = 0\n\
         while b := r.read(65536): n += len(b)\nprint(n)\""
    );
    assert_eq!(sh(&s, &script), "104857600\n");
    assert_eq!(sh(&s, &format!("wget -qO- http://{at}/large | wc -c")), "104857600\n");
}

#[test]
fn requests_that_are_left_make_room() {
    let at = serve(answer);
    let s = session(&engine(Isolation::Process), at);
    // There are more requests than may run at the same time; each ends with its socket.
    py(&s, RAISES);
    let said = py(
        &s,
        "import http.client, requests
def left():
    c = http.client.HTTPConnection(HOST, PORT)
    c.request('GET', '/never')
    c.sock.settimeout(0.01)
    try: return type(raises(c.getresponse)).__name__
    finally: c.close()
{left() for _ in range(40)}",
    );
    assert_eq!(said, "{'TimeoutError'}");
    assert_eq!(py(&s, "requests.get(U + '/none').status_code"), "404");
}

/// The files of the test's index: file name, hash and bytes.
type Wheels = Vec<(String, String, Vec<u8>)>;

/// Returns the wheels of `wheels.txt`, which this machine's pip has downloaded.
fn wheels() -> Wheels {
    let hashes = include_str!("../wheels.txt");
    let with_hash = |(name, bytes): (String, Vec<u8>)| {
        let stem: String = name.splitn(3, '-').take(2).collect::<Vec<_>>().join("==");
        let line = hashes.lines().find(|l| l.split(' ').next() == Some(&stem)).expect("its hash");
        (name, line.rsplit(':').next().unwrap().to_owned(), bytes)
    };
    download_wheels("wheels.txt").into_iter().map(with_hash).collect()
}

/// Starts an index that speaks PEP 503 or PEP 691, as the client requests. Below `/wrong/` it has
/// wrong hashes.
fn index(wheels: Wheels) -> (SocketAddr, Receiver<String>) {
    let (sender, asked) = channel();
    let sender = Mutex::new(sender);
    let at = serve(move |request| {
        sender.lock().unwrap().send(request.path.clone()).unwrap();
        let parts: Vec<&str> = request.path.trim_matches('/').split('/').collect();
        if let ["files", name] = parts[..] {
            let found = wheels.iter().find(|w| w.0 == name);
            return found.map_or(Reply::ok("").status(404), |w| Reply::ok(w.2.clone()));
        }
        let [kind, project] = parts[..] else { return Reply::ok("").status(404) };
        let of = |w: &&(String, String, Vec<u8>)| {
            w.0.split('-').next().unwrap_or_default().replace('_', "-") == project
        };
        let Some((name, hash, _)) = wheels.iter().find(of) else {
            return Reply::ok("").status(404);
        };
        let hash = if kind == "wrong" { "0".repeat(64) } else { hash.clone() };
        let json = "application/vnd.pypi.simple.v1+json";
        if kind == "json" && request.header("accept").is_some_and(|a| a.contains(json)) {
            let file = serde_json::json!({"filename": name, "url": format!("/files/{name}"), "hashes": {"sha256": hash}});
            let page = serde_json::json!({"meta": {"api-version": "1.0"}, "name": project, "files": [file]});
            return Reply::ok(page.to_string()).with("Content-Type", json);
        }
        let page =
            format!("<!DOCTYPE html><a href=\"../../files/{name}#sha256={hash}\">{name}</a>");
        Reply::ok(page).with("Content-Type", "text/html")
    });
    (at, asked)
}

#[test]
fn pip_installs_real_wheels() {
    let wheels = wheels();
    assert!(wheels.len() >= 10, "{}", wheels.len());
    let (at, asked) = index(wheels);
    let web = serve(answer);
    let s = engine(Isolation::Process).session(allowing(&[at, web])).unwrap();
    // Some of these packages are in the image in other versions.
    let pip = format!("pip install -q --ignore-installed --index-url http://{at}");
    let said = sh(&s, &format!("{pip}/json/ httpx attrs click more-itertools 2>&1"));
    assert_eq!(said, "", "json");
    let said = sh(
        &s,
        &format!(
            "PIP_INDEX_URL=http://{at}/html/ pip install -q --ignore-installed networkx pytz sortedcontainers tqdm 2>&1"
        ),
    );
    assert_eq!(said, "", "html");
    let said = sh(
        &s,
        "python3 -c 'import anyio, attrs, click, h11, httpcore, httpx, more_itertools, networkx, pytz, sortedcontainers, tqdm
print(networkx.path_graph(4).number_of_edges(), more_itertools.chunked([1, 2, 3], 2).__class__.__name__, httpx.__file__)'",
    );
    assert!(said.starts_with("3 ") && said.contains("/site-packages/httpx/"), "{said}");
    let files = asked.try_iter().filter(|path| path.starts_with("/files/")).count();
    assert!(files >= 10, "{files} wheels were fetched");
    // Both of httpx's clients are used, with several requests at the same time.
    let script = format!(
        "import asyncio, httpx
U = 'http://{web}'
print(httpx.post(U + '/x', json={{'a': 1}}).text[-7:], httpx.get(U + '/gzip').text.strip())
try: httpx.get('https://example.com/')
except httpx.HTTPError as e: print(type(e).__name__, e)
async def main():
    async with httpx.AsyncClient(timeout=60) as c:
        print([r.text for r in await asyncio.gather(*[c.get(U + '/chunks') for _ in range(5)])])
        try: await c.get(U + '/never', timeout=0.3)
        except httpx.TimeoutException as e: print(type(e).__name__)
        try: await c.get('https://example.com/')
        except httpx.HTTPError as e: print(type(e).__name__)
asyncio.run(main())"
    );
    let said = py(&s, &format!("open('/tmp/h.py', 'w').write({script:?})"));
    assert!(!said.contains("Error"), "{said}");
    let said = sh(&s, "python3 /tmp/h.py");
    let mut lines = said.lines();
    assert_eq!(lines.next(), Some("{\"a\":1} plain"), "{said}");
    let refused = lines.next().unwrap_or_default();
    assert!(refused.contains("example.com:443 is not allowed by the sandbox's policy"), "{said}");
    let rest: Vec<&str> = lines.collect();
    assert_eq!(rest[0], format!("{:?}", ["onetwothree"; 5]).replace('"', "'"), "{said}");
    assert_eq!(rest[1], "ReadTimeout", "{said}");
    assert!(rest[2].ends_with("Error"), "{said}");
}

#[test]
fn pip_checks_hashes_and_says_what_it_may_not() {
    let (at, _asked) = index(wheels());
    let s = engine(Isolation::Process).session(allowing(&[at])).unwrap();
    let said =
        sh(&s, &format!("pip install -q --index-url http://{at}/wrong/ more-itertools 2>&1"));
    assert!(said.contains("DO NOT MATCH THE HASHES") && said.ends_with("[1]"), "{said}");
    let said = sh(&s, &format!("pip install -q --index-url http://{at}/html/ scipy 2>&1"));
    assert!(
        said.contains("scipy is not built in, and with its compiled parts it cannot be installed"),
        "{said}"
    );
    // No rule allows the default index, and one message says so.
    let said = sh(&s, "pip install more-itertools 2>&1");
    assert!(said.contains("pypi.org:443 is not allowed by the sandbox's policy"), "{said}");
    assert!(!said.contains("Retrying"), "{said}");
    assert!(said.contains("an index that the sandbox's policy allows"), "{said}");
}
