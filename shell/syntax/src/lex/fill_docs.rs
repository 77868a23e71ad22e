//! Here-document bodies, put into the tree in place of what stands there until they are read.

use std::rc::Rc;

use crate::ast::*;

/// What stands for the body of a here-document in spellings; sources hold no NUL.
pub(super) fn place_holder(id: u32) -> [u8; 6] {
    let [a, b, c, d] = id.to_le_bytes();
    [0, a, b, c, d, 0]
}

/// The number in a place-holder.
fn number_of(raw: &[u8]) -> Option<u32> {
    match raw {
        [0, a, b, c, d, 0] => Some(u32::from_le_bytes([*a, *b, *c, *d])),
        _ => None,
    }
}

/// Puts the bodies into `list`; `in_words`: the words and expressions may have place-holders, too.
pub(super) fn fill(docs: &mut Vec<(u32, HereDoc)>, in_words: bool, list: &mut List) {
    let texts = match in_words {
        true => docs.iter().map(|(id, doc)| (*id, doc.body.raw.clone())).collect(),
        false => Vec::new(),
    };
    Filler { docs, in_words, texts }.list(list);
}

/// Walks a tree and fills the place-holders in.
struct Filler<'a> {
    docs: &'a mut Vec<(u32, HereDoc)>,
    in_words: bool,
    /// The bodies as they are spelled, for the words.
    texts: Vec<(u32, Text)>,
}

