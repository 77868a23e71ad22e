//! The builtins, one file each. The table is explicit and sorted.

mod alias;
mod bg;
mod bind;
mod break_;
mod builtin_;
mod caller;
mod cd;
pub(crate) mod command;
mod compgen;
mod complete;
pub(crate) mod completion;
mod compopt;
mod continue_;
pub(crate) mod declare;
mod dirs;
mod disown;
mod echo;
mod enable;
mod eval;
mod exec;
mod exit;
mod export;
mod false_;
mod fc;
mod fg;
mod getopts;
mod hash;
mod help;
mod help_text;
mod history;
mod jobs;
mod kill;
mod let_;
mod local;
mod logout;
mod mapfile;
pub(crate) mod opts;
mod popd;
mod printf;
mod pushd;
mod pwd;
mod read;
mod readonly;
mod return_;
mod set;
mod shift;
mod shopt;
mod source;
mod suspend;
pub(crate) mod test;
mod times;
mod trap;
mod true_;
mod type_;
mod ulimit;
mod umask;
mod unalias;
mod unset;
mod wait;

use sh_expand::Str;

use crate::Shell;
use crate::shell::{Flow, Unwind};
use crate::state::options::SetOpt;
use crate::walk::DeclarationOperand;

pub(crate) use opts::BuiltinArguments;

/// The words of a builtin's call.
pub struct BuiltinCall<'c> {
    /// Name and arguments.
    pub argv: &'c [Str],
    /// Arguments that are assignments in the source, for the declaration builtins.
    pub operands: &'c [DeclarationOperand<'c>],
}

impl<'c> BuiltinCall<'c> {
    /// Returns the name that the builtin was called by.
    pub fn name(&self) -> &'c [u8] {
        self.argv.first().map_or(b"", |n| n.as_slice())
    }

    /// Returns the words after the name.
    pub fn args(&self) -> &'c [Str] {
        self.argv.get(1..).unwrap_or_default()
    }
}

/// One builtin command.
pub struct Builtin {
    pub name: &'static str,
    pub run: fn(&mut Shell<'_>, &BuiltinCall<'_>) -> Flow,
    /// A special builtin of POSIX (XCU 2.14).
    pub special: bool,
    /// Synopsis, for `help` and usage errors.
    pub synopsis: &'static str,
    /// One line for `help`.
    pub summary: &'static str,
}

const fn b(
    name: &'static str,
    run: fn(&mut Shell<'_>, &BuiltinCall<'_>) -> Flow,
    synopsis: &'static str,
    summary: &'static str,
) -> Builtin {
    Builtin { name, run, special: false, synopsis, summary }
}

const fn special_builtin(
    name: &'static str,
    run: fn(&mut Shell<'_>, &BuiltinCall<'_>) -> Flow,
    synopsis: &'static str,
    summary: &'static str,
) -> Builtin {
    Builtin { name, run, special: true, synopsis, summary }
}

