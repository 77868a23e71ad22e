//! `cargo xtask javascript`: records the output of the pinned Node for each case of
//! `tests/javascript` in a file beside it. Tests compare the image's output with these files.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};

use crate::{env, js, test};

/// Options of `cargo xtask javascript`.
#[derive(Debug, clap::Args)]
pub struct JavascriptOptions {
    /// Names of cases of tests/javascript, or `packages`; all by default.
    #[arg(value_name = "FILE")]
    files: Vec<String>,
}

/// Records all files, or the given ones.
pub fn run(options: &JavascriptOptions) -> Result<ExitCode> {
    let names = &options.files;
    let node = js::native_node(&mut |line| eprintln!("{line}"))?;
    let folder = env::root().join("tests/javascript");
    for entry in std::fs::read_dir(&folder).with_context(|| folder.display().to_string())? {
        let path = entry?.path();
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        let is_script = [".js", ".mjs", ".ts"].iter().any(|end| name.ends_with(end));
        if is_script && (names.is_empty() || names.contains(&name)) {
            record_case(&node, &path, None)?;
        }
    }
    if names.is_empty() || names.contains(&"packages".to_string()) {
        let modules = test::packages()?;
        record_case(&node, &folder.join("packages/smoke.mjs"), Some(&modules))?;
        run_project(&node, &folder.join("project"), &modules)?;
    }
    Ok(ExitCode::SUCCESS)
}

/// Records the output of the project under `tsx`, which compiles with esbuild.
fn run_project(node: &Path, folder: &Path, modules: &Path) -> Result<()> {
    let dir = std::env::temp_dir().join(format!("wasibox-project-{}", std::process::id()));
    js::copy_folder(folder, &dir)?;
    std::os::unix::fs::symlink(modules, dir.join("node_modules"))?;
    let mut tsx = Command::new(node);
    let output = tsx
        .args([modules.join("tsx/dist/cli.mjs").as_os_str(), "src/main.ts".as_ref()])
        .current_dir(&dir)
        .output()
        .context("tsx")?;
    std::fs::remove_dir_all(&dir).with_context(|| dir.display().to_string())?;
    ensure!(output.status.success(), "tsx: {}", String::from_utf8_lossy(&output.stderr));
    env::write(&folder.join("main.out"), &output.stdout)
}

fn record_case(node: &Path, file: &Path, modules: Option<&Path>) -> Result<()> {
    let text = String::from_utf8(env::read(file)?).context("a case file is UTF-8")?;
    let extension = file.extension().unwrap_or_default().to_string_lossy().into_owned();
    let mut out = String::new();
    for part in text.split("//# ").skip(1) {
        let (name, script) = part.split_once('\n').unwrap_or((part, ""));
        let (stdout, status) = run_case(node, &extension, script, modules)?;
        out.push_str(&format!("//# {name} = {status}\n{stdout}"));
    }
    let target = PathBuf::from(format!("{}.out", file.display()));
    eprintln!("{}: {} cases", file.display(), out.matches("//# ").count());
    env::write(&target, out.as_bytes())
}

/// Returns the output and status of one case, run in a folder of its own.
fn run_case(
    node: &Path,
    extension: &str,
    script: &str,
    modules: Option<&Path>,
) -> Result<(String, i32)> {
    let dir = std::env::temp_dir().join(format!("wasibox-javascript-{}", std::process::id()));
    std::fs::create_dir_all(&dir).with_context(|| dir.display().to_string())?;
    if let Some(modules) = modules {
        std::os::unix::fs::symlink(modules, dir.join("node_modules"))?;
    }
    let case = format!("case.{extension}");
    env::write(&dir.join(&case), script.as_bytes())?;
    let bin = node.parent().context("Node's folder")?.display().to_string();
    let path = format!("{bin}:{}", std::env::var("PATH").unwrap_or_default());
    let mut command = Command::new(node);
    if extension == "ts" {
        // Node by itself only strips types, whereas the image also compiles enums and namespaces.
        command.args(["--no-warnings", "--experimental-transform-types"]);
    }
    command
        .arg(&case)
        .current_dir(&dir)
        .env("PATH", path)
        .env("TZ", "UTC")
        .env_remove("NODE_OPTIONS");
    let done = command.stdin(Stdio::null()).output().context("Node")?;
    std::fs::remove_dir_all(&dir).with_context(|| dir.display().to_string())?;
    let stdout = String::from_utf8(done.stdout).context("output is UTF-8")?;
    Ok((stdout, done.status.code().unwrap_or(-1)))
}
