//! Tests `execute_code` with lists of modules in a policy file: modules on a list work, and others
//! cannot be imported in any way. CPython and Node are the authorities for the modules' answers.

use serde_json::{Value, json};
use wasibox_sessions::mcp::Stdio;

const POLICY: &str = "[tools]\noff = ['kv_set']\n\
    [tools.execute_code]\ntimeout = 20\nmemory = '128M'\n\
    modules.python = ['math', 'json', 'random', 'datetime', 'collections', 'urllib.parse', 'numpy']\n\
    modules.javascript = ['path', 'node:util', 'assert']\n";
const PLAIN: &str = "[tools.execute_code]\n\
    modules.python = ['math', 'json', 'random', 'datetime', 're', 'statistics', 'time']\n\
    modules.javascript = []\n";

struct Client(Stdio);

impl Client {
    fn begin(policy: &str) -> Client {
        let file = tempfile::NamedTempFile::new().expect("a file");
        std::fs::write(file.path(), policy).expect("a policy");
        Client(Stdio::begin(&["--policy", file.path().to_str().expect("a path")]))
    }

    fn run(&mut self, language: &str, code: &str) -> Value {
        let files = json!([{"path": "own.py", "content": "import math\nV = math.floor(2.5)\n"},
            {"path": "own.js", "content": "exports.v = require('path').sep;"}]);
        let arguments =
            json!({"language": language, "code": code, "files": files, "stdin": "typed"});
        self.0.done("execute_code", arguments)
    }

    /// Runs a program. Returns its value.
    fn value(&mut self, language: &str, code: &str) -> Value {
        let mut done = self.run(language, code);
        assert_eq!(done["success"], true, "{code}: {done}");
        done["returnValue"].take()
    }

    /// Runs a program that fails. Returns its message.
    fn refused(&mut self, language: &str, code: &str) -> String {
        let done = self.run(language, code);
        assert_eq!(done["success"], false, "{code}: {done}");
        done["stderr"].as_str().expect("text").to_owned()
    }
}

/// Tests that a policy that forbids code from strings applies within a program, although the
/// program itself arrives as a string.
#[test]
fn programs_make_no_code_of_strings() {
    for lists in ["", "[tools.execute_code]\nmodules.javascript = ['util']\n"] {
        let mut c = Client::begin(&format!("no-javascript-eval = true\n{lists}"));
        assert_eq!(c.value("javascript", "[1, 2].map((n) => n * 2)"), json!([2, 4]));
        assert_eq!(c.value("javascript", "try { eval('1') } catch (e) { e.name }"), "EvalError");
        c.refused("javascript", "require('internal/wasibox')");
    }
    let mut c = Client::begin("no-javascript-eval = true\n");
    assert_eq!(
        c.value("javascript", "try { new (require('vm').Script)('1') } catch (e) { e.name }"),
        "EvalError"
    );
}

#[test]
fn python_has_what_is_listed_and_nothing_else() {
    let mut c = Client::begin(PLAIN);
    for (code, value) in [
        ("import math; math.comb(5, 2)", json!(10)),
        ("from json import dumps\ndumps({'a': 1})", json!("{\"a\": 1}")),
        ("import random; random.seed(1); 0 <= random.random() < 1", json!(true)),
        // This is C code that imports `_strptime` for its caller.
        ("from datetime import datetime as d; d.strptime('2024-02-29', '%Y-%m-%d').day", json!(29)),
        ("import statistics as s; s.median([3, 1, 2])", json!(2)),
        ("import re; re.sub('a', 'b', 'aa')", json!("bb")),
        ("import own; own.V", json!(2)),
        ("input()", json!("typed")),
        ("open('out.txt', 'w').write('hi')", json!(2)),
        ("(1, {2})", json!("(1, {2})")),
        ("x = 1", json!(null)),
    ] {
        assert_eq!(c.value("python", code), value, "{code}");
    }
    let said = c.refused("python", "import math\nimport subprocess");
    assert!(
        said.ends_with(
            "  File \"<code>\", line 2, in <module>\n    import subprocess\n\
            ModuleNotFoundError: module 'subprocess' is not among those that may be imported here: \
            math, json, random, datetime, re, statistics, time\n"
        ),
        "{said}"
    );
    assert!(!said.contains("run.py"), "{said}");
    let said = c.refused("python", "def f():\n    1 / 0\nf()");
    assert!(said.contains("line 3, in <module>\n    f()\n") && said.contains("ZeroDivisionError"));
    let done = c.run("python", "raise SystemExit(3)");
    assert_eq!((&done["success"], &done["stderr"]), (&json!(false), &json!("")));
}

