//! Shell options: `set -o` names (bash manual 4.3.1) and `shopt` names (4.3.2).

use serde::{Deserialize, Serialize};
use sh_expand::ExpandOptions;

macro_rules! names {
    ($enum:ident, $table:ident, $($variant:ident = $name:literal),* $(,)?) => {
        /// An option by number.
        #[derive(Clone, Copy, Debug, PartialEq, Eq)]
        #[repr(u8)]
        pub enum $enum { $($variant),* }
        /// All names, in bash's (alphabetic) order; the index is the variant.
        pub const $table: &[(&str, $enum)] = &[$(($name, $enum::$variant)),*];
    };
}

names! { SetOpt, SET_OPTIONS,
    AllExport = "allexport", BraceExpand = "braceexpand", Emacs = "emacs", ErrExit = "errexit",
    ErrTrace = "errtrace", FuncTrace = "functrace", HashAll = "hashall", HistExpand = "histexpand",
    History = "history", IgnoreEof = "ignoreeof", InteractiveComments = "interactive-comments",
    Keyword = "keyword", Monitor = "monitor", NoClobber = "noclobber", NoExec = "noexec",
    NoGlob = "noglob", NoLog = "nolog", Notify = "notify", NoUnset = "nounset",
    OneCmd = "onecmd", Physical = "physical", PipeFail = "pipefail", Posix = "posix",
    Privileged = "privileged", Verbose = "verbose", Vi = "vi", XTrace = "xtrace",
}

names! { ShOpt, SHOPT_OPTIONS,
    AutoCd = "autocd", AssocExpandOnce = "assoc_expand_once", CdableVars = "cdable_vars",
    CdSpell = "cdspell", CheckHash = "checkhash", CheckJobs = "checkjobs",
    CheckWinSize = "checkwinsize", CmdHist = "cmdhist", Compat31 = "compat31",
    Compat32 = "compat32", Compat40 = "compat40", Compat41 = "compat41", Compat42 = "compat42",
    Compat43 = "compat43", Compat44 = "compat44", CompleteFullQuote = "complete_fullquote",
    DirExpand = "direxpand", DirSpell = "dirspell", DotGlob = "dotglob", ExecFail = "execfail",
    ExpandAliases = "expand_aliases", ExtDebug = "extdebug", ExtGlob = "extglob",
    ExtQuote = "extquote", FailGlob = "failglob", ForceFignore = "force_fignore",
    GlobAsciiRanges = "globasciiranges", GlobSkipDots = "globskipdots", GlobStar = "globstar",
    GnuErrFmt = "gnu_errfmt", HistAppend = "histappend", HistReEdit = "histreedit",
    HistVerify = "histverify", HostComplete = "hostcomplete", HupOnExit = "huponexit",
    InheritErrExit = "inherit_errexit", InteractiveComments = "interactive_comments",
    LastPipe = "lastpipe", LitHist = "lithist", LocalVarInherit = "localvar_inherit",
    LocalVarUnset = "localvar_unset", LoginShell = "login_shell", MailWarn = "mailwarn",
    NoEmptyCmdCompletion = "no_empty_cmd_completion", NoCaseGlob = "nocaseglob",
    NoCaseMatch = "nocasematch", NoExpandTranslation = "noexpand_translation",
    NullGlob = "nullglob", PatsubReplacement = "patsub_replacement", ProgComp = "progcomp",
    ProgCompAlias = "progcomp_alias", PromptVars = "promptvars",
    RestrictedShell = "restricted_shell", ShiftVerbose = "shift_verbose",
    SourcePath = "sourcepath", VarRedirClose = "varredir_close", XpgEcho = "xpg_echo",
}

/// The single-letter options of `set` in the order in which `$-` shows them.
pub const LETTERS: &[(u8, SetOpt)] = &[
    (b'a', SetOpt::AllExport),
    (b'b', SetOpt::Notify),
    (b'e', SetOpt::ErrExit),
    (b'f', SetOpt::NoGlob),
    (b'h', SetOpt::HashAll),
    (b'k', SetOpt::Keyword),
    (b'm', SetOpt::Monitor),
    (b'n', SetOpt::NoExec),
    (b'p', SetOpt::Privileged),
    (b't', SetOpt::OneCmd),
    (b'u', SetOpt::NoUnset),
    (b'v', SetOpt::Verbose),
    (b'x', SetOpt::XTrace),
    (b'B', SetOpt::BraceExpand),
    (b'C', SetOpt::NoClobber),
    (b'E', SetOpt::ErrTrace),
    (b'H', SetOpt::HistExpand),
    (b'P', SetOpt::Physical),
    (b'T', SetOpt::FuncTrace),
];

