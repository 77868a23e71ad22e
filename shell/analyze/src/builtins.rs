//! Builtins that take code or set variables.

use std::rc::Rc;

use crate::command::{AnalyzedLine, lossy_text};
use crate::options::{OptionLetters, split_arguments};
use crate::report::{CommandScope, ScriptWord};
use crate::walk::ScriptWalk;

const fn ordered_letters(short: &'static str) -> OptionLetters {
    OptionLetters { short, long: &[], ordered: true }
}

fn is_name(text: &[u8]) -> bool {
    text.first().is_some_and(|c| c.is_ascii_alphabetic() || *c == b'_')
        && text.iter().all(|c| c.is_ascii_alphanumeric() || *c == b'_')
}

/// Returns the name in `name`, `name[...]`, `name=...` or `name+=...`, even if the text after the
/// name is not static.
fn target_name(text: &ScriptWord) -> ScriptWord {
    let end = text.text.iter().position(|c| matches!(c, b'[' | b'=' | b'+'));
    let name = text.text.get(..end.unwrap_or(text.text.len())).unwrap_or_default();
    if is_name(name) { ScriptWord::fixed_text(name) } else { text.clone() }
}

impl ScriptWalk<'_> {
    /// Handles the line of a builtin. Returns `false` if the command is not a builtin whose effects
    /// are known here.
    pub fn walk_builtin(&mut self, l: &AnalyzedLine<'_>) -> bool {
        self.runs_code(l)
            || self.changes_reading(l)
            || self.sets_variables(l)
            || self.hides_effects(l)
    }

    /// Handles builtins that run code, a file or a command.
    fn runs_code(&mut self, l: &AnalyzedLine<'_>) -> bool {
        let (within, resolve, options) = match l.name {
            b"eval" => {
                self.walk_eval(l);
                return true;
            }
            b"trap" => {
                self.walk_trap(l);
                return true;
            }
            b"." | b"source" => {
                if let Some(file) = split_arguments(l.args, ordered_letters("")).operands.first() {
                    self.runs_file(file, l.name, l.line);
                }
                return true;
            }
            b"jobs" if l.args.iter().any(|a| a.text == b"-x") => {
                let operands = l.args.get(1..).unwrap_or_default();
                self.walk_within("jobs -x", |w| {
                    w.run(operands, l.line, CommandScope::Any, l.stdin, l.more)
                });
                return true;
            }
            b"command" => ("command", CommandScope::NoFunction, ""),
            b"builtin" => ("builtin", CommandScope::Builtin, ""),
            b"exec" => ("exec", CommandScope::Program, "a"),
            _ => return false,
        };
        let s = split_arguments(l.args, ordered_letters(options));
        if within != "command" || !s.has_any(&["v", "V"]) {
            self.walk_within(within, |w| w.run(&s.operands, l.line, resolve, l.stdin, l.more));
        }
        true
    }

    /// Records builtins that change how the following text is read.
    fn changes_reading(&mut self, l: &AnalyzedLine<'_>) -> bool {
        match l.name {
            b"alias" => self.walk_alias(l),
            b"unalias" => {
                let aliases = Rc::make_mut(&mut self.aliases);
                for a in l.args {
                    if a.text == b"-a" {
                        aliases.clear();
                    }
                    aliases.remove(&a.text);
                }
            }
            b"shopt" => {
                let on = l.args.iter().any(|a| a.text == b"-s");
                let off = l.args.iter().any(|a| a.text == b"-u");
                for a in l.args.iter().filter(|_| on || off) {
                    match a.text.as_slice() {
                        b"extglob" => self.extglob = on,
                        b"expand_aliases" => self.expand_aliases = on,
                        b"posix" => self.posix = on,
                        _ => {}
                    }
                }
            }
            b"set" => {
                for pair in l.args.windows(2) {
                    if pair[1].text == b"posix" && matches!(pair[0].text.as_slice(), b"-o" | b"+o")
                    {
                        self.posix = pair[0].text == b"-o";
                    }
                }
            }
            _ => return false,
        }
        true
    }

    /// Handles builtins that set variables, by name.
    fn sets_variables(&mut self, l: &AnalyzedLine<'_>) -> bool {
        let by = lossy_text(l.name);
        let options = match l.name {
            b"declare" | b"typeset" | b"local" | b"export" | b"readonly" => {
                OptionLetters::default()
            }
            b"read" => ordered_letters("adinNptu"),
            b"mapfile" | b"readarray" => ordered_letters("dnOsuCc"),
            b"printf" => ordered_letters("v"),
            b"wait" => ordered_letters("p"),
            b"getopts" => ordered_letters(""),
            _ => return false,
        };
        let s = split_arguments(l.args, options);
        let mut names: Vec<ScriptWord> = match l.name {
            b"read" => s.option_values(&["a"]).chain(&s.operands).cloned().collect(),
            b"mapfile" | b"readarray" => {
                for callback in s.option_values(&["C"]) {
                    self.walk_code(format!("{by} -C"), callback, l.line);
                }
                s.operands.first().cloned().into_iter().collect()
            }
            b"printf" => s.option_values(&["v"]).cloned().collect(),
            b"wait" => s.option_values(&["p"]).cloned().collect(),
            b"getopts" => s.operands.get(1).cloned().into_iter().collect(),
            _ if s.has_any(&["f", "F", "p"]) => return true,
            // Assignments among the words were recorded when the words were read.
            _ => {
                let named =
                    |o: &&ScriptWord| target_name(o) == **o || !is_name(&target_name(o).text);
                s.operands.iter().filter(named).cloned().collect()
            }
        };
        let default = match l.name {
            b"read" => Some("REPLY"),
            b"mapfile" | b"readarray" => Some("MAPFILE"),
            _ => None,
        };
        if names.is_empty() {
            names.extend(default.map(ScriptWord::fixed_text));
        }
        for name in &names {
            self.note_variable(target_name(name), &by, None, l.line);
        }
        true
    }

    /// Records builtins whose effects are known only at run time.
    fn hides_effects(&mut self, l: &AnalyzedLine<'_>) -> bool {
        match l.name {
            b"let" => {
                for a in l.args {
                    match sh_syntax::parse::parse_arith(&a.text, &Default::default()) {
                        Ok(e) if !a.dynamic => self.walk_arith(&e, l.line),
                        _ => self.note_unknown("arithmetic", &a.text, l.line),
                    }
                }
            }
            b"hash" => {
                if !split_arguments(l.args, ordered_letters("p")).operands.is_empty()
                    && l.args.iter().any(|a| a.text == b"-p")
                {
                    self.note_unknown("command location", &l.args[0].text, l.line);
                }
            }
            b"enable" if l.args.iter().any(|a| a.text == b"-f") => {
                self.note_unknown("loaded builtin", l.name, l.line);
            }
            b"fc" if !l.args.iter().any(|a| a.text.starts_with(b"-l")) => {
                self.note_unknown("history", l.name, l.line);
            }
            _ => return false,
        }
        true
    }

    fn walk_eval(&mut self, l: &AnalyzedLine<'_>) {
        let words: Vec<&[u8]> = l.args.iter().map(|a| a.text.as_slice()).collect();
        let words = words.strip_prefix(&[&b"--"[..]]).unwrap_or(&words);
        let text = words.join(&b' ');
        if l.more || l.args.iter().any(|a| a.known_text().is_none()) {
            self.note_unknown("eval", &text, l.line);
        } else {
            self.walk_nested("eval", &text, l.line);
        }
    }

    fn walk_trap(&mut self, l: &AnalyzedLine<'_>) {
        let s = split_arguments(l.args, ordered_letters(""));
        if s.has_any(&["l", "p"]) {
            return;
        }
        let [action, conditions @ ..] = s.operands.as_slice() else { return };
        let number = action.text.iter().all(u8::is_ascii_digit);
        if conditions.is_empty() || action.text == b"-" || number && !action.dynamic {
            return;
        }
        let names: Vec<String> = conditions.iter().map(|c| lossy_text(&c.text)).collect();
        let label = format!("trap {}", names.join(" "));
        self.walk_code(label, action, l.line);
    }

    fn walk_alias(&mut self, l: &AnalyzedLine<'_>) {
        for a in l.args {
            let Some(at) = a.text.iter().position(|c| *c == b'=') else { continue };
            let (name, value) = (a.text.get(..at), a.text.get(at + 1..));
            let (Some(name), Some(value)) = (name, value) else { continue };
            if a.dynamic {
                self.note_unknown("alias", &a.text, l.line);
            } else {
                Rc::make_mut(&mut self.aliases).insert(name.to_vec(), Rc::from(value));
            }
        }
    }
}
