//! Compound commands and function definitions.

use super::CommandPrinter;
use crate::ast::*;

impl<'t> CommandPrinter<'t> {
    pub(super) fn print_compound(&mut self, kind: &'t CommandKind) {
        match kind {
            CommandKind::Simple(_) => {}
            CommandKind::Brace(list) => self.print_brace(list),
            CommandKind::Subshell(list) => {
                self.put_text(b"( ");
                self.print_list(list);
                self.put_docs(b"");
                if self.reads_back && ends_in_prefix(list) {
                    self.put_text(b";");
                }
                self.put_text(b" )");
            }
            CommandKind::If(i) => self.if_command(i),
            CommandKind::While(w) => {
                self.put_text(if w.until { b"until " } else { b"while " });
                self.print_condition(&w.condition);
                self.put_text(b" do\n");
                self.print_body(&w.body);
                self.put_line(b"done");
            }
            CommandKind::For(f) => self.for_command(b"for ", f),
            CommandKind::Select(f) => self.for_command(b"select ", f),
            CommandKind::ArithFor(f) => self.arith_for(f),
            CommandKind::Case(c) => self.print_case(c),
            CommandKind::Arith(a) => {
                self.put_text(b"((");
                self.put_text(&a.word.raw);
                self.put_text(b"))");
            }
            CommandKind::Cond(c) => {
                self.put_text(b"[[ ");
                self.print_cond(c);
                self.put_text(b" ]]");
            }
            CommandKind::Function(f) => self.function_text(f, true),
            CommandKind::Coproc(c) => self.print_coproc(c),
        }
    }

    /// Prints `{ list; }`.
    fn print_brace(&mut self, list: &'t CommandList) {
        if self.in_function == 0 {
            self.put_text(b"{ ");
            self.print_list(list);
            self.put_docs(b"");
            self.put_semicolon();
            self.put_text(b" }");
            return;
        }
        self.put_text(b"{ \n");
        self.indent_deeper();
        self.put_indentation();
        self.print_list(list);
        self.put_docs(b"");
        self.indent_less();
        self.put_line(b"}");
    }

    /// Prints the list of a condition with its `;`.
    fn print_condition(&mut self, list: &'t CommandList) {
        self.print_list(list);
        self.put_docs(b"");
        self.put_semicolon();
    }

    /// Prints an indented list with its `;`.
    fn print_body(&mut self, list: &'t CommandList) {
        self.indent_deeper();
        self.put_indentation();
        self.print_list(list);
        self.put_docs(b"");
        self.indent_less();
        // bash treats a quoted `&` here like an unquoted one. Before a newline, the missing `;` is
        // harmless.
        if self.out.last() != Some(&b'&') {
            self.put_semicolon();
        }
    }

    fn if_command(&mut self, i: &'t If) {
        let mut closers = 0;
        for (n, (condition, body)) in i.branches.iter().enumerate() {
            if n > 0 {
                // `elif` is printed as `else` and `if`.
                self.put_line(b"else\n");
                self.indent_deeper();
                self.put_indentation();
                closers += 1;
            }
            self.put_text(b"if ");
            self.print_condition(condition);
            self.put_text(b" then\n");
            self.print_body(body);
        }
        if let Some(list) = &i.otherwise {
            self.put_line(b"else\n");
            self.print_body(list);
        }
        for _ in 0..closers {
            self.put_line(b"fi;");
            self.indent_less();
        }
        self.put_line(b"fi");
    }

    fn for_command(&mut self, keyword: &[u8], f: &'t For) {
        self.for_head(keyword, f);
        self.put_text(b";");
        self.do_group(&f.body);
    }

    /// Prints `for name in words`.
    pub(super) fn for_head(&mut self, keyword: &[u8], f: &'t For) {
        self.put_text(keyword);
        self.put_text(&f.name);
        self.put_text(b" in ");
        match &f.words {
            None => self.put_text(b"\"$@\""),
            Some(words) => {
                for (i, w) in words.iter().enumerate() {
                    if i > 0 {
                        self.put_text(b" ");
                    }
                    self.put_text(&w.raw);
                }
            }
        }
    }

    fn do_group(&mut self, body: &'t CommandList) {
        self.put_line(b"do\n");
        self.print_body(body);
        self.put_line(b"done");
    }