/// The source of a shell's commands.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CommandSource {
    File,
    /// The argument of `-c`.
    String,
    /// Standard input (`-s`).
    Stdin,
}

/// All options of a shell, small enough to be copied whole.
#[derive(Clone, Debug, Serialize, Deserialize)]
#[serde(from = "(u32, u64, bool)", into = "(u32, u64, bool)")]
pub struct ShellOptions {
    set: u32,
    shopt: u64,
    /// The source of the commands.
    source: CommandSource,
    is_interactive: bool,
    /// The state of the options that POSIX mode switches on, before a command with
    /// `POSIXLY_CORRECT=y` in front of it.
    before_posix: Option<u64>,
    expand: ExpandOptions,
}

/// The options that POSIX mode switches on (bash manual 6.11).
const IN_POSIX_MODE: u64 = 1 << ShOpt::InheritErrExit as u8
    | 1 << ShOpt::ShiftVerbose as u8
    | 1 << ShOpt::ExpandAliases as u8;

impl Default for ShellOptions {
    /// Returns the options that a non-interactive bash starts with.
    fn default() -> ShellOptions {
        let mut o = ShellOptions {
            set: 0,
            shopt: 0,
            source: CommandSource::File,
            is_interactive: false,
            before_posix: None,
            expand: ExpandOptions::default(),
        };
        for s in [SetOpt::BraceExpand, SetOpt::HashAll, SetOpt::InteractiveComments] {
            o.set |= 1 << s as u8;
        }
        for s in [
            ShOpt::CheckWinSize,
            ShOpt::CmdHist,
            ShOpt::CompleteFullQuote,
            ShOpt::ExtQuote,
            ShOpt::ForceFignore,
            ShOpt::GlobAsciiRanges,
            ShOpt::GlobSkipDots,
            ShOpt::HostComplete,
            ShOpt::InteractiveComments,
            ShOpt::PatsubReplacement,
            ShOpt::ProgComp,
            ShOpt::PromptVars,
            ShOpt::SourcePath,
        ] {
            o.shopt |= 1 << s as u8;
        }
        o.sync_expand();
        o
    }
}

/// Converts the options to the form that a spawned shell receives.
impl From<ShellOptions> for (u32, u64, bool) {
    fn from(options: ShellOptions) -> Self {
        (options.set, options.shopt, options.is_command_string())
    }
}

impl From<(u32, u64, bool)> for ShellOptions {
    fn from((set, shopt, is_command_string): (u32, u64, bool)) -> ShellOptions {
        let mut options = ShellOptions::default();
        if is_command_string {
            options.source = CommandSource::String;
        }
        options.set_bits(set, shopt);
        options
    }
}

impl ShellOptions {
    /// Returns whether a `set -o` option is on.
    #[inline]
    pub fn has_set(&self, o: SetOpt) -> bool {
        self.set & (1 << o as u8) != 0
    }

    /// Returns whether a `shopt` option is on.
    #[inline]
    pub fn has_shopt(&self, o: ShOpt) -> bool {
        self.shopt & (1 << o as u8) != 0
    }

    /// Returns whether the shell is interactive (`-i`).
    #[inline]
    pub fn is_interactive(&self) -> bool {
        self.is_interactive
    }

    /// Returns whether the commands are an argument of the shell (`-c`).
    pub fn is_command_string(&self) -> bool {
        self.source == CommandSource::String
    }

    /// Records how the shell was called.
    pub fn set_call(&mut self, source: CommandSource, is_interactive: bool) {
        (self.source, self.is_interactive) = (source, is_interactive);
    }

    /// Switches a `set -o` option and everything that depends on it.
    pub fn switch_set(&mut self, o: SetOpt, on: bool) {
        let bit = 1 << o as u8;
        let changes = (self.set & bit != 0) != on;
        self.set = if on { self.set | bit } else { self.set & !bit };
        match o {
            SetOpt::Emacs if on => self.set &= !(1 << SetOpt::Vi as u8),
            SetOpt::Vi if on => self.set &= !(1 << SetOpt::Emacs as u8),
            SetOpt::InteractiveComments => {
                let b = 1 << ShOpt::InteractiveComments as u8;
                self.shopt = if on { self.shopt | b } else { self.shopt & !b };
            }
            SetOpt::Posix if changes && on => self.shopt |= IN_POSIX_MODE,
            SetOpt::Posix if changes => match self.before_posix.take() {
                Some(before) => self.shopt = self.shopt & !IN_POSIX_MODE | before,
                // The option `inherit_errexit` stays on.
                None => {
                    self.put_shopt(ShOpt::ShiftVerbose, false);
                    if !self.is_interactive {
                        self.put_shopt(ShOpt::ExpandAliases, false);
                    }
                }
            },
            _ => {}
        }
        self.sync_expand();
    }