impl Filler<'_> {
    fn list(&mut self, list: &mut List) {
        for item in &mut list.items {
            if self.docs.is_empty() {
                return;
            }
            self.pipeline(&mut item.and_or.first);
            for (_, p) in &mut item.and_or.rest {
                self.pipeline(p);
            }
        }
    }

    fn pipeline(&mut self, p: &mut Pipeline) {
        for stage in &mut p.stages {
            self.command(&mut stage.command);
        }
    }

    fn command(&mut self, c: &mut Command) {
        if self.in_words {
            self.words_of(&mut c.kind);
        }
        self.lists_of(&mut c.kind);
        for r in &mut c.redirects {
            match &mut r.target {
                RedirectTarget::HereDoc(doc) => self.fill(doc),
                RedirectTarget::Word(w) if self.in_words => self.word(w),
                RedirectTarget::Word(_) => {}
            }
        }
    }

    /// The words that a command itself has.
    fn words_of(&mut self, kind: &mut CommandKind) {
        match kind {
            CommandKind::Simple(s) => {
                for w in &mut s.words {
                    match w {
                        CommandWord::Word(w) => self.word(w),
                        CommandWord::Assignment(a) => self.assignment(a),
                    }
                }
                s.assignments.iter_mut().for_each(|a| self.assignment(a));
            }
            CommandKind::For(f) | CommandKind::Select(f) => {
                f.words.iter_mut().flatten().for_each(|w| self.word(w));
            }
            CommandKind::ArithFor(f) => {
                let parts = [&mut f.init, &mut f.condition, &mut f.step];
                parts.into_iter().flatten().for_each(|a| self.word(&mut a.word));
            }
            CommandKind::Case(c) => self.word(&mut c.subject),
            CommandKind::Arith(a) => self.word(&mut a.word),
            CommandKind::Cond(c) => self.cond(c),
            _ => {}
        }
    }

    /// The commands within a compound one. A tree that is just read has its `Rc`s for itself.
    fn lists_of(&mut self, kind: &mut CommandKind) {
        match kind {
            CommandKind::Brace(l) => self.list(l),
            CommandKind::Subshell(l) => Rc::get_mut(l).into_iter().for_each(|l| self.list(l)),
            CommandKind::If(i) => {
                for (c, b) in &mut i.branches {
                    self.list(c);
                    self.list(b);
                }
                i.otherwise.iter_mut().for_each(|l| self.list(l));
            }
            CommandKind::While(w) => {
                self.list(&mut w.condition);
                self.list(&mut w.body);
            }
            CommandKind::For(f) | CommandKind::Select(f) => self.list(&mut f.body),
            CommandKind::ArithFor(f) => self.list(&mut f.body),
            CommandKind::Case(c) => {
                for arm in &mut c.arms {
                    if self.in_words {
                        arm.patterns.iter_mut().for_each(|w| self.word(w));
                    }
                    self.list(&mut arm.body);
                }
            }
            CommandKind::Function(f) => {
                Rc::get_mut(f).into_iter().for_each(|f| self.command(&mut f.body));
            }
            CommandKind::Coproc(c) => {
                Rc::get_mut(&mut c.body).into_iter().for_each(|c| self.command(c));
            }
            CommandKind::Simple(_) | CommandKind::Arith(_) | CommandKind::Cond(_) => {}
        }
    }

    fn cond(&mut self, c: &mut Cond) {
        match c {
            Cond::Not(c) | Cond::Group(c) => self.cond(c),
            Cond::And(a, b) | Cond::Or(a, b) => {
                self.cond(a);
                self.cond(b);
            }
            Cond::Word(w) | Cond::Unary(_, w) => self.word(w),
            Cond::Binary(_, a, b) => {
                self.word(a);
                self.word(b);
            }
        }
    }

    fn subscript(&mut self, s: &mut Option<Subscript>) {
        if let Some(Subscript::Expr(a)) = s {
            self.word(&mut a.word);
        }
    }

    fn word(&mut self, w: &mut Word) {
        self.parts(&mut w.parts);
        self.spell(&mut w.raw);
    }

    fn assignment(&mut self, a: &mut Assignment) {
        self.subscript(&mut a.subscript);
        match &mut a.value {
            AssignValue::Scalar(w) => self.word(w),
            AssignValue::Array(elements) => {
                for e in elements {
                    self.subscript(&mut e.key);
                    self.word(&mut e.value);
                }
            }
        }
        self.spell(&mut a.raw);
    }

    /// Puts the bodies into a spelling.
    fn spell(&self, raw: &mut Text) {
        if let Some(spelled) = self.spelled(raw) {
            *raw = spelled.into();
        }
    }

    /// The text with the bodies in it, if there are any.
    fn spelled(&self, raw: &[u8]) -> Option<Vec<u8>> {
        memchr::memchr(0, raw)?;
        let mut out = Vec::with_capacity(raw.len());
        let mut rest = raw;
        while let Some(start) = memchr::memchr(0, rest) {
            out.extend_from_slice(&rest[..start]);
            rest = &rest[start..];
            let id = rest.get(..6).and_then(number_of);
            let at = id.and_then(|id| self.texts.binary_search_by_key(&id, |(n, _)| *n).ok());
            let Some((_, text)) = at.and_then(|at| self.texts.get(at)) else {
                out.push(0);
                rest = &rest[1..];
                continue;
            };
            out.extend_from_slice(text);
            rest = &rest[6..];
            // The newline behind it is there in any case.
            if text.last().is_none_or(|b| *b == b'\n') {
                rest = rest.strip_prefix(b"\n").unwrap_or(rest);
            }
        }
        out.extend_from_slice(rest);
        Some(out)
    }

    fn parts(&mut self, parts: &mut [WordPart]) {
        for p in parts {
            match p {
                WordPart::DoubleQuoted(inner) => self.parts(inner),
                WordPart::CommandSub(c) => {
                    if let Some(c) = Rc::get_mut(c) {
                        self.list(&mut c.body);
                        c.source.iter_mut().for_each(|text| self.spell(text));
                    }
                }
                WordPart::Arith(a) => {
                    if let Some(a) = Rc::get_mut(a) {
                        self.word(&mut a.word);
                    }
                }
                WordPart::Param(p) => {
                    self.subscript(&mut p.subscript);
                    match &mut p.op {
                        ParamOp::Default { word, .. }
                        | ParamOp::Assign { word, .. }
                        | ParamOp::Error { word, .. }
                        | ParamOp::Alternate { word, .. } => self.word(word),
                        ParamOp::RemovePrefix { pattern, .. }
                        | ParamOp::RemoveSuffix { pattern, .. }
                        | ParamOp::Case { pattern: Some(pattern), .. } => self.word(pattern),
                        ParamOp::Replace { pattern, replacement, .. } => {
                            self.word(pattern);
                            replacement.iter_mut().for_each(|w| self.word(w));
                        }
                        ParamOp::Substring { offset, length } => {
                            self.word(&mut offset.word);
                            length.iter_mut().for_each(|a| self.word(&mut a.word));
                        }
                        ParamOp::Bad { whole } => self.spell(whole),
                        _ => {}
                    }
                    self.spell(&mut p.raw);
                }
                WordPart::ProcessSub(c) => {
                    if let Some(c) = Rc::get_mut(c) {
                        self.list(&mut c.body);
                    }
                }
                // A process substitution that is text.
                WordPart::Literal(text) | WordPart::Quoted(text) => {
                    if let Some(spelled) = self.spelled(text) {
                        *text = spelled.into();
                    }
                }
            }
        }
    }

    fn fill(&mut self, doc: &mut Rc<HereDoc>) {
        if !doc.body.parts.is_empty() {
            return;
        }
        let Some(id) = number_of(&doc.body.raw) else { return };
        let Ok(i) = self.docs.binary_search_by_key(&id, |(id, _)| *id) else { return };
        // Bodies are nearly always filled in order, so they mostly leave from the end or the
        // start of a short list; a tombstone keeps removal cheap.
        if let Some((_, body)) = self.docs.get_mut(i) {
            let body = std::mem::replace(
                body,
                HereDoc {
                    delimiter: Text::default(),
                    strip_tabs: false,
                    quoted: false,
                    body: Word::default(),
                },
            );
            *doc = Rc::new(body);
        }
    }
}
