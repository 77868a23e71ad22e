//! The differential fuzzer of the shell: runs random scripts in bash 5.2 and in our shell, and
//! compares the outcomes.
//!
//! | file | content |
//! |---|---|
//! | `script` | the generator, a grammar with a seed |
//! | `run` | runs one script in one shell, in a fresh working directory, with limits |
//! | `guest` | runs many scripts in the image with one runner |
//! | `compare` | the definition of a difference |
//! | `explained` | differences that docs/deviations.md names |
//! | `rewrite` | other known differences, proved by an equivalent script that avoids them |
//! | `shrink` | finds a smaller script that still differs |
//! | `report` | prints differences, and cases for `tests/cases` |
//!
//! A difference that is fixed becomes a case in `tests/cases/shell/`. `cargo xtask fuzz shell`
//! builds the shell and runs this program.
#![forbid(unsafe_code)]

mod compare;
mod explained;
mod guest;
mod random;
mod report;
mod rewrite;
mod run;
mod script;
mod shrink;

use std::collections::BTreeMap;
use std::io::Write;
use std::path::PathBuf;
use std::process::ExitCode;
use std::time::{Duration, Instant};

use anyhow::{Context, Result, bail};

use compare::{Pair, Verdict};
use run::{Place, Shell};

const USAGE: &str =
    "usage: wasibox-differ [OPTION...] [run | show SEED | check FILE... | case NAME FILE]
  --box PATH        the multicall binary (default target/debug/box)
  --shell PATH      the shell without tools instead: target/debug/examples/bash of the crate sh-cli
  --image DIST      the image and the runner in the folder DIST instead
  --bash PATH       the bash to compare with (default /bin/bash)
  --seed N          first seed (default 1)
  --count N         scripts to run (default 1000)
  --places          only scripts that put each construct into each place
  --damage PERCENT  share of scripts that are damaged on purpose (default 0)
  --seconds N       stop after N seconds, instead of --count
  --stderr          also compare error output
  --failures N      stop after N differences (default 20)
  --shrink N        runs spent on shrinking each script that differs (default 500)
  --explained       also print the scripts whose difference is explained
";

const LIMIT: Duration = Duration::from_secs(5);

struct Options {
    ours: PathBuf,
    /// Whether `ours` is the shell without tools, `shell/cli/examples/bash.rs`.
    alone: bool,
    /// The folder with the `runner` and the `image.webc` to use instead of `ours`.
    image: Option<PathBuf>,
    bash: PathBuf,
    seed: u64,
    count: u64,
    damage: usize,
    places: bool,
    time: Option<Duration>,
    stderr: bool,
    failures: usize,
    shrink: usize,
    explained: bool,
    rest: Vec<String>,
}

impl Options {
    fn script(&self, seed: u64) -> String {
        if self.places {
            script::generate_places(seed)
        } else {
            script::generate(seed, self.damage)
        }
    }
}

fn main() -> ExitCode {
    if let Err(e) = run::without_inherited_state() {
        eprintln!("wasibox-differ: {e:#}");
        return ExitCode::from(2);
    }
    let result = options().and_then(|o| match o.rest.first().map(String::as_str) {
        None | Some("run") => run(&o),
        Some("show") => show(&o),
        Some("check") => check(&o),
        Some("case") => case(&o),
        Some(other) => bail!("no command '{other}'\n{USAGE}"),
    });
    match result {
        Ok(code) => code,
        Err(e) => {
            eprintln!("wasibox-differ: {e:#}");
            ExitCode::from(2)
        }
    }
}

fn options() -> Result<Options> {
    let mut o = Options {
        ours: PathBuf::from("target/debug/box"),
        alone: false,
        image: None,
        bash: PathBuf::from("/bin/bash"),
        seed: 1,
        count: 1000,
        damage: 0,
        places: false,
        time: None,
        stderr: false,
        failures: 20,
        shrink: 500,
        explained: false,
        rest: Vec::new(),
    };
    let mut args = std::env::args().skip(1);
    while let Some(arg) = args.next() {
        let mut value = || args.next().with_context(|| format!("{arg} needs a value"));
        match arg.as_str() {
            "--box" => o.ours = value()?.into(),
            "--shell" => {
                o.ours = value()?.into();
                o.alone = true;
            }
            "--image" => o.image = Some(value()?.into()),
            "--bash" => o.bash = value()?.into(),
            "--seed" => o.seed = value()?.parse().context("--seed")?,
            "--count" => o.count = value()?.parse().context("--count")?,
            "--seconds" => {
                o.time = Some(Duration::from_secs(value()?.parse().context("--seconds")?));
                o.count = u64::MAX;
            }
            "--damage" => o.damage = value()?.parse().context("--damage")?,
            "--places" => o.places = true,
            "--stderr" => o.stderr = true,
            "--explained" => o.explained = true,
            "--failures" => o.failures = value()?.parse().context("--failures")?,
            "--shrink" => o.shrink = value()?.parse().context("--shrink")?,
            "--help" => bail!("{USAGE}"),
            _ if arg.starts_with('-') => bail!("no option {arg}\n{USAGE}"),
            _ => o.rest.push(arg),
        }
    }
    Ok(o)
}