    /// Prepares for POSIX mode during one command, which leaves no option changed.
    pub fn begin_brief_posix(&mut self) {
        if !self.has_set(SetOpt::Posix) {
            self.before_posix = Some(self.shopt & IN_POSIX_MODE);
        }
    }

    /// Switches a `shopt` option and everything that depends on it.
    pub fn put_shopt(&mut self, o: ShOpt, on: bool) {
        let bit = 1 << o as u8;
        self.shopt = if on { self.shopt | bit } else { self.shopt & !bit };
        match o {
            // Debugging traces functions (bash manual 4.3.2).
            ShOpt::ExtDebug => {
                self.switch_set(SetOpt::ErrTrace, on);
                self.switch_set(SetOpt::FuncTrace, on);
            }
            ShOpt::InteractiveComments => {
                let b = 1 << SetOpt::InteractiveComments as u32;
                self.set = if on { self.set | b } else { self.set & !b };
            }
            _ => {}
        }
        self.sync_expand();
    }

    /// Returns the options in the form that expansion takes.
    pub fn expand(&self) -> &ExpandOptions {
        &self.expand
    }

    /// Sets whether the locale is single-byte (`LC_ALL`, `LC_CTYPE`, `LANG`).
    pub fn set_c_locale(&mut self, on: bool) {
        self.expand.c_locale = on;
    }

    /// Returns both sets as numbers, for a session's later calls.
    pub fn to_bits(&self) -> (u32, u64) {
        (self.set, self.shopt)
    }

    /// Sets both sets of options.
    pub fn set_bits(&mut self, set: u32, shopt: u64) {
        (self.set, self.shopt) = (set, shopt);
        self.sync_expand();
    }

    fn sync_expand(&mut self) {
        let c_locale = self.expand.c_locale;
        self.expand = ExpandOptions {
            nounset: self.has_set(SetOpt::NoUnset),
            noglob: self.has_set(SetOpt::NoGlob),
            braceexpand: self.has_set(SetOpt::BraceExpand),
            posix: self.has_set(SetOpt::Posix),
            extglob: self.has_shopt(ShOpt::ExtGlob),
            globstar: self.has_shopt(ShOpt::GlobStar),
            dotglob: self.has_shopt(ShOpt::DotGlob),
            nullglob: self.has_shopt(ShOpt::NullGlob),
            failglob: self.has_shopt(ShOpt::FailGlob),
            nocaseglob: self.has_shopt(ShOpt::NoCaseGlob),
            nocasematch: self.has_shopt(ShOpt::NoCaseMatch),
            globskipdots: self.has_shopt(ShOpt::GlobSkipDots),
            patsub_replacement: self.has_shopt(ShOpt::PatsubReplacement),
            c_locale,
        };
    }

    /// Returns `$-`.
    pub fn flag_letters(&self) -> Vec<u8> {
        let mut out = Vec::new();
        for (letter, o) in LETTERS {
            if *letter == b'k' && self.is_interactive {
                out.push(b'i');
            }
            if self.has_set(*o) {
                out.push(*letter);
            }
        }
        if self.is_interactive && !out.contains(&b'i') {
            out.insert(0, b'i');
        }
        match self.source {
            CommandSource::File => {}
            CommandSource::String => out.push(b'c'),
            CommandSource::Stdin => out.push(b's'),
        }
        out
    }

    /// Returns `$SHELLOPTS`: the names of the options that are on, joined by colons.
    pub fn shellopts_text(&self) -> Vec<u8> {
        let on = SET_OPTIONS.iter().filter(|(_, o)| self.has_set(*o)).map(|(n, _)| *n);
        on.collect::<Vec<_>>().join(":").into_bytes()
    }

    /// Returns `$BASHOPTS` in the same format.
    pub fn bashopts_text(&self) -> Vec<u8> {
        let on = SHOPT_OPTIONS.iter().filter(|(_, o)| self.has_shopt(*o)).map(|(n, _)| *n);
        on.collect::<Vec<_>>().join(":").into_bytes()
    }
}

/// Returns the `set -o` option of this name.
pub fn set_option(name: &[u8]) -> Option<SetOpt> {
    SET_OPTIONS.iter().find(|(n, _)| n.as_bytes() == name).map(|(_, o)| *o)
}

/// Returns the `shopt` option of this name.
pub fn shopt_option(name: &[u8]) -> Option<ShOpt> {
    SHOPT_OPTIONS.iter().find(|(n, _)| n.as_bytes() == name).map(|(_, o)| *o)
}

/// Returns the option of a letter as given to `set`.
pub fn option_from_letter(c: u8) -> Option<SetOpt> {
    LETTERS.iter().find(|(l, _)| *l == c).map(|(_, o)| *o)
}
