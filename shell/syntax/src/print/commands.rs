//! Lists, pipelines and simple commands.

use super::CommandPrinter;
use crate::ast::*;
use crate::lex::token::Kw;

impl<'t> CommandPrinter<'t> {
    /// Prints a list whose first line is already indented.
    pub(super) fn print_list(&mut self, list: &'t CommandList) {
        let mut items = list.items.iter().peekable();
        let mut first = true;
        while let Some(item) = items.next() {
            self.and_or(&item.and_or);
            if item.background {
                self.put_docs(b" &");
                self.after_amp = self.out.last() == Some(&b'&');
            }
            if items.peek().is_none() {
                break;
            }
            if item.background {
                self.put_text(b" ");
            } else {
                self.print_separator(item, first);
            }
            first = false;
        }
    }

    /// Prints the separator after the command `item`. `first` says that the command starts the
    /// list.
    fn print_separator(&mut self, item: &ListItem, first: bool) {
        let on_new_line = self.in_function > 0;
        // bash keeps the newlines of a substitution, even in a function within it, which already
        // has one for each command.
        let after_doc = self.after_doc || !self.docs.is_empty();
        let newline = self.substitution && item.newline;
        if !self.docs.is_empty() {
            self.put_docs(b"");
            // In this case only, bash also omits the next `;`.
            let alone = item.and_or.rest.is_empty() && item.and_or.first.stages.len() == 1;
            self.after_doc = first && alone;
        } else if std::mem::take(&mut self.after_doc) && on_new_line {
            // The newline is sufficient.
        } else if !newline {
            self.put_text(b";");
        }
        if on_new_line {
            self.put_text(if newline && !after_doc { b"\n\n" } else { b"\n" });
            self.put_indentation();
        } else if newline {
            self.put_text(b"\n");
            if after_doc {
                self.put_indentation();
            }
        } else {
            self.put_text(b" ");
        }
    }

    fn and_or(&mut self, and_or: &'t AndOr) {
        self.print_pipeline(&and_or.first);
        for (connector, pipeline) in &and_or.rest {
            self.put_docs(match connector {
                Connector::And => b" && ",
                Connector::Or => b" || ",
            });
            self.print_pipeline(pipeline);
        }
    }

    fn print_pipeline(&mut self, pipeline: &'t Pipeline) {
        let begins = self.substitution && self.out.is_empty();
        match pipeline.timed {
            Some(TimeFormat::Bash) => self.put_text(b"time "),
            Some(TimeFormat::Posix) => self.put_text(b"time -p "),
            None => {}
        }
        if pipeline.negated {
            self.put_text(b"! ");
        }
        if pipeline.stages.is_empty() && !pipeline.negated {
            match pipeline.timed {
                // bash prints no blank after a `time` that begins the pipeline and has no command.
                Some(_) if begins => drop(self.out.pop()),
                Some(_) => {}
                // Two negations cancel out.
                None => self.put_text(b"! ! "),
            }
        }
        let mut stages = pipeline.stages.iter().peekable();
        while let Some(stage) = stages.next() {
            self.print_command(&stage.command);
            if stage.pipe_stderr {
                self.put_text(b" 2>&1");
                // A redirection resets this flag.
                self.after_doc = false;
            }
            if stages.peek().is_some() {
                self.put_docs(b" |");
                self.put_text(b" ");
            }
        }
    }

    pub(super) fn print_command(&mut self, command: &'t Command) {
        match &command.kind {
            CommandKind::Simple(s) => self.print_simple(s, &command.redirects),
            kind => {
                self.print_compound(kind);
                self.print_redirects(&command.redirects, true);
            }
        }
    }

    fn print_simple(&mut self, simple: &'t SimpleCommand, redirects: &'t [Redirect]) {
        // After a redirection, a reserved word is an ordinary word.
        if let ([], [CommandWord::Word(word), ..], [_, ..]) =
            (&simple.assignments[..], &simple.words[..], redirects)
            && Kw::from_bytes(&word.raw).is_some()
        {
            self.print_redirects(redirects, false);
            for word in &simple.words {
                self.put_text(b" ");
                self.put_text(match word {
                    CommandWord::Word(word) => &word.raw,
                    CommandWord::Assignment(a) => &a.raw,
                });
            }
            return;
        }
        let mut first = true;
        let assignments = simple.assignments.iter().map(|a| &a.raw);
        let words = simple.words.iter().map(|w| match w {
            CommandWord::Word(w) => &w.raw,
            CommandWord::Assignment(a) => &a.raw,
        });
        for raw in assignments.chain(words) {
            if !first {
                self.put_text(b" ");
            }
            first = false;
            self.put_text(raw);
        }
        self.print_redirects(redirects, !first);
    }
}
