//! The table of applets: one explicit sorted list, to which applets are not registered at run time.

use crate::{Ctx, Ended};

/// The way an applet is run.
#[derive(Clone, Copy)]
pub enum AppletRun {
    /// Through our contract: the applet uses [`Ctx`] for everything.
    Ctx(fn(&mut Ctx<'_>, &[Vec<u8>]) -> Ended),
    /// Through `std`'s global streams, environment and directory, which requires a process of its
    /// own. The function takes `argv` with `argv[0]` and returns the exit status.
    Globals(fn(Vec<std::ffi::OsString>) -> i32),
}

/// One applet.
#[derive(Clone, Copy)]
pub struct Applet {
    pub name: &'static str,
    pub run: AppletRun,
    /// Whether the shell may call it in-process: such an applet neither blocks for long, nor reads
    /// standard input, nor starts commands (BusyBox's NOFORK).
    pub quick: bool,
    /// The line that lists show.
    pub summary: &'static str,
    /// Returns the text of `--help` for an adapted tool; a tool of ours is run with `--help`
    /// instead.
    pub help: Option<fn() -> String>,
}

impl Applet {
    /// Declares a tool of ours that runs as a process.
    pub const fn new(
        name: &'static str,
        run: fn(&mut Ctx<'_>, &[Vec<u8>]) -> Ended,
        summary: &'static str,
    ) -> Applet {
        Applet { name, run: AppletRun::Ctx(run), quick: false, summary, help: None }
    }

    /// Declares a small tool of ours that the shell may call in-process.
    pub const fn quick(
        name: &'static str,
        run: fn(&mut Ctx<'_>, &[Vec<u8>]) -> Ended,
        summary: &'static str,
    ) -> Applet {
        Applet { name, run: AppletRun::Ctx(run), quick: true, summary, help: None }
    }

    /// Declares an adapted tool that uses process globals.
    pub const fn globals(
        name: &'static str,
        run: fn(Vec<std::ffi::OsString>) -> i32,
        summary: &'static str,
    ) -> Applet {
        Applet { name, run: AppletRun::Globals(run), quick: false, summary, help: None }
    }

    /// Adds the text of `--help`.
    pub const fn with_help(self, help: fn() -> String) -> Applet {
        Applet { help: Some(help), ..self }
    }
}

/// All applets, sorted by name.
pub struct AppletTable {
    applets: &'static [Applet],
    /// Further programs of the image, which are not applets (`python3`), each with a summary for
    /// lists.
    programs: &'static [(&'static str, &'static str)],
}

impl AppletTable {
    /// Returns a table over a sorted list of applets and a sorted list of further programs with
    /// their summaries.
    pub const fn new(
        applets: &'static [Applet],
        programs: &'static [(&'static str, &'static str)],
    ) -> AppletTable {
        AppletTable { applets, programs }
    }

    /// Returns the applet with this name.
    pub fn find(&self, name: &[u8]) -> Option<&'static Applet> {
        let at = self.applets.binary_search_by(|a| a.name.as_bytes().cmp(name)).ok()?;
        self.applets.get(at)
    }

    /// Returns whether `/bin/NAME` is a program of the image.
    pub fn is_program(&self, name: &[u8]) -> bool {
        self.find(name).is_some() || self.programs.iter().any(|(p, _)| p.as_bytes() == name)
    }

    /// Returns the further programs and their summaries, in order.
    pub fn programs(&self) -> &'static [(&'static str, &'static str)] {
        self.programs
    }

    /// Returns all applets in order.
    pub fn applets(&self) -> &'static [Applet] {
        self.applets
    }
}