    fn arith_for(&mut self, f: &'t ArithFor) {
        self.put_text(b"for ((");
        for (i, part) in [&f.init, &f.condition, &f.step].into_iter().enumerate() {
            if i > 0 {
                self.put_text(b"; ");
            }
            match part {
                Some(a) => self.put_text(&a.word.raw),
                // An empty part has the value 1.
                None => self.put_text(b"1"),
            }
        }
        self.put_text(b"))");
        self.do_group(&f.body);
    }

    /// Prints `case word in `.
    pub(super) fn case_head(&mut self, c: &'t CaseCommand) {
        self.put_text(b"case ");
        self.put_text(&c.subject.raw);
        self.put_text(b" in ");
    }

    fn print_case(&mut self, c: &'t CaseCommand) {
        self.case_head(c);
        self.indent_deeper();
        for arm in &c.arms {
            self.put_line(b"");
            if arm.patterns.first().is_some_and(|p| &*p.raw == b"esac") {
                self.put_text(b"(");
            }
            for (i, p) in arm.patterns.iter().enumerate() {
                if i > 0 {
                    self.put_text(b" | ");
                }
                self.put_text(&p.raw);
            }
            self.put_text(b")\n");
            if !arm.body.items.is_empty() {
                self.indent_deeper();
                self.put_indentation();
                self.print_list(&arm.body);
                self.put_docs(b"");
                self.indent_less();
            }
            self.put_line(match arm.end {
                CaseEnd::Break => b";;",
                CaseEnd::FallThrough => b";&",
                CaseEnd::Continue => b";;&",
            });
        }
        self.indent_less();
        self.put_line(b"esac");
    }

    fn print_coproc(&mut self, c: &'t Coproc) {
        self.put_text(b"coproc ");
        match &c.name {
            Some(name) => {
                self.put_text(name);
                self.put_text(b" ");
            }
            // A coprocess that is a simple command has no name.
            None if matches!(c.body.kind, CommandKind::Simple(_)) => {}
            None => self.put_text(b"COPROC "),
        }
        self.print_command(&c.body);
    }

    /// Prints a function definition. With `nested`, it is a command among others.
    pub(super) fn function_text(&mut self, f: &'t FunctionCommand, nested: bool) {
        let keyword = crate::lex::token::Kw::from_bytes(&f.name).is_some();
        // `a[b c]` is one word only where an assignment is allowed.
        let divided = f.name.contains(&b'[') && f.name.iter().any(|c| b" \t\n;&|<>()".contains(c));
        if nested && !self.posix && !divided || keyword {
            self.put_text(b"function ");
        }
        self.put_text(&f.name);
        self.put_text(b" () ");
        self.put_line(b"{ \n");
        self.function_inside(f, nested);
    }

    /// Prints `() { list; }` with the opening brace on the same line.
    pub(super) fn function_body(&mut self, f: &'t FunctionCommand) {
        self.put_text(b"() { ");
        self.function_inside(f, false);
    }

    fn function_inside(&mut self, f: &'t FunctionCommand, nested: bool) {
        self.in_function += 1;
        self.indent_deeper();
        self.put_indentation();
        match &f.body.kind {
            CommandKind::Brace(list) => self.print_list(list),
            _ => self.print_command(&f.body),
        }
        self.put_docs(b"");
        self.indent_less();
        self.in_function -= 1;
        if self.flat {
            self.put_text(b"\n}");
        } else {
            self.put_line(b"}");
        }
        self.after_doc = false;
        if let CommandKind::Brace(_) = &f.body.kind {
            self.print_redirects(&f.body.redirects, true);
            if !nested {
                self.put_docs(b"");
            }
        }
    }
}

/// Returns whether a list ends in a `!` or `time` without a command. A parenthesis after it then
/// needs a separator, which bash's layout does not have.
fn ends_in_prefix(list: &CommandList) -> bool {
    last_pipeline(list).is_some_and(|pipeline| pipeline.stages.is_empty())
}

/// Returns whether the last command of `list` is a `!` without a command.
pub(super) fn ends_in_not(list: &CommandList) -> bool {
    last_pipeline(list)
        .is_some_and(|pipeline| pipeline.stages.is_empty() && pipeline.timed.is_none())
}

fn last_pipeline(list: &CommandList) -> Option<&Pipeline> {
    let and_or = &list.items.last().filter(|item| !item.background)?.and_or;
    Some(and_or.rest.last().map_or(&and_or.first, |(_, pipeline)| pipeline))
}