/// Tests that no program gets a module that is not on the list.
#[test]
fn python_cannot_get_around_the_list() {
    let mut c = Client::begin(PLAIN);
    for code in [
        "import os",
        "import sys",
        "import builtins, importlib",
        "import numpy",
        "from urllib import request",
        "__import__('socket')",
        "exec('import subprocess')",
        "eval(\"__import__('subprocess')\")",
        "import own; own.math.__loader__; __builtins__.__import__('ctypes')",
        "import random; random._os.system('true') == 0 or 1 / 0",
        "import random; random._os.posix_spawn('/bin/python3', ['python3', '-c', '0'], {})",
        "import random; random._os.execv('/bin/sh', ['sh', '-c', 'exit 0'])",
        // These use Python's own ways past `import`, to modules whose files are gone.
        "import re; re.enum.sys.modules['importlib._bootstrap']._gcd_import('subprocess')",
        "import re; I = re.enum.sys.modules['_frozen_importlib']; I._gcd_import('socket')",
        "import re; re.enum.sys.meta_path.clear(); import re; re.enum.sys.modules['subprocess']",
        "import re; re.enum.sys.path_importer_cache.clear(); \
            I = re.enum.sys.modules['_frozen_importlib']; I._gcd_import('http.client')",
        "open('/usr/lib/python3.13/subprocess.py').read()",
        "import random\nfor f in ('subprocess.py', '__pycache__/subprocess.cpython-313.pyc', 'socket.py'):\n    \
            random._os.stat('/usr/lib/python3.13/' + f)",
        "import random; random._os.listdir('/usr/lib/python3.13/site-packages/numpy')",
        // These modules have no file, and the code that would create them is gone.
        "import re; I = re.enum.sys.modules['_frozen_importlib']; \
            I._imp.create_builtin(I.ModuleSpec('_socket', None))",
        "import re; I = re.enum.sys.modules['_frozen_importlib']; \
            I.BuiltinImporter.load_module('_sqlite3')",
        "import re; I = re.enum.sys.modules['_frozen_importlib']; \
            I._gcd_import('_posixsubprocess')",
    ] {
        let said = c.refused("python", code);
        assert!(!said.is_empty(), "{code}");
    }
    assert_eq!(c.value("python", "import math; math.pi > 3"), json!(true));
}

/// Tests a package with parts in C, and one module of another package.
#[test]
fn python_has_listed_packages() {
    let mut c = Client::begin(POLICY);
    let code = "import numpy as np, numpy.linalg\nround(float(np.linalg.det(np.eye(3) * 2)), 9)";
    assert_eq!(c.value("python", code), json!(8.0));
    let code = "from urllib.parse import quote; import collections.abc; quote('a b')";
    assert_eq!(c.value("python", code), json!("a%20b"));
    for code in [
        "import urllib.request",
        "from urllib import request",
        "import pandas",
        "import numpy; numpy.os.posix_spawn('/bin/true', ['true'], {})",
        "import _sqlite3",
    ] {
        c.refused("python", code);
    }
    let done = c.run("python", "x = bytearray(200 << 20)");
    assert_eq!(done["success"], false, "the policy's memory: {done}");
    let call = json!({"name": "kv_set", "arguments": {"key": "a"}});
    assert!(c.0.ask("tools/call", call).is_err(), "a tool that is off");
}

#[test]
fn javascript_has_what_is_listed_and_nothing_else() {
    let mut c = Client::begin(POLICY);
    for (code, value) in [
        ("require('path').join('a', 'b')", json!("a/b")),
        ("require('node:util').format('%s', 1)", json!("1")),
        ("require('./own.js').v", json!("/")),
        ("import p from 'node:path'; export default p.sep", json!("/")),
        ("Object.keys(globalThis).includes('fetch') && typeof setTimeout", json!("function")),
    ] {
        assert_eq!(c.value("javascript", code), value, "{code}");
    }
    let said = c.refused("javascript", "require('path');\nrequire('fs')");
    assert!(
        said.contains("module 'fs' is not among those that may be loaded here: path, util, assert"),
        "{said}"
    );
    for code in [
        "require('node:fs')",
        "import 'fs'",
        "import('node:child_process').then((m) => m.execSync('true'))",
        "process.getBuiltinModule('fs').readFileSync",
        "process.binding('fs').open",
        "process.mainModule.require('fs')",
        "module.constructor._load('fs').readFileSync",
        "require('module')",
        "Object.values(require.cache)[0].constructor._load('fs')",
        "Object.values(require.cache)[0].require('fs')",
        "require.main.constructor.createRequire('/')('fs')",
        "require('internal/wasibox')",
        "require('internal/test/binding').internalBinding('fs')",
        "process.dlopen({}, 'x')",
        "new (require('path').constructor.constructor('return require'))()('fs')",
        "require('util').inspect.constructor('return process')().mainModule.require('child_process')",
        "eval(\"require('fs')\")",
        "setTimeout(() => require('os'))",
    ] {
        let said = c.refused("javascript", code);
        assert!(!said.is_empty(), "{code}");
    }
    let mut none = Client::begin(PLAIN);
    assert_eq!(none.value("javascript", "[1, 2].map((x) => x * 2)"), json!([2, 4]));
    none.refused("javascript", "require('path')");
}

#[test]
fn wrong_settings_are_reported() {
    let file = tempfile::NamedTempFile::new().expect("a file");
    std::fs::write(file.path(), "[tools]\nonly = ['sandbox_exce']\n").expect("a policy");
    let dist = wasibox_sessions::dist();
    let mut command = std::process::Command::new(dist.join("runner"));
    command.args(["mcp", "--image"]).arg(dist.join("image.webc")).arg("--policy").arg(file.path());
    let output = command.output().expect("a runner");
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(said.contains("there is no tool 'sandbox_exce'"), "{said}");
    assert_eq!(output.status.code(), Some(2));
}
