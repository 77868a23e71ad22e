//! The machine that runs a program: a position, stored values, calls, and a stack of alternatives.

use std::rc::Rc;

use fancy_regex::Assertion;

use super::MatchLimitHit;
use super::program::{PatternProgram, Step};

/// The maximum number of steps of one search.
const MOST_STEPS: usize = 10_000_000;
/// The maximum size in bytes of all alternatives, each of which may have its own stored values.
const MOST_ROOM: usize = 64 << 20;
/// The maximum number of calls within each other.
const MOST_CALLS: usize = 20_000;

/// A value that is not stored.
const UNSET: usize = usize::MAX;

/// A call that has not returned. As in PCRE, its return restores the text that groups have matched.
struct PatternCall {
    back: usize,
    slots: Rc<Vec<usize>>,
    depth: usize,
    up: Option<Rc<PatternCall>>,
}

impl Drop for PatternCall {
    /// Drops the outer frames one by one, because a long chain would otherwise be dropped
    /// recursively.
    fn drop(&mut self) {
        let mut up = self.up.take();
        while let Some(frame) = up {
            up = Rc::into_inner(frame).and_then(|mut f| f.up.take());
        }
    }
}

/// The next action of the machine.
#[derive(Clone)]
struct MachineState {
    step: usize,
    at: usize,
    slots: Rc<Vec<usize>>,
    frame: Option<Rc<PatternCall>>,
}

/// A search in one text.
struct Search<'a> {
    program: &'a PatternProgram,
    text: &'a [u8],
    /// The offset at which the search began.
    start: usize,
    utf8: bool,
    steps: usize,
    alternatives: Vec<MachineState>,
    most_alternatives: usize,
}

/// Returns the first match at or after `at`.
pub(super) fn find_match(
    program: &PatternProgram,
    text: &[u8],
    at: usize,
    utf8: bool,
) -> Result<Option<(usize, usize)>, MatchLimitHit> {
    let room = size_of::<MachineState>() + program.slots * size_of::<usize>();
    let mut search = Search {
        program,
        text,
        start: at,
        utf8,
        steps: 0,
        alternatives: Vec::new(),
        most_alternatives: MOST_ROOM / room,
    };
    let mut from = at;
    loop {
        if let Some(found) = search.match_from(from)? {
            return Ok(Some(found));
        }
        if from >= text.len() {
            return Ok(None);
        }
        from += search.decode(from).map_or(1, |(_, width)| width);
    }
}

