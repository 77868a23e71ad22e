//! The tree in the form it has after printing and parsing, without lines and spellings.
//!
//! Printing changes details that have no meaning: `1>file` becomes `>file`, `elif` becomes
//! `else if`, a function's body gets braces.

use std::rc::Rc;

use sh_syntax::ast::*;

pub fn list(l: &mut CommandList) {
    for item in &mut l.items {
        item.newline = false;
        pipeline(&mut item.and_or.first);
        for (_, p) in &mut item.and_or.rest {
            pipeline(p);
        }
    }
}

fn pipeline(p: &mut Pipeline) {
    for stage in &mut p.stages {
        command(&mut stage.command);
        if std::mem::take(&mut stage.pipe_stderr) {
            let target = RedirectTarget::Word(literal(b"1"));
            let fd = RedirectFd::Number(2);
            let both = Redirect { fd, op: RedirectOp::DupWrite, target, line: 0 };
            // After a function's body, the redirection belongs to the body.
            match &mut stage.command.kind {
                CommandKind::Function(f) => Rc::make_mut(f).body.redirects.push(both),
                _ => stage.command.redirects.push(both),
            }
        }
    }
}

fn literal(text: &[u8]) -> Word {
    Word { parts: vec![WordPart::Literal(text.to_vec().into())], raw: Text::default() }
}

fn single(kind: CommandKind) -> CommandList {
    let command = Command { kind, redirects: Vec::new(), line: 0 };
    let stages = vec![PipelineStage { command, pipe_stderr: false }];
    let first = Pipeline { timed: None, negated: false, stages };
    CommandList {
        items: vec![ListItem {
            and_or: AndOr { first, rest: Vec::new() },
            background: false,
            newline: false,
        }],
    }
}

fn command(c: &mut Command) {
    c.line = 0;
    match &mut c.kind {
        CommandKind::Simple(s) => {
            s.assignments.iter_mut().for_each(assignment);
            for w in &mut s.words {
                match w {
                    CommandWord::Word(w) => word(w),
                    CommandWord::Assignment(a) => assignment(a),
                }
            }
        }
        CommandKind::Brace(l) => list(l),
        CommandKind::Subshell(l) => list(Rc::make_mut(l)),
        CommandKind::If(i) => {
            while i.branches.len() > 1 {
                let otherwise = i.otherwise.take();
                let branches = i.branches.split_off(1);
                i.otherwise = Some(single(CommandKind::If(If { branches, otherwise })));
            }
            for (c, b) in &mut i.branches {
                list(c);
                list(b);
            }
            i.otherwise.iter_mut().for_each(list);
        }
        CommandKind::While(w) => {
            list(&mut w.condition);
            list(&mut w.body);
        }
        CommandKind::For(f) | CommandKind::Select(f) => {
            let all = || {
                let name = ParamName::Special(b'@');
                let param = Param {
                    name,
                    subscript: None,
                    indirect: false,
                    op: ParamOp::Plain,
                    raw: Text::default(),
                };
                let parts = vec![WordPart::DoubleQuoted(vec![WordPart::Param(Box::new(param))])];
                vec![Word { parts, raw: Text::default() }]
            };
            f.words.get_or_insert_with(all).iter_mut().for_each(word);
            list(&mut f.body);
        }
        CommandKind::ArithFor(f) => {
            for part in [&mut f.init, &mut f.condition, &mut f.step] {
                let one = || ArithText {
                    word: Word {
                        parts: vec![WordPart::Quoted(b"1".to_vec().into())],
                        raw: Text::default(),
                    },
                    expr: Some(Box::new(ArithExpr::Number(1))),
                };
                arith(part.get_or_insert_with(one));
            }
            list(&mut f.body);
        }
        CommandKind::Case(c) => {
            word(&mut c.subject);
            for arm in &mut c.arms {
                arm.patterns.iter_mut().for_each(word);
                list(&mut arm.body);
            }
        }
        CommandKind::Arith(a) => arith(a),
        CommandKind::Cond(c) => cond(c),
        CommandKind::Function(f) => {
            let f = Rc::make_mut(f);
            f.keyword = true;
            if !matches!(f.body.kind, CommandKind::Brace(_)) {
                let inner = std::mem::replace(
                    &mut f.body.kind,
                    CommandKind::Simple(SimpleCommand::default()),
                );
                let mut body = single(inner);
                let stage = &mut body.items[0].and_or.first.stages[0];
                stage.command.redirects = std::mem::take(&mut f.body.redirects);
                f.body.kind = CommandKind::Brace(body);
            }
            command(&mut f.body);
        }
        CommandKind::Coproc(c) => {
            if c.name.as_deref() == Some(b"COPROC") {
                c.name = None;
            }
            command(Rc::make_mut(&mut c.body));
        }
    }
    c.redirects.iter_mut().for_each(redirect);
}

