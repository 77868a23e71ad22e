//! The tree: lists, compound commands, redirections.

use std::collections::BTreeMap;
use std::rc::Rc;

use sh_syntax::ast::{
    AndOr, Command, CommandKind, CommandList, Cond, For, HereDoc, Pipeline, Redirect, RedirectFd,
    RedirectOp, RedirectTarget,
};
use sh_syntax::parse::{Aliases, ParseOptions, Parser};

use crate::report::{
    Access, AnalysisReport, CommandNameKind, CommandScope, FileUse, FunctionUse, ParseFailure,
    Redirection, ScriptWord, Unknown, Variable,
};
use crate::{AnalyzeOptions, CommandNames, MAX_TEXTS};

pub(crate) struct ScriptWalk<'n> {
    pub names: &'n dyn CommandNames,
    pub report: AnalysisReport,
    pub context: Vec<String>,
    /// The mode in which the text is read, as static `shopt` and `alias` commands change it.
    pub posix: bool,
    pub extglob: bool,
    pub expand_aliases: bool,
    pub aliases: Rc<BTreeMap<Vec<u8>, Rc<[u8]>>>,
    texts: u32,
}

struct AliasTable(Rc<BTreeMap<Vec<u8>, Rc<[u8]>>>);

impl Aliases for AliasTable {
    fn get(&self, name: &[u8]) -> Option<Rc<[u8]>> {
        self.0.get(name).cloned()
    }
}

/// The standard input that a redirection gives a command, if it is known text.
pub(crate) type Stdin = Option<ScriptWord>;

