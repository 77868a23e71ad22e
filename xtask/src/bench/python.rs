//! Measures Python in the image against CPython of the same version, built for this machine from
//! the same sources.

use std::path::{Path, PathBuf};
use std::process::Command;

use anyhow::{Context, Result, bail};

use super::{BenchSubject, compare_subjects, exec_argv, to_words};
use crate::{env, python};

/// Packages that the peer gets from its own wheels, in the image's versions.
const PACKAGES: &[&str] = &["numpy", "pandas", "matplotlib", "openpyxl"];

const IMPORT: &str = "import pandas; print(pandas.DataFrame({'a': range(1000)}).a.sum())";
const PLOT: &str = "import io, matplotlib; matplotlib.use('agg'); import matplotlib.pyplot as plt; \
                    plt.plot([1, 4, 9]); plt.title('t'); plt.savefig(io.BytesIO())";

pub fn run() -> Result<()> {
    let peer = native_peer()?;
    let start = |code: &str, site: bool| {
        let mut ours = exec_argv(&["python3", "-c"]);
        ours.push(code.to_string());
        let mut native = to_words(&["env", &format!("PYTHONPATH={}", peer.site.display())]);
        if !site {
            native.truncate(1);
        }
        native.extend([peer.python.display().to_string(), "-c".to_string(), code.to_string()]);
        [
            BenchSubject { name: "runner exec image.webc -- python3", argv: ours },
            BenchSubject { name: "CPython for this machine", argv: native },
        ]
    };
    println!("### -c pass (goal 1.0)");
    compare_subjects(&start("pass", false))?;
    if !has_packages()? {
        println!("The image has no packages: `cargo xtask dist --profile data`.");
        return Ok(());
    }
    println!("### import pandas, sum of a frame (goal 0.15)");
    compare_subjects(&start(IMPORT, true))?;
    println!("### pyplot, savefig (goal 0.5)");
    compare_subjects(&start(PLOT, true))?;
    bench_arrays(&peer)
}

fn has_packages() -> Result<bool> {
    let argv = exec_argv(&["python3", "-c", "import pandas"]);
    let (program, args) = argv.split_first().context("empty command")?;
    Ok(Command::new(program).args(args).stderr(std::process::Stdio::null()).status()?.success())
}

/// Runs `tests/bench/python/arrays.py` on both sides, in turn.
fn bench_arrays(peer: &NativePython) -> Result<()> {
    let data = env::cache()?.join("bench-python");
    std::fs::create_dir_all(&data)?;
    write_sales(&data.join("sales.csv"))?;
    let scripts = env::root().join("tests/bench/python");
    let mut ours = Command::new(env::dist().join("runner"));
    ours.args(["exec", "--json", "--mount"]).arg(format!("{}:/data", data.display()));
    ours.arg("--mount").arg(format!("{}:/scripts", scripts.display()));
    ours.arg(env::dist().join("image.webc"));
    ours.args(["--", "python3", "/scripts/arrays.py", "/data"]);
    let mut native = Command::new(&peer.python);
    native.env("PYTHONPATH", &peer.site).env("OPENBLAS_NUM_THREADS", "1");
    native.arg(scripts.join("arrays.py")).arg(&data);
    let outcome: serde_json::Value = serde_json::from_str(&env::command_output(&mut ours)?)?;
    let ours = outcome["stdout"].as_str().context("no stdout in the outcome")?;
    if let Some(peak) =
        outcome["limits"]["peak_memory"].as_u64().or(outcome["peak_memory"].as_u64())
    {
        println!("Peak of linear memory: {} MB", peak / 1_000_000);
    }
    let native = env::command_output(&mut native)?;
    println!("| in one process | ours ms | native ms | ours / native |");
    println!("|---|---|---|---|");
    for (a, b) in ours.lines().zip(native.lines()) {
        let (name, ours) = a.split_once(' ').context("a line of arrays.py")?;
        let (same, native) = b.split_once(' ').context("a line of arrays.py")?;
        if name != same {
            bail!("arrays.py printed {name} here and {same} there");
        }
        let ratio = ours.parse::<f64>()? / native.parse::<f64>()?;
        println!("| {name} | {ours} | {native} | {ratio:.2} |");
    }
    Ok(())
}

/// Writes a table with the columns date, region, product, amount and quantity. Its contents are the
/// same every time.
fn write_sales(path: &Path) -> Result<()> {
    if path.exists() {
        return Ok(());
    }
    let part = path.with_extension("part");
    let script = env::root().join("tests/python/data/sales_csv.py");
    env::run(Command::new("python3").arg(script).arg(&part))?;
    std::fs::rename(part, path).context("sales.csv")
}

/// CPython for this machine.
pub struct NativePython {
    pub python: PathBuf,
    /// The folder of its packages.
    site: PathBuf,
}

/// Builds CPython of the image's version with its default optimisation, and installs the packages'
/// own wheels.
pub fn native_peer() -> Result<NativePython> {
    let cache = env::cache()?;
    let mut say = |line: &str| eprintln!("      {line}");
    let (source, version, packages) = python::source(&cache, PACKAGES, &mut say)?;
    let dir = cache.join(format!("peer-python-{version}"));
    let peer = NativePython { python: dir.join("bin/python3"), site: dir.join("site") };
    if dir.join("complete").exists() {
        return Ok(peer);
    }
    let build = dir.join("build");
    std::fs::create_dir_all(&build)?;
    say("building CPython for this machine, to compare with");
    let mut configure = Command::new(source.join("configure"));
    configure.current_dir(&build).arg("--quiet").arg(format!("--prefix={}", dir.display()));
    env::run(configure.args(["--with-ensurepip=no", "--disable-test-modules"]))?;
    for target in ["all", "install"] {
        env::run(Command::new("make").args(["-s", "-j2", target]).current_dir(&build))?;
    }
    let mut pip = Command::new("python3");
    pip.args([
        "-m",
        "pip",
        "install",
        "--quiet",
        "--only-binary=:all:",
        "--python-version",
        "3.13",
    ]);
    // This pip belongs to the machine's Python, whose version does not matter here.
    env::run(
        pip.args(["--ignore-requires-python", "--upgrade", "--target"])
            .arg(&peer.site)
            .args(&packages),
    )?;
    // Modules are compiled ahead, as in an installation. The status is ignored, because a few files
    // for other versions do not compile.
    let mut compile = Command::new(&peer.python);
    compile.args(["-m", "compileall", "-q"]).arg(&peer.site).stdout(std::process::Stdio::null());
    let _ = compile.status()?;
    std::fs::remove_dir_all(&build)?;
    std::fs::write(dir.join("complete"), b"")?;
    Ok(peer)
}
