//! The matcher for groups and back-references: depth-first in priority order, never twice
//! through the same state.
//!
//! Two uses: the groups of a match whose ends are known (no back-references: each branching
//! point is entered at most once per position, so time is program times length), and the
//! longest match at a position for patterns with back-references (a state then includes the
//! texts referred to; a step budget bounds it).

use std::collections::HashSet;

use super::ast::Look;
use super::class::decode_char;
use super::options::RegexOptions;
use super::program::{Inst, Pc, RegexProgram};

/// The maximum number of steps of one search with back-references, which take well under a second.
pub(super) const BUDGET: u64 = 8_000_000;

/// The maximum number of states of one search for groups: 64 MiB of marks.
const MAX_BITS: usize = 1 << 29;

/// "No position" in a slot.
pub(super) const NONE: usize = usize::MAX;

/// Memory that searches reuse.
#[derive(Clone, Debug, Default)]
pub(super) struct BacktrackMemory {
    slots: Vec<usize>,
    stack: Vec<BacktrackJob>,
    visited: Vec<u64>,
    /// States of a search for the longest match, hashed: number, position, texts referred to.
    seen: HashSet<u128>,
}

#[derive(Clone, Debug)]
enum BacktrackJob {
    Run(Pc, usize),
    Restore(u32, usize),
    /// A star that may also end earlier: its instruction, its start and its last end.
    Shorter(Pc, usize, usize),
}

/// A search that took too many steps.
#[derive(Debug)]
pub(super) struct GaveUp;

/// The text that is matched, and its properties.
#[derive(Clone, Copy)]
pub(super) struct Haystack<'h> {
    pub text: &'h [u8],
    pub options: &'h RegexOptions,
}

impl RegexProgram {
    /// Finds the groups of the match from `start` to `end`, which is known to exist. Slots of unset
    /// groups are [`NONE`]. `slots` has two entries per group, group 0 included.
    pub(super) fn match_groups(
        &self,
        hay: Haystack<'_>,
        (start, end): (usize, usize),
        scratch: &mut BacktrackMemory,
        slots: &mut [usize],
    ) -> bool {
        let width = end - start + 1;
        let bits = (self.splits as usize).saturating_mul(width);
        if bits > MAX_BITS {
            return false;
        }
        scratch.visited.clear();
        scratch.visited.resize(bits / 64 + 1, 0);
        let utf8 = hay.options.utf8;
        // No text after the match is consumed, but conditions see it.
        let part = &hay.text[..end];
        scratch.slots.clear();
        scratch.slots.resize(slots.len(), NONE);
        scratch.stack.clear();
        scratch.stack.push(BacktrackJob::Run(0, start));
        while let Some(job) = scratch.stack.pop() {
            let (mut pc, mut at) = match job {
                BacktrackJob::Run(pc, at) => (pc, at),
                BacktrackJob::Restore(slot, old) => {
                    scratch.slots[slot as usize] = old;
                    continue;
                }
                BacktrackJob::Shorter(pc, from, to) => {
                    let Inst::Star { leave, next, .. } = self.insts[pc as usize] else { continue };
                    let Some(at) = shorter_end(part, from, to, next, utf8) else { continue };
                    scratch.stack.push(BacktrackJob::Shorter(pc, from, at));
                    if !scratch.visit_state(leave as usize * width + (at - start)) {
                        continue;
                    }
                    (pc + 1, at)
                }
            };
            loop {
                match self.insts[pc as usize] {
                    Inst::Match if at == end => {
                        slots.copy_from_slice(&scratch.slots);
                        slots[0] = start;
                        slots[1] = end;
                        return true;
                    }
                    Inst::Match | Inst::Backref(_) => break,
                    Inst::Split(first, second, number) => {
                        if !scratch.visit_state(number as usize * width + (at - start)) {
                            break;
                        }
                        scratch.stack.push(BacktrackJob::Run(second, at));
                        pc = first;
                        continue;
                    }
                    Inst::Star { set, enter, leave, .. } => {
                        if !scratch.visit_state(enter as usize * width + (at - start)) {
                            break;
                        }
                        let stop = self.sets[set as usize].run(part, at, utf8);
                        if stop > at {
                            scratch.stack.push(BacktrackJob::Shorter(pc, at, stop));
                        }
                        if !scratch.visit_state(leave as usize * width + (stop - start)) {
                            break;
                        }
                        at = stop;
                    }
                    Inst::Jump(to) => {
                        pc = to;
                        continue;
                    }
                    Inst::Save(slot) => save_slot(scratch, slot, at),
                    ref inst => match self.step_inst(inst, hay, at) {
                        Some(next) if next <= end => at = next,
                        _ => break,
                    },
                }
                pc += 1;
            }
        }
        false
    }

