//! Compound commands and function definitions.

use super::CommandPrinter;
use crate::ast::*;

impl<'t> CommandPrinter<'t> {
    pub(super) fn compound(&mut self, kind: &'t CommandKind) {
        match kind {
            CommandKind::Simple(_) => {}
            CommandKind::Brace(list) => self.brace(list),
            CommandKind::Subshell(list) => {
                self.put(b"( ");
                self.list(list);
                self.docs(b"");
                if self.reads_back && ends_in_prefix(list) {
                    self.put(b";");
                }
                self.put(b" )");
            }
            CommandKind::If(i) => self.if_command(i),
            CommandKind::While(w) => {
                self.put(if w.until { b"until " } else { b"while " });
                self.condition(&w.condition);
                self.put(b" do\n");
                self.body(&w.body);
                self.line(b"done");
            }
            CommandKind::For(f) => self.for_command(b"for ", f),
            CommandKind::Select(f) => self.for_command(b"select ", f),
            CommandKind::ArithFor(f) => self.arith_for(f),
            CommandKind::Case(c) => self.case(c),
            CommandKind::Arith(a) => {
                self.put(b"((");
                self.put(&a.word.raw);
                self.put(b"))");
            }
            CommandKind::Cond(c) => {
                self.put(b"[[ ");
                self.cond(c);
                self.put(b" ]]");
            }
            CommandKind::Function(f) => self.function_text(f, true),
            CommandKind::Coproc(c) => self.coproc(c),
        }
    }

    /// `{ list; }`
    fn brace(&mut self, list: &'t CommandList) {
        if self.in_function == 0 {
            self.put(b"{ ");
            self.list(list);
            self.docs(b"");
            self.semicolon();
            self.put(b" }");
            return;
        }
        self.put(b"{ \n");
        self.deeper();
        self.indentation();
        self.list(list);
        self.docs(b"");
        self.shallower();
        self.line(b"}");
    }

    /// The list of a condition with its `;`.
    fn condition(&mut self, list: &'t CommandList) {
        self.list(list);
        self.docs(b"");
        self.semicolon();
    }

    /// An indented list with its `;`.
    fn body(&mut self, list: &'t CommandList) {
        self.deeper();
        self.indentation();
        self.list(list);
        self.docs(b"");
        self.shallower();
        // To bash a `&` is a `&`, quoted or not; before a newline it does no harm.
        if self.out.last() != Some(&b'&') {
            self.semicolon();
        }
    }

    fn if_command(&mut self, i: &'t If) {
        let mut closers = 0;
        for (n, (condition, body)) in i.branches.iter().enumerate() {
            if n > 0 {
                // `elif` is shown as `else if`.
                self.line(b"else\n");
                self.deeper();
                self.indentation();
                closers += 1;
            }
            self.put(b"if ");
            self.condition(condition);
            self.put(b" then\n");
            self.body(body);
        }
        if let Some(list) = &i.otherwise {
            self.line(b"else\n");
            self.body(list);
        }
        for _ in 0..closers {
            self.line(b"fi;");
            self.shallower();
        }
        self.line(b"fi");
    }

    fn for_command(&mut self, keyword: &[u8], f: &'t For) {
        self.for_head(keyword, f);
        self.put(b";");
        self.do_group(&f.body);
    }

    /// `for name in words`
    pub(super) fn for_head(&mut self, keyword: &[u8], f: &'t For) {
        self.put(keyword);
        self.put(&f.name);
        self.put(b" in ");
        match &f.words {
            None => self.put(b"\"$@\""),
            Some(words) => {
                for (i, w) in words.iter().enumerate() {
                    if i > 0 {
                        self.put(b" ");
                    }
                    self.put(&w.raw);
                }
            }
        }
    }

    fn do_group(&mut self, body: &'t CommandList) {
        self.line(b"do\n");
        self.body(body);
        self.line(b"done");
    }

