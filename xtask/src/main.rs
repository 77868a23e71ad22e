//! Build, test and measurement tasks: `cargo xtask TASK`. One file per task.
#![forbid(unsafe_code)]

mod bench;
mod book;
mod cases;
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

/// Name, arguments and description of each task.
const TASKS: &[(&str, &str, &str)] = &[
    (
        "dist",
        "[--profile core|data|science|full] [--from-source] [--without-copyleft] [--sdk] [--web]",
        "build dist/: image.webc, box.wasm, python.wasm, runner, SHA256SUMS, sources; --without-copyleft: without git and make; --sdk: the packages for Python and Node in \
         dist/sdk; --web: the one for pages in dist/web",
    ),
    (
        "sdk",
        "",
        "build the packages for Python and Node, and run their tests where they are installed",
    ),
    (
        "release",
        "VERSION [--twice]",
        "make what is published of dist/ in dist/release: archives, install.sh, Debian package, container image, SBOM, \
         licences; --twice: two times, and compare",
    ),
    ("book", "", "make the pages of docs/ a book in dist/book"),
    (
        "web",
        "[--all | [--cases] [--browser chromium|firefox|KIND=PROGRAM [--reload ROUNDS]] | --page]",
        "build the package for pages and Node, and run its tests in Node, or in a page of that browser; --cases: those of \
         tests/cases; --page: the playground; --all: all of these, each within its time; dist/ must be there",
    ),
    (
        "cases",
        "[session|mcp|http|python|threads|node]... [--sample N] [--only TEXT]",
        "run the cases of shell and tools in sessions by the command line, the servers and the packages (cargo xtask sdk \
         installs them); in a page: web --cases --browser",
    ),
    ("run", "[--] CMD [ARG...]", "run a command in dist/image.webc"),
    ("test", "[--fast]", "all checks and tests; --fast leaves out lints and host crates"),
    (
        "conformance",
        "[DIR] [--web] [ARG...]",
        "score dist/, or with --web dist/web in Node, with the external cases in DIR or $CONFORMANCE_DIR",
    ),
    ("bench", "[NAME...]", "measure against peers in the same run, as ratios"),
    (
        "fuzz",
        "[TARGET] [--seconds N] [--seed N]",
        "run a fuzzer: shell (against bash), parser, ...",
    ),
    (
        "matrix",
        "",
        "record what bash prints for each construct in each place, as tests/cases/shell/places.toml",
    ),
    (
        "escape",
        "[NAME...] [--seconds N] [--seed N]",
        "run hostile programs made at random, or those of tests/escape that are named",
    ),
    (
        "python",
        "[--profile core|data|science|full] [--from-source] [--write-prebuilt] [--sizes]",
        "make CPython for WASI alone; --write-prebuilt keeps it in python-dist/prebuilt",
    ),
    (
        "python-suite",
        "cpython|numpy|pandas|scipy|scikit-learn [PATTERN...] [--jobs N] [--timeout S]",
        "run their own tests in dist/image.webc; docs/python-suites.md has the results",
    ),
    (
        "programs",
        "FOLDER [NAME...] [--file PART] [--guest] [--path DIRS] [--image FILE]",
        "run real programs' suites natively and in the image; docs/programs.md has the results",
    ),
    (
        "javascript",
        "[FILE...]",
        "record what Node prints for the cases of tests/javascript, beside them",
    ),
    (
        "node-suite",
        "DIR [PATTERN...] [--jobs N] [--timeout S]",
        "run Node's test/parallel of DIR in dist/image.webc; docs/javascript.md has the results",
    ),
    (
        "test262",
        "DIR [PATTERN...] [--native] [--sample N] [--jobs N]",
        "run the language's own tests by our node and by QuickJS-NG; docs/javascript.md has the results",
    ),
    (
        "doors",
        "[--load | --e2b SOURCES]",
        "run the protocol's conformance suite, its Python client and schemathesis, or E2B's suites, against dist/",
    ),
    ("generate", "", "write what packages and documents say about the protocol, from its types"),
    ("metrics", "", "count what docs/fidelity.md asks for: lines, long functions, flags"),
    (
        "platforms",
        "[--run | TARGET...]",
        "check that our crates compile for platforms that are not run here, or run what qemu can; docs/platforms.md",
    ),
    (
        "tidy",
        "[--gnu-help]",
        "check crate arrows, unsafe placement, the applet table, help texts; --gnu-help: print digests of the help of this \
         machine's GNU tools",
    ),
    ("deny", "", "check licences and advisories of dependencies with cargo-deny"),
];

fn main() -> ExitCode {
    let mut args = std::env::args().skip(1);
    let task = args.next().unwrap_or_default();
    let rest: Vec<String> = args.collect();
    let result = match task.as_str() {
        "dist" => dist::run(&rest),
        "run" => dist::exec_in_image(&rest),
        "book" => book::run(&rest),
        "cases" => cases::run(&rest),
        "sdk" => sdk::run(&rest),
        "release" => release::run(&rest),
        "web" => web::run(&rest),
        "generate" => generate::run(&rest),
        "test" => test::run(&rest),
        "conformance" => conformance::run(&rest),
        "bench" => bench::run(&rest),
        "fuzz" => fuzz::run(&rest),
        "matrix" => matrix::run(&rest),
        "escape" => escape::run(&rest),
        "python" => dist::python_only(&rest),
        "python-suite" => suite::run(&rest),
        "programs" => programs::run(&rest),
        "javascript" => javascript::run(&rest),
        "node-suite" => node_suite::run(&rest),
        "test262" => test262::run(&rest),
        "doors" => doors::run(&rest),
        "metrics" => metrics::run(),
        "tidy" => tidy::run(&rest),
        "platforms" => platforms::run(&rest),
        "deny" => deny::run(),
        "" | "help" | "--help" | "-h" => {
            println!("Usage: cargo xtask TASK\n");
            for (name, args, what) in TASKS {
                println!("  {:<28} {what}", format!("{name} {args}"));
            }
            return ExitCode::SUCCESS;
        }
        other => {
            eprintln!("xtask: no task '{other}'; see cargo xtask --help");
            return ExitCode::from(2);
        }
    };
    match result {
        Ok(code) => code,
        Err(e) => {
            eprintln!("xtask: {e:#}");
            ExitCode::FAILURE
        }
    }
}