    /// Finds the longest match that begins at `start`, for patterns with back-references. Every
    /// step is subtracted from `budget`.
    pub(super) fn longest_match(
        &self,
        hay: Haystack<'_>,
        start: usize,
        scratch: &mut BacktrackMemory,
        slots: &mut [usize],
        budget: &mut u64,
    ) -> Result<bool, GaveUp> {
        scratch.slots.clear();
        scratch.slots.resize(slots.len(), NONE);
        scratch.seen.clear();
        scratch.stack.clear();
        scratch.stack.push(BacktrackJob::Run(0, start));
        let mut best = None;
        while let Some(job) = scratch.stack.pop() {
            let (mut pc, mut at) = match job {
                BacktrackJob::Run(pc, at) => (pc, at),
                BacktrackJob::Restore(slot, old) => {
                    scratch.slots[slot as usize] = old;
                    continue;
                }
                // Programs with back-references have no stars.
                BacktrackJob::Shorter(..) => continue,
            };
            loop {
                *budget = budget.checked_sub(1).ok_or(GaveUp)?;
                match self.insts[pc as usize] {
                    Inst::Match => {
                        if best.is_none_or(|b| b < at) {
                            best = Some(at);
                            slots.copy_from_slice(&scratch.slots);
                            slots[0] = start;
                            slots[1] = at;
                            if at == hay.text.len() {
                                return Ok(true);
                            }
                        }
                        break;
                    }
                    Inst::Split(first, second, number) => {
                        let texts = self.referenced.iter().flat_map(|&n| {
                            let n = 2 * n as usize;
                            [scratch.slots[n], scratch.slots[n + 1]]
                        });
                        let state = state_digest([number as usize, at].into_iter().chain(texts));
                        *budget = budget.saturating_sub(16);
                        if !scratch.seen.insert(state) {
                            break;
                        }
                        scratch.stack.push(BacktrackJob::Run(second, at));
                        pc = first;
                        continue;
                    }
                    Inst::Jump(to) => {
                        pc = to;
                        continue;
                    }
                    Inst::Save(slot) => save_slot(scratch, slot, at),
                    Inst::Backref(n) => {
                        let (a, b) =
                            (scratch.slots[2 * n as usize], scratch.slots[2 * n as usize + 1]);
                        if a == NONE || b == NONE || a > b {
                            break;
                        }
                        *budget = budget.saturating_sub((b - a) as u64 / 8);
                        match repeated_end(hay, a, b, at) {
                            Some(next) => at = next,
                            None => break,
                        }
                    }
                    Inst::Star { .. } => break,
                    ref inst => match self.step_inst(inst, hay, at) {
                        Some(next) => at = next,
                        None => break,
                    },
                }
                pc += 1;
            }
        }
        Ok(best.is_some())
    }

    /// Matches one character or condition; returns the position after it.
    fn step_inst(&self, inst: &Inst, hay: Haystack<'_>, at: usize) -> Option<usize> {
        match *inst {
            Inst::Byte(b) => (hay.text.get(at) == Some(&b)).then_some(at + 1),
            Inst::Set(n) => {
                let first = *hay.text.get(at)?;
                let (code, width) = if hay.options.utf8 && first >= 0x80 {
                    decode_char(&hay.text[at..])?
                } else {
                    (u32::from(first), 1)
                };
                self.sets[n as usize].contains(code).then_some(at + width)
            }
            Inst::Look(look) => look_holds(look, hay, at).then_some(at),
            _ => None,
        }
    }
}

/// Returns 128 bits that represent a state; two states collide with a probability of about 2^-80.
fn state_digest(values: impl Iterator<Item = usize>) -> u128 {
    const FACTOR: u128 = 0x9E37_79B9_7F4A_7C15_F39C_C060_5CED_C835;
    values.fold(0xB504_F333_F9DE_6484, |h: u128, v| {
        let mixed = (h ^ v as u128).wrapping_mul(FACTOR);
        mixed ^ mixed >> 67
    })
}

impl BacktrackMemory {
    /// Marks a state; returns `false` if it was already marked.
    fn visit_state(&mut self, bit: usize) -> bool {
        let mask = 1u64 << (bit % 64);
        match self.visited.get_mut(bit / 64) {
            Some(word) if *word & mask == 0 => {
                *word |= mask;
                true
            }
            _ => false,
        }
    }
}

