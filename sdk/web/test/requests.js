// The tests of guests' requests, for Node and for pages. The expected results are those of curl and
// of the server (world.js).

import * as assert from './assert.js';

const isNode = typeof process !== 'undefined';
const sha256 = async (bytes) => {
  const digest = new Uint8Array(await crypto.subtle.digest('SHA-256', bytes));
  return [...digest].map((b) => b.toString(16).padStart(2, '0')).join('');
};

/**
 * @param {object} world the URLs `open` and `closed` of the servers (world.js)
 */
export function define({ Session, InvalidError }, at, test, { open, closed }) {
  let box;
  const out = async (command, options) => {
    const { exitCode, stdout, stderr } = await box.exec(command, options);
    return { exitCode, stdout, stderr };
  };
  const ok = (stdout) => ({ exitCode: 0, stdout, stderr: '' });

  test('requests: rules that cannot be kept are refused', async () => {
    const refused = (network) => assert.rejects(Session.create({ ...at, workers: 0, network }), InvalidError);
    await refused('GET');
    await refused(['GET http://a.b/ at 10.0.0.0/8']);
    await refused({ allow: [], secrets: ['a.b: A=b'] });
  });

  test('requests: nothing is allowed if nothing is said', async () => {
    box = await Session.create({ ...at, workers: 1 });
    const curl = await out(`curl -sS ${open}/hello`);
    assert.deepEqual([curl.exitCode, curl.stdout], [7, '']);
    await box.close();
  });

  test('requests: what a rule allows', async () => {
    const network = { allow: [`GET,POST ${open}/`, `GET ${closed}/`], deny: [`* ${open}/secret`] };
    box = await Session.create({ ...at, network });
    assert.deepEqual(await out(`curl -sS ${open}/hello`), ok('hello\n'));
    const post = `printf 'a body' | curl -sS -H 'X-Asked: yes' --data-binary @- ${open}/echo`;
    assert.deepEqual(await out(post), ok('POST yes a body'));
    assert.match((await out(`curl -sSi ${open}/hello`)).stdout, /^HTTP\/1.1 200[^]*\nx-told: something\r\n(?:[^]*\r\n)?\r\nhello\n$/i);
    assert.equal((await out(`curl -sSI ${open}/hello`)).exitCode, 0);
    assert.deepEqual(await out(`curl -sS ${open}/cookies`), ok('undefined undefined'));
    assert.deepEqual(await out(`curl -sS ${open}/packed | sort | uniq -c`), ok('   1000 packed\n'));
    assert.deepEqual(await out(`wget -qO- ${open}/hello`), ok('hello\n'));
  });

  test('requests: statuses', async () => {
    assert.equal((await out(`curl -sSf ${open}/nowhere`)).exitCode, 22);
    assert.deepEqual(await out(`curl -s -o /dev/null -w '%{http_code}' ${open}/nowhere`), ok('404'));
  });

  test('requests: a long body', async () => {
    const sum = await sha256(Uint8Array.from({ length: 5_000_000 }, (_, n) => n % 251));
    assert.deepEqual(await out(`curl -sS ${open}/big | sha256sum`), ok(`${sum}  -\n`));
    // The reader of this body ends early.
    assert.equal((await out(`curl -s ${open}/big | head -c 3 | wc -c`)).stdout, '3\n');
    assert.deepEqual(await out(`head -c 1000000 /dev/zero | curl -sS --data-binary @- ${open}/echo | wc -c`), ok('1000015\n'));
  });

  test('requests: Python and JavaScript', async () => {
    const python = `from urllib.request import urlopen; print(urlopen("${open}/hello").read())`;
    assert.deepEqual(await out(['python3', '-c', python]), ok("b'hello\\n'\n"));
    const fetched = `fetch("${open}/echo", { method: "POST", body: "x" }).then((r) => r.text()).then(console.log)`;
    assert.deepEqual(await out(['node', '-e', fetched]), ok('POST undefined x\n'));
  });

  test('requests: what no rule allows', async () => {
    const other = await out('curl -sS http://example.invalid/x');
    assert.equal(other.exitCode, 7);
    assert.match(other.stderr, /not allowed by the sandbox's policy; the rule 'GET http:\/\/example.invalid\/x' would/);
    const method = await out(`curl -sS -X PUT -d x ${closed}/echo`);
    assert.deepEqual([method.exitCode, method.stdout], [7, '']);
    const denied = await out(`curl -sS ${open}/secret`);
    assert.equal(denied.exitCode, 7);
    assert.match(denied.stderr, /denies it/);
  });

  test('requests: a redirect', async () => {
    const moved = await out(`curl -sSL ${open}/moved`);
    const hidden = await out(`curl -sSL ${open}/hidden`);
    if (isNode) {
      assert.deepEqual(moved, ok('hello\n'));
      assert.deepEqual([hidden.exitCode, hidden.stdout], [7, '']);
      assert.match(hidden.stderr, /denies it/);
    } else {
      for (const { exitCode, stdout, stderr } of [moved, hidden]) {
        assert.deepEqual([exitCode, stdout], [56, '']);
        assert.match(stderr, /a browser tells no page where/);
      }
      const all = await Session.create({ ...at, workers: 1, network: ['* *://*:*', `GET ${open}/`] });
      assert.equal((await all.exec(`curl -sS ${open}/moved`)).stdout, 'hello\n');
      await all.close();
    }
  });

  test('requests: a server that no page may ask, and none', async () => {
    const curl = await out(`curl -sS ${closed}/hello`);
    if (isNode) {
      assert.deepEqual(curl, ok('hello\n'));
    } else {
      assert.deepEqual([curl.exitCode, curl.stdout], [7, '']);
      assert.match(curl.stderr, /CORS/);
    }
  });

  test('requests: one that takes too long', async () => {
    assert.equal((await out(`curl -sS -m 1 ${open}/slow`)).exitCode, 28);
    assert.equal((await out(`curl -sS ${open}/slow`, { timeout: 1 })).exitCode, 124);
    // Requests that are still open are cancelled when their call ends.
    await out(`for n in 1 2 3 4 5 6 7 8 9 10; do curl -s ${open}/slow & done; sleep 0.3`);
    assert.deepEqual(await out(`curl -sS ${open}/hello`), ok('hello\n'));
  });

  test('requests: hostile bytes', async () => {
    const script = `
import os, struct
def ask(message):
    fd = os.open("/.box/http", os.O_RDWR)
    os.write(fd, message)
    try: answer = os.read(fd, 4096)
    except OSError as e: answer = e.errno
    os.close(fd)
    return answer
def text(s): return struct.pack("<I", len(s)) + s
def open_(method, url): return b"\\1" + text(method) + text(url) + struct.pack("<IBQIQQ", 0, 1, 0, 0, 0, 0)
url = b"${open}/secret"
n = ask(open_(b"GET", b"${open}/hello"))
assert n[0] == 1, n
for message in [b"x", b"\\1" * 100, b"\\3" + b"\\xff" * 8, b"\\4" + bytes(8), b"\\4" + n[1:9], b"\\2" + n[1:9] + b"more",
    open_(b"GET", url), open_(b"get", url), open_(b"GET", url + b"?x"), open_(b"GET", url + b"#x"), open_(b"CONNECT", url),
    open_(b"GET", b"${open}/%73ecret"), open_(b"GET", b"${open}/./secret"), open_(b"GET", b"${open}/hello/..//secret"),
    open_(b"GET", b"file:///etc/passwd"), open_(b"GET", b"data:,x"), open_(b"GET\\r\\nX: y", url), open_(b"GET", b"\\xff")]:
    answer = ask(message)
    assert answer[0] == 5, (message, answer)
print("refused")
`;
    assert.deepEqual(await out(['python3', '-c', script]), ok('refused\n'));
    assert.deepEqual(await out(`curl -sS ${open}/hello`), ok('hello\n'));
    await box.close();
  });
}
