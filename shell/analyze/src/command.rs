//! A command line: its record, and the other commands that it runs.

use sh_syntax::ast::{CommandWord, SimpleCommand};

use crate::report::{CommandNameKind, CommandScope, CommandUse, ScriptWord};
use crate::walk::{ScriptWalk, Stdin};

/// A command line as a builtin or wrapper sees it.
pub(crate) struct AnalyzedLine<'l> {
    pub name: &'l [u8],
    pub args: &'l [ScriptWord],
    pub line: u32,
    /// The standard input, if it is known.
    pub stdin: Option<&'l ScriptWord>,
    /// Whether further arguments come from another source.
    pub more: bool,
}

/// Programs that run a text in a language that is not analyzed, with the option that passes it.
const LANGUAGES: &[(&[u8], &[&str])] = &[
    (b"bun", &["e", "eval"]),
    (b"deno", &["eval"]),
    (b"lua", &["e"]),
    (b"node", &["e", "p", "eval", "print"]),
    (b"perl", &["e", "E", "n", "p", "ne", "pe", "pi"]),
    (b"php", &["r"]),
    (b"python", &["c", "m"]),
    (b"python3", &["c", "m"]),
    (b"qjs", &["e"]),
    (b"ruby", &["e"]),
];

pub(crate) const SHELLS: &[&[u8]] =
    &[b"bash", b"sh", b"dash", b"ash", b"ksh", b"mksh", b"zsh", b"rbash", b"yash"];

pub(crate) fn base_name(name: &[u8]) -> &[u8] {
    name.rsplit(|c| *c == b'/').next().unwrap_or(name)
}

pub(crate) fn lossy_text(text: &[u8]) -> String {
    String::from_utf8_lossy(text).into_owned()
}

impl ScriptWalk<'_> {
    /// Walks a simple command.
    pub fn walk_simple(&mut self, s: &SimpleCommand, line: u32, stdin: Stdin) {
        let by = if s.words.is_empty() { "assignment" } else { "environment" };
        for a in &s.assignments {
            self.walk_assignment(a, by);
        }
        let declares = match s.words.first() {
            Some(CommandWord::Word(w)) => lossy_text(w.as_literal().unwrap_or_default()),
            _ => String::new(),
        };
        let words: Vec<ScriptWord> =
            s.words.iter().map(|w| self.command_word(w, &declares, line)).collect();
        self.run(&words, line, CommandScope::Any, stdin.as_ref(), false);
    }

    /// Records a command and walks the commands that it runs.
    pub fn run(
        &mut self,
        words: &[ScriptWord],
        line: u32,
        resolve: CommandScope,
        stdin: Option<&ScriptWord>,
        more: bool,
    ) {
        let Some((name, args)) = words.split_first() else { return };
        self.report.commands.push(CommandUse {
            name: name.clone(),
            kind: CommandNameKind::Unknown,
            args: args.to_vec(),
            more_args: more,
            line,
            context: self.context.clone(),
            resolve,
        });
        let Some(known) = name.known_text() else {
            self.note_unknown("command name", &name.text, line);
            return;
        };
        let l = AnalyzedLine { name: known, args, line, stdin, more };
        if resolve != CommandScope::Program && self.walk_builtin(&l) {
            return;
        }
        if self.walk_wrapper(&l) {
            return;
        }
        let program = base_name(known);
        if SHELLS.contains(&program) {
            self.walk_shell(&l);
        } else if let Some((_, options)) = LANGUAGES.iter().find(|(n, _)| *n == program) {
            self.walk_language(&l, options);
        } else if matches!(program, b"ssh" | b"su" | b"parallel" | b"docker" | b"podman" | b"make")
        {
            self.note_unknown("program", known, line);
        } else if matches!(program, b"awk" | b"gawk" | b"mawk" | b"nawk") {
            self.walk_awk(&l);
        } else if program == b"sed" {
            crate::sed::sed_command(self, &l);
        }
    }

    /// Walks `bash -c text`, `bash file`, `bash < text`.
    fn walk_shell(&mut self, l: &AnalyzedLine<'_>) {
        let (mut i, mut command, mut stdin) = (0, false, false);
        while let Some(arg) = l.args.get(i) {
            let text = arg.text.as_slice();
            if arg.known_text().is_none()
                || !matches!(text.first(), Some(b'-' | b'+'))
                || text == b"-"
            {
                break;
            }
            i += 1;
            if text == b"--" {
                break;
            }
            if matches!(text, b"--rcfile" | b"--init-file" | b"--budget") {
                i += 1;
                continue;
            }
            if matches!(text, b"--analyze" | b"--version" | b"--help") {
                // No command will run.
                return;
            }
            if text.starts_with(b"--") {
                continue;
            }
            command |= text.contains(&b'c');
            stdin |= text.contains(&b's');
            if text.ends_with(b"o") || text.ends_with(b"O") {
                i += 1;
            }
        }
        let label = lossy_text(base_name(l.name));
        let operand = l.args.get(i).filter(|_| !stdin || command);
        match operand {
            Some(text) if command => self.walk_code(format!("{label} -c"), text, l.line),
            Some(file) => {
                self.runs_file(file, l.name, l.line);
            }
            None => match l.stdin {
                Some(text) => self.walk_code(format!("{label} <<"), text, l.line),
                None => self.note_unknown("standard input as script", l.name, l.line),
            },
        }
        if command && operand.is_none() && l.more {
            self.note_unknown("code", l.name, l.line);
        }
    }

    /// Walks a text of shell code given as a word.
    pub fn walk_code(&mut self, context: String, text: &ScriptWord, line: u32) {
        if text.dynamic {
            self.note_unknown("code", &text.text, line)
        } else {
            self.walk_nested(context, &text.text, line)
        }
    }

    fn walk_language(&mut self, l: &AnalyzedLine<'_>, options: &[&str]) {
        for (i, arg) in l.args.iter().enumerate() {
            let text = arg.text.as_slice();
            let option = text.strip_prefix(b"--").or_else(|| text.strip_prefix(b"-"));
            match option {
                Some(o) if !o.is_empty() => {
                    let name = lossy_text(o);
                    if options.contains(&name.as_str()) {
                        let code = l.args.get(i + 1).map_or(&b""[..], |t| &t.text);
                        return self.note_unknown("program text", code, l.line);
                    }
                    if matches!(o, b"V" | b"version" | b"h" | b"help") {
                        return;
                    }
                }
                _ if text != b"-" => return self.runs_file(arg, l.name, l.line),
                _ => break,
            }
        }
        self.note_unknown("standard input as script", l.name, l.line);
    }

    /// Walks an awk program, which may run commands and write files.
    fn walk_awk(&mut self, l: &AnalyzedLine<'_>) {
        let spec = crate::files::tool_options(b"awk");
        let split = crate::options::split_arguments(l.args, spec);
        let files: Vec<&ScriptWord> = split.option_values(&["f", "file"]).collect();
        if !files.is_empty() {
            for f in files {
                self.runs_file(f, l.name, l.line);
            }
            return;
        }
        let Some(program) = split.operands.first() else { return };
        let has = |t: &[u8]| program.text.windows(t.len()).any(|w| w == t);
        // A comparison `a > b` also counts as a redirection, because a false alarm is the lesser
        // evil.
        let acts = has(b"system")
            || has(b"|") && has(b"getline")
            || has(b"print") && (has(b">") || has(b"|"));
        if program.dynamic || acts || has(b"getline") || has(b"@load") || has(b"@include") {
            self.note_unknown("program text", &program.text, l.line);
        }
    }
}
