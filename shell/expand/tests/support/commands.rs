//! The commands of the test shell.

use std::rc::Rc;

use sh_expand::array::{AssocArray, IndexedArray};
use sh_expand::{
    Attributes, ElementKey, ErrorReach, ExpandEnv, ExpandError, OwnedKey, PendingPathnames, Str,
    VarValue, arith, compound_elements, element_index, expand_assignment_value, expand_heredoc,
    expand_pattern, expand_single, expand_word_into, expand_words, subscript_key,
    subscript_text_key,
};
use sh_syntax::ast::*;

use super::{Shell, Stop};

type Done = Result<bool, Stop>;

impl Shell {
    pub fn list(&mut self, list: &CommandList) -> Done {
        let mut ok = true;
        for item in &list.items {
            ok = self.pipeline(&item.and_or.first)?;
            for (connector, pipeline) in &item.and_or.rest {
                if ok == (*connector == Connector::And) {
                    ok = self.pipeline(pipeline)?;
                }
            }
        }
        Ok(ok)
    }

    fn pipeline(&mut self, pipeline: &Pipeline) -> Done {
        match pipeline.stages.as_slice() {
            [stage] => Ok(self.command(&stage.command)? != pipeline.negated),
            _ => Err(Stop::Unsupported("pipeline".into())),
        }
    }

    fn command(&mut self, command: &Command) -> Done {
        match &command.kind {
            CommandKind::Simple(simple) => self.simple(simple, &command.redirects),
            CommandKind::Brace(list) => self.list(list),
            CommandKind::Arith(expr) => match arith::eval_arith(self, expr) {
                Ok(value) => Ok(value != 0),
                Err(error) if error.reach() == ErrorReach::Command => {
                    self.complain(&[b"((: ".as_slice(), &error.message()].concat());
                    Ok(false)
                }
                Err(error) => {
                    self.complain(&error.message());
                    Ok(false)
                }
            },
            CommandKind::ArithFor(f) => {
                let number = |shell: &mut Shell, e: &Option<ArithText>| match e {
                    Some(e) => arith::eval_arith(shell, e),
                    None => Ok(1),
                };
                number(self, &f.init)?;
                while number(self, &f.condition)? != 0 {
                    self.list(&f.body)?;
                    number(self, &f.step)?;
                }
                Ok(true)
            }
            CommandKind::For(f) => {
                let words = match &f.words {
                    Some(words) => expand_words(self, words)?,
                    None => self.positional.to_vec(),
                };
                for word in words {
                    self.set(&f.name, word)?;
                    self.list(&f.body)?;
                }
                Ok(true)
            }
            CommandKind::Case(case) => {
                let subject = expand_single(self, &case.subject)?;
                for arm in &case.arms {
                    for pattern in &arm.patterns {
                        if expand_pattern(self, pattern)?.is_match(&subject) {
                            return self.list(&arm.body);
                        }
                    }
                }
                Ok(true)
            }
            CommandKind::Cond(cond) => self.cond(cond),
            _ => Err(Stop::Unsupported("command".into())),
        }
    }

    fn cond(&mut self, cond: &Cond) -> Done {
        Ok(match cond {
            Cond::Not(inner) => !self.cond(inner)?,
            Cond::Group(inner) => self.cond(inner)?,
            Cond::And(a, b) => self.cond(a)? && self.cond(b)?,
            Cond::Or(a, b) => self.cond(a)? || self.cond(b)?,
            Cond::Word(word) => !expand_single(self, word)?.is_empty(),
            Cond::Unary(b'z', word) => expand_single(self, word)?.is_empty(),
            Cond::Unary(b'n', word) => !expand_single(self, word)?.is_empty(),
            Cond::Binary(
                op @ (CondOp::Match | CondOp::MatchPosix | CondOp::NotMatch),
                left,
                right,
            ) => {
                let left = expand_single(self, left)?;
                expand_pattern(self, right)?.is_match(&left) == (*op != CondOp::NotMatch)
            }
            Cond::Binary(op @ (CondOp::Eq | CondOp::Lt | CondOp::Gt), left, right) => {
                let left = expand_single(self, left)?;
                let right = expand_single(self, right)?;
                match arith::eval_text(self, &left)
                    .and_then(|l| Ok((l, arith::eval_text(self, &right)?)))
                {
                    Ok((left, right)) => match op {
                        CondOp::Eq => left == right,
                        CondOp::Lt => left < right,
                        _ => left > right,
                    },
                    Err(error) => {
                        self.complain(&[b"[[: ".as_slice(), &error.message()].concat());
                        false
                    }
                }
            }
            _ => return Err(Stop::Unsupported("[[".into())),
        })
    }