    fn arith_for(&mut self, f: &'t ArithFor) {
        self.put(b"for ((");
        for (i, part) in [&f.init, &f.condition, &f.step].into_iter().enumerate() {
            if i > 0 {
                self.put(b"; ");
            }
            match part {
                Some(a) => self.put(&a.word.raw),
                // What an empty part evaluates to.
                None => self.put(b"1"),
            }
        }
        self.put(b"))");
        self.do_group(&f.body);
    }

    /// `case word in `
    pub(super) fn case_head(&mut self, c: &'t CaseCommand) {
        self.put(b"case ");
        self.put(&c.subject.raw);
        self.put(b" in ");
    }

    fn case(&mut self, c: &'t CaseCommand) {
        self.case_head(c);
        self.deeper();
        for arm in &c.arms {
            self.line(b"");
            if arm.patterns.first().is_some_and(|p| &*p.raw == b"esac") {
                self.put(b"(");
            }
            for (i, p) in arm.patterns.iter().enumerate() {
                if i > 0 {
                    self.put(b" | ");
                }
                self.put(&p.raw);
            }
            self.put(b")\n");
            if !arm.body.items.is_empty() {
                self.deeper();
                self.indentation();
                self.list(&arm.body);
                self.docs(b"");
                self.shallower();
            }
            self.line(match arm.end {
                CaseEnd::Break => b";;",
                CaseEnd::FallThrough => b";&",
                CaseEnd::Continue => b";;&",
            });
        }
        self.shallower();
        self.line(b"esac");
    }

    fn coproc(&mut self, c: &'t Coproc) {
        self.put(b"coproc ");
        match &c.name {
            Some(name) => {
                self.put(name);
                self.put(b" ");
            }
            // A simple command takes no name.
            None if matches!(c.body.kind, CommandKind::Simple(_)) => {}
            None => self.put(b"COPROC "),
        }
        self.command(&c.body);
    }

    /// A function definition; `nested`: as a command among others.
    pub(super) fn function_text(&mut self, f: &'t FunctionCommand, nested: bool) {
        let keyword = crate::lex::token::Kw::from_bytes(&f.name).is_some();
        // `a[b c]` is one word only where an assignment may stand.
        let divided = f.name.contains(&b'[') && f.name.iter().any(|c| b" \t\n;&|<>()".contains(c));
        if nested && !self.posix && !divided || keyword {
            self.put(b"function ");
        }
        self.put(&f.name);
        self.put(b" () ");
        self.line(b"{ \n");
        self.function_inside(f, nested);
    }

    /// `() { list; }` with the opening brace on the same line.
    pub(super) fn function_body(&mut self, f: &'t FunctionCommand) {
        self.put(b"() { ");
        self.function_inside(f, false);
    }

    fn function_inside(&mut self, f: &'t FunctionCommand, nested: bool) {
        self.in_function += 1;
        self.deeper();
        self.indentation();
        match &f.body.kind {
            CommandKind::Brace(list) => self.list(list),
            _ => self.command(&f.body),
        }
        self.docs(b"");
        self.shallower();
        self.in_function -= 1;
        if self.flat {
            self.put(b"\n}");
        } else {
            self.line(b"}");
        }
        self.after_doc = false;
        if let CommandKind::Brace(_) = &f.body.kind {
            self.redirects(&f.body.redirects, true);
            if !nested {
                self.docs(b"");
            }
        }
    }
}

/// Whether a list ends in a `!` or `time` without a command: then it needs something between that and a parenthesis,
/// which bash's layout does not have.
fn ends_in_prefix(list: &CommandList) -> bool {
    last_pipeline(list).is_some_and(|pipeline| pipeline.stages.is_empty())
}

/// Whether the last of `list` is a `!` without a command.
pub(super) fn ends_in_not(list: &CommandList) -> bool {
    last_pipeline(list)
        .is_some_and(|pipeline| pipeline.stages.is_empty() && pipeline.timed.is_none())
}

fn last_pipeline(list: &CommandList) -> Option<&Pipeline> {
    let and_or = &list.items.last().filter(|item| !item.background)?.and_or;
    Some(and_or.rest.last().map_or(&and_or.first, |(_, pipeline)| pipeline))
}