/// All builtins, sorted by name.
pub const TABLE: &[Builtin] = &[
    special_builtin(
        ".",
        source::run,
        ". filename [arguments]",
        "Run the commands of a file in this shell.",
    ),
    special_builtin(":", true_::run, ":", "Do nothing."),
    b("[", test::run, "[ arg... ]", "Check a condition."),
    b("alias", alias::run, "alias [-p] [name[=value] ... ]", "Define aliases, or list them."),
    b("bg", bg::run, "bg [job_spec ...]", "Continue a stopped job in the background."),
    b(
        "bind",
        bind::run,
        "bind [-lpsvPSVX] [-m keymap] [-f filename] [-q name] [-u name] [-r keyseq] [-x keyseq:shell-command] [keyseq:readline-function or readline-command]",
        "Accept key bindings (there is no line editing here).",
    ),
    special_builtin("break", break_::run, "break [n]", "Leave a loop."),
    b(
        "builtin",
        builtin_::run,
        "builtin [shell-builtin [arg ...]]",
        "Run a builtin, even if a function has its name.",
    ),
    b("caller", caller::run, "caller [expr]", "Show where the running function was called."),
    b("cd", cd::run, "cd [-L|[-P [-e]] [-@]] [dir]", "Go to another directory."),
    b(
        "command",
        command::run,
        "command [-pVv] command [arg ...]",
        "Run a command, ignoring functions, or show what would run.",
    ),
    b(
        "compgen",
        compgen::run,
        "compgen [-abcdefgjksuv] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [word]",
        "Show possible completions of a word.",
    ),
    b(
        "complete",
        complete::run,
        "complete [-abcdefgjksuv] [-pr] [-DEI] [-o option] [-A action] [-G globpat] [-W wordlist] [-F function] [-C command] [-X filterpat] [-P prefix] [-S suffix] [name ...]",
        "Say how the arguments of a command are completed.",
    ),
    b(
        "compopt",
        compopt::run,
        "compopt [-o|+o option] [-DEI] [name ...]",
        "Change the options of a completion.",
    ),
    special_builtin("continue", continue_::run, "continue [n]", "Begin the next round of a loop."),
    b(
        "declare",
        declare::run,
        "declare [-aAfFgiIlnrtux] [name[=value] ...] or declare -p [-aAfFilnrtux] [name ...]",
        "Set variables and their attributes, or list them.",
    ),
    b("dirs", dirs::run, "dirs [-clpv] [+N] [-N]", "Show the stack of directories."),
    b("disown", disown::run, "disown [-h] [-ar] [jobspec ... | pid ...]", "Forget jobs."),
    b("echo", echo::run, "echo [-neE] [arg ...]", "Print the arguments."),
    b(
        "enable",
        enable::run,
        "enable [-a] [-dnps] [-f filename] [name ...]",
        "Switch builtins on or off, or list them.",
    ),
    special_builtin("eval", eval::run, "eval [arg ...]", "Run the arguments as a command line."),
    special_builtin(
        "exec",
        exec::run,
        "exec [-cl] [-a name] [command [argument ...]] [redirection ...]",
        "Become another program, or redirect this shell.",
    ),
    special_builtin("exit", exit::run, "exit [n]", "End the shell."),
    special_builtin(
        "export",
        export::run,
        "export [-fn] [name[=value] ...] or export -p",
        "Pass variables on to programs.",
    ),
    b("false", false_::run, "false", "Do nothing, and fail."),
    b(
        "fc",
        fc::run,
        "fc [-e ename] [-lnr] [first] [last] or fc -s [pat=rep] [command]",
        "List commands of the history, or run one again.",
    ),
    b("fg", fg::run, "fg [job_spec]", "Wait for a job in the foreground."),
    b(
        "getopts",
        getopts::run,
        "getopts optstring name [arg ...]",
        "Take the next option from the arguments.",
    ),
    b(
        "hash",
        hash::run,
        "hash [-lr] [-p pathname] [-dt] [name ...]",
        "Remember where programs are, or show it.",
    ),
    b("help", help::run, "help [-dms] [pattern ...]", "Describe builtins."),
    b(
        "history",
        history::run,
        "history [-c] [-d offset] [n] or history -anrw [filename] or history -ps arg [arg...]",
        "Show or change the history.",
    ),
    b("jobs", jobs::run, "jobs [-lnprs] [jobspec ...] or jobs -x command [args]", "List jobs."),
    b(
        "kill",
        kill::run,
        "kill [-s sigspec | -n signum | -sigspec] pid | jobspec ... or kill -l [sigspec]",
        "Send a signal to processes or jobs.",
    ),
    b("let", let_::run, "let arg [arg ...]", "Compute arithmetic expressions."),
    b(
        "local",
        local::run,
        "local [option] name[=value] ...",
        "Create variables that are local to a function.",
    ),
    b("logout", logout::run, "logout [n]", "End a login shell."),
    b(
        "mapfile",
        mapfile::run,
        "mapfile [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
        "Read lines into an array.",
    ),
    b(
        "popd",
        popd::run,
        "popd [-n] [+N | -N]",
        "Take directories off the stack, and go to the top one.",
    ),
    b(
        "printf",
        printf::run,
        "printf [-v var] format [arguments]",
        "Print the arguments by a format.",
    ),
    b(
        "pushd",
        pushd::run,
        "pushd [-n] [+N | -N | dir]",
        "Put a directory onto the stack, and go there.",
    ),
    b("pwd", pwd::run, "pwd [-LP]", "Print the working directory."),
    b(
        "read",
        read::run,
        "read [-ers] [-a array] [-d delim] [-i text] [-n nchars] [-N nchars] [-p prompt] [-t timeout] [-u fd] [name ...]",
        "Read a line, and split it into variables.",
    ),
    b(
        "readarray",
        mapfile::run,
        "readarray [-d delim] [-n count] [-O origin] [-s count] [-t] [-u fd] [-C callback] [-c quantum] [array]",
        "Read lines into an array.",
    ),
    special_builtin(
        "readonly",
        readonly::run,
        "readonly [-aAf] [name[=value] ...] or readonly -p",
        "Protect variables from changes.",
    ),
    special_builtin("return", return_::run, "return [n]", "Leave a function or a sourced file."),
    special_builtin(
        "set",
        set::run,
        "set [-abefhkmnptuvxBCEHPT] [-o option-name] [--] [-] [arg ...]",
        "Set options of the shell, or the positional parameters.",
    ),
    special_builtin("shift", shift::run, "shift [n]", "Drop the first positional parameters."),
    b(
        "shopt",
        shopt::run,
        "shopt [-pqsu] [-o] [optname ...]",
        "Set further options of the shell, or list them.",
    ),
    special_builtin(
        "source",
        source::run,
        "source filename [arguments]",
        "Run the commands of a file in this shell.",
    ),
    b("suspend", suspend::run, "suspend [-f]", "Stop the shell until it gets SIGCONT."),
    b("test", test::run, "test [expr]", "Check a condition."),
    special_builtin(
        "times",
        times::run,
        "times",
        "Print how much time the shell and its programs used.",
    ),
    special_builtin(
        "trap",
        trap::run,
        "trap [-lp] [[arg] signal_spec ...]",
        "Run a command when a signal arrives or the shell ends.",
    ),
    b("true", true_::run, "true", "Do nothing, and succeed."),
    b(
        "type",
        type_::run,
        "type [-afptP] name [name ...]",
        "Say what a name runs: an alias, a builtin, a file.",
    ),
    b(
        "typeset",
        declare::run,
        "typeset [-aAfFgiIlnrtux] name[=value] ... or typeset -p [-aAfFilnrtux] [name ...]",
        "Set variables and their attributes, or list them.",
    ),
    b(
        "ulimit",
        ulimit::run,
        "ulimit [-SHabcdefiklmnpqrstuvxPRT] [limit]",
        "Show or lower limits of resources.",
    ),
    b(
        "umask",
        umask::run,
        "umask [-p] [-S] [mode]",
        "Show or set the permissions that new files do not get.",
    ),
    b("unalias", unalias::run, "unalias [-a] name [name ...]", "Remove aliases."),
    special_builtin(
        "unset",
        unset::run,
        "unset [-f] [-v] [-n] [name ...]",
        "Remove variables or functions.",
    ),
    b("wait", wait::run, "wait [-fn] [-p var] [id ...]", "Wait for jobs, and return their status."),
];