    fn simple(&mut self, simple: &SimpleCommand, redirects: &[Redirect]) -> Done {
        let mut words: Vec<Str> = Vec::new();
        let mut declared = Vec::new();
        let mut late = PendingPathnames::default();
        for word in &simple.words {
            match word {
                CommandWord::Word(word) => {
                    expand_word_into(self, word, &mut words, &mut late)?;
                }
                CommandWord::Assignment(assignment) => declared.push(assignment),
            }
        }
        late.finish_paths(self, &mut words)?;
        if words.is_empty() {
            for assignment in &simple.assignments {
                self.assign(assignment)?;
            }
            return Ok(true);
        }
        let mut input = Vec::new();
        for redirect in redirects {
            match (&redirect.target, redirect.op) {
                (RedirectTarget::HereDoc(doc), _) => input = expand_heredoc(self, doc)?.to_vec(),
                (RedirectTarget::Word(word), RedirectOp::HereString) => {
                    input = expand_assignment_value(self, word)?.to_vec();
                    input.push(b'\n');
                }
                _ => return Err(Stop::Unsupported("redirection".into())),
            }
        }
        self.builtin(&words, &declared, &input)
    }

    fn builtin(&mut self, words: &[Str], declared: &[&Assignment], input: &[u8]) -> Done {
        let args = &words[1..];
        match words[0].as_slice() {
            b":" | b"true" => {}
            b"false" => return Ok(false),
            b"p" => {
                self.out.extend_from_slice(format!("{}:", args.len()).as_bytes());
                for arg in args {
                    self.out.extend_from_slice(&[b"<", arg.as_slice(), b">"].concat());
                }
                if args.is_empty() {
                    self.out.extend_from_slice(b"<>");
                }
                self.out.push(b'\n');
            }
            b"echo" => {
                let parts: Vec<&[u8]> = args.iter().map(|a| a.as_slice()).collect();
                self.out.extend_from_slice(&parts.join(&b' '));
                self.out.push(b'\n');
            }
            b"cat" => self.out.extend_from_slice(input),
            b"set" => match args.first().map(|a| a.as_slice()) {
                Some(b"--") => self.positional = Rc::new(args[1..].to_vec()),
                Some(b"-u") => self.options.nounset = true,
                Some(b"+u") => self.options.nounset = false,
                Some(b"-f") => self.options.noglob = true,
                Some(b"+f") => self.options.noglob = false,
                Some(b"+B") => self.options.braceexpand = false,
                _ => return Err(Stop::Unsupported("set".into())),
            },
            b"shopt" => {
                let on = args[0].as_slice() == b"-s";
                for arg in &args[1..] {
                    let o = &mut self.options;
                    *match arg.as_slice() {
                        b"extglob" => &mut o.extglob,
                        b"globstar" => &mut o.globstar,
                        b"dotglob" => &mut o.dotglob,
                        b"nullglob" => &mut o.nullglob,
                        b"failglob" => &mut o.failglob,
                        b"nocaseglob" => &mut o.nocaseglob,
                        b"nocasematch" => &mut o.nocasematch,
                        b"globskipdots" => &mut o.globskipdots,
                        b"patsub_replacement" => &mut o.patsub_replacement,
                        _ => return Err(Stop::Unsupported("shopt".into())),
                    } = on;
                }
            }
            b"unset" => {
                for arg in args {
                    self.unset(arg)?;
                }
            }
            b"let" => {
                for arg in args {
                    match arith::eval_text(self, arg) {
                        Ok(_) => {}
                        Err(error) => {
                            self.complain(&[b"let: ".as_slice(), &error.message()].concat());
                            return Ok(false);
                        }
                    }
                }
            }
            b"declare" | b"export" | b"readonly" | b"typeset" => {
                return self.declare(words, declared);
            }
            _ => return Err(Stop::Unsupported(String::from_utf8_lossy(&words[0]).into_owned())),
        }
        Ok(true)
    }

    fn unset(&mut self, text: &[u8]) -> Result<(), ExpandError> {
        let Some(at) = text.iter().position(|&b| b == b'[') else {
            self.variables.remove(text);
            return Ok(());
        };
        let name = &text[..at];
        let key = subscript_text_key(self, name, &text[at + 1..text.len() - 1])?;
        match (self.get(name), key) {
            (Some(VarValue::Indexed(mut array)), OwnedKey::Index(index)) => {
                if let Some(index) = array.resolve(index) {
                    Rc::make_mut(&mut array).unset(index);
                }
                self.put(name, VarValue::Indexed(array));
            }
            (Some(VarValue::Assoc(mut array)), OwnedKey::Name(key)) => {
                Rc::make_mut(&mut array).unset(&key);
                self.put(name, VarValue::Assoc(array));
            }
            _ => {}
        }
        Ok(())
    }

