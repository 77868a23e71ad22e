//! QuickJS-NG itself, built for this machine from the sources that `rquickjs` contains, and the
//! tests that it passes.

use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use anyhow::{Context, Result, ensure};
use serde::Deserialize;

use super::suite::{TestMode, TestRun};
use crate::env;
use crate::key::Key;

/// Returns the folder of the C sources.
pub fn engine_sources() -> Result<PathBuf> {
    #[derive(Deserialize)]
    struct CargoMetadata {
        packages: Vec<CargoPackage>,
    }
    #[derive(Deserialize)]
    struct CargoPackage {
        name: String,
        manifest_path: PathBuf,
    }
    let text =
        env::command_output(env::cargo().args(["metadata", "--locked", "--format-version", "1"]))?;
    let metadata: CargoMetadata = serde_json::from_str(&text).context("cargo metadata")?;
    let found = metadata.packages.into_iter().find(|p| p.name == "rquickjs-sys");
    let manifest = found.context("no crate rquickjs-sys")?.manifest_path;
    Ok(manifest.with_file_name("quickjs"))
}

/// Builds a program of QuickJS-NG, `qjs` or `run-test262`, with the optimisation that its authors
/// use.
pub fn engine_program(name: &str) -> Result<PathBuf> {
    let sources = engine_sources()?;
    let mut key = Key::new("quickjs-native");
    key.bytes(&env::read(&sources.join("quickjs.c"))?);
    key.bytes(&env::read(&sources.join(format!("{name}.c")))?);
    let dir = env::cache()?.join("js").join(format!("quickjs-{}", &key.finish()[..16]));
    let program = dir.join(name);
    if program.is_file() {
        return Ok(program);
    }
    eprintln!("      building QuickJS-NG's {name} for this machine");
    std::fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    let part = dir.join(format!("{name}.{}", std::process::id()));
    let mut cc = Command::new("cc");
    cc.args(["-O2", "-DNDEBUG", "-D_GNU_SOURCE", "-DQUICKJS_NG_BUILD", "-w", "-I"]).arg(&sources);
    cc.arg("-o").arg(&part);
    let own = [format!("{name}.c"), "gen/repl.c".into(), "gen/standalone.c".into()];
    let own = own.iter().take(if name == "qjs" { 3 } else { 1 }).map(String::as_str);
    let shared = ["quickjs.c", "quickjs-libc.c", "libregexp.c", "libunicode.c", "dtoa.c"];
    cc.args(own.chain(shared).map(|file| sources.join(file)));
    env::run(cc.args(["-lm", "-lpthread", "-ldl"]))?;
    std::fs::rename(&part, &program).with_context(|| program.display().to_string())?;
    Ok(program)
}

/// Returns the cases below the given folders or files that the engine fails.
pub fn engine_failures(suite: &Path, patterns: &[String], out: &Path) -> Result<BTreeSet<TestRun>> {
    let run = engine_program("run-test262")?;
    // The program's configuration names the suite relative to the working directory.
    let link = out.join("test262");
    let _ = std::fs::remove_file(&link);
    let suite = suite.canonicalize().with_context(|| suite.display().to_string())?;
    std::os::unix::fs::symlink(&suite, &link).with_context(|| link.display().to_string())?;
    // No error is declared as known, so that all are reported.
    let conf = String::from_utf8(env::read(&engine_sources()?.join("test262.conf"))?)?;
    // To `run-test262`, a comment after a setting is part of its value, and it then skips cases of
    // an allowed feature.
    let conf: String = conf
        .lines()
        .map(|line| line.split(" #").next().unwrap_or_default().trim_end().to_string() + "\n")
        .collect();
    // Tests run in strict and in sloppy mode, as for `node`; by default most run in one mode only.
    let conf = conf.replace("\nmode=default\n", "\nmode=all\n");
    let conf = conf.replace("errorfile=test262_errors.txt", "errorfile=none.txt");
    env::write(&out.join("test262.conf"), conf.as_bytes())?;
    env::write(&out.join("none.txt"), b"")?;
    let mut command = Command::new(run);
    command.current_dir(out).args(["-c", "test262.conf"]);
    let named: Vec<String> = patterns.iter().map(|p| format!("test262/test/{p}")).collect();
    // The program accepts folders, or a list of files.
    if named.iter().all(|path| out.join(path).is_dir()) {
        for path in &named {
            command.args(["-d", path]);
        }
    }
    let done = command.stdin(Stdio::null()).output().context("run-test262")?;
    let text =
        String::from_utf8_lossy(&done.stdout).into_owned() + &String::from_utf8_lossy(&done.stderr);
    env::write(&out.join("quickjs.txt"), text.as_bytes())?;
    ensure!(text.contains("Result: "), "run-test262 did not come to its end: {}", done.status);
    Ok(text.lines().filter_map(|line| parse_failure(line, &suite)).collect())
}

/// Returns the case of an output line: `test262/test/FILE:LINE: [strict mode: ]MESSAGE`.
fn parse_failure(line: &str, suite: &Path) -> Option<TestRun> {
    let (file, rest) = line.strip_prefix("test262/")?.split_once(".js:")?;
    let file = format!("{file}.js");
    let (_, message) = rest.split_once(": ")?;
    let text = std::fs::read_to_string(suite.join(&file)).ok()?;
    let modes = super::suite::modes_of(&text);
    let is_strict = message.starts_with("strict mode: ");
    let mode = match modes {
        [mode] => *mode,
        _ if is_strict => TestMode::Strict,
        _ => TestMode::Sloppy,
    };
    Some(TestRun { file, mode })
}
