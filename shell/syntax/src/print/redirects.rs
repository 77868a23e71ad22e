//! Redirections.

use box_text::escape::single_quote;

use super::CommandPrinter;
use crate::ast::*;

impl<'t> CommandPrinter<'t> {
    /// Prints the redirections; `spaced`: a blank before the first one.
    pub(super) fn print_redirects(&mut self, redirects: &'t [Redirect], spaced: bool) {
        self.after_doc &= redirects.is_empty();
        for (i, r) in redirects.iter().enumerate() {
            if spaced || i > 0 {
                self.put_text(b" ");
            }
            self.print_redirect(r);
        }
    }

    fn print_redirect(&mut self, r: &'t Redirect) {
        let word: &[u8] = match &r.target {
            RedirectTarget::Word(w) => &w.raw,
            RedirectTarget::HereDoc(doc) => {
                self.print_fd(&r.fd, Some(0));
                self.put_text(if doc.strip_tabs { b"<<-" } else { b"<<" });
                if doc.quoted {
                    self.put_text(&single_quote(printed_delimiter(doc)));
                } else {
                    if !doc.strip_tabs && printed_delimiter(doc).starts_with(b"-") {
                        // Without the blank, the operator would be `<<-`.
                        self.put_text(b" ");
                    }
                    self.put_text(printed_delimiter(doc));
                }
                self.docs.push(doc);
                return;
            }
        };
        let (op, usual, blank): (&[u8], u32, bool) = match r.op {
            RedirectOp::Read => (b"<", 0, true),
            RedirectOp::Write => (b">", 1, true),
            RedirectOp::Clobber => (b">|", 1, true),
            RedirectOp::Append => (b">>", 1, true),
            RedirectOp::HereString | RedirectOp::HereDoc => (b"<<<", 0, true),
            RedirectOp::WriteBoth => (b"&>", 1, true),
            RedirectOp::AppendBoth => (b"&>>", 1, true),
            RedirectOp::ReadWrite => {
                // Without a descriptor, bash would parse the printed text as another redirection.
                if r.fd == RedirectFd::Default {
                    self.put_text(b"0");
                }
                self.print_fd(&r.fd, None);
                self.put_text(b"<> ");
                self.put_text(word);
                return;
            }
            RedirectOp::DupRead | RedirectOp::DupWrite => return self.print_dup(r, word),
        };
        self.print_fd(&r.fd, Some(usual));
        self.put_text(op);
        if blank {
            self.put_text(b" ");
        }
        self.put_text(word);
    }

    /// Prints `n>&m`, `n>&m-`, `n>&-` or `n>&word`. Before a number, the descriptor is always
    /// printed.
    fn print_dup(&mut self, r: &Redirect, word: &[u8]) {
        let read = r.op == RedirectOp::DupRead;
        let digits = word.strip_suffix(b"-").unwrap_or(word);
        let close = word == b"-";
        let number = close || !digits.is_empty() && digits.iter().all(u8::is_ascii_digit);
        match &r.fd {
            RedirectFd::Default if number => self.put_text(if read { b"0" } else { b"1" }),
            fd if number => self.print_fd(fd, None),
            fd => self.print_fd(fd, Some(if read { 0 } else { 1 })),
        }
        self.put_text(if read && !close { b"<&" } else { b">&" });
        self.put_text(word);
    }

    /// Prints the descriptor, unless it is the `usual` one.
    fn print_fd(&mut self, fd: &RedirectFd, usual: Option<u32>) {
        match fd {
            RedirectFd::Default => {}
            RedirectFd::Number(n) if Some(*n) == usual => {}
            RedirectFd::Number(n) => self.put_text(n.to_string().as_bytes()),
            RedirectFd::Var { name, subscript } => {
                self.put_text(b"{");
                self.put_text(name);
                if let Some(s) = subscript {
                    self.put_text(b"[");
                    match s {
                        Subscript::At => self.put_text(b"@"),
                        Subscript::Star => self.put_text(b"*"),
                        Subscript::Expr(a) => self.put_text(&a.word.raw),
                    }
                    self.put_text(b"]");
                }
                self.put_text(b"}");
            }
        }
    }
}

/// Returns the delimiter in its printed form. A delimiter that contains a newline never equals a
/// line, so that the body extends to the end of the input, which printed text cannot express.
pub(super) fn printed_delimiter(doc: &HereDoc) -> &[u8] {
    const OTHER: [&[u8]; 2] = [b"EOF", b"END-OF-DOCUMENT"];
    if !doc.delimiter.contains(&b'\n') {
        return &doc.delimiter;
    }
    let free = |name: &&[u8]| !doc.body.raw.split(|&b| b == b'\n').any(|line| line == *name);
    OTHER.into_iter().find(free).unwrap_or(&doc.delimiter)
}
