//! `case` (POSIX XCU 2.9.4.3) with bash's `;&` and `;;&`.

use sh_syntax::ast::{CaseCommand, CaseEnd, Command};

use crate::Shell;
use crate::shell::Flow;
use crate::xtrace::double_controls;

impl Shell<'_> {
    pub(crate) fn case_command(&mut self, k: &CaseCommand, c: &Command) -> Flow {
        self.state.line = c.line;
        if !self.run_debug_trap(c)? {
            return Ok(0);
        }
        self.budget.expansion_bytes = 0;
        if self.is_tracing() {
            let text = [b"case ", &*double_controls(&k.subject.raw), b" in"].concat();
            self.trace_text(&text);
        }
        let subject =
            sh_expand::expand_single(self, &k.subject).map_err(|e| self.expansion_failed(e))?;
        let mut status = 0;
        let mut fall_through = false;
        for arm in &k.arms {
            let mut matched = fall_through;
            for p in &arm.patterns {
                if matched {
                    break;
                }
                matched = match p.as_literal() {
                    // A plain word without pattern characters needs no compilation.
                    Some(t) if is_plain(t) && !self.state.options.expand().nocasematch => {
                        t == subject.as_slice()
                    }
                    _ => match sh_expand::expand_arm_pattern(self, p) {
                        Ok(pattern) => pattern.is_match(&subject),
                        Err(e) => return Err(self.expansion_failed(e)),
                    },
                };
            }
            if !matched {
                continue;
            }
            status = self.run_list(&arm.body)?;
            match arm.end {
                CaseEnd::Break => return Ok(status),
                CaseEnd::FallThrough => fall_through = true,
                CaseEnd::Continue => fall_through = false,
            }
        }
        Ok(status)
    }
}

fn is_plain(text: &[u8]) -> bool {
    text.iter()
        .all(|c| c.is_ascii_alphanumeric() || matches!(c, b'_' | b'-' | b'.' | b'/' | b',' | b'='))
}