    fn declare(&mut self, words: &[Str], declared: &[&Assignment]) -> Done {
        let mut flags = Vec::new();
        let mut names = Vec::new();
        for word in &words[1..] {
            match word.strip_prefix(b"-") {
                Some(letters) => flags.extend_from_slice(letters),
                None => names.push(word.to_vec()),
            }
        }
        match words[0].as_slice() {
            b"export" => flags.push(b'x'),
            b"readonly" => flags.push(b'r'),
            _ => {}
        }
        for name in &names {
            self.flag(name, &flags, false);
            self.flag(name, &flags, true);
        }
        for assignment in declared {
            self.flag(&assignment.name, &flags, false);
            self.assign(assignment)?;
            self.flag(&assignment.name, &flags, true);
        }
        Ok(true)
    }

    /// Sets attributes; readonly and nameref only after the assignment.
    fn flag(&mut self, name: &[u8], flags: &[u8], late: bool) {
        let variable = self.variables.entry(name.to_vec()).or_default();
        let a = &mut variable.attributes;
        for flag in flags {
            match (flag, late) {
                (b'a', false) => *a |= Attributes::INDEXED,
                (b'A', false) => *a |= Attributes::ASSOC,
                (b'i', false) => *a |= Attributes::INTEGER,
                (b'l', false) => *a |= Attributes::LOWERCASE,
                (b'u', false) => *a |= Attributes::UPPERCASE,
                (b'x', false) => *a |= Attributes::EXPORT,
                (b't', false) => *a |= Attributes::TRACE,
                (b'c', false) => *a |= Attributes::CAPITALIZE,
                (b'n', true) => *a |= Attributes::NAMEREF,
                (b'r', true) => *a |= Attributes::READONLY,
                _ => {}
            }
        }
    }

    fn assign(&mut self, assignment: &Assignment) -> Result<(), ExpandError> {
        let (name, through) = self.resolve(&assignment.name)?;
        let name = name.to_vec();
        match &assignment.value {
            AssignValue::Scalar(word) => {
                let key = match (&assignment.subscript, through) {
                    (Some(sub), _) => Some(subscript_key(self, &name, sub)?),
                    (None, Some(text)) => Some(subscript_text_key(self, &name, &text)?),
                    (None, None) => None,
                };
                let value = expand_assignment_value(self, word)?;
                match key {
                    Some(OwnedKey::Name(key)) if assignment.append => {
                        let mut text = match self.get(&name) {
                            Some(VarValue::Assoc(array)) => {
                                array.get(&key).cloned().unwrap_or_default()
                            }
                            _ => Rc::default(),
                        };
                        Rc::make_mut(&mut text).extend_from_slice(&value);
                        self.set_element(&name, ElementKey::Name(&key), text)
                    }
                    Some(key) => self.set_element(&name, key.as_key(), value),
                    None if assignment.append => {
                        let old = self.variables.get_mut(&name).and_then(|v| v.value.take());
                        let mut text = match old {
                            Some(VarValue::Scalar(text)) => text,
                            _ => Rc::default(),
                        };
                        Rc::make_mut(&mut text).extend_from_slice(&value);
                        self.set(&name, text)
                    }
                    None => self.set(&name, value),
                }
            }
            AssignValue::Array(elements) => {
                let assoc = self.attributes(&name).intersects(Attributes::ASSOC);
                let elements = compound_elements(self, assoc, elements)?;
                if !assignment.append {
                    let empty = if assoc {
                        VarValue::Assoc(Rc::new(AssocArray::new()))
                    } else {
                        VarValue::Indexed(Rc::new(IndexedArray::new()))
                    };
                    self.put(&name, empty);
                }
                let mut next = match self.get(&name) {
                    Some(VarValue::Indexed(array)) => array.max_index().map_or(0, |i| i + 1),
                    _ => 0,
                };
                for element in elements {
                    match &element.key {
                        Some(key) if assoc => {
                            self.set_element(&name, ElementKey::Name(key), element.value)?;
                        }
                        Some(key) => {
                            let index = element_index(self, key)?;
                            self.set_element(&name, ElementKey::Index(index), element.value)?;
                            next = index + 1;
                        }
                        None if assoc => {}
                        None => {
                            self.set_element(&name, ElementKey::Index(next), element.value)?;
                            next += 1;
                        }
                    }
                }
                Ok(())
            }
        }
    }
}
