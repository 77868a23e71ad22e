//! `cargo xtask commands FILE`: the share of calls that need a command which `dist/image.webc` lacks.
//!
//! FILE is a table, separated by tabs, of how often logs of agents and collections of one-liners call
//! a command: a line with names, then a line for each command. The columns from the first one on that
//! has only numbers and is not named `tasks` are sources, and the first is the command. Lines that
//! begin with `#` are comments.

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::{Command, ExitCode, Stdio};

use anyhow::{Context, Result, ensure};

use crate::env;

/// Prints each name of the input, a tab, and what it is to the shell: `yes`, `hint` or `no`.
const ASK: &str = r#"while IFS= read -r name; do
  case $(type -t -- "$name") in
    '') case $(env -- "$name" 2>&1 < /dev/null | wc -l) in 1) is=no ;; *) is=hint ;; esac ;;
    *) is=yes ;;
  esac
  printf '%s\t%s\n' "$name" "$is"
done"#;

/// Options of `cargo xtask commands`.
#[derive(Debug, clap::Args)]
pub struct CommandsOptions {
    /// The table of counts.
    file: PathBuf,
}

/// How often each source calls each command.
struct CallCounts {
    sources: Vec<String>,
    calls: Vec<(String, Vec<u64>)>,
}

/// Prints the shares, and the missing commands by weight.
pub fn run(options: &CommandsOptions) -> Result<ExitCode> {
    let text = std::fs::read_to_string(&options.file);
    let counts = parse_counts(&text.with_context(|| options.file.display().to_string())?)?;
    let answers = ask_image(&counts)?;
    let answer = |name: &str| answers.get(name).map_or("no", String::as_str);
    println!("source: calls, % without the command, of these % with a hint");
    for (n, source) in counts.sources.iter().enumerate() {
        let sum = |wanted: &dyn Fn(&str) -> bool| -> u64 {
            let chosen = counts.calls.iter().filter(|(name, _)| wanted(answer(name)));
            chosen.map(|(_, calls)| calls[n]).sum()
        };
        let (all, missing, hints) =
            (sum(&|_| true), sum(&|is| is != "yes"), sum(&|is| is == "hint"));
        let percent = |part: u64, of: u64| 100.0 * part as f64 / of.max(1) as f64;
        println!("{source}: {all}, {:.2}, {:.0}", percent(missing, all), percent(hints, missing));
    }
    let mut missing: Vec<_> =
        counts.calls.iter().filter(|(name, _)| answer(name) != "yes").collect();
    missing.sort_by_key(|(_, calls)| std::cmp::Reverse(calls.iter().sum::<u64>()));
    for (name, calls) in missing {
        println!("{:6} {:4} {name}", calls.iter().sum::<u64>(), answer(name));
    }
    Ok(ExitCode::SUCCESS)
}

fn parse_counts(text: &str) -> Result<CallCounts> {
    let mut lines = text.lines().filter(|line| !line.starts_with('#'));
    let names: Vec<&str> = lines.next().context("no line with names")?.split('\t').collect();
    let rows: Vec<Vec<&str>> = lines.map(|line| line.split('\t').collect()).collect();
    let is_source = |n: &usize| {
        names[*n] != "tasks"
            && rows.iter().all(|row| row.get(*n).is_some_and(|cell| cell.parse::<u64>().is_ok()))
    };
    let columns: Vec<usize> = (1..names.len()).filter(is_source).collect();
    ensure!(!columns.is_empty() && !rows.is_empty(), "no counts");
    let calls = rows.iter().map(|row| {
        let numbers = columns.iter().map(|n| row[*n].parse().unwrap_or(0)).collect();
        (row[0].to_string(), numbers)
    });
    Ok(CallCounts {
        sources: columns.iter().map(|n| names[*n].to_string()).collect(),
        calls: calls.collect(),
    })
}

/// Returns what the shell of the image says of each command.
fn ask_image(counts: &CallCounts) -> Result<BTreeMap<String, String>> {
    let dist = env::dist();
    let mut command = Command::new(dist.join("runner"));
    command.arg("exec").arg(dist.join("image.webc")).args(["--", "bash", "-c", ASK]);
    let mut child = command
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()
        .context("no dist/runner; run cargo xtask dist first")?;
    let names: String = counts.calls.iter().map(|(name, _)| format!("{name}\n")).collect();
    child.stdin.take().context("its input")?.write_all(names.as_bytes())?;
    let output = child.wait_with_output()?;
    ensure!(output.status.success(), "the image's shell: {}", output.status);
    let text = String::from_utf8(output.stdout).context("its output")?;
    Ok(text.lines().filter_map(|l| l.split_once('\t')).map(|(a, b)| (a.into(), b.into())).collect())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn columns_with_numbers_are_sources() {
        let text = "# a comment\ncommand\tin the image\ttasks\tx\ty\nsed\tyes\t5\t3\t0\n";
        let counts = parse_counts(text).unwrap();
        assert_eq!(counts.sources, ["x", "y"]);
        assert_eq!(counts.calls, [("sed".to_string(), vec![3, 0])]);
        assert!(parse_counts("command\tx\n").is_err());
    }
}
