//! Runs scripts in JavaScript. `tests/javascript/FILE` has cases, each after a line `//# NAME`;
//! `FILE.out` has Node 24's output and status for each, recorded by `cargo xtask javascript`.

use std::path::Path;

use wasibox_tests::case::{Case, Target};
use wasibox_tests::root;
use wasibox_tests::run::{Subject, check, run};

/// Returns the names and texts of the parts of a file.
fn parts(text: &str) -> Vec<(&str, &str)> {
    text.split("//# ").skip(1).filter_map(|part| part.split_once('\n')).collect()
}

/// Returns the cases of a file.
fn cases(file: &Path) -> Vec<Case> {
    let text = std::fs::read_to_string(file).expect("cases");
    let wanted = std::fs::read_to_string(format!("{}.out", file.display())).expect("outputs");
    let (cases, wanted) = (parts(&text), parts(&wanted));
    assert_eq!(cases.len(), wanted.len(), "{}: record it again", file.display());
    let script = format!("case.{}", file.extension().expect("an extension").display());
    cases
        .into_iter()
        .zip(wanted)
        .map(|((name, text), (head, stdout))| {
            let (recorded, status) = head.rsplit_once(" = ").expect("a status");
            assert_eq!(name, recorded, "{}: record it again", file.display());
            Case {
                name: format!("{}: {name}", file.display()),
                script: format!("node {script}"),
                stdin: String::new(),
                files: [(script.clone(), text.to_string())].into(),
                stdout: stdout.to_string(),
                stderr: None,
                status: status.parse().expect("a number"),
                targets: vec![Target::Wasm],
                deviation: None,
            }
        })
        .collect()
}

fn file(name: &str) {
    let cases = cases(&root().join("tests/javascript").join(name));
    let failures: Vec<String> = cases
        .iter()
        .flat_map(|case| check(Subject::Wasm, case, &run(Subject::Wasm, case)))
        .collect();
    let (failed, all) = (failures.len(), cases.len());
    assert!(failed == 0, "{failed} of {all} failed\n{}", failures.join("\n"));
}

#[test]
fn language() {
    file("language.js");
}

#[test]
fn async_context() {
    file("async_context.js");
}

#[test]
fn webassembly() {
    file("webassembly.js");
}

#[test]
fn workers() {
    file("workers.js");
}

#[test]
fn ports() {
    file("ports.js");
}

#[test]
fn url_pattern() {
    file("url_pattern.js");
}

#[test]
fn vm() {
    file("vm.js");
}

#[test]
fn traces() {
    file("traces.js");
}

#[test]
fn spoiled() {
    file("spoiled.js");
}

#[test]
fn inspect() {
    file("inspect.js");
}

#[test]
fn core() {
    file("core.js");
}

#[test]
fn system() {
    file("system.js");
}

#[test]
fn process() {
    file("process.js");
}

#[test]
fn network() {
    file("network.js");
}

#[test]
fn crypto() {
    file("crypto.js");
}

#[test]
fn keys() {
    file("keys.js");
}

#[test]
fn test_runner() {
    file("test_runner.js");
}

#[test]
fn serialize() {
    file("serialize.js");
}

#[test]
fn strings() {
    file("strings.js");
}

