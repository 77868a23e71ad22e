//! Build, test and measurement tasks: `cargo xtask TASK`. One file per task.
#![forbid(unsafe_code)]

mod bench;
mod book;
mod cases;
mod commands;
mod conformance;
mod deny;
mod dist;
mod doors;
mod env;
mod escape;
mod flavour;
mod fuzz;
mod generate;
mod javascript;
mod js;
mod kept;
mod key;
mod matrix;
mod metrics;
mod node_suite;
mod notices;
mod platforms;
mod programs;
mod progress;
mod python;
mod release;
mod rootfs;
mod sdk;
mod shared;
mod suite;
mod test;
mod test262;
mod tidy;
mod upstream;
mod web;

use std::process::ExitCode;

use clap::Parser;

const EXAMPLES: &str = "\
Examples:
  cargo xtask dist                          build everything into dist/
  cargo xtask run python3 -c 'print(6*7)'   run a command in dist/image.webc
  cargo xtask test --only tidy              run one step of the tests
  cargo xtask bench startup shell           measure startup and the shell
  cargo xtask help bench                    describe a task's options";

/// Builds, tests and measures the project.
#[derive(Debug, Parser)]
#[command(name = "cargo xtask", bin_name = "cargo xtask", disable_version_flag = true)]
#[command(after_help = EXAMPLES)]
struct Xtask {
    #[command(subcommand)]
    task: Task,
}

#[derive(Debug, clap::Subcommand)]
enum Task {
    /// Build dist/: image.webc, box.wasm, python.wasm, runner, SHA256SUMS, sources.
    #[command(after_help = "Example: cargo xtask dist --profile core --without-copyleft")]
    Dist(dist::DistOptions),
    /// Build the packages for Python and Node, and run their tests where they are installed.
    Sdk,
    /// Make in dist/release what is published of dist/: archives, install.sh, Debian package,
    /// container image, SBOM, licences.
    Release(release::ReleaseOptions),
    /// Make the pages of docs/ a book in dist/book.
    Book,
    /// Build the package for pages and Node, and run its tests; dist/ must be there.
    Web(web::WebOptions),
    /// Run the cases of shell and tools in sessions by the command line, the servers and the
    /// packages, which cargo xtask sdk installs.
    Cases(cases::CasesOptions),
    /// Print how many of the calls that a table counts need a command that dist/image.webc lacks.
    Commands(commands::CommandsOptions),
    /// Run a command in dist/image.webc.
    #[command(after_help = "Example: cargo xtask run sh -c 'seq 3 | wc -l'")]
    Run(dist::RunOptions),
    /// Run all checks and tests.
    #[command(after_help = "Example: cargo xtask test --only tidy --only clippy")]
    Test(test::TestOptions),
    /// Score dist/ with external cases.
    Conformance(conformance::ConformanceOptions),
    /// Measure against peers in the same run, as ratios.
    #[command(after_help = "Example: cargo xtask bench startup shell")]
    Bench(bench::BenchOptions),
    /// Run a fuzzer.
    Fuzz(fuzz::FuzzOptions),
    /// Record what bash prints for each construct in each place, as tests/cases/shell/places.toml.
    Matrix,
    /// Run hostile programs made at random, or those of tests/escape that are named.
    #[command(
        after_help = "Examples: cargo xtask escape --seconds 60; cargo xtask escape python/ctypes.py"
    )]
    Escape(escape::EscapeOptions),
    /// Make CPython for WASI alone.
    Python(dist::PythonTaskOptions),
    /// Run the own tests of CPython or of a package in dist/image.webc; docs/python-suites.md has
    /// the results.
    PythonSuite(suite::PythonSuiteOptions),
    /// Run real programs' suites natively and in the image; docs/programs.md has the results.
    #[command(after_help = "Example: cargo xtask programs ../suites toybox --guest")]
    Programs(programs::ProgramOptions),
    /// Record what Node prints for the cases of tests/javascript, beside them.
    Javascript(javascript::JavascriptOptions),
    /// Run Node's test/parallel in dist/image.webc; docs/javascript.md has the results.
    NodeSuite(node_suite::NodeSuiteOptions),
    /// Run the language's own tests by our node and by QuickJS-NG; docs/javascript.md has the
    /// results.
    Test262(test262::Test262Options),
    /// Run the protocol's conformance suite, its Python client and schemathesis against dist/.
    Doors(doors::DoorsOptions),
    /// Write what packages and documents say about the protocol, from its types.
    Generate,
    /// Count what docs/fidelity.md asks for: lines, long functions, flags.
    Metrics,
    /// Check that our crates compile for platforms that are not run here; docs/platforms.md.
    Platforms(platforms::PlatformsOptions),
    /// Check crate arrows, unsafe placement, the applet table, help texts.
    Tidy(tidy::TidyOptions),
    /// Check licences and advisories of dependencies with cargo-deny.
    Deny,
}

fn main() -> ExitCode {
    let result = match Xtask::parse().task {
        Task::Dist(options) => dist::run(&options),
        Task::Sdk => sdk::run(),
        Task::Release(options) => release::run(&options),
        Task::Book => book::run(),
        Task::Web(options) => web::run(&options),
        Task::Cases(options) => cases::run(&options),
        Task::Commands(options) => commands::run(&options),
        Task::Run(options) => dist::exec_in_image(&options),
        Task::Test(options) => test::run(&options),
        Task::Conformance(options) => conformance::run(&options),
        Task::Bench(options) => bench::run(&options),
        Task::Fuzz(options) => fuzz::run(&options),
        Task::Matrix => matrix::run(),
        Task::Escape(options) => escape::run(&options),
        Task::Python(options) => dist::python_only(&options),
        Task::PythonSuite(options) => suite::run(&options),
        Task::Programs(options) => programs::run(&options),
        Task::Javascript(options) => javascript::run(&options),
        Task::NodeSuite(options) => node_suite::run(&options),
        Task::Test262(options) => test262::run(&options),
        Task::Doors(options) => doors::run(&options),
        Task::Generate => generate::run(),
        Task::Metrics => metrics::run(),
        Task::Platforms(options) => platforms::run(&options),
        Task::Tidy(options) => tidy::run(&options),
        Task::Deny => deny::run(),
    };
    match result {
        Ok(code) => code,
        Err(e) => {
            eprintln!("xtask: {e:#}");
            ExitCode::FAILURE
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use clap::CommandFactory;

    #[test]
    fn the_command_line_is_consistent() {
        Xtask::command().debug_assert();
    }
}
