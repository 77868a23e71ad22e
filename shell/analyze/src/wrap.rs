//! Programs that run the command named by their operands.

use crate::command::{AnalyzedLine, SHELLS, base_name, lossy_text};
use crate::options::{OptionLetters, split_arguments};
use crate::report::{Access, CommandScope, ScriptWord};
use crate::walk::ScriptWalk;

/// A program of the form `NAME [option]... [operand]... command [argument]...`.
struct Wrapper {
    name: &'static [u8],
    short: &'static str,
    long: &'static [&'static str],
    /// The number of operands before the command.
    skip: usize,
    /// Whether `NAME=value` operands come before the command.
    assignments: bool,
}

const fn w(name: &'static [u8], short: &'static str, skip: usize) -> Wrapper {
    Wrapper { name, short, long: &[], skip, assignments: false }
}

const WRAPPERS: &[Wrapper] = &[
    w(b"box", "", 0),
    w(b"busybox", "", 0),
    w(b"chroot", "", 1),
    w(b"chrt", "TPD", 1),
    w(b"doas", "Cu", 0),
    Wrapper {
        name: b"env",
        short: "uCS",
        long: &["unset", "chdir", "split-string"],
        skip: 0,
        assignments: true,
    },
    w(b"flock", "wE", 1),
    w(b"ionice", "cnpPu", 0),
    Wrapper { name: b"nice", short: "n", long: &["adjustment"], skip: 0, assignments: false },
    w(b"nohup", "", 0),
    w(b"setsid", "", 0),
    w(b"stdbuf", "ioe", 0),
    w(b"strace", "aeEIoOpPsSuX", 0),
    Wrapper {
        name: b"sudo",
        short: "ugDhpRrTtUC",
        long: &["user", "group", "chdir", "host", "prompt", "chroot", "role", "type"],
        skip: 0,
        assignments: true,
    },
    w(b"taskset", "", 1),
    w(b"time", "fo", 0),
    Wrapper {
        name: b"timeout",
        short: "ks",
        long: &["kill-after", "signal"],
        skip: 1,
        assignments: false,
    },
    w(b"toybox", "", 0),
    w(b"unbuffer", "", 0),
    w(b"watch", "n", 0),
];

const XARGS: OptionLetters = OptionLetters {
    short: "adEILnPs",
    long: &[
        "arg-file",
        "delimiter",
        "max-lines",
        "max-args",
        "max-procs",
        "max-chars",
        "replace",
        "process-slot-var",
    ],
    ordered: true,
};

