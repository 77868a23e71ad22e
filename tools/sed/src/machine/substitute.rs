//! The command `s`.

use box_text::number::utf8_len;

use super::{Result, SedMachine};
use crate::script::{CaseChange, SedPart, SedSubstitute};

impl SedMachine<'_, '_> {
    pub(super) fn run_substitute(&mut self, s: &SedSubstitute) -> Result<()> {
        let re = self.pattern_regex(&s.pattern)?;
        let mut out = std::mem::take(&mut self.scratch);
        let mut captures = std::mem::take(&mut self.captures);
        out.clear();
        let text = self.space.as_slice();
        let (mut pos, mut copied, mut seen) = (0, 0, 0);
        let mut done = false;
        // End of the last match: no empty one follows right after it.
        let mut last_end = None;
        while pos <= text.len() {
            let found = if s.groups {
                re.captures_at(text, pos, &mut captures).then(|| captures.get(0)).flatten()
            } else {
                re.find_at(text, pos)
            };
            let Some((start, end)) = found else { break };
            if start == end && last_end == Some(start) {
                if start >= text.len() {
                    break;
                }
                pos = start + utf8_len(&text[start..]).max(1);
                last_end = None;
                continue;
            }
            seen += 1;
            last_end = Some(end);
            if seen >= s.number {
                out.extend_from_slice(&text[copied..start]);
                let group = |n: usize| match n {
                    0 => Some((start, end)),
                    n => captures.get(n),
                };
                if s.cases {
                    with_cases(&s.parts, text, group, self.settings.utf8, &mut out);
                } else {
                    for part in &s.parts {
                        match part {
                            SedPart::Text(t) => out.extend_from_slice(t),
                            SedPart::Group(n) => {
                                if let Some((a, b)) = group(*n) {
                                    out.extend_from_slice(&text[a..b]);
                                }
                            }
                            SedPart::Case(_) => {}
                        }
                    }
                }
                copied = end;
                done = true;
                if !s.global {
                    break;
                }
            }
            if start == end {
                if end >= text.len() {
                    break;
                }
                pos = end + utf8_len(&text[end..]).max(1);
                last_end = None;
            } else {
                pos = end;
            }
        }
        if done {
            out.extend_from_slice(&text[copied..]);
            std::mem::swap(&mut self.space, &mut out);
        }
        self.scratch = out;
        self.captures = captures;
        if !done {
            return Ok(());
        }
        self.substituted = true;
        if s.print && s.print_before_execute && s.execute {
            self.print_space()?;
        }
        if s.execute {
            self.execute_command(None)?;
        }
        if s.print && !(s.print_before_execute && s.execute) {
            self.print_space()?;
        }
        if let Some(n) = s.write {
            self.write_file(n, self.space.len())?;
        }
        Ok(())
    }
}

/// Appends a replacement with changes of case.
fn with_cases(
    parts: &[SedPart],
    text: &[u8],
    group: impl Fn(usize) -> Option<(usize, usize)>,
    utf8: bool,
    out: &mut Vec<u8>,
) {
    let mut lasting = CaseChange::Off;
    let mut once = CaseChange::Off;
    let mut append = |piece: &[u8], lasting: CaseChange, once: &mut CaseChange| {
        if piece.is_empty() {
            return;
        }
        let first = if utf8 { utf8_len(piece) } else { 1 };
        let first_case = if *once == CaseChange::Off { lasting } else { *once };
        change_case(&piece[..first], first_case, utf8, out);
        change_case(&piece[first..], lasting, utf8, out);
        *once = CaseChange::Off;
    };
    for part in parts {
        match part {
            SedPart::Text(t) => append(t, lasting, &mut once),
            SedPart::Group(n) => {
                if let Some((a, b)) = group(*n) {
                    append(&text[a..b], lasting, &mut once);
                }
            }
            SedPart::Case(c @ (CaseChange::UpperOne | CaseChange::LowerOne)) => once = *c,
            SedPart::Case(c) => {
                // It also ends the effect of an earlier `\u` or `\l`.
                lasting = *c;
                once = CaseChange::Off;
            }
        }
    }
}

fn change_case(piece: &[u8], case: CaseChange, utf8: bool, out: &mut Vec<u8>) {
    let upper = match case {
        CaseChange::Off => return out.extend_from_slice(piece),
        CaseChange::Upper | CaseChange::UpperOne => true,
        CaseChange::Lower | CaseChange::LowerOne => false,
    };
    if !utf8 || piece.is_ascii() {
        let changed = piece
            .iter()
            .map(|c| if upper { c.to_ascii_uppercase() } else { c.to_ascii_lowercase() });
        return out.extend(changed);
    }
    for chunk in piece.utf8_chunks() {
        for c in chunk.valid().chars() {
            // Only mappings from one character to one are applied, as by towupper(3).
            let (mut up, mut low) = (c.to_uppercase(), c.to_lowercase());
            let changed = if upper { (up.next(), up.next()) } else { (low.next(), low.next()) };
            let c = if let (Some(changed), None) = changed { changed } else { c };
            out.extend_from_slice(c.encode_utf8(&mut [0; 4]).as_bytes());
        }
        out.extend_from_slice(chunk.invalid());
    }
}