/// Returns the builtin of this name, enabled or not.
pub fn find_builtin(name: &[u8]) -> Option<&'static Builtin> {
    let at = TABLE.binary_search_by(|b| b.name.as_bytes().cmp(name)).ok()?;
    TABLE.get(at)
}

/// Returns whether the name is a special builtin of POSIX; `source` is bash's second name of `.`.
pub fn is_special(name: &[u8]) -> bool {
    find_builtin(name).is_some_and(|b| b.special)
}

impl Shell<'_> {
    /// Calls a builtin and reports a write error of its output.
    pub(crate) fn run_builtin(&mut self, b: &'static Builtin, call: &BuiltinCall<'_>) -> Flow {
        let asks = call.args().first().is_some_and(|a| a.as_slice() == b"--help");
        let r = if asks && !matches!(b.name, ":" | "true" | "false" | "test" | "[" | "echo") {
            Ok(self.print_help(b.name.as_bytes()))
        } else {
            match (b.run)(self, call) {
                Err(Unwind::Builtin(status)) => Ok(status),
                r => r,
            }
        };
        let is_due = self.output.is_due() || self.output.is_some() && self.survives_broken_pipe();
        if is_due && let Some(e) = self.finish_output() {
            let text = box_sys::error_text(&e);
            self.builtin_error(call.name(), &[b"write error: ", text.as_bytes()]);
            return r.map(|s| if s == 0 { 1 } else { s });
        }
        r
    }

    /// Prints `NAME: usage: ...` after a wrong call; the status is 2.
    pub(crate) fn print_usage(&mut self, name: &[u8]) -> Unwind {
        if let Some(b) = find_builtin(name) {
            let line = [name, b": usage: ", b.synopsis.as_bytes(), b"\n"].concat();
            self.write_err(&line);
            let o = &self.state.options;
            if b.special
                && o.has_set(SetOpt::Posix)
                && !o.is_interactive()
                && !self.state.here.condition
            {
                return self.ends_with(2);
            }
        }
        Unwind::Builtin(2)
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::TABLE;

    /// Checks that each builtin has the file that ARCHITECTURE.md refers to.
    #[test]
    fn each_has_its_file() {
        let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/builtin");
        for b in TABLE {
            let name = match b.name {
                "." => "source",
                ":" => "true_",
                "[" => "test",
                "readarray" => "mapfile",
                "typeset" => "declare",
                name => name,
            };
            let file = |end: &str| folder.join(format!("{name}{end}.rs")).exists();
            assert!(file("") || file("_"), "{}", b.name);
        }
    }

    #[test]
    fn sorted() {
        for pair in TABLE.windows(2) {
            assert!(pair[0].name < pair[1].name, "{} {}", pair[0].name, pair[1].name);
        }
    }
}