fn pair(o: &Options) -> Result<Pair> {
    let whole = |p: &PathBuf| p.canonicalize().with_context(|| p.display().to_string());
    Ok(Pair {
        bash: Shell::Bash(whole(&o.bash)?),
        ours: match &o.image {
            Some(dist) => Shell::Image {
                runner: whole(&dist.join("runner"))?,
                image: whole(&dist.join("image.webc"))?,
            },
            None if o.alone => Shell::Bash(whole(&o.ours)?),
            None => Shell::Ours(whole(&o.ours)?),
        },
        place: Place::new(o.image.is_some())?,
        stderr: o.stderr,
    })
}

/// Runs random scripts and reports the differences. The exit status is 1 if there is one.
fn run(o: &Options) -> Result<ExitCode> {
    let pair = pair(o)?;
    let start = Instant::now();
    let (mut ran, mut useless, mut found) = (0_u64, 0_u64, 0_usize);
    let mut explained: BTreeMap<&str, u64> = BTreeMap::new();
    let mut seed = o.seed;
    while ran < o.count && found < o.failures && o.time.is_none_or(|t| start.elapsed() < t) {
        let script = o.script(seed);
        ran += 1;
        match pair.judge(script.as_bytes(), LIMIT)? {
            Verdict::Same => {}
            Verdict::Useless => useless += 1,
            Verdict::Explained(reason) => {
                *explained.entry(reason).or_default() += 1;
                if o.explained {
                    println!("=== seed {seed}: {reason}\n{script}");
                }
            }
            Verdict::Differs(d) if !pair.stable(script.as_bytes(), LIMIT, &d.bash)? => useless += 1,
            Verdict::Differs(d) => {
                let small = shrink::shrink(&pair, &script, &d, o.shrink)?;
                let (small, d) = match pair.judge(small.as_bytes(), LIMIT)? {
                    Verdict::Differs(d) => (small, d),
                    _ => (script, d),
                };
                if let Some(reason) =
                    explained::reason_of_minimal(small.as_bytes(), &d.bash, &d.ours)
                {
                    *explained.entry(reason).or_default() += 1;
                    seed += 1;
                    continue;
                }
                found += 1;
                print!("{}", report::difference(seed, &small, &d));
                std::io::stdout().flush()?;
            }
        }
        seed += 1;
    }
    let seconds = start.elapsed().as_secs_f64();
    println!(
        "{ran} scripts (seeds {} to {}) in {seconds:.0} s: {found} differ, {} explained, {useless} useless",
        o.seed,
        seed - 1,
        explained.values().sum::<u64>()
    );
    for (reason, n) in explained {
        println!("  {n:>6} {reason}");
    }
    Ok(ExitCode::from(u8::from(found > 0)))
}

/// Prints the script of the seed in the arguments.
fn show(o: &Options) -> Result<ExitCode> {
    let seed = o.rest.get(1).context("show SEED")?.parse().context("SEED")?;
    print!("{}", o.script(seed));
    Ok(ExitCode::SUCCESS)
}

/// Runs script files in both shells and prints the verdicts.
fn check(o: &Options) -> Result<ExitCode> {
    let pair = pair(o)?;
    let mut failed = 0;
    for name in &o.rest[1..] {
        let script = std::fs::read_to_string(name).with_context(|| name.clone())?;
        match pair.judge(script.as_bytes(), LIMIT)? {
            Verdict::Differs(d) => {
                failed += 1;
                print!("{name}\n{}", report::difference(0, &script, &d));
            }
            other => println!("{name}: {other:?}"),
        }
    }
    Ok(ExitCode::from(u8::from(failed > 0)))
}

/// Prints a case for `tests/cases`, from a script and bash's outcome.
fn case(o: &Options) -> Result<ExitCode> {
    let [_, name, file] = o.rest.as_slice() else { bail!("case NAME FILE") };
    let script = std::fs::read_to_string(file).with_context(|| file.clone())?;
    let pair = pair(o)?;
    let bash = pair.place.run(&pair.bash, script.as_bytes(), LIMIT)?;
    print!("{}", report::case(name, &script, &bash));
    Ok(ExitCode::SUCCESS)
}