/// Tests that a policy that forbids code from strings refuses more than Node's option does.
#[test]
fn a_policy_lets_no_string_become_code() {
    const SCRIPT: &str = "const vm = require('vm'); const { Module } = require('module');\
        const tries = { eval: () => eval('1'), Function: () => Function('1'), script: () => new vm.Script('1'),\
            run: () => vm.runInThisContext('1'), context: () => vm.runInNewContext('1'),\
            compile: () => vm.compileFunction('1'), old: () => process.binding('contextify') };\
        for (const name in tries) try { tries[name](); console.log(name); }\
            catch (e) { if (!(e instanceof EvalError)) throw e; }\
        require('fs').writeFileSync('/tmp/m.js', 'module.exports = 7'); console.log(require('/tmp/m.js'));\
        import('data:text/javascript,export default 1').then(() => console.log('data'), (e) => console.log(e.name))";
    let run = |options: &[&str], command: &[&str]| {
        let mut runner = std::process::Command::new(wasibox_tests::runner());
        runner.arg("exec").args(options).arg(wasibox_tests::image()).arg("--").args(command);
        let out = runner.output().expect("runner");
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        (text(&out.stdout), text(&out.stderr))
    };
    let all = "eval\nFunction\nscript\nrun\ncontext\ncompile\nold\n7\ndata\n";
    let (out, errors) = run(&["--env", "NODE_NO_WARNINGS=1"], &["node", "-e", SCRIPT]);
    assert_eq!(out, all, "{errors}");
    let (out, errors) = run(&["--no-javascript-eval"], &["node", "-e", SCRIPT]);
    assert_eq!(out, "7\nEvalError\n", "{errors}");
    // Without the policy all of these run; with it none does, and neither do other texts than those
    // of files, or the arguments and the input of a `node` that JavaScript started.
    const MODULES: &str = "const { Module, registerHooks } = require('module'); const fs = require('fs');\
        const { spawnSync, execSync } = require('child_process');\
        const compile = (name, text) => { const m = new Module(name); m._compile(text, name); return m.exports; };\
        const child = (options, input) => { const { stdout, stderr } = spawnSync(process.execPath, options, { input, encoding: 'utf8' });\
            if (stderr.startsWith('EvalError: ')) throw new EvalError(); return stdout; };\
        fs.writeFileSync('a.js', 'module.exports = 1'); fs.writeFileSync('b.ts', 'module.exports = 2 as number');\
        fs.writeFileSync('c.mjs', 'export default 3'); fs.writeFileSync('d.js', '\\ufeffmodule.exports = 4');\
        for (const file of ['a.js', 'b.ts', 'c.mjs', 'd.js']) { const m = require('./' + file); console.log(m.default ?? m); }\
        console.log(compile('/work/a.js', 'module.exports = 1'));\
        console.log(child(['a.js']).length, execSync('node a.js; echo run').toString().trim());\
        const tries = { missing: () => compile('/work/x.js', 'module.exports = 1'), other: () => compile('/work/a.js', 'module.exports = 5'),\
            typed: () => compile('/work/b.ts', 'module.exports = 5'),\
            read: () => { const read = fs.readFileSync; fs.readFileSync = () => 'module.exports = 5';\
                try { delete require.cache[require.resolve('./a.js')]; return require('./a.js'); } finally { fs.readFileSync = read; } },\
            hook: () => { const hooks = registerHooks({ load: (url, context, next) => ({ ...next(url, context), source: 'module.exports = 5' }) });\
                try { delete require.cache[require.resolve('./a.js')]; return require('./a.js'); } finally { hooks.deregister(); } },\
            argument: () => child(['-e', '1']), print: () => child(['-p', '1']), input: () => child(['-'], '1'), piped: () => child([], '1'),\
            shell: () => { const text = execSync('node -e 1 2>&1 || true').toString(); if (text.startsWith('EvalError: ')) throw new EvalError(); } };\
        for (const name in tries) try { tries[name](); console.log(name); }\
            catch (e) { if (!(e instanceof EvalError)) throw e; }";
    let work = ["--env", "NODE_NO_WARNINGS=1", "--cwd", "/work"];
    let (files, all) = (
        "1\n2\n3\n4\n1\n0 run\n",
        "missing\nother\ntyped\nread\nhook\nargument\nprint\ninput\npiped\nshell\n",
    );
    let folder = tempfile::tempdir().expect("a folder");
    let mount = format!("{}:/work:rw", folder.path().display());
    let work = [&work[..], &["--mount", &mount]].concat();
    let (out, errors) = run(&work, &["node", "-e", MODULES]);
    assert_eq!(out, format!("{files}{all}"), "{errors}");
    let policy = [&work[..], &["--no-javascript-eval"]].concat();
    let (out, errors) = run(&policy, &["node", "-e", MODULES]);
    assert_eq!(out, files, "{errors}");
    // A new environment does not undo the policy.
    let child = "env -i node -p 'try { eval(1) } catch (e) { e.name }'";
    assert_eq!(run(&["--no-javascript-eval"], &["sh", "-c", child]).0, "EvalError\n");
    // Nothing that a guest writes undoes it either.
    for forged in [
        "touch /usr/lib/js/code-from-strings",
        "touch /.box/code-from-strings",
        "mkdir -p /.box/code-from-strings",
        "ln -s /etc/passwd /.box/code-from-strings",
        "mv /.box /tmp/box",
        "chmod 777 /.box",
        "rm -rf /.box",
        "chmod 000 /",
    ] {
        let script = format!("{forged}; {child}");
        let (out, errors) = run(&["--no-javascript-eval"], &["sh", "-c", &script]);
        // After the last command `node` cannot be found.
        let refused = if forged.ends_with(" /") { "" } else { "EvalError\n" };
        assert_eq!(out, refused, "{forged}: {errors}");
    }
}

#[test]
fn modules() {
    file("modules.mjs");
}

#[test]
fn typescript() {
    file("typescript.ts");
}

#[test]
fn limits() {
    file("limits.js");
}
