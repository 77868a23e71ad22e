//! Measures JavaScript in the image against the pinned Node, QuickJS-NG built for this machine, and
//! quickjs-emscripten.

use std::collections::BTreeMap;
use std::path::Path;
use std::process::Command;

use anyhow::{Context, Result, ensure};

use super::{BenchSubject, compare_subjects, exec_argv, median_of, to_words};
use crate::{env, js, test, test262};

/// The number of rounds of the scripts. In each round the programs run one after another.
const ROUNDS: usize = 3;

pub fn run() -> Result<()> {
    let scripts = env::root().join("tests/bench/javascript");
    let node = js::native_node(&mut |line| eprintln!("      {line}"))?.display().to_string();
    let qjs = test262::engine::engine_program("qjs")?.display().to_string();
    let modules = test::node_modules("tests/bench/javascript", "bench-javascript")?;
    let path = |name: &str| scripts.join(name).display().to_string();
    let emscripten = |script: &str| {
        to_words(&[&node, &path("emscripten.cjs"), &modules.display().to_string(), script])
    };
    let empty = scripts.join("empty.js").display().to_string();
    println!("### an empty script, whole process");
    compare_subjects(&[
        BenchSubject {
            name: "runner exec image.webc -- node -e 0",
            argv: exec_argv(&["node", "-e", "0"]),
        },
        BenchSubject { name: "Node for this machine", argv: to_words(&[&node, "-e", "0"]) },
        BenchSubject { name: "QuickJS-NG for this machine", argv: to_words(&[&qjs, "-e", "0"]) },
        BenchSubject { name: "quickjs-emscripten in Node", argv: emscripten(&empty) },
    ])?;
    println!("### computing (goal: at most 2 times QuickJS-NG for this machine)");
    let cpu = path("cpu.js");
    print_table(&[
        ("ours", our_command(&scripts, "cpu.js")),
        ("QuickJS-NG", to_words(&[&qjs, &cpu])),
        ("quickjs-emscripten", emscripten(&cpu)),
        ("Node", to_words(&[&node, &cpu])),
    ])?;
    println!("### JSON of 10 MB, 10,000 files, 100 commands");
    print_table(&[
        ("ours", our_command(&scripts, "system.js")),
        ("Node", to_words(&[&node, &path("system.js")])),
    ])
}

/// Returns the command that runs a script of the folder `scripts` in the image.
fn our_command(scripts: &Path, name: &str) -> Vec<String> {
    let mut argv = exec_argv(&["node", &format!("/scripts/{name}")]);
    argv.splice(2..2, to_words(&["--mount", &format!("{}:/scripts", scripts.display())]));
    argv
}

/// Runs the programs in turn. Prints the medians of their figures, and the ratio of the first
/// program's to each other program's.
fn print_table(programs: &[(&str, Vec<String>)]) -> Result<()> {
    let mut times: Vec<BTreeMap<String, Vec<f64>>> = vec![BTreeMap::new(); programs.len()];
    let mut order: Vec<String> = Vec::new();
    for _ in 0..ROUNDS {
        for ((name, argv), times) in programs.iter().zip(&mut times) {
            let (program, args) = argv.split_first().context("empty command")?;
            let text = env::command_output(Command::new(program).args(args))?;
            for line in text.lines() {
                let (what, time) =
                    line.split_once(' ').with_context(|| format!("{name}: {line}"))?;
                if !order.iter().any(|o| o == what) {
                    order.push(what.to_string());
                }
                times.entry(what.to_string()).or_default().push(time.parse()?);
            }
        }
    }
    let names: Vec<&str> = programs.iter().map(|(name, _)| *name).collect();
    let ratios: Vec<String> = names[1..].iter().map(|name| format!("ours / {name}")).collect();
    println!("| | {} | {} |", names.join(" ms | ") + " ms", ratios.join(" | "));
    println!("|---{}|", "|---".repeat(names.len() + ratios.len()));
    let mut logs = vec![0.0; ratios.len()];
    for what in &order {
        let mut all = Vec::new();
        for times in &mut times {
            let list = times.get_mut(what).with_context(|| format!("no {what} by each"))?;
            all.push(median_of(list));
        }
        ensure!(all.iter().all(|t| *t > 0.0), "{what} took no time");
        let cells: Vec<String> = all.iter().map(|t| format!("{t:.1}")).collect();
        let ratios: Vec<String> = all[1..].iter().map(|t| format!("{:.2}", all[0] / t)).collect();
        println!("| {what} | {} | {} |", cells.join(" | "), ratios.join(" | "));
        logs.iter_mut().zip(&all[1..]).for_each(|(log, t)| *log += (all[0] / t).ln());
    }
    let means: Vec<String> =
        logs.iter().map(|log| format!("{:.2}", (log / order.len() as f64).exp())).collect();
    println!("| geometric mean |{} {} |", " |".repeat(names.len()), means.join(" | "));
    Ok(())
}
