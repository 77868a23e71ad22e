// The tests of the machine, for Node and for pages. Expected results are bash's, GNU's and
// CPython's.

import * as assert from './assert.js';
import * as looks from './looks.js';
import { PROGRAMS } from './programs.js';
import * as requests from './requests.js';

const isNode = typeof process !== 'undefined';

/**
 * Defines the tests in their order. They share a session.
 *
 * @param {object} sdk the exports of `index.js`
 * @param {object} at `baseUrl`, and `image` if the image is not in that folder
 * @param {(name: string, run: () => Promise<void>) => void} test
 * @param {object} native the native runner (`native.js`)
 * @param {object} world the servers that guests reach (`world.js`)
 * @returns {() => void} ends the session
 */
export function define(sdk, at, test, native, world) {
  const { Session, ClosedError, ConflictError, InvalidError, NotFoundError } = sdk;
  let box;
  test('a session begins', async () => {
    box = await Session.create({ ...at, log: (text) => console.error(text) });
  });

  const out = async (command, options) => {
    const { exitCode, stdout, stderr } = await box.exec(command, options);
    return { exitCode, stdout, stderr };
  };
  const ok = (stdout) => ({ exitCode: 0, stdout, stderr: '' });

  test('pipelines', async () => {
    assert.deepEqual(await out('echo hi | wc -c'), ok('3\n'));
    assert.deepEqual(await out('seq 5 | sort -r | head -2'), ok('5\n4\n'));
    assert.deepEqual(await out('yes | head -c 1000000 | wc -c'), ok('1000000\n'));
    assert.deepEqual(await out('cat <(echo one) <(echo two)'), ok('one\ntwo\n'));
    assert.deepEqual(await out('exec echo gone'), ok('gone\n'));
  });

  test('a list of arguments is no line for a shell', async () => {
    assert.deepEqual(await out(['printf', '%s\\n', '$HOME; exit 3']), ok('$HOME; exit 3\n'));
    await assert.rejects(out(['no-such-command']), NotFoundError);
    await assert.rejects(out(['echo', 'a\0b']), InvalidError);
    await assert.rejects(out([]), InvalidError);
  });

  test('statuses and standard error', async () => {
    assert.equal((await out('exit 7')).exitCode, 7);
    assert.equal((await out('no-such-command')).exitCode, 127);
    const ls = await out('ls /nowhere');
    assert.equal(ls.exitCode, 2);
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
      const ran = await box.exec(line, { timeout: 0.5 });
      assert.deepEqual([ran.exitCode, ran.limitHit], [124, 'timeout'], line);
      assert.deepEqual(await out('echo on'), ok('on\n'));
    }
  });

  test('an abort ends a command', async () => {
    const stop = new AbortController();
    setTimeout(() => stop.abort(), 300);
    await assert.rejects(box.exec('sleep 100', { signal: stop.signal }), { name: 'AbortError' });
    setTimeout(() => box.interrupt(), 300);
    assert.equal((await box.exec('sleep 100')).exitCode, 130);
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
    // A process can end without having read its input.
    assert.deepEqual(await out('true', { stdin: large }), ok(''));
  });

  test('a command on a terminal', async () => {
    const terminal = { rows: 20, columns: 70 };
    /** Runs a command, types when the screen shows a text, and returns the outcome and the screen. */
    const run = async (command, typed = []) => {
      let screen = '';
      let wake = () => {};
      const decoder = new TextDecoder();
      async function* keys() {
        for (const [shown, text] of typed) {
          while (!screen.includes(shown)) await new Promise((resolve) => (wake = resolve));
          if (typeof text === 'string') yield text;
          else await box.resize(text);
        }
      }
      const onScreen = (bytes) => {
        screen += decoder.decode(bytes, { stream: true });
        wake();
      };
      const outcome = await box.exec(command, { terminal, stdin: keys(), onScreen });
      assert.equal(outcome.stdout, '');
      return [outcome.exitCode, screen];
    };
    assert.deepEqual(await run('test -t 0 -a -t 1 && stty size; tty; echo $TERM'), [0, '20 70\r\n/dev/pts/0\r\nxterm-256color\r\n']);
    assert.deepEqual(await run('read -p "> " x; echo "<$x>"', [['> ', 'äx\x7f\r']]), [0, '> äx\b \b\r\n<ä>\r\n']);
    assert.deepEqual(await run('cat; echo $?', [['', 'a\n\x04']]), [0, 'a\r\na\r\n0\r\n']);
    const interrupted = await run('echo begun; exec sleep 100', [['begun', '\x03']]);
    assert.deepEqual(interrupted, [130, 'begun\r\n^C']);
    const resized = await run('trap "stty size; exit" WINCH; echo wait; while :; do sleep 0.05; done', [['wait', { rows: 9, columns: 33 }]]);
    assert.deepEqual(resized, [0, 'wait\r\n9 33\r\n']);
    // Programs wait for a screen that does not follow.
    let shown = 0;
    const onScreen = async (bytes) => {
      await new Promise((resolve) => setTimeout(resolve, 1));
      shown += bytes.length;
    };
    assert.equal((await box.exec('seq 100000', { terminal, onScreen })).exitCode, 0);
    assert.equal(shown, 688895);
    await assert.rejects(box.exec('yes', { terminal, onScreen: () => Promise.reject(new RangeError('no more')) }), RangeError);
    // Without a terminal there is none, and the shell continues.
    assert.deepEqual(await out('test -t 0; echo $?'), ok('1\n'));
  });

  test('output comes whole and in order, and as it is made', async () => {
    const { stdoutBytes } = await box.exec('seq 200000');
    const expected = Array.from({ length: 200000 }, (_, n) => `${n + 1}\n`).join('');
    assert.equal(new TextDecoder().decode(stdoutBytes), expected);
    // Each line is written by a different process.
    const turns = 'for i in $(seq 100); do echo a$i; /usr/bin/printf "b$i\\n"; (echo c$i) & wait; done';
    const lines = Array.from({ length: 100 }, (_, n) => `a${n + 1}\nb${n + 1}\nc${n + 1}\n`);
    for (let n = 0; n < 5; n++) assert.deepEqual(await out(turns), ok(lines.join('')));
    const seen = [];
    const onStdout = (text) => seen.push([performance.now(), text]);
    await box.exec('echo a; sleep 0.3; echo b', { onStdout });
    assert.equal(seen.map(([, text]) => text).join(''), 'a\nb\n');
    assert.ok(seen.at(-1)[0] - seen[0][0] >= 250);
    const broken = () => {
      throw new RangeError('no more');
    };
    await assert.rejects(box.exec('yes', { onStdout: broken }), RangeError);
  });

  test('the shell goes on from call to call', async () => {
    await box.exec('cd /tmp; v="a b"; export e=1; g() { echo "g $v"; }');
    assert.deepEqual(await out('g; pwd'), ok('g a b\n/tmp\n'));
    assert.deepEqual(await out(['sh', '-c', 'echo "$e"; pwd; echo "$v"']), ok('1\n/tmp\n\n'));
    assert.deepEqual(await out('pwd; echo $f', { cwd: '/usr', env: { f: '2' } }), ok('/usr\n2\n'));
    assert.deepEqual(await out('pwd; echo $f; cd; unset e f v; unset -f g'), ok('/usr\n2\n'));
  });

  test('files stay from command to command', async () => {
    await box.write('/home/user/a.txt', 'from the page\n');
    assert.deepEqual(await out('cat a.txt; echo from the box > b.txt'), ok('from the page\n'));
    assert.equal(await box.readText('b.txt'), 'from the box\n');
    await assert.rejects(box.read('/nowhere'), { name: 'FileError', code: 'ENOENT' });
    await box.write('new/folder/c.txt', 'c');
    const { length } = await box.history();
    await box.write('with-a-call.txt', 'x', { commit: false });
    assert.deepEqual((await box.history()).length, length);
    assert.deepEqual(await out('cat with-a-call.txt'), ok('x'));
    await box.undo();
    assert.deepEqual(await box.exists('with-a-call.txt'), false);
    assert.deepEqual((await box.history()).length, length + 1);
    for (const [script, whole] of [['echo a', true], ['echo "a', false], ['for i in a; do', false], ['cat <<E', false], ['echo )', true]]) {
      assert.deepEqual(await box.isComplete(script), whole);
    }
    assert.deepEqual((await box.history()).length, length + 1);
    assert.deepEqual((await box.list('new', { depth: 2 })).map((e) => [e.path, e.kind]), [['folder', 'directory'], ['folder/c.txt', 'file']]);
    assert.equal(await box.delete('new', { recursive: true }), 3);
    assert.equal(await box.exists('new'), false);
    const { files } = await box.exec('echo one > one.txt; rm one.txt; echo two > two.txt; rm b.txt; echo c >> a.txt');
    const [a, b, two] = files;
    assert.deepEqual([a.path, a.change, a.size], ['/home/user/a.txt', 'modified', 16]);
    assert.deepEqual([b.path, b.change], ['/home/user/b.txt', 'deleted']);
    // printf 'two\n' | sha256sum
    const digest = '27dd8ed44a83ff94d557f9fd0412ed5a8cbca69ea04922d88c01184a07300a5a';
    assert.deepEqual([two.path, two.change, two.mimeType, two.sha256], ['/home/user/two.txt', 'created', 'text/plain', digest]);
    await box.exec('mv two.txt b.txt');
    assert.deepEqual(await out('touch q; chmod 640 q; stat -c %a q; rm q; ls'), ok('640\na.txt\nb.txt\n'));
  });

  test('Python and JavaScript', async () => {
    assert.deepEqual(await out('python3 -c "print(6 * 7)" | sed s/4/x/'), ok('x2\n'));
    const failed = await out('python3 -c "1 / 0"');
    assert.equal(failed.exitCode, 1);
    assert.match(failed.stderr, /ZeroDivisionError: division by zero\n$/);
    assert.equal((await out('python3 -c "import os; os.abort()"')).exitCode, 134);
    const run = 'import subprocess as s; print(s.run(["wc", "-c"], input=b"abc", capture_output=True).stdout)';
    assert.deepEqual(await out(['python3', '-c', run]), ok("b'3\\n'\n"));
    const mean = 'import pandas as pd; print(pd.DataFrame({"a": [1, 2, 6]}).a.mean())';
    assert.deepEqual(await out(['python3', '-c', mean]), ok('3.0\n'));
    assert.deepEqual(await out(['node', '-e', 'console.log([1, 2, 3].map((n) => n * n))']), ok('[ 1, 4, 9 ]\n'));
  });

  test('programs of Python do what they do natively, prepared or not', async () => {
    const expected = await native.run(PROGRAMS);
    const check = async (each) => {
      for (let n = 0; n < PROGRAMS.length; n += each) {
        const { exitCode, stdout, stderr } = await box.exec(['python3', '-c', PROGRAMS[n]]);
        assert.deepEqual([exitCode, stdout, stderr], expected[n], PROGRAMS[n]);
      }
    };
    // Without prepared memory each import of pandas takes two seconds.
    await check(5);
    await box.prepare();
    await check(1);
  });

  test('cells of Python', async () => {
    const first = await box.python('import math\nx = [1, 2]\n{"x": x, "n": None}');
    assert.deepEqual([first.exitCode, first.value, first.valueRepr], [0, { x: [1, 2], n: null }, "{'x': [1, 2], 'n': None}"]);
    const second = await box.python('x.append(3); print("seen"); math.comb(len(x), 2)');
    assert.deepEqual([second.stdout, second.value, second.stderr], ['seen\n', 3, '']);
    const object = await box.python('class A:\n  def __repr__(self): return "an A"\nA()');
    assert.deepEqual([object.value, object.valueRepr], ['an A', 'an A']);
    const cut = await box.python('list(range(100000))', { maxOutput: 1000 });
    assert.deepEqual([cut.value, cut.valueBytes], [null, 688890]);
    const failed = await box.python('def f():\n    return 1 / 0\nf()');
    assert.equal(failed.exitCode, 1);
    const trace = [
      'Traceback (most recent call last):',
      '  File "<cell 5>", line 3, in <module>',
      '    f()',
      '    ~^^',
      '  File "<cell 5>", line 2, in f',
      '    return 1 / 0',
      '           ~~^~~',
      'ZeroDivisionError: division by zero',
    ];
    assert.deepEqual(failed.stderr.trim().split('\n'), trace);
    assert.equal((await box.python('x')).value.length, 3);
    // A child, standard input, the shell's directory and environment.
    const line = 'import os, subprocess; (input(), subprocess.run(["cat"], input=b"c", capture_output=True).stdout.decode())';
    assert.deepEqual((await box.python(line, { stdin: 'typed\n' })).value, ['typed', 'c']);
    await box.exec('cd /tmp; export COLOUR=red');
    assert.deepEqual((await box.python('(os.getcwd(), os.environ["COLOUR"])')).value, ['/tmp', 'red']);
    await box.exec('cd; unset COLOUR');
    assert.equal((await box.python('import sys; sys.exit(3)')).exitCode, 3);
    assert.equal((await box.python('len(x)')).value, 3);
  });

  test('cells of Python that are ended are put back', async () => {
    await box.python('x = 1');
    const spin = await box.python('x = 2\nwhile True: pass', { timeout: 0.5 });
    assert.deepEqual([spin.exitCode, spin.limitHit, spin.putBack], [124, 'timeout', true]);
    assert.equal((await box.python('x')).value, 1);
    const aborted = await box.python('x = 3; import os; os.abort()');
    assert.deepEqual([aborted.exitCode, aborted.putBack], [134, true]);
    assert.equal((await box.python('x')).value, 1);
    await box.reset();
    assert.match((await box.python('x')).stderr, /^NameError: name 'x' is not defined$/m);
  });

  test('interpreters go where the history goes', async () => {
    await box.python('big = list(range(200000)); n = 0');
    const begun = await box.head();
    // After this many cells, layers are joined.
    for (let n = 0; n < 40; n++) await box.python('n += 1; big[n * 4999] = -n; more = bytearray(n * 50000)');
    await box.javascript('globalThis.n = 1; let list = [1]');
    await box.javascript('list.push(2); n++');
    const sum = 'sum(v for v in big if v < 0), n, len(more), len(big)';
    assert.deepEqual((await box.python(sum)).value, [-820, 40, 2000000, 200000]);
    const last = await box.head();
    await box.undo();
    await box.undo();
    assert.deepEqual((await box.javascript('[n, list]')).value, [1, [1]]);
    await box.restore(begun + 20);
    assert.deepEqual((await box.python(sum)).value, [-210, 20, 1000000, 200000]);
    assert.equal((await box.javascript('typeof list')).value, 'undefined');
    await box.restore(last);
    assert.deepEqual((await box.python(sum)).value, [-820, 40, 2000000, 200000]);
    assert.deepEqual((await box.javascript('[n, list]')).value, [2, [1, 2]]);
    // A descriptor keeps its offset. A descriptor whose file has been deleted is closed.
    await box.python('one = open("/tmp/one", "w+"); two = open("/tmp/two", "w"); one.write("first\\nsecond\\n"); one.seek(6); two.write("2"); two.flush()');
    await box.exec('rm /tmp/two');
    await box.python('None');
    await box.undo();
    await box.exec('true');
    await box.restore(await box.head());
    assert.deepEqual((await box.python('one.read()')).value, 'second\n');
  });

  test('a fork has what was parked, and chance of its own', async () => {
    await box.python('import random, os; x = [1]; random.random()');
    const fork = await box.fork();
    try {
      assert.deepEqual((await fork.python('x.append(2); x')).value, [1, 2]);
      assert.deepEqual((await box.python('x')).value, [1]);
      const line = '[random.random() for _ in range(4)]';
      assert.ok(String((await fork.python(line)).value) !== String((await box.python(line)).value));
    } finally {
      await fork.close();
    }
  });

  test('a session goes from the native runner to here and back', async () => {
    const { LOOK, LOOK_PYTHON, LOOK_JAVASCRIPT } = looks;
    const s = await Session.load(await native.made(), at);
    const shell = 'f 4  1 x\nv 4  1\n/home/user/d\nbig 640 100000 regular file\nlink 777 3 symbolic link\ntwo 644 4 regular file\n100000\n';
    const python = [[0, { k: null }, { k: null }], true, 7, 9, '2\n', true, true];
    const javascript = [2, 'one,two', 4, 2];
    let back;
    try {
      assert.deepEqual([(await s.exec(LOOK)).stdout, (await s.history()).filter((c) => c.command === 'echo two > two').length], [shell, 1]);
      assert.deepEqual((await s.python(LOOK_PYTHON)).value, python);
      assert.deepEqual((await s.javascript(LOOK_JAVASCRIPT)).value, javascript);
      // Undoes these calls, and then the last cells of the native runner.
      for (let n = 0; n < 4; n++) await s.undo();
      assert.equal((await s.javascript('m.size')).value, 1);
      await s.undo();
      for (let n = 0; n < 4; n++) await s.redo().catch(() => {});
      await s.restore((await s.history()).find((c) => c.command.startsWith('m.set')).number);
      await s.exec('n=43; echo web > web; rm two; cd /tmp; m[new]=w; f() { echo "g $n $1"; }');
      await s.python('x[1]["page"] = pd.Series([1.5]).sum().item(); df.loc[3] = 10');
      await s.javascript('m.set("page", 3); a.push(a)');
      back = await s.export({ history: true });
    } finally {
      await s.close();
    }
    const now = 'g 43 x\nv w 43\n/tmp\nbig 640 100000 regular file\nlink 777 3 symbolic link\nweb 644 4 regular file\n100000\n';
    const told = await native.take(back, [
      ['exec', LOOK],
      ['python', LOOK_PYTHON],
      ['javascript', LOOK_JAVASCRIPT],
      ...Array(6).fill(['undo']),
      ['exec', LOOK],
      ['python', LOOK_PYTHON],
      ['javascript', LOOK_JAVASCRIPT],
    ]);
    const changed = "{'k': None, 'page': 1.5}";
    assert.deepEqual([told[0], told[1], told[2]], [now, `[[0, ${changed}, ${changed}], True, 7, 19, '2\\n', True, True]\n`, "[ 3, 'one,two,page', 4, 2 ]\n"]);
    const [was, wasPython, wasJavascript] = told.slice(-3);
    assert.deepEqual([was, wasPython, wasJavascript], [shell, "[[0, {'k': None}, {'k': None}], True, 7, 9, '2\\n', True, True]\n", "[ 2, 'one,two', 4, 2 ]\n"]);
  });

  test('figures and tables of cells', async () => {
    const table = await box.python('import pandas as pd\ndf = pd.DataFrame({"a": [1, 2, 6]})\ndf.describe().loc["mean", "a"].item()');
    assert.equal(table.value, 3);
    const drawn = await box.python('import matplotlib.pyplot as plt\nplt.plot([1, 4, 9])\nNone');
    const [figure] = await drawn.figures();
    assert.equal(figure.mimeType, 'image/png');
    assert.deepEqual([...figure.data.subarray(0, 8)], [0x89, 0x50, 0x4e, 0x47, 0x0d, 0x0a, 0x1a, 0x0a]);
  });

  test('cells of JavaScript', async () => {
    await box.reset();
    const first = await box.javascript('let a = [1, 2]; a.map((n) => n * 2)');
    assert.deepEqual([first.value, first.valueRepr], [[2, 4], '[ 2, 4 ]']);
    const second = await box.javascript('let a = (await import("node:path")).basename("/x/y"); console.log(a); a');
    assert.deepEqual([second.stdout, second.value], ['y\n', 'y']);
    const failed = await box.javascript('a.no.no');
    assert.equal(failed.exitCode, 1);
    assert.match(failed.stderr, /^TypeError: /m);
    assert.match(failed.stderr, /at <cell 3>:1/);
    const spin = await box.javascript('for (;;);', { timeout: 0.5 });
    assert.deepEqual([spin.limitHit, spin.putBack], ['timeout', true]);
    assert.equal((await box.javascript('a')).value, 'y');
  });

  test('undo, redo, restore, snapshots', async () => {
    const begun = await box.snapshot('begun');
    await box.exec('echo one > kept; n=1; cd /tmp');
    const one = await box.head();
    await box.write('/home/user/written', 'w');
    assert.equal(await box.undo(), one);
    assert.equal(await box.exists('/home/user/written'), false);
    await box.redo();
    assert.equal(await box.readText('/home/user/written'), 'w');
    const [last] = (await box.history()).slice(-1);
    assert.deepEqual([last.command, last.parent, last.exitCode], ['upload /home/user/written', one, null]);
    await box.python('q = 1');
    await box.undo();
    assert.equal((await box.python('q')).exitCode, 1);
    const copy = await Session.load(await box.export({ history: true }), at);
    assert.deepEqual((await copy.exec('cat ~/kept ~/written; echo; echo $n; pwd')).stdout, 'one\nw\n1\n/tmp\n');
    assert.equal((await copy.history()).filter((c) => c.tags.includes('begun'))[0].number, begun);
    const changed = await copy.changes(one);
    assert.deepEqual(changed, [{ path: '/home/user/kept', change: 'created', before: null, after: 'one\n' }]);
    await copy.exec('echo two >> ~/kept; rm ~/written; mv ~/kept ~/moved');
    assert.deepEqual(await copy.changes(await copy.head()), [
      { path: '/home/user/kept', change: 'deleted', before: 'one\n', after: null },
      { path: '/home/user/moved', change: 'created', before: null, after: 'one\ntwo\n' },
      { path: '/home/user/written', change: 'deleted', before: 'w', after: null },
    ]);
    await assert.rejects(copy.changes(1e6), NotFoundError);
    await copy.close();
    await box.restore('begun');
    assert.deepEqual([await box.cwd(), await box.exists('/home/user/kept')], ['/home/user', false]);
    assert.equal((await box.exec('echo "$n"')).stdout, '\n');
    await assert.rejects(box.restore(1e6), NotFoundError);
    await assert.rejects(Session.load(new Uint8Array(10), at), InvalidError);
  });

  test('a failure is thrown where that was asked for', async () => {
    await assert.rejects(box.exec('echo why >&2; exit 3', { check: true }), { name: 'CommandError', message: 'exit code 3: why' });
    assert.equal((await box.python('1', { check: true })).value, 1);
  });

  test('a deep recursion of the shell is an error of the shell', async () => {
    const down = 'f() { [ $1 = 0 ] || f $(( $1 - 1 )); echo $1; }; f 40 | tail -1';
    assert.deepEqual(await out(down), ok('40\n'));
    for (const line of [
      'f() { f $(( $1 + 1 )); }; f 0',
      'f() { if true; then for i in 1; do f; done; fi; }; f',
      'f() { eval f; }; f',
    ]) {
      const { exitCode, stderr } = await out(line);
      assert.equal(exitCode, 1, line);
      assert.match(stderr, /nesting level exceeded/, line);
    }
    // The substituted command fails; the commands around it continue.
    assert.match((await out('f() { echo $(f); }; f')).stderr, /nesting level exceeded/);
  });

  test('a deep recursion of JavaScript is an error of the script', async () => {
    for (const down of ['function f() { f() }', 'const f = () => [1].forEach(f)', 'const o = { get x() { return this.x } }, f = () => o.x']) {
      const { exitCode, stdout } = await out(['node', '-e', `${down}; try { f() } catch (error) { console.log(error.name) }`]);
      assert.deepEqual([exitCode, stdout], [0, 'RangeError\n'], down);
    }
    assert.deepEqual(await out(['node', '-p', 'const f = (n) => (n ? 1 + f(n - 1) : 0); f(500)']), ok('500\n'));
  });

  // Browsers give workers half a megabyte or one megabyte of stack. Recursive C code uses it up
  // before it reaches CPython's own limit.
  if (isNode) {
    test('a deep recursion of C code is an error of the program', async () => {
      const scripts = [
        'import json; json.loads("[" * 100000)',
        'x = []\nfor i in range(100000): x = [x]\nrepr(x)',
        'def f(): return sorted([1], key=lambda x: f())\nf()',
        'import re; re.compile("(" * 50000 + ")" * 50000)',
      ];
      for (const script of scripts) {
        const { exitCode, stderr } = await out(['python3', '-c', script]);
        assert.equal(exitCode, 1, script);
        assert.match(stderr, /^RecursionError/m, script);
      }
      const node = 'function f() { [1].forEach(f); } try { f(); } catch (e) { console.log(e instanceof RangeError); }';
      assert.deepEqual(await out(['node', '-e', node]), ok('true\n'));
    });
  }

  test('a command begins where it is told', async () => {
    const line = ['sh', '-c', 'pwd; echo $PWD; ls -d zone*'];
    assert.deepEqual(await out(line, { cwd: '/usr/share' }), ok('/usr/share\n/usr/share\nzoneinfo\n'));
    await assert.rejects(out(['true'], { cwd: '/nowhere' }), ConflictError);
    await assert.rejects(out(['true'], { cwd: 'tmp' }), InvalidError);
    // The environment of every command, as in the native runner. `cd` above has set OLDPWD.
    const { stdout } = await out(['env', '-u', '_', '-u', 'OLDPWD']);
    const names = stdout.split('\n').map((line) => line.split('=')[0]).filter(Boolean).sort();
    assert.deepEqual(names, ['HOME', 'HOSTNAME', 'LANG', 'LOGNAME', 'PATH', 'PWD', 'SHELL', 'TERM', 'TZ', 'USER']);
  });

  test('processes are limited, and the session goes on', async () => {
    const many = await out('for i in $(seq 100); do sleep 100 & done; kill $(jobs -p); wait; echo ended');
    assert.match(many.stderr, /Resource temporarily unavailable|fork/);
    assert.deepEqual(await out('echo on'), ok('on\n'));
  });

  // The limits are those of the native runner (docs/policy.md).
  test('output, files and memory are limited, and the session goes on', async () => {
    const endless = await box.exec('yes', { maxOutput: 1000 });
    assert.deepEqual([endless.exitCode, endless.limitHit, endless.truncated], [137, 'output', true]);
    assert.equal(endless.stdout, 'y\n'.repeat(500));
    const large = await box.exec('head -c 700000000 /dev/zero > large; wc -c < large; rm large');
    assert.equal(large.limitHit, 'disk');
    assert.match(large.stderr, /No space left on device/);
    const size = Number(large.stdout);
    assert.ok(size > 400 << 20 && size <= 512 << 20, `${size} bytes of files`);
    // A process has at most two gibibytes. After its end, the next process can use them.
    const hungry = 'x = []\ntry:\n  while True: x.append(bytearray(1 << 24))\nexcept MemoryError:\n  n = len(x); x.clear(); print(n)';
    for (let n = 0; n < 2; n++) {
      const { exitCode, stdout, stderr } = await out(['python3', '-c', hungry]);
      assert.deepEqual([exitCode, stderr], [0, '']);
      assert.ok(Number(stdout) > 100 && Number(stdout) < 128, `${stdout} times 16 MiB`);
    }
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

  test('a session that has used up its memory says so, and gives away what it has', async () => {
    // This imitates an engine that has addresses for only 256 MiB.
    const { Memory } = WebAssembly;
    WebAssembly.Memory = class extends Memory {
      constructor(type) {
        if (type.initial > 4096) throw new RangeError('no addresses');
        super(type);
      }
    };
    let session;
    try {
      session = await Session.create({ ...at, workers: 1 });
    } finally {
      WebAssembly.Memory = Memory;
    }
    // When a guest writes too much, the guest gets an error.
    const large = await session.exec('head -c 300000000 /dev/zero > large');
    assert.deepEqual([large.exitCode, large.limitHit], [1, 'memory']);
    assert.match(large.stderr, /No space left on device/);
    assert.equal((await session.exec('rm large; echo kept > kept; echo on')).stdout, 'on\n');
    // Then the history fills the memory, until no call can begin.
    const fill = async () => {
      for (let n = 0; n < 100; n++) await session.exec('head -c 5000000 /dev/urandom > noise');
    };
    await assert.rejects(fill(), /used up its memory/);
    assert.equal((await session.stat('kept')).size, 5);
    await session.undo();
    assert.equal(new TextDecoder().decode(await session.read('kept')), 'kept\n');
    const next = await Session.load(await session.export(), at);
    assert.equal((await next.exec('cat kept; head -c 5000000 /dev/urandom > noise; wc -c < noise')).stdout, 'kept\n5000000\n');
    await Promise.all([session.close(), next.close()]);
  });

  test('files are searched and edited', async () => {
    await box.write('/tmp/d/a.py', 'one\ntwo\n');
    assert.match(await box.edit('/tmp/d/a.py', 'two', 'TWO'), /TWO/);
    assert.deepEqual(await box.glob('**/*.py', '/tmp/d'), ['/tmp/d/a.py']);
    assert.deepEqual(await box.grep('^T', '/tmp/d'), [{ path: '/tmp/d/a.py', line: 2, text: 'TWO' }]);
    await assert.rejects(box.edit('/tmp/d/a.py', 'three', '3'), { name: 'FileError', code: 'no_match' });
    await box.delete('/tmp/d', { recursive: true });
  });

  test('directories go to a .zip and back', async () => {
    assert.equal((await box.exec('mkdir -p z/a; seq 50000 > z/a/numbers; head -c 3000000 /dev/urandom > "z/b b"; : > z/.empty')).exitCode, 0);
    const zip = await box.zip('z');
    await box.write('/tmp/z.zip', zip);
    const names = 'import zipfile; z = zipfile.ZipFile("/tmp/z.zip"); print(z.testzip(), sorted(z.namelist()))';
    assert.deepEqual(await out(['python3', '-c', names]), ok("None ['.empty', 'a/', 'a/numbers', 'b b']\n"));
    await box.unzip(zip, 'there/too');
    assert.deepEqual(await out('diff -r z there/too && cat there/too/a/numbers | wc -l'), ok('50000\n'));
    await assert.rejects(box.unzip(zip.subarray(0, 1000), 'there'), { name: 'CommandError' });
    await assert.rejects(box.zip('nowhere'), { name: 'CommandError' });
    await box.exec('rm -rf z there /tmp/z.zip');
  });

  // Hashes of strings differ between interpreters that begin without prepared memory, and are equal
  // in all that begin with it.
  test('interpreters are prepared by themselves', async () => {
    const hash = async (session) => (await session.exec(['python3', '-c', 'print(hash("a"))'])).stdout;
    const never = await Session.create({ ...at, workers: 1, prepare: false });
    const [one, two, three] = [await hash(never), await hash(never), await hash(never)];
    assert.equal(new Set([one, two, three]).size, 3);
    await never.close();
    for (const request of await kept()) await (await caches.open(CACHE)).delete(request);
    const session = await Session.create({ ...at, workers: 1 });
    await hash(session);
    await hash(session);
    // The last process begins before the memory is prepared and ends afterwards. The kernel's
    // memory has grown by the interpreter's memory then.
    const before = session.usage.kernelBytes;
    const done = async function* () {
      for (const end = performance.now() + 60_000; session.usage.kernelBytes < before + 60e6 && performance.now() < end; ) {
        await new Promise((resolve) => setTimeout(resolve, 100));
      }
      yield 'a line\n';
    };
    const often = 'for n in {1..24}; do python3 -c pass; done; python3 -c "print(input())"';
    assert.equal((await session.exec(often, { stdin: done() })).stdout, 'a line\n');
    // Once the prepared memory is there, each process begins with it, and so with the same seed.
    let now = await hash(session);
    for (let n = 0; n < 100; n++) {
      const last = now;
      now = await hash(session);
      if (now === last) break;
      await new Promise((resolve) => setTimeout(resolve, 100));
    }
    assert.equal(await hash(session), now);
    // Processes run first one after another, then at the same time.
    const script = `for n in 1 2 3; do python3 -c "print(len(globals()))"; done
      seq 4 | xargs -P 4 -I{} python3 -c "x = {}; print(hash('a'))"`;
    const { stdout, stderr } = await session.exec(script);
    const [a, b, c, ...hashes] = stdout.trimEnd().split('\n');
    assert.deepEqual([b, c, stderr], [a, a, '']);
    assert.deepEqual(hashes, Array(4).fill(now.trimEnd()));
    await session.close();
    if (isNode) return;
    // The next session has the prepared memory from its first process on. Damaged prepared memory
    // is made again.
    for (let n = 0; n < 100 && (await kept()).length === 0; n++) await new Promise((resolve) => setTimeout(resolve, 100));
    const next = await Session.create({ ...at, workers: 1 });
    assert.equal(await hash(next), now);
    await next.close();
    for (const request of await kept()) await (await caches.open(CACHE)).put(request, new Response('damaged'));
    const other = await Session.create({ ...at, workers: 1 });
    assert.ok((await hash(other)) !== now);
    await other.close();
    for (const request of await kept()) await (await caches.open(CACHE)).delete(request);
  });

  // Engines have room for a few hundred memories, so guests that have ended must free theirs.
  test('a thousand processes after another', async () => {
    const script = 'for n in {1..500}; do cat <(echo $n); done; for n in {1..500}; do x=$(echo $n | wc -c); done; echo $x';
    const numbers = Array.from({ length: 500 }, (_, n) => `${n + 1}\n`).join('');
    assert.deepEqual(await out(script), ok(`${numbers}4\n`));
  });

  // Recursive C code has far less stack in a page than natively.
  test('what recurses too deep in C is an exception of Python, in a process and in a cell', async () => {
    await box.write('deep.py', DEEP);
    // The parser allows 200 nested brackets (`SyntaxError`). If the stack is small, the parser
    // reaches its bound of the stack before that (`MemoryError`).
    const ends = ({ exitCode, stdout, stderr }) => [exitCode, stdout.replace(/(brackets|calls|blocks) Memory/g, '$1 Syntax'), stderr];
    assert.deepEqual(ends(await box.exec('python3 deep.py')), [0, DEEP_ENDS, '']);
    assert.deepEqual(ends(await box.python(DEEP)), [0, DEEP_ENDS, '']);
    assert.equal((await box.python('1 + 1')).value, 2);
  });

  if (isNode) {
    test('a store is of pages', async () => {
      await assert.rejects(Session.create({ ...at, store: 's' }), InvalidError);
    });
  } else {
    test('a store keeps sessions', () => keepsSessions(sdk, at));

    // If a page is left while it stores a response, Firefox keeps the beginning of the response.
    test('what was kept without its end is fetched again', async () => {
      const cache = await caches.open(CACHE);
      for (const request of await cache.keys()) {
        const response = await cache.match(request);
        const bytes = await response.arrayBuffer();
        await cache.put(request, new Response(bytes.slice(0, bytes.byteLength / 2), response));
      }
      // The package is imported once more, because the first import has what it needs in memory.
      const again = await import(new URL('/source/index.js', location.href));
      const session = await again.Session.create({ ...at, workers: 1 });
      assert.equal((await session.exec('echo hi | wc -c; python3 -c "import json; print(json.dumps([1]))"')).stdout, '3\n[1]\n');
      await session.close();
    });

    test('a store keeps sessions where there are no private files', async () => {
      const { getDirectory } = StorageManager.prototype;
      StorageManager.prototype.getDirectory = undefined;
      try {
        await keepsSessions(sdk, at);
      } finally {
        StorageManager.prototype.getDirectory = getDirectory;
      }
      await keepsRecords(await import(new URL('/source/store-database.js', location.href)));
    });
  }

  requests.define(sdk, at, test, world);

  test('what is no image is refused; a closed session says so', async () => {
    await assert.rejects(Session.create({ ...at, image: new Uint8Array(100) }), /not a Wasibox image/);
    await assert.rejects(Session.create({ image: new Uint8Array(1) }), InvalidError);
    const other = await Session.create({ ...at, workers: 0 });
    const ran = other.exec('sleep 100');
    await new Promise((resolve) => setTimeout(resolve, 100));
    await Promise.all([other.close(), assert.rejects(ran, ClosedError)]);
    await assert.rejects(other.exec('true'), ClosedError);
    assert.equal(other.closed, true);
  });

  return () => box?.close();
}

/** The cache in which pages keep parts of the image and prepared memory (`parts.js`). */
const CACHE = 'wasibox-image';
/** Returns the requests under which prepared memory is kept. */
async function kept() {
  if (isNode) return [];
  return (await (await caches.open(CACHE)).keys()).filter(({ url }) => url.includes('/prepared-'));
}

/**
 * A program that makes CPython's C code recurse in each possible way: at first as deep as scripts
 * do, then far too deep.
 */
const DEEP = `
import functools, json, marshal, pickle, sys

def nested(n):
    made = []
    for _ in range(n):
        made = [made]
    return made

class Shown:
    def __init__(self, inner): self.inner = inner
    def __repr__(self): return repr(self.inner)

class Asked:
    def __getattr__(self, name):
        n = int(name[1:])
        return getattr(self, f"a{n - 1}") if n else "found"

def shown(n): return repr(functools.reduce(lambda inner, _: Shown(inner), range(n), 1))
def sort(n): return sorted([n], key=lambda n: sort(n - 1) if n else [])
def lists(n): return list(map(lists, [n - 1])) if n else []
def code(text): return compile(text, "deep", "eval")

WAYS = {
    "repr": lambda n: repr(nested(n)),
    "equal": lambda n: nested(n) == nested(n),
    "json.loads": lambda n: json.loads("[" * n + "]" * n),
    "json.loads of objects": lambda n: json.loads('{"a":' * n + "1" + "}" * n),
    "json.dumps": lambda n: json.dumps(nested(n)),
    "pickle.dumps": lambda n: pickle.dumps(nested(n)),
    "marshal.dumps": lambda n: marshal.dumps(nested(n)),
    "marshal.loads": lambda n: marshal.loads(b"[\\1\\0\\0\\0" * n + b"N"),
    "__repr__": shown,
    "__getattr__": lambda n: getattr(Asked(), f"a{n}"),
    "sorted": sort,
    "map": lists,
    "minus": lambda n: code("-" * n + "1"),
    "not": lambda n: code("not " * n + "1"),
    "lambda": lambda n: code("lambda: " * n + "1"),
    "else": lambda n: code("1 if 0 else " * n + "1"),
    "plus": lambda n: code(" + ".join(["a"] * n)),
    "dot": lambda n: code("a" + ".b" * n),
    "brackets": lambda n: code("[" * n + "]" * n),
    "calls": lambda n: code("f(" * n + ")" * n),
    "blocks": lambda n: code("(" * n + "1" + ")" * n),
}
sys.setrecursionlimit(1_000_000)
for name, way in WAYS.items():
    way(20)
    try:
        way(20_000)
        print(name, "returns")
    except (RecursionError, MemoryError, SyntaxError, ValueError) as error:
        print(name, type(error).__name__)
`;
/** The output of CPython 3.13.0 for Linux with an unlimited stack. */
const DEEP_ENDS = `repr RecursionError
equal RecursionError
json.loads RecursionError
json.loads of objects RecursionError
json.dumps RecursionError
pickle.dumps RecursionError
marshal.dumps ValueError
marshal.loads ValueError
__repr__ RecursionError
__getattr__ RecursionError
sorted RecursionError
map RecursionError
minus MemoryError
not MemoryError
lambda MemoryError
else MemoryError
plus RecursionError
dot RecursionError
brackets SyntaxError
calls SyntaxError
blocks SyntaxError
`;

/** Tests that sessions of a store can be opened again, with their history. */
async function keepsSessions({ Session, sessions, remove, storage, BusyError, ConflictError, InvalidError, NotFoundError }, at) {
  const kept = { ...at, store: 'tests', workers: 0 };
  for (const name of await sessions('tests')) await remove('tests', name);
  await assert.rejects(Session.create({ ...kept, open: 'open' }), NotFoundError);
  const first = await Session.create({ ...kept, name: 'a' });
  await first.exec('echo one > one; n=1');
  await first.exec('echo two > two; n=2; cd /tmp');
  const noise = crypto.getRandomValues(new Uint8Array(60_000));
  await first.write('/home/user/three', noise);
  await first.snapshot('three');
  await first.undo();
  await assert.rejects(remove('tests', 'a'), BusyError);
  const fork = await first.fork('b');
  await fork.exec('rm ~/one');
  assert.deepEqual([first.name, fork.name, await sessions('tests')], ['a', 'b', ['a', 'b']]);
  await Promise.all([first.close(), fork.close()]);
  await assert.rejects(Session.create({ ...kept, name: 'a', open: 'create' }), ConflictError);

  const second = await Session.create({ ...kept, name: 'a', open: 'open' });
  assert.equal((await second.exec('cat ~/one ~/two; echo $n; pwd; ls ~/three')).stdout, 'one\ntwo\n2\n/tmp\n');
  await second.undo();
  assert.equal(await second.redo(), await second.head());
  await second.restore('three');
  const three = await second.read('/home/user/three');
  assert.deepEqual([...three], [...noise]);
  await second.close();
  const other = await Session.create({ ...kept, name: 'b' });
  assert.equal((await other.exec('ls ~')).stdout, 'two\n');
  const loaded = await Session.load(await other.export({ history: true }), { ...kept, name: 'c' });
  await Promise.all([other.close(), loaded.close()]);
  assert.ok((await storage()).usage > 60_000);
  for (const name of ['a', 'b', 'c']) await remove('tests', name);
  assert.deepEqual(await sessions('tests'), []);
  await assert.rejects(remove('tests', 'a'), NotFoundError);
  await assert.rejects(sessions('../x'), InvalidError);
}

/** Tests that a session in IndexedDB contains the bytes that were added and not cut off. */
async function keepsRecords({ names, open, remove }) {
  const [store, name] = ['records', 'a'];
  const added = ['one', 'two', 'three'].map((text) => new TextEncoder().encode(text));
  const cuts = { 11: 'onetwothree', 6: 'onetwo', 4: 'onet', 3: 'one', 0: '' };
  for (const [length, left] of Object.entries(cuts)) {
    const first = await open(store, name);
    assert.equal(first.bytes.length, 0);
    for (const bytes of added) await first.append(bytes);
    await first.cut(Number(length));
    await first.append(new TextEncoder().encode('!'));
    await assert.rejects(remove(store, name), /open/);
    first.close();
    const second = await open(store, name);
    assert.equal(new TextDecoder().decode(second.bytes), `${left}!`);
    second.close();
    assert.deepEqual(await names(store), [name]);
    await remove(store, name);
  }
  assert.deepEqual(await names(store), []);
}