impl<'n> ScriptWalk<'n> {
    /// Returns a walk that has seen nothing yet.
    pub fn new(options: AnalyzeOptions, names: &'n dyn CommandNames) -> ScriptWalk<'n> {
        ScriptWalk {
            names,
            report: AnalysisReport::default(),
            context: Vec::new(),
            posix: options.posix,
            extglob: options.extglob,
            expand_aliases: options.posix,
            aliases: Rc::default(),
            texts: 0,
        }
    }

    /// Walks a whole text, command by command as a shell reads it.
    pub fn walk_source(&mut self, text: &[u8], first_line: u32) {
        let mut parser = Parser::new(text, ParseOptions { first_line, ..ParseOptions::default() });
        loop {
            let o = parser.options_mut();
            o.posix = self.posix;
            o.extglob = self.extglob;
            o.expand_aliases = self.expand_aliases;
            match parser.next_command(&AliasTable(self.aliases.clone())) {
                Ok(None) => return,
                Ok(Some(list)) => self.walk_list(&list),
                Err(e) => {
                    for (line, message) in e.lines() {
                        let context = self.context.clone();
                        self.report.errors.push(ParseFailure {
                            line,
                            message: message.to_vec(),
                            context,
                        });
                    }
                    return;
                }
            }
        }
    }

    /// Walks a text that runs within another one.
    pub fn walk_nested(&mut self, context: impl Into<String>, text: &[u8], line: u32) {
        if self.texts >= MAX_TEXTS {
            self.note_unknown("nesting", text, line);
            return;
        }
        self.texts += 1;
        self.walk_within(context, |w| w.walk_source(text, line));
        self.texts -= 1;
    }

    /// Walks the inside of a construct that findings have to name.
    pub fn walk_within(&mut self, context: impl Into<String>, f: impl FnOnce(&mut Self)) {
        self.context.push(context.into());
        f(self);
        self.context.pop();
    }

    /// Records a fact that is known only at run time.
    pub fn note_unknown(&mut self, what: &'static str, text: &[u8], line: u32) {
        let context = self.context.clone();
        self.report.unknowns.push(Unknown { what, text: text.to_vec(), line, context });
    }

    /// Records the use of a file.
    pub fn note_file(&mut self, path: ScriptWord, access: Access, by: &[u8], line: u32) {
        let context = self.context.clone();
        self.report.files.push(FileUse { path, access, by: by.to_vec(), line, context });
    }

    /// Records a variable that is set.
    pub fn note_variable(
        &mut self,
        name: ScriptWord,
        by: &str,
        value: Option<ScriptWord>,
        line: u32,
    ) {
        let (by, context) = (by.to_string(), self.context.clone());
        self.report.variables.push(Variable { name, by, value, line, context });
    }

    /// Walks a list.
    pub fn walk_list(&mut self, list: &CommandList) {
        for item in &list.items {
            if item.background {
                self.walk_within("background", |w| w.and_or(&item.and_or));
            } else {
                self.and_or(&item.and_or);
            }
        }
    }

    fn and_or(&mut self, a: &AndOr) {
        self.walk_pipeline(&a.first);
        for (_, p) in &a.rest {
            self.walk_pipeline(p);
        }
    }

    fn walk_pipeline(&mut self, p: &Pipeline) {
        if let [one] = p.stages.as_slice() {
            return self.walk_command(&one.command);
        }
        for stage in &p.stages {
            self.walk_within("pipeline", |w| w.walk_command(&stage.command));
        }
    }

    /// Walks a command.
    pub fn walk_command(&mut self, c: &Command) {
        let stdin = self.walk_redirects(&c.redirects);
        match &c.kind {
            CommandKind::Simple(s) => self.walk_simple(s, c.line, stdin),
            CommandKind::Brace(l) => self.walk_list(l),
            CommandKind::Subshell(l) => self.walk_within("subshell", |w| w.walk_list(l)),
            CommandKind::If(i) => {
                for (condition, body) in &i.branches {
                    self.walk_list(condition);
                    self.walk_list(body);
                }
                if let Some(body) = &i.otherwise {
                    self.walk_list(body);
                }
            }
            CommandKind::While(k) => self.walk_within("loop", |w| {
                w.walk_list(&k.condition);
                w.walk_list(&k.body);
            }),
            CommandKind::For(f) => self.for_loop(f, "for", c.line),
            CommandKind::Select(f) => self.for_loop(f, "select", c.line),
            CommandKind::ArithFor(f) => {
                for a in [&f.init, &f.condition, &f.step].into_iter().flatten() {
                    self.walk_arith(a, c.line);
                }
                self.walk_within("loop", |w| w.walk_list(&f.body));
            }
            CommandKind::Case(k) => {
                self.walk_word(&k.subject, c.line);
                for arm in &k.arms {
                    for p in &arm.patterns {
                        self.walk_word(p, c.line);
                    }
                    self.walk_list(&arm.body);
                }
            }
            CommandKind::Arith(a) => self.walk_arith(a, c.line),
            CommandKind::Cond(e) => self.walk_cond(e, c.line),
            CommandKind::Function(f) => {
                let (name, context) = (f.name.to_vec(), self.context.clone());
                self.report.functions.push(FunctionUse { name, line: c.line, context });
                let label = format!("function {}", String::from_utf8_lossy(&f.name));
                self.walk_within(label, |w| w.walk_command(&f.body));
            }
            CommandKind::Coproc(k) => {
                let name = k.name.as_deref().unwrap_or(b"COPROC");
                self.note_variable(ScriptWord::fixed_text(name), "coproc", None, c.line);
                self.walk_within("coproc", |w| w.walk_command(&k.body));
            }
        }
    }

    fn for_loop(&mut self, f: &For, by: &str, line: u32) {
        let words = f.words.iter().flatten();
        let values: Vec<ScriptWord> = words.map(|w| self.walk_word(w, line)).collect();
        let value = match values.as_slice() {
            [one] => Some(one.clone()),
            _ => None,
        };
        self.note_variable(ScriptWord::fixed_text(&*f.name), by, value, line);
        self.walk_within("loop", |w| w.walk_list(&f.body));
    }

    fn walk_cond(&mut self, e: &Cond, line: u32) {
        let mut todo = vec![e];
        while let Some(e) = todo.pop() {
            match e {
                Cond::Not(a) | Cond::Group(a) => todo.push(a),
                Cond::And(a, b) | Cond::Or(a, b) => todo.extend([&**b, &**a]),
                Cond::Word(w) | Cond::Unary(_, w) => drop(self.walk_word(w, line)),
                Cond::Binary(_, a, b) => {
                    self.walk_word(a, line);
                    self.walk_word(b, line);
                }
            }
        }
    }

    /// Walks the redirections of a command and returns the known part of its standard input.
    fn walk_redirects(&mut self, list: &[Redirect]) -> Stdin {
        let mut stdin = None;
        for r in list {
            let text = match &r.target {
                RedirectTarget::Word(w) => {
                    let text = self.walk_word(w, r.line);
                    self.walk_redirect(r, &text);
                    (r.op == RedirectOp::HereString).then(|| ScriptWord {
                        text: [text.text.as_slice(), b"\n"].concat(),
                        // Only quote removal and tilde expansion would still change it.
                        expands: false,
                        ..text
                    })
                }
                RedirectTarget::HereDoc(d) => Some(self.here_doc(r, d)),
            };
            if matches!(r.fd, RedirectFd::Default | RedirectFd::Number(0)) && text.is_some() {
                stdin = text;
            }
        }
        stdin
    }

    fn here_doc(&mut self, r: &Redirect, d: &HereDoc) -> ScriptWord {
        let op = if d.strip_tabs { "<<-" } else { "<<" };
        self.note_redirection(r, op, ScriptWord::fixed_text(&*d.delimiter), "0");
        self.walk_word(&d.body, r.line)
    }

    fn walk_redirect(&mut self, r: &Redirect, target: &ScriptWord) {
        let number = target.text.strip_suffix(b"-").unwrap_or(&target.text);
        let is_number = !target.dynamic && number.iter().all(u8::is_ascii_digit);
        let (op, fd, access): (_, _, &[Access]) = match r.op {
            RedirectOp::Read => ("<", "0", &[Access::Read]),
            RedirectOp::Write => (">", "1", &[Access::Write]),
            RedirectOp::Clobber => (">|", "1", &[Access::Write]),
            RedirectOp::Append => (">>", "1", &[Access::Write]),
            RedirectOp::ReadWrite => ("<>", "0", &[Access::Read, Access::Write]),
            RedirectOp::WriteBoth => ("&>", "1", &[Access::Write]),
            RedirectOp::AppendBoth => ("&>>", "1", &[Access::Write]),
            RedirectOp::DupRead => ("<&", "0", &[]),
            RedirectOp::DupWrite if is_number || r.fd != RedirectFd::Default => (">&", "1", &[]),
            RedirectOp::DupWrite => (">&", "1", &[Access::Write]),
            RedirectOp::HereString => ("<<<", "0", &[]),
            RedirectOp::HereDoc => ("<<", "0", &[]),
        };
        self.note_redirection(r, op, target.clone(), fd);
        for a in access {
            if !is_stream(target) {
                self.note_file(target.clone(), *a, b"redirection", r.line);
            }
        }
    }

    fn note_redirection(
        &mut self,
        r: &Redirect,
        op: &'static str,
        target: ScriptWord,
        default: &str,
    ) {
        let fd = match &r.fd {
            RedirectFd::Default => default.to_string(),
            RedirectFd::Number(n) => n.to_string(),
            RedirectFd::Var { name, .. } => {
                self.note_variable(ScriptWord::fixed_text(&**name), "redirection", None, r.line);
                format!("{{{}}}", String::from_utf8_lossy(name))
            }
        };
        let context = self.context.clone();
        self.report.redirections.push(Redirection { fd, op, target, line: r.line, context });
    }

    /// Adds the kinds of command names, and the files of commands that are not functions, and
    /// returns the report.
    pub fn finish_report(mut self) -> AnalysisReport {
        let functions: std::collections::BTreeSet<Vec<u8>> =
            self.report.functions.iter().map(|f| f.name.clone()).collect();
        let mut commands = std::mem::take(&mut self.report.commands);
        for c in &mut commands {
            c.kind = match c.name.known_text() {
                None => CommandNameKind::Unknown,
                Some(n) if c.resolve == CommandScope::Any && functions.contains(n) => {
                    CommandNameKind::Function
                }
                Some(n) if n.contains(&b'/') => CommandNameKind::Path,
                Some(n) if c.resolve != CommandScope::Program && self.names.is_builtin(n) => {
                    CommandNameKind::Builtin
                }
                Some(n) if self.names.is_program(n) => CommandNameKind::Applet,
                Some(_) => CommandNameKind::Unknown,
            };
            if c.kind != CommandNameKind::Function {
                crate::files::of_command(c, &mut self.report.files);
            }
        }
        self.report.files.retain(|f| !is_stream(&f.path));
        self.report.files.sort_by_key(|f| f.line);
        self.report.commands = commands;
        self.report
    }
}

/// Returns whether a name is a file without interest: the null device or a descriptor of the
/// process.
fn is_stream(path: &ScriptWord) -> bool {
    path.known_text().is_some_and(|p| {
        matches!(p, b"/dev/null" | b"/dev/stdin" | b"/dev/stdout" | b"/dev/stderr" | b"-")
            || p.starts_with(b"/dev/fd/")
    })
}
