// The tests of the machine, for Node and for pages. Expected results are bash's, GNU's and CPython's.

import * as assert from './assert.js';

const isNode = typeof process !== 'undefined';

/**
 * Tells the tests, in their order: they share a session.
 * @param {object} sdk what `index.js` exports
 * @param {object} at `baseUrl`, and `image` where it is not in that folder
 * @param {(name: string, run: () => Promise<void>) => void} test
 * @returns {() => void} ends the session
 */
export function define({ Sandbox, SandboxError }, at, test) {
  let box;
  test('a session begins', async () => {
    box = await Sandbox.create({ ...at, log: (text) => console.error(text) });
  });

  const out = async (command, options) => {
    const { status, stdout, stderr } = await box.exec(command, options);
    return { status, stdout, stderr };
  };
  const ok = (stdout) => ({ status: 0, stdout, stderr: '' });

  test('pipelines', async () => {
    assert.deepEqual(await out('echo hi | wc -c'), ok('3\n'));
    assert.deepEqual(await out('seq 5 | sort -r | head -2'), ok('5\n4\n'));
    assert.deepEqual(await out('yes | head -c 1000000 | wc -c'), ok('1000000\n'));
    assert.deepEqual(await out('cat <(echo one) <(echo two)'), ok('one\ntwo\n'));
    assert.deepEqual(await out('exec echo gone'), ok('gone\n'));
  });

  test('a list of arguments is no line for a shell', async () => {
    assert.deepEqual(await out(['printf', '%s\\n', '$HOME; exit 3']), ok('$HOME; exit 3\n'));
    await assert.rejects(out(['no-such-command']), SandboxError);
    await assert.rejects(out(['echo', 'a\0b']), SandboxError);
  });

  test('statuses and standard error', async () => {
    assert.equal((await out('exit 7')).status, 7);
    assert.equal((await out('no-such-command')).status, 127);
    const ls = await out('ls /nowhere');
    assert.equal(ls.status, 2);
    assert.match(ls.stderr, /\/nowhere.*No such file or directory/);
  });

  test('signals', async () => {
    assert.deepEqual(await out('trap "echo got" TERM; kill -TERM $$; echo after'), ok('got\nafter\n'));
    assert.equal((await out('sleep 100 & kill $!; wait $!; echo $?')).stdout, '143\n');
    assert.equal((await out('sh -c "kill -9 \\$\\$"; echo $?')).stdout, '137\n');
    assert.equal((await out('trap "echo end" EXIT; exit 3')).stdout, 'end\n');
  });

  test('a guest that computes is killed, and the session goes on', async () => {
    const spin = await out('python3 -c "while True: pass" & sleep 0.3; kill -9 $!; wait $!; echo $?');
    assert.equal(spin.stdout, '137\n');
    for (const line of ['while :; do :; done', 'python3 -c "while True: pass"', 'sleep 100']) {
      const ran = await box.exec(line, { timeout: 500 });
      assert.deepEqual([ran.status, ran.timedOut, ran.interrupted], [137, true, false], line);
      assert.deepEqual(await out('echo on'), ok('on\n'));
    }
  });

  test('an abort ends a command', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);
    const ran = await box.exec('sleep 100', { signal: stop.signal });
    assert.equal(ran.interrupted, true);
    await assert.rejects(box.exec('true', { signal: AbortSignal.abort() }), { name: 'AbortError' });
  });

  test('standard input', async () => {
    assert.deepEqual(await out('cat', { stdin: 'a\nb' }), ok('a\nb'));
    assert.deepEqual(await out('cat'), ok(''));
    const large = new Uint8Array(3_000_000).fill(120);
    assert.deepEqual(await out('wc -c', { stdin: large }), ok('3000000\n'));
    async function* parts() {
      for (const part of ['one ', 'two ', 'three']) {
        await new Promise((resolve) => setTimeout(resolve, 20));
        yield part;
      }
    }
    assert.deepEqual(await out('cat', { stdin: parts() }), ok('one two three'));
    // Who does not read keeps nobody from ending.
    assert.deepEqual(await out('true', { stdin: large }), ok(''));
  });

  test('output comes whole and in order, and as it is made', async () => {
    const { stdoutBytes } = await box.exec('seq 200000');
    const expected = Array.from({ length: 200000 }, (_, n) => `${n + 1}\n`).join('');
    assert.equal(new TextDecoder().decode(stdoutBytes), expected);
    // Each line is another process's.
    const turns = 'for i in $(seq 100); do echo a$i; /usr/bin/printf "b$i\\n"; (echo c$i) & wait; done';
    const lines = Array.from({ length: 100 }, (_, n) => `a${n + 1}\nb${n + 1}\nc${n + 1}\n`);
    for (let n = 0; n < 5; n++) assert.deepEqual(await out(turns), ok(lines.join('')));
    const seen = [];
    const onStdout = (bytes) => seen.push([performance.now(), new TextDecoder().decode(bytes)]);
    await box.exec('echo a; sleep 0.3; echo b', { onStdout });
    assert.equal(seen.map(([, text]) => text).join(''), 'a\nb\n');
    assert.ok(seen.at(-1)[0] - seen[0][0] >= 250);
  });

  test('files stay from command to command', async () => {
    await box.writeFile('/home/user/a.txt', 'from the page\n');
    assert.deepEqual(await out('cat a.txt; echo from the box > b.txt'), ok('from the page\n'));
    assert.equal(new TextDecoder().decode(await box.readFile('/home/user/b.txt')), 'from the box\n');
    await assert.rejects(box.readFile('/nowhere'), { name: 'SandboxError', errno: 44 });
    assert.deepEqual(await out('touch q; chmod 640 q; stat -c %a q; rm q; ls'), ok('640\na.txt\nb.txt\n'));
  });

  test('Python and JavaScript', async () => {
    assert.deepEqual(await out('python3 -c "print(6 * 7)" | sed s/4/x/'), ok('x2\n'));
    const failed = await out('python3 -c "1 / 0"');
    assert.equal(failed.status, 1);
    assert.match(failed.stderr, /ZeroDivisionError: division by zero\n$/);
    assert.equal((await out('python3 -c "import os; os.abort()"')).status, 134);
    const run = 'import subprocess as s; print(s.run(["wc", "-c"], input=b"abc", capture_output=True).stdout)';
    assert.deepEqual(await out(['python3', '-c', run]), ok("b'3\\n'\n"));
    const mean = 'import pandas as pd; print(pd.DataFrame({"a": [1, 2, 6]}).a.mean())';
    assert.deepEqual(await out(['python3', '-c', mean]), ok('3.0\n'));
    assert.deepEqual(await out(['node', '-e', 'console.log([1, 2, 3].map((n) => n * n))']), ok('[ 1, 4, 9 ]\n'));
  });

  test('a deep recursion of the shell is an error of the shell', async () => {
    const down = 'f() { [ $1 = 0 ] || f $(( $1 - 1 )); echo $1; }; f 40 | tail -1';
    assert.deepEqual(await out(down), ok('40\n'));
    for (const line of [
      'f() { f $(( $1 + 1 )); }; f 0',
      'f() { if true; then for i in 1; do f; done; fi; }; f',
      'f() { eval f; }; f',
    ]) {
      const { status, stderr } = await out(line);
      assert.equal(status, 1, line);
      assert.match(stderr, /nesting level exceeded/, line);
    }
    // What is substituted fails; the commands around it go on.
    assert.match((await out('f() { echo $(f); }; f')).stderr, /nesting level exceeded/);
  });

  // Browsers give workers half a megabyte or one: C code that calls itself uses it up before CPython's own limit.
  if (isNode) {
    test('a deep recursion of C code is an error of the program', async () => {
      const scripts = [
        'import json; json.loads("[" * 100000)',
        'x = []\nfor i in range(100000): x = [x]\nrepr(x)',
        'def f(): return sorted([1], key=lambda x: f())\nf()',
        'import re; re.compile("(" * 50000 + ")" * 50000)',
      ];
      for (const script of scripts) {
        const { status, stderr } = await out(['python3', '-c', script]);
        assert.equal(status, 1, script);
        assert.match(stderr, /^RecursionError/m, script);
      }
      const node = 'function f() { [1].forEach(f); } try { f(); } catch (e) { console.log(e instanceof RangeError); }';
      assert.deepEqual(await out(['node', '-e', node]), ok('true\n'));
    });
  }

  test('a command begins where it is told', async () => {
    assert.deepEqual(await out('pwd; echo $PWD; ls -d zone*', { cwd: '/usr/share' }), ok('/usr/share\n/usr/share\nzoneinfo\n'));
    await assert.rejects(out('true', { cwd: '/nowhere' }), SandboxError);
    // What every command finds, as in the native runner.
    const { stdout } = await out(['env', '-u', '_']);
    const names = stdout.split('\n').map((line) => line.split('=')[0]).filter(Boolean).sort();
    assert.deepEqual(names, ['HOME', 'HOSTNAME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'TERM', 'TZ', 'USER']);
  });

  test('processes are limited, and the session goes on', async () => {
    const many = await out('for i in $(seq 100); do sleep 100 & done; kill $(jobs -p); wait; echo ended');
    assert.match(many.stderr, /Resource temporarily unavailable|fork/);
    assert.deepEqual(await out('echo on'), ok('on\n'));
  });

  test('300 runs leave nothing behind', async () => {
    for (let n = 0; n < 20; n++) await box.exec('echo | cat');
    const before = box.usage;
    for (let n = 0; n < 300; n++) assert.deepEqual(await out('echo hi | wc -c'), ok('3\n'));
    const now = box.usage;
    assert.ok(now.workers <= before.workers + 2, `${before.workers} workers became ${now.workers}`);
    const grown = now.kernelBytes - before.kernelBytes;
    assert.ok(grown <= 1 << 20, `the kernel's memory has grown by ${grown}`);
  });

  test('what is no image is refused; a closed session says so', async () => {
    await assert.rejects(Sandbox.create({ ...at, image: new Uint8Array(100) }), /not a Wasibox image/);
    await assert.rejects(Sandbox.create({ image: new Uint8Array(1) }), SandboxError);
  });

  return () => box?.close();
}
