//! Analyzes words: their static text, and the commands and assignments in their expansions.

use sh_syntax::ast::{
    ArithExpr, ArithPlace, ArithText, ArrayElement, AssignValue, Assignment, CommandSub,
    CommandWord, Param, ParamName, ParamOp, Subscript, Word, WordPart,
};

use crate::report::{Access, ScriptWord};
use crate::walk::ScriptWalk;

/// Returns whether unquoted text is subject to pathname, tilde or brace expansion.
fn is_active(text: &[u8], first: bool) -> bool {
    text.iter().any(|c| matches!(c, b'*' | b'?' | b'['))
        || first && text.first() == Some(&b'~')
        || is_braced(text)
}

/// Returns whether a text is of the form `{a,b}` or `{1..3}`.
fn is_braced(text: &[u8]) -> bool {
    let Some(open) = text.iter().position(|c| *c == b'{') else { return false };
    let inside = text.get(open..).unwrap_or_default();
    inside.contains(&b'}') && (inside.contains(&b',') || inside.windows(2).any(|w| w == b".."))
}

impl ScriptWalk<'_> {
    /// Walks the inside of a word and returns its text.
    pub fn walk_word(&mut self, w: &Word, line: u32) -> ScriptWord {
        let mut text = ScriptWord::default();
        self.walk_parts(&w.parts, true, line, &mut text);
        // A brace expansion may extend over several parts: `{a,"b c"}`.
        if !text.dynamic && is_braced(&w.raw) && w.parts.len() > 1 {
            text.expands |=
                w.parts.iter().any(|p| matches!(p, WordPart::Literal(t) if t.contains(&b'{')));
        }
        if text.dynamic {
            text.text = w.raw.to_vec();
            text.expands = false;
        }
        text
    }

    fn walk_parts(&mut self, parts: &[WordPart], first: bool, line: u32, out: &mut ScriptWord) {
        for (i, part) in parts.iter().enumerate() {
            match part {
                WordPart::Literal(t) => {
                    out.expands |= is_active(t, first && i == 0);
                    out.text.extend_from_slice(t);
                }
                WordPart::Quoted(t) => out.text.extend_from_slice(t),
                WordPart::DoubleQuoted(inner) => self.walk_parts(inner, false, line, out),
                WordPart::Param(p) => {
                    out.dynamic = true;
                    self.walk_param(p, line);
                }
                WordPart::CommandSub(s) => {
                    out.dynamic = true;
                    self.walk_substitution(s);
                }
                WordPart::Arith(a) => {
                    out.dynamic = true;
                    self.walk_arith(a, line);
                }
                WordPart::ProcessSub(s) => {
                    out.dynamic = true;
                    self.walk_within("process substitution", |w| w.walk_list(&s.body));
                }
            }
        }
    }

    fn walk_substitution(&mut self, s: &CommandSub) {
        if let Some(e) = &s.error {
            let context = self.context.clone();
            let mut message = if e.line == 0 { e.cause.message() } else { e.render(b"") };
            message.truncate(message.strip_suffix(b"\n").map_or(message.len(), <[u8]>::len));
            self.report.errors.push(crate::report::ParseFailure { line: s.line, message, context });
        }
        if s.is_file_read {
            // `$(< file)`: the redirection is the whole command.
            for item in &s.body.items {
                for stage in &item.and_or.first.stages {
                    self.walk_within("substitution", |w| w.walk_command(&stage.command));
                }
            }
            return;
        }
        self.walk_within("substitution", |w| w.walk_list(&s.body));
    }

    fn walk_param(&mut self, p: &Param, line: u32) {
        self.walk_subscript(p.subscript.as_ref(), line);
        match &p.op {
            ParamOp::Plain
            | ParamOp::Length
            | ParamOp::Transform(_)
            | ParamOp::UnknownTransform
            | ParamOp::NamesWithPrefix { .. }
            | ParamOp::Keys { .. }
            | ParamOp::Bad => {}
            ParamOp::Default { word, .. }
            | ParamOp::Error { word, .. }
            | ParamOp::Alternate { word, .. }
            | ParamOp::RemovePrefix { pattern: word, .. }
            | ParamOp::RemoveSuffix { pattern: word, .. } => drop(self.walk_word(word, line)),
            ParamOp::Assign { word, .. } => {
                let value = self.walk_word(word, line);
                let name = match &p.name {
                    ParamName::Variable(n) if !p.indirect => ScriptWord::fixed_text(&**n),
                    _ => ScriptWord { text: p.raw.to_vec(), dynamic: true, expands: false },
                };
                self.note_variable(name, "expansion", Some(value), line);
            }
            ParamOp::Replace { pattern, replacement, .. } => {
                self.walk_word(pattern, line);
                if let Some(r) = replacement {
                    self.walk_word(r, line);
                }
            }
            ParamOp::Substring { offset, length } => {
                self.walk_arith(offset, line);
                if let Some(l) = length {
                    self.walk_arith(l, line);
                }
            }
            ParamOp::Case { pattern, .. } => {
                if let Some(p) = pattern {
                    self.walk_word(p, line);
                }
            }
        }
        // `${x@P}` expands the value as a prompt, and thereby runs the commands in it.
        if p.op == ParamOp::Transform(b'P') {
            self.note_unknown("prompt expansion", &p.raw, line);
        }
    }

    fn walk_subscript(&mut self, s: Option<&Subscript>, line: u32) {
        if let Some(Subscript::Expr(a)) = s {
            self.walk_arith(a, line);
        }
    }

    /// Walks an arithmetic expression: the substitutions in its text, and the variables that it
    /// assigns.
    pub fn walk_arith(&mut self, a: &ArithText, line: u32) {
        self.walk_parts(&a.word.parts, false, line, &mut ScriptWord::default());
        let mut todo: Vec<&ArithExpr> = a.expr.as_deref().into_iter().collect();
        while let Some(e) = todo.pop() {
            match e {
                ArithExpr::Number(_) | ArithExpr::Operand(_) => {}
                ArithExpr::Variable(place) => {
                    todo.extend(place.index.as_ref().and_then(|i| i.expr.as_ref()));
                }
                ArithExpr::Unary(_, x) => todo.push(x),
                ArithExpr::Binary(_, x, y, _)
                | ArithExpr::LogicalAnd(x, y)
                | ArithExpr::LogicalOr(x, y)
                | ArithExpr::Comma(x, y) => todo.extend([&**y, &**x]),
                ArithExpr::Ternary(c, x, y) => todo.extend([&**y, &**x, &**c]),
                ArithExpr::Assign(_, target, value) => {
                    self.arith_target(target, line);
                    todo.push(value);
                }
                ArithExpr::Step { target, .. } => self.arith_target(target, line),
            }
        }
    }

    fn arith_target(&mut self, target: &ArithPlace, line: u32) {
        self.note_variable(ScriptWord::fixed_text(&*target.name), "arithmetic", None, line);
    }

    /// Walks an assignment and returns its value as far as it is known.
    pub fn walk_assignment(&mut self, a: &Assignment, by: &str) -> ScriptWord {
        self.walk_subscript(a.subscript.as_ref(), a.line);
        let value = match &a.value {
            AssignValue::Scalar(w) => self.walk_word(w, a.line),
            AssignValue::Array(items) => {
                for ArrayElement { key, value, .. } in items {
                    self.walk_subscript(key.as_ref(), a.line);
                    self.walk_word(value, a.line);
                }
                let at = a.raw.iter().position(|c| *c == b'(').unwrap_or(0);
                ScriptWord {
                    text: a.raw.get(at..).unwrap_or_default().to_vec(),
                    dynamic: true,
                    expands: false,
                }
            }
        };
        let dynamic = value.dynamic;
        let mut shown = ScriptWord { expands: value.expands, ..value.clone() };
        // Pathname and brace expansion do not apply to assigned values, but tilde expansion does.
        shown.expands = shown.expands && shown.text.contains(&b'~');
        self.note_variable(ScriptWord::fixed_text(&*a.name), by, Some(shown), a.line);
        ScriptWord { text: a.raw.to_vec(), dynamic, expands: false }
    }

    /// Walks a word of a simple command; `by` is the declaration builtin it belongs to.
    pub fn command_word(&mut self, w: &CommandWord, by: &str, line: u32) -> ScriptWord {
        match w {
            CommandWord::Word(w) => self.walk_word(w, line),
            // The operand of `alias` is parsed like an assignment, but sets no variable.
            CommandWord::Assignment(Assignment {
                name,
                subscript: None,
                value: AssignValue::Scalar(value),
                ..
            }) if by == "alias" => {
                let value = self.walk_word(value, line);
                let text = [&**name, b"=", &*value.text].concat();
                ScriptWord { text, dynamic: value.dynamic, expands: false }
            }
            CommandWord::Assignment(a) => self.walk_assignment(a, by),
        }
    }

    /// Records that a file's content runs as code that was not analyzed.
    pub fn runs_file(&mut self, path: &ScriptWord, by: &[u8], line: u32) {
        self.note_file(path.clone(), Access::Execute, by, line);
        self.note_unknown("script file", &path.text, line);
    }
}
