//! JavaScript's cells, in the image of `dist/` or of the folder that `WASIBOX_DIST` names
//! (`cargo xtask dist` makes it).

#[path = "common/cells.rs"]
mod cells;

use cells::{any, cell, move_over, sandbox, with};
use std::time::{Duration, Instant};
use wasibox_sandbox::streams::BytesInput;
use wasibox_sandbox::{LimitHit, RunSpec};

const INTERPRETER: &str = "javascript";
const PROGRAM: &str = "node";
const TIMEOUT: Duration = Duration::from_secs(60);

#[test]
fn cells_share_an_interpreter() {
    let s = sandbox();
    assert_eq!(cell(&s, "let x = 20; const f = (n) => n + 1; class A { n = 3 }"), "");
    assert_eq!(cell(&s, "x += 1; f(x)"), "22");
    assert_eq!(cell(&s, "_ + 1"), "23");
    assert_eq!(cell(&s, "undefined"), "");
    // Names can be declared again, including those of built-in objects.
    assert_eq!(cell(&s, "let x = 5; const f = 9; class A { m = 4 }; let navigator = 1"), "");
    assert_eq!(cell(&s, "[x, f, new A(), navigator]"), "[ 5, 9, A { m: 4 }, 1 ]");
    let ran = any(&s, "console.log('out'); console.error('err'); ({ a: [1, 2.5, null, true] })");
    assert_eq!((ran.out.as_str(), ran.err.as_str()), ("out\n", "err\n"));
    assert_eq!(ran.value(), "{ a: [ 1, 2.5, null, true ] }");
    assert_eq!(ran.json(), r#"{"a":[1,2.5,null,true]}"#);
    assert_eq!(any(&s, "{ a: 'x' }").json(), r#"{"a":"x"}"#);
    for code in [
        "new Map([[1, 2]])",
        "NaN",
        "Symbol()",
        "x => x",
        "new Date(0)",
        "[, 1]",
        "({ get a() { return 1 } })",
    ] {
        assert_eq!(any(&s, code).json(), "", "{code}");
    }
    // An object that contains itself.
    let ran = any(&s, "const loop = {}; loop.me = loop; loop");
    assert_eq!((ran.value(), ran.json()), ("<ref *1> { me: [Circular *1] }", ""));
    assert!(cell(&s, "'x'.repeat(100_000)").ends_with("'... 90000 more characters"));
    assert_eq!(cell(&s, "Array.from({ length: 90 }, () => 'x'.repeat(1000))").len(), 64 << 10);
    assert_eq!(cell(&s, "_ = 5; typeof require('fs').readFileSync + path.sep"), "'function/'");
    assert_eq!(cell(&s, "_"), "5");
}

#[test]
fn errors_name_the_cell_and_the_line() {
    let s = sandbox();
    cell(&s, "function f(n) {\n  if (n === 0) throw new RangeError('zero');\n  return 1 / n\n}");
    let ran = any(&s, "let a = 1;\nf(a - 1)");
    assert_eq!((ran.status(), ran.value()), (1, ""));
    // Errors are printed as by Node, but without its version.
    let expected = "<cell 1>:2\n  if (n === 0) throw new RangeError('zero');\n                   ";
    assert!(ran.err.starts_with(expected), "{}", ran.err);
    let expected = "\n\nRangeError: zero\n    at f (<cell 1>:2:";
    assert!(ran.err.contains(expected) && ran.err.contains("at <cell 2>:2:"), "{}", ran.err);
    let ran = any(&s, "const y = ;");
    let expected = "<cell 3>:1\nconst y = ;\n          ^\n\nSyntaxError: Unexpected token ';'\n    at <cell 3>:1:11\n";
    assert_eq!((ran.status(), ran.err.as_str()), (1, expected));
    assert_eq!(cell(&s, "f(2)"), "0.5");
    assert_eq!(any(&s, "process.exit(7)").status(), 7);
    let ran =
        any(&s, "try { process.exit(8) } catch { console.log(1) } finally { console.log(2) }");
    assert_eq!((ran.status(), ran.out.as_str()), (8, ""));
    assert_eq!(any(&s, "await null; process.exit(9)").status(), 9);
    for code in
        ["setTimeout(() => { throw new Error('late') })", "Promise.reject(new Error('late'))"]
    {
        let ran = any(&s, code);
        assert!(ran.status() == 1 && ran.err.contains("Error: late\n    at <cell "), "{}", ran.err);
    }
    let ran = any(&s, "await new Promise(() => {})");
    assert_eq!(ran.status(), 13);
    assert_eq!(cell(&s, "f(4)"), "0.25");
    let ran = with(&s, "for (;;) ;", |s| s.timeout = Some(Duration::from_millis(300)));
    assert!(ran.cell.is_gone && ran.cell.run.limit == Some(LimitHit::Timeout));
    let ran = any(&s, "f(2)");
    assert!(ran.err.contains("ReferenceError: f is not defined"), "{}", ran.err);
}

#[test]
fn await_and_import_are_allowed() {
    let s = sandbox();
    cell(
        &s,
        "import fs, { readFileSync as r } from 'fs'; import * as p from 'node:path'\nconst t = await Promise.resolve('hello')\nfor (var i = 0; i < 3; i++) await null\nfunction g() { return t + i }\nlet { a, b: [c] } = { a: 1, b: [2] }",
    );
    assert_eq!(
        cell(&s, "g() + p.basename('/x/y') + typeof r + typeof fs + a + c"),
        "'hello3yfunctionobject12'"
    );
    assert_eq!(cell(&s, "await Promise.all([1, Promise.resolve(2)])"), "[ 1, 2 ]");
    let ran = any(&s, "const late = 1;\nawait Promise.reject(new RangeError('no'))");
    let expected = "<cell 4>:2\nawait Promise.reject(new RangeError('no'))\n";
    assert!(ran.err.starts_with(expected), "{}", ran.err);
    assert_eq!(cell(&s, "late"), "1");
    cell(&s, "fs.writeFileSync('m.mjs', 'export const n = 6; export default 7')");
    assert_eq!(cell(&s, "import d, { n } from './m.mjs'\n[d, n]"), "[ 7, 6 ]");
}

#[test]
fn cells_may_be_typescript() {
    let s = sandbox();
    let first = "interface P { x: number }\nenum Color { Red, Green = 5 }\nlet p: P = { x: 1 };\np.x + Color.Green";
    assert_eq!(cell(&s, first), "6");
    let second = "function twice<T extends number>(a: T): number { return a * 2 }\nconst r: number = await Promise.resolve(twice(p!.x as 1)); r";
    assert_eq!(cell(&s, second), "2");
    assert_eq!(cell(&s, "[Color[5], twice(4), r]"), "[ 'Green', 8, 2 ]");
    let ran = any(
        &s,
        "type A = string;\nfunction boom(x: A): never {\n  throw new Error(x);\n}\n\nboom('here')",
    );
    assert!(ran.err.starts_with("<cell 4>:3\n  throw new Error(x);\n"), "{}", ran.err);
    assert!(ran.err.contains("at <cell 4>:6:1"), "{}", ran.err);
    // Code that is neither JavaScript nor TypeScript is reported as JavaScript.
    let ran = any(&s, "let x: = 5;");
    assert!(
        ran.err.contains("SyntaxError: Unexpected token ':'\n    at <cell 5>:1:6"),
        "{}",
        ran.err
    );
}

#[test]
fn what_a_cell_begins_ends_with_it_or_goes_on() {
    let s = sandbox();
    let ran = any(&s, "setTimeout(() => console.log('later'), 30); 'now'");
    assert_eq!((ran.out.as_str(), ran.value()), ("later\n", "'now'"));
    cell(&s, "let ticks = 0; const every = setInterval(() => ticks++, 5); 1");
    cell(&s, "await new Promise((r) => setTimeout(r, 40)); clearInterval(every)");
    assert_eq!(cell(&s, "ticks > 1"), "true");
    // A server stays alive, too.
    let port = cell(
        &s,
        "const http = require('http'); const server = http.createServer((q, r) => r.end('page'));\nawait new Promise((r) => server.listen(0, r)); server.address().port",
    );
    assert!(port.parse::<u16>().is_ok(), "{port}");
    assert_eq!(
        cell(&s, &format!("await (await fetch('http://localhost:{port}/')).text()")),
        "'page'"
    );
    cell(&s, "server.closeAllConnections(); server.close(); 1");
    assert_eq!(
        cell(&s, "require('child_process').execSync('echo $((6*7))').toString()"),
        "'42\\n'"
    );
}

#[test]
fn input_environment_and_directory_are_the_sessions() {
    let s = sandbox();
    let typed =
        |text: &'static str| move |s: &mut RunSpec| s.stdin = Some(BytesInput::new(text.into()));
    let read = "require('fs').readFileSync(0, 'utf8')";
    assert_eq!(with(&s, read, typed("one\n")).value(), "'one\\n'");
    let lines = "const got = []; for await (const l of require('readline').createInterface({ input: process.stdin })) got.push(l); got";
    assert_eq!(with(&s, lines, typed("two\nthree\n")).value(), "[ 'two', 'three' ]");
    assert_eq!(with(&s, lines, typed("four\n")).value(), "[ 'four' ]");
    let env = |more: &'static str| move |s: &mut RunSpec| s.env.push(more.into());
    assert_eq!(with(&s, "process.env.A", env("A=1")).value(), "'1'");
    cell(&s, "process.env.B = 2");
    assert_eq!(cell(&s, "[process.env.A, process.env.B]"), "[ undefined, '2' ]");
    assert_eq!(cell(&s, "process.cwd()"), "'/home/user'");
    assert_eq!(with(&s, "process.cwd()", |s| s.cwd = "/tmp".into()).value(), "'/tmp'");
    let pid = cell(&s, "process.pid");
    assert_eq!(cell(&s, "process.pid"), pid);
}

#[test]
fn an_object_graph_comes_back() {
    let (one, two, three) = (sandbox(), sandbox(), sandbox());
    cell(&one, "function counter() { let n = 0; return () => ++n } const up = counter(); up()");
    cell(
        &one,
        "function* squares() { for (let k = 0; ; k++) yield k * k } const g = squares(); g.next(); g.next()",
    );
    cell(
        &one,
        "const m = new Map(Array.from({ length: 1000 }, (_, i) => [`${i}`, i])); const re = /a+/g",
    );
    cell(
        &one,
        "const fd = fs.openSync('/tmp/t', 'w+'); fs.writeSync(fd, '0123456789'); let sent = 0; const pending = new Promise((r) => { globalThis.settle = r }).then((v) => { sent = v })",
    );
    cell(&two, "require('fs').writeFileSync('/tmp/t', '0123456789')");
    let bytes = move_over(&one, &two, false);
    assert!(bytes < 2 << 20, "{bytes} bytes");
    move_over(&one, &three, true);
    for code in [
        "up()",
        "g.next().value",
        "m.get('999')",
        "'aab'.match(re)",
        "fs.readSync(fd, Buffer.alloc(3), 0, 3, 4)",
        "settle(5); await pending; sent",
    ] {
        assert_eq!(cell(&two, code), cell(&one, code), "{code}");
    }
    let [a, b, c] = [&one, &two, &three].map(|s| cell(s, "Math.random()"));
    assert!(a == b && a != c, "{a} {b} {c}");
    let [a, b] = [&one, &two].map(|s| cell(s, "crypto.randomUUID()"));
    assert!(a != b);
}

/// Figures for docs/javascript.md.
#[test]
#[ignore = "a measurement"]
fn figures() {
    let s = sandbox();
    let t = Instant::now();
    cell(&s, "let x = 0");
    println!("the first cell {:?}", t.elapsed());
    s.cell_changes("javascript", false).unwrap();
    let (mut run, mut take, mut bytes) = (Duration::MAX, Duration::MAX, 0);
    for _ in 0..300 {
        let t = Instant::now();
        cell(&s, "x += 1");
        run = run.min(t.elapsed());
        let t = Instant::now();
        bytes = s.cell_changes("javascript", false).unwrap().layer.len();
        take = take.min(t.elapsed());
    }
    println!("x += 1: {run:?}; its {bytes} bytes of changes: {take:?}");
    let change = s.cell_changes("javascript", true).unwrap();
    let mut least = [Duration::MAX; 2];
    let to = sandbox();
    for _ in 0..30 {
        let t = Instant::now();
        to.restore_cell("javascript", &change.module, &[&change.layer], &change.rest, false)
            .unwrap();
        least[0] = least[0].min(t.elapsed());
        let t = Instant::now();
        cell(&to, "x");
        least[1] = least[1].min(t.elapsed());
        to.forget_cell("javascript");
    }
    println!("{} bytes in all; coming back {:?}, x {:?}", change.layer.len(), least[0], least[1]);
}