impl ScriptWalk<'_> {
    /// Walks the command that a wrapper runs; returns `false` if this is not a wrapper.
    pub fn walk_wrapper(&mut self, l: &AnalyzedLine<'_>) -> bool {
        let name = base_name(l.name);
        match name {
            b"xargs" => self.walk_xargs(l),
            b"find" => self.walk_find(l),
            _ => match WRAPPERS.iter().find(|w| w.name == name) {
                Some(w) => self.walk_wrapped(w, l),
                None => return false,
            },
        }
        true
    }

    fn walk_wrapped(&mut self, w: &Wrapper, l: &AnalyzedLine<'_>) {
        let s =
            split_arguments(l.args, OptionLetters { short: w.short, long: w.long, ordered: true });
        let mut operands = s.operands.as_slice();
        let label = lossy_text(w.name);
        if w.name == b"env" {
            for text in s.option_values(&["S", "split-string"]) {
                // Its quoting is almost the shell's, so a command line in it is analyzed as shell
                // code.
                self.walk_code("env -S".into(), text, l.line);
            }
        }
        if w.name == b"flock"
            && let Some(at) = l.args.iter().position(|a| a.text == b"-c")
            && let Some(text) = l.args.get(at + 1)
        {
            return self.walk_code("flock -c".into(), text, l.line);
        }
        if w.name == b"sudo" && s.has_any(&["e", "edit"]) {
            return self.note_unknown("program", l.name, l.line);
        }
        if w.assignments {
            while let Some((first, rest)) = operands.split_first() {
                let Some(at) = first.text.iter().position(|c| *c == b'=') else { break };
                let name = first.text.get(..at).unwrap_or_default();
                let dynamic = first.dynamic && name.iter().any(|c| b"$`\"'\\".contains(c));
                let name = ScriptWord { dynamic, ..ScriptWord::fixed_text(name) };
                self.note_variable(name, &label, Some(first.tail_from(at + 1)), l.line);
                operands = rest;
            }
        }
        let command = operands.get(w.skip..).unwrap_or_default();
        if command.is_empty() {
            // The wrapper starts a shell itself, or has only options that print information.
            if s.has_any(&["i", "s"]) && matches!(w.name, b"sudo") {
                self.note_unknown("standard input as script", l.name, l.line);
            }
            if l.more {
                self.note_unknown("command name", l.name, l.line);
            }
            return;
        }
        if w.name == b"watch" && !s.has_any(&["x", "exec"]) {
            let words: Vec<&[u8]> = command.iter().map(|c| c.text.as_slice()).collect();
            let dynamic = command.iter().any(|c| c.dynamic);
            let text = ScriptWord { text: words.join(&b' '), dynamic, expands: false };
            return self.walk_code("watch".into(), &text, l.line);
        }
        self.walk_within(label, |walk| {
            walk.run(command, l.line, CommandScope::Program, l.stdin, l.more)
        });
    }

    fn walk_xargs(&mut self, l: &AnalyzedLine<'_>) {
        let s = split_arguments(l.args, XARGS);
        for f in s.option_values(&["a", "arg-file"]) {
            self.note_file(f.clone(), Access::Read, l.name, l.line);
        }
        let mark = s.option_values(&["I", "replace"]).next().map(|t| t.text.clone());
        let mut command = s.operands;
        if command.is_empty() {
            command.push(ScriptWord::fixed_text("echo"));
        }
        let more = match &mark {
            Some(m) if !m.is_empty() => {
                replace_marks(&mut command, m);
                false
            }
            _ => true,
        };
        self.walk_within("xargs", |w| {
            w.run(&command, l.line, CommandScope::Program, None, more);
            // The added operands could be the code itself.
            let shell = command.first().is_some_and(|c| SHELLS.contains(&base_name(&c.text)));
            if more && shell && command.len() == 1 {
                w.note_unknown("script file", b"xargs", l.line);
            }
        });
    }

    fn walk_find(&mut self, l: &AnalyzedLine<'_>) {
        let is_expression =
            |t: &ScriptWord| matches!(t.text.first(), Some(b'-' | b'(' | b')' | b'!' | b','));
        let mut i = 0;
        while l.args.get(i).is_some_and(|a| matches!(a.text.as_slice(), b"-H" | b"-L" | b"-P")) {
            i += 1;
        }
        let mut starts = Vec::new();
        while let Some(a) = l.args.get(i).filter(|a| !is_expression(a)) {
            starts.push(a.clone());
            i += 1;
        }
        if starts.is_empty() {
            starts.push(ScriptWord::fixed_text("."));
        }
        for s in &starts {
            self.note_file(s.clone(), Access::Read, l.name, l.line);
        }
        while let Some(a) = l.args.get(i) {
            i += 1;
            let next = l.args.get(i);
            match a.text.as_slice() {
                b"-delete" => {
                    for s in &starts {
                        self.note_file(s.clone(), Access::Delete, l.name, l.line);
                    }
                }
                b"-fprint" | b"-fprint0" | b"-fls" | b"-fprintf" => {
                    if let Some(f) = next {
                        self.note_file(f.clone(), Access::Write, l.name, l.line);
                    }
                }
                b"-files0-from" => {
                    if let Some(f) = next {
                        self.note_file(f.clone(), Access::Read, l.name, l.line);
                    }
                }
                b"-exec" | b"-execdir" | b"-ok" | b"-okdir" => {
                    let rest = l.args.get(i..).unwrap_or_default();
                    let end = rest.iter().enumerate().position(|(n, t)| {
                        t.text == b";" || t.text == b"+" && n > 0 && rest[n - 1].text == b"{}"
                    });
                    let end = end.unwrap_or(rest.len());
                    let mut command = rest.get(..end).unwrap_or_default().to_vec();
                    replace_marks(&mut command, b"{}");
                    let label = format!("find {}", lossy_text(&a.text));
                    self.walk_within(label, |w| {
                        w.run(&command, l.line, CommandScope::Program, None, false)
                    });
                    i += end + 1;
                }
                _ => {}
            }
        }
    }
}

/// Marks words as not static if a mark in them is replaced when the command runs.
fn replace_marks(words: &mut [ScriptWord], mark: &[u8]) {
    for w in words {
        if w.text.windows(mark.len()).any(|x| x == mark) {
            w.dynamic = true;
            w.expands = false;
        }
    }
}