/// Returns the next shorter end of a star's run `from..to` at which `next` follows.
fn shorter_end(text: &[u8], from: usize, to: usize, next: Option<u8>, utf8: bool) -> Option<usize> {
    if to <= from {
        return None;
    }
    if let Some(byte) = next.filter(|b| b.is_ascii() || !utf8) {
        return memchr::memrchr(byte, &text[from..to]).map(|i| from + i);
    }
    let mut at = to - 1;
    while utf8 && at > from && (0x80..0xC0).contains(&text[at]) {
        at -= 1;
    }
    Some(at)
}

fn save_slot(scratch: &mut BacktrackMemory, slot: u32, at: usize) {
    let old = std::mem::replace(&mut scratch.slots[slot as usize], at);
    scratch.stack.push(BacktrackJob::Restore(slot, old));
}

/// Returns the end of a second copy of `text[a..b]` at `at`.
fn repeated_end(hay: Haystack<'_>, a: usize, b: usize, at: usize) -> Option<usize> {
    let text = &hay.text[a..b];
    let end = at.checked_add(text.len())?;
    if !hay.options.icase {
        return (hay.text.get(at..end)? == text).then_some(end);
    }
    // The other case of a character may have a different length.
    let (mut i, mut j) = (a, at);
    while i < b {
        let (x, wx) = char_at(hay, i)?;
        let (y, wy) = char_at(hay, j)?;
        if x != y && fold_char(x) != fold_char(y) {
            return None;
        }
        i += wx;
        j += wy;
    }
    Some(j)
}

fn char_at(hay: Haystack<'_>, at: usize) -> Option<(u32, usize)> {
    let first = *hay.text.get(at)?;
    match decode_char(&hay.text[at..]) {
        Some(c) if hay.options.utf8 => Some(c),
        _ => Some((u32::from(first) | if first < 0x80 { 0 } else { 1 << 24 }, 1)),
    }
}

fn fold_char(code: u32) -> Option<char> {
    let c = char::from_u32(code)?;
    let mut lower = c.to_lowercase();
    match (lower.next(), lower.next()) {
        (Some(l), None) => Some(l),
        _ => Some(c),
    }
}

/// Returns whether a condition holds between the characters at `at`.
fn look_holds(look: Look, hay: Haystack<'_>, at: usize) -> bool {
    let text = hay.text;
    let starts = |byte: Option<u8>| at == 0 || byte.is_some_and(|b| text[at - 1] == b);
    let ends = |byte: Option<u8>| match text.get(at) {
        None => true,
        Some(&c) => Some(c) == byte,
    };
    let lines = hay.options.lines;
    let inner = if hay.options.multiline { lines.or(Some(b'\n')) } else { lines };
    match look {
        Look::LineStart => starts(inner),
        Look::LineEnd => ends(inner),
        Look::TextStart => starts(lines),
        Look::TextEnd => ends(lines),
        Look::WordEdge => word_before(hay, at) != word_after(hay, at),
        Look::NotWordEdge => word_before(hay, at) == word_after(hay, at),
        Look::WordStart => !word_before(hay, at) && word_after(hay, at),
        Look::WordEnd => word_before(hay, at) && !word_after(hay, at),
        Look::NoWordBefore => !word_before(hay, at),
        Look::NoWordAfter => !word_after(hay, at),
    }
}

/// Returns whether a word character ends at `at`.
pub(super) fn word_before(hay: Haystack<'_>, at: usize) -> bool {
    let Some(&last) = hay.text[..at].last() else { return false };
    if last < 0x80 || !hay.options.utf8 {
        return last == b'_' || last.is_ascii_alphanumeric();
    }
    (2..=4.min(at)).any(|width| {
        let text = &hay.text[at - width..at];
        decode_char(text).is_some_and(|(code, w)| w == width && is_word(code))
    })
}

/// Returns whether a word character begins at `at`.
pub(super) fn word_after(hay: Haystack<'_>, at: usize) -> bool {
    match hay.text.get(at) {
        None => false,
        Some(&c) if c < 0x80 || !hay.options.utf8 => c == b'_' || c.is_ascii_alphanumeric(),
        Some(_) => decode_char(&hay.text[at..]).is_some_and(|(code, _)| is_word(code)),
    }
}

/// Returns whether a code point is a word character for the automata's word conditions.
fn is_word(code: u32) -> bool {
    char::from_u32(code)
        .is_some_and(|c| regex_syntax::try_is_word_character(c).unwrap_or(c.is_alphanumeric()))
}