impl Search<'_> {
    /// Returns the match that begins at `from`.
    fn match_from(&mut self, from: usize) -> Result<Option<(usize, usize)>, MatchLimitHit> {
        self.alternatives.clear();
        let mut slots = vec![UNSET; self.program.slots];
        slots[0] = from;
        let mut state = MachineState { step: 0, at: from, slots: Rc::new(slots), frame: None };
        loop {
            self.steps += 1;
            if self.steps > MOST_STEPS {
                return Err(MatchLimitHit);
            }
            if matches!(self.program.steps[state.step], Step::Match) {
                let begin = state.slots[0].min(state.at);
                return Ok(Some((begin, state.at)));
            }
            if self.perform(&mut state)?.is_none() {
                match self.alternatives.pop() {
                    Some(other) => state = other,
                    None => return Ok(None),
                }
            }
        }
    }

    /// Performs the step of a state; `None` if it fails.
    fn perform(&mut self, state: &mut MachineState) -> Result<Option<()>, MatchLimitHit> {
        let program = self.program;
        let step = &program.steps[state.step];
        state.step += 1;
        match step {
            Step::Split { other } => {
                if self.alternatives.len() >= self.most_alternatives {
                    return Err(MatchLimitHit);
                }
                self.alternatives.push(MachineState { step: *other, ..state.clone() });
            }
            Step::Call { group } => {
                let depth = state.frame.as_ref().map_or(0, |f| f.depth) + 1;
                let entry = program.entries.get(group).filter(|_| depth <= MOST_CALLS);
                let entry = *entry.ok_or(MatchLimitHit)?;
                state.frame = Some(Rc::new(PatternCall {
                    back: state.step,
                    slots: state.slots.clone(),
                    depth,
                    up: state.frame.take(),
                }));
                state.step = entry;
            }
            Step::Return => {
                let Some(frame) = state.frame.take() else { return Ok(None) };
                (state.step, state.slots) = (frame.back, frame.slots.clone());
                state.frame = frame.up.clone();
            }
            Step::Mark(slot) => Rc::make_mut(&mut state.slots)[*slot] = self.alternatives.len(),
            Step::Cut(slot) => self.alternatives.truncate(state.slots[*slot]),
            step => return Ok(self.advance(step, state)),
        }
        Ok(Some(()))
    }

    /// Performs a step that neither calls nor changes the alternatives.
    fn advance(&self, step: &Step, state: &mut MachineState) -> Option<()> {
        match step {
            Step::Jump { to } => state.step = *to,
            Step::Save(slot) => Rc::make_mut(&mut state.slots)[*slot] = state.at,
            Step::Restore(slot) => state.at = state.slots[*slot],
            Step::LeaveIfEmpty { slot, to } => {
                if state.slots[*slot] == state.at {
                    state.step = *to;
                }
            }
            Step::Back(count) => {
                for _ in 0..*count {
                    state.at = self.before(state.at)?;
                }
            }
            Step::Assert(assertion) => return self.holds(*assertion, state.at).then_some(()),
            Step::SearchStart => return (state.at == self.start).then_some(()),
            Step::Run { one, least, most } => {
                let mut count = 0;
                while count < *most
                    && let Some(width) = self.match_one(one, state.at)
                {
                    state.at += width;
                    count += 1;
                }
                return (count >= *least).then_some(());
            }
            Step::Newline => {
                let rest = &self.text[state.at..];
                state.at += match rest {
                    [b'\r', b'\n', ..] => 2,
                    [b'\n' | 0x0b | 0x0c | b'\r', ..] => 1,
                    _ => return None,
                };
            }
            Step::Repeated { group, casei } => {
                state.at += self.match_repeated(state, *group, *casei)?;
            }
            Step::IfGroup { group, other } => {
                if state.slots.get(2 * group + 1).is_none_or(|end| *end == UNSET) {
                    state.step = *other;
                }
            }
            one => state.at += self.match_one(one, state.at)?,
        }
        Some(())
    }

    /// Returns the width of the character at `at`, if the step matches it.
    fn match_one(&self, step: &Step, at: usize) -> Option<usize> {
        let (c, width) = self.decode(at)?;
        let is_match = match step {
            Step::Char { c: wanted, casei } => c == *wanted || *casei && is_same_letter(c, *wanted),
            Step::Any { newline } => *newline || c != '\n',
            Step::Set(set) => {
                let ranges = &self.program.sets[*set];
                let after = ranges.partition_point(|(_, last)| *last < c);
                ranges.get(after).is_some_and(|(first, _)| *first <= c)
            }
            _ => false,
        };
        is_match.then_some(width)
    }

    /// Returns the width of the text that a group has matched, if it occurs again at the position.
    fn match_repeated(&self, state: &MachineState, group: usize, casei: bool) -> Option<usize> {
        let (begin, end) = (*state.slots.get(2 * group)?, *state.slots.get(2 * group + 1)?);
        let caught = self.text.get(begin..end)?;
        let rest = self.text.get(state.at..state.at + caught.len())?;
        let is_same = rest == caught || casei && rest.eq_ignore_ascii_case(caught);
        is_same.then_some(caught.len())
    }

    /// Returns the character at a position and its width; `None` at the end and for bytes that are
    /// not a character.
    fn decode(&self, at: usize) -> Option<(char, usize)> {
        let rest = self.text.get(at..)?;
        let first = *rest.first()?;
        if first < 0x80 || !self.utf8 {
            return Some((char::from(first), 1));
        }
        let width = match first {
            0xc2..=0xdf => 2,
            0xe0..=0xef => 3,
            0xf0..=0xf4 => 4,
            _ => return None,
        };
        let c = std::str::from_utf8(rest.get(..width)?).ok()?.chars().next()?;
        Some((c, width))
    }

    /// Returns the position of the character before `at`.
    fn before(&self, at: usize) -> Option<usize> {
        let widths = if self.utf8 { 1..=4 } else { 1..=1 };
        widths
            .filter_map(|width| at.checked_sub(width))
            .find(|from| self.decode(*from).is_some_and(|(_, width)| from + width == at))
    }

    fn holds(&self, assertion: Assertion, at: usize) -> bool {
        let byte = |i: Option<usize>| i.and_then(|i| self.text.get(i)).copied();
        let (before, after) = (byte(at.checked_sub(1)), byte(Some(at)));
        let is_word = |c: Option<u8>| c.is_some_and(|c| c.is_ascii_alphanumeric() || c == b'_');
        let (left, right) = (is_word(before), is_word(after));
        match assertion {
            Assertion::StartText => at == 0,
            Assertion::EndText => at == self.text.len(),
            Assertion::EndTextIgnoreTrailingNewlines { .. } => {
                self.text[at..].iter().all(|c| *c == b'\n')
            }
            Assertion::StartLine { .. } | Assertion::StartLineOniguruma { .. } => {
                before.is_none_or(|c| c == b'\n')
            }
            Assertion::EndLine { .. } => after.is_none_or(|c| c == b'\n'),
            Assertion::WordBoundary => left != right,
            Assertion::NotWordBoundary => left == right,
            Assertion::LeftWordBoundary => !left && right,
            Assertion::RightWordBoundary => left && !right,
            Assertion::LeftWordHalfBoundary => !left,
            Assertion::RightWordHalfBoundary => !right,
        }
    }
}

/// Returns whether two characters are the same letter in different case.
fn is_same_letter(a: char, b: char) -> bool {
    a.eq_ignore_ascii_case(&b) || a.to_lowercase().eq(b.to_lowercase())
}