fn redirect(r: &mut Redirect) {
    r.line = 0;
    let usual = match r.op {
        RedirectOp::Read
        | RedirectOp::ReadWrite
        | RedirectOp::DupRead
        | RedirectOp::HereDoc
        | RedirectOp::HereString => 0,
        _ => 1,
    };
    if r.fd == RedirectFd::Default
        && !matches!(r.op, RedirectOp::WriteBoth | RedirectOp::AppendBoth)
    {
        r.fd = RedirectFd::Number(usual);
    }
    if let RedirectFd::Var { subscript: Some(s), .. } = &mut r.fd {
        subscript(s);
    }
    match &mut r.target {
        RedirectTarget::Word(w) => {
            if w.as_literal() == Some(b"-") {
                r.op = if r.op == RedirectOp::DupRead { RedirectOp::DupWrite } else { r.op };
            }
            word(w);
        }
        RedirectTarget::HereDoc(doc) => {
            let doc = Rc::make_mut(doc);
            if doc.delimiter.contains(&b'\n') || *doc.delimiter == *b"END-OF-DOCUMENT" {
                doc.delimiter = b"EOF"[..].into();
            }
            let mut body = Word::clone(&doc.body);
            word_in(&mut body, true);
            // The empty body of a document whose text has not been read.
            if body.parts.is_empty() {
                body.parts.push(WordPart::Quoted(Rc::default()));
            }
            doc.body = body.into();
        }
    }
}

fn assignment(a: &mut Assignment) {
    a.line = 0;
    a.raw = Text::default();
    a.subscript.iter_mut().for_each(subscript);
    match &mut a.value {
        AssignValue::Scalar(w) => word(w),
        AssignValue::Array(elements) => {
            for e in elements {
                e.key.iter_mut().for_each(subscript);
                word(&mut e.value);
            }
        }
    }
}

fn subscript(s: &mut Subscript) {
    if let Subscript::Expr(a) = s {
        arith(a);
    }
}

fn arith(a: &mut ArithText) {
    // The text is parsed as if within double quotes.
    word_in(&mut a.word, true);
    // Blanks alone have no meaning, even after a line continuation.
    if let [WordPart::Quoted(text)] = a.word.parts.as_slice()
        && text.trim_ascii().is_empty()
    {
        a.word.parts.clear();
    }
    // The tree of the expression follows from the word; spellings inside it do not matter.
    a.expr = None;
}

fn cond(c: &mut Cond) {
    match c {
        Cond::Not(c) | Cond::Group(c) => cond(c),
        Cond::And(a, b) | Cond::Or(a, b) => {
            cond(a);
            cond(b);
        }
        Cond::Word(w) | Cond::Unary(_, w) => word(w),
        Cond::Binary(_, a, b) => {
            word(a);
            word(b);
        }
    }
}

fn word(w: &mut Word) {
    word_in(w, false);
}

/// Normalizes a word of a text that is `quoted` or not.
fn word_in(w: &mut Word, quoted: bool) {
    w.raw = Text::default();
    w.parts.iter_mut().for_each(|p| part(p, quoted));
}

fn has(text: &[u8], what: &[u8; 2]) -> bool {
    text.windows(2).any(|two| two == what)
}

/// Normalizes commands kept as text: after a here-document each print gives them a new layout.
fn without_blanks(text: &[u8]) -> Vec<u8> {
    text.iter().copied().filter(|c| !c.is_ascii_whitespace()).collect()
}

fn part(p: &mut WordPart, quoted: bool) {
    match p {
        // A process substitution in a subscript is text.
        WordPart::Literal(text) | WordPart::Quoted(text)
            if has(text, b"<<") && (has(text, b"<(") || has(text, b">(")) =>
        {
            *text = without_blanks(text).into();
        }
        WordPart::Literal(_) | WordPart::Quoted(_) => {}
        WordPart::DoubleQuoted(parts) => parts.iter_mut().for_each(|p| part(p, true)),
        WordPart::Param(p) => param(p, quoted),
        WordPart::CommandSub(c) => {
            let c = Rc::make_mut(c);
            c.line = 0;
            c.error = None;
            if let Some(source) = &mut c.source
                && has(source, b"<<")
            {
                *source = without_blanks(source).into();
            }
            list(&mut c.body);
        }
        WordPart::Arith(a) => arith(Rc::make_mut(a)),
        WordPart::ProcessSub(p) => list(&mut Rc::make_mut(p).body),
    }
}

/// Normalizes the operand of a quoted expansion: quotes in it have no meaning of their own.
fn operand(w: &mut Word, quoted: bool) {
    word_in(w, quoted);
    if quoted {
        let mut flat = Vec::new();
        flatten(std::mem::take(&mut w.parts), &mut flat);
        w.parts = flat;
    }
}

fn flatten(parts: Vec<WordPart>, flat: &mut Vec<WordPart>) {
    for part in parts {
        match part {
            WordPart::DoubleQuoted(inside) => flatten(inside, flat),
            WordPart::Literal(text) | WordPart::Quoted(text) => {
                if let Some(WordPart::Quoted(before)) = flat.last_mut() {
                    Rc::make_mut(before).extend_from_slice(&text);
                } else if !text.is_empty() {
                    flat.push(WordPart::Quoted(text));
                }
            }
            part => flat.push(part),
        }
    }
}

fn param(p: &mut Param, quoted: bool) {
    p.raw = Text::default();
    p.subscript.iter_mut().for_each(subscript);
    match &mut p.op {
        ParamOp::Default { word: w, .. }
        | ParamOp::Assign { word: w, .. }
        | ParamOp::Error { word: w, .. }
        | ParamOp::Alternate { word: w, .. } => operand(w, quoted),
        ParamOp::RemovePrefix { pattern: w, .. } | ParamOp::RemoveSuffix { pattern: w, .. } => {
            word(w)
        }
        ParamOp::Replace { pattern, replacement, .. } => {
            word(pattern);
            replacement.iter_mut().for_each(word);
        }
        ParamOp::Case { pattern, .. } => pattern.iter_mut().for_each(word),
        ParamOp::Substring { offset, length } => {
            arith(offset);
            length.iter_mut().for_each(arith);
        }
        _ => {}
    }
}
