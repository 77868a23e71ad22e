//! Positions of keys in a line, and comparison of two keys.

use std::cmp::Ordering as Order;

use super::number;
use super::options::SortOptions;

/// The way a key is compared.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum SortKind {
    #[default]
    Text,
    Numeric,
    General,
    Human,
    Month,
    Version,
    Random,
}

/// The letters of ordering options, in the order of GNU's messages.
const LETTERS: &[u8] = b"bdfghiMnRrV";

/// The ordering options of a key or of the whole sort.
#[derive(Clone, Debug, Default)]
pub(super) struct Ordering {
    pub kind: SortKind,
    /// The letters of all kinds that were given. They are needed to detect incompatible ones.
    kinds: Vec<u8>,
    pub dictionary: bool,
    pub printable: bool,
    pub fold: bool,
    pub reverse: bool,
    pub skip_start: bool,
    pub skip_end: bool,
    pub seed: u64,
}

impl Ordering {
    /// Adds an option letter. `start` and `end` say for which ends of the key a `b` counts.
    pub(super) fn add_letter(&mut self, letter: u8, start: bool, end: bool) {
        let kind = match letter {
            b'b' => {
                self.skip_start |= start;
                self.skip_end |= end;
                return;
            }
            b'd' => {
                self.dictionary = true;
                return;
            }
            b'i' => {
                self.printable = true;
                return;
            }
            b'f' => {
                self.fold = true;
                return;
            }
            b'r' => {
                self.reverse = true;
                return;
            }
            b'n' => SortKind::Numeric,
            b'g' => SortKind::General,
            b'h' => SortKind::Human,
            b'M' => SortKind::Month,
            b'V' => SortKind::Version,
            _ => SortKind::Random,
        };
        self.kind = kind;
        if !self.kinds.contains(&letter) {
            self.kinds.push(letter);
        }
    }

    /// Returns whether no ordering option other than `r` was given.
    pub(super) fn is_default(&self) -> bool {
        self.kind == SortKind::Text
            && !self.dictionary
            && !self.printable
            && !self.fold
            && !self.skip_start
            && !self.skip_end
    }

    /// Checks that the options are compatible.
    ///
    /// # Errors
    /// Two options are incompatible. The error holds GNU's message.
    pub(super) fn check_letters(&self) -> Result<(), Vec<u8>> {
        let mut letters = self.kinds.clone();
        let text = self.dictionary || self.printable;
        let exclusive = letters.iter().filter(|l| !matches!(l, b'R' | b'V')).count();
        let relaxed = letters.iter().any(|l| matches!(l, b'R' | b'V'));
        if exclusive + usize::from(relaxed || text) <= 1 {
            return Ok(());
        }
        if self.dictionary {
            letters.push(b'd');
        }
        if self.printable {
            letters.push(b'i');
        }
        if self.fold {
            letters.push(b'f');
        }
        letters.sort_by_key(|letter| LETTERS.iter().position(|known| known == letter));
        Err([b"options '-", letters.as_slice(), b"' are incompatible"].concat())
    }

    /// Returns the letters of all options, in the order of GNU's messages.
    pub(super) fn letters(&self) -> Vec<u8> {
        let mut letters = self.kinds.clone();
        let flags = [
            (b'b', self.skip_start || self.skip_end),
            (b'd', self.dictionary),
            (b'f', self.fold),
            (b'i', self.printable),
            (b'r', self.reverse),
        ];
        letters.extend(flags.iter().filter(|(_, is_set)| *is_set).map(|(letter, _)| *letter));
        letters.sort_by_key(|letter| LETTERS.iter().position(|known| known == letter));
        letters
    }

    fn is_ignored(&self, c: u8) -> bool {
        self.dictionary && !(c.is_ascii_alphanumeric() || matches!(c, b' ' | b'\t' | b'\n'))
            || self.printable && !(0x20..0x7f).contains(&c)
    }

    fn fold_byte(&self, c: u8) -> u8 {
        if self.fold { c.to_ascii_uppercase() } else { c }
    }

    /// Returns whether text keys are compared byte by byte.
    pub(super) fn is_plain(&self) -> bool {
        !self.dictionary && !self.printable && !self.fold
    }

    /// Compares two keys without applying `reverse`.
    pub(super) fn compare_keys(&self, a: &[u8], b: &[u8]) -> Order {
        match self.kind {
            SortKind::Text if self.is_plain() => a.cmp(b),
            SortKind::Text => {
                let x = a.iter().filter(|c| !self.is_ignored(**c)).map(|c| self.fold_byte(*c));
                x.cmp(b.iter().filter(|c| !self.is_ignored(**c)).map(|c| self.fold_byte(*c)))
            }
            SortKind::Numeric => number::compare_numeric(a, b),
            SortKind::General => number::compare_general(a, b),
            SortKind::Human => number::compare_human(a, b),
            SortKind::Month => number::month_number(a).cmp(&number::month_number(b)),
            SortKind::Version => {
                number::compare_version(&self.translate_key(a), &self.translate_key(b))
            }
            SortKind::Random => {
                let (x, y) = (self.translate_key(a), self.translate_key(b));
                self.hash(&x).cmp(&self.hash(&y)).then_with(|| x.cmp(&y))
            }
        }
    }

    fn translate_key(&self, text: &[u8]) -> Vec<u8> {
        text.iter().filter(|c| !self.is_ignored(**c)).map(|c| self.fold_byte(*c)).collect()
    }

    fn hash(&self, text: &[u8]) -> u64 {
        use std::hash::{DefaultHasher, Hasher};
        let mut h = DefaultHasher::new();
        h.write_u64(self.seed);
        h.write(text);
        h.finish()
    }

    /// Returns a number for a key. If the numbers of two keys differ, they have the same order as
    /// the keys.
    pub(super) fn key_prefix(&self, key: &[u8]) -> u64 {
        match self.kind {
            SortKind::Text if self.is_plain() => match key.first_chunk::<8>() {
                Some(c) => u64::from_be_bytes(*c),
                None => {
                    let mut b = [0; 8];
                    b[..key.len()].copy_from_slice(key);
                    u64::from_be_bytes(b)
                }
            },
            SortKind::Text => {
                let mut b = [0; 8];
                let kept = key.iter().filter(|c| !self.is_ignored(**c)).map(|c| self.fold_byte(*c));
                b.iter_mut().zip(kept).for_each(|(slot, c)| *slot = c);
                u64::from_be_bytes(b)
            }
            SortKind::Numeric => number::numeric_prefix(key),
            SortKind::Month => number::month_number(key) as u64,
            SortKind::Random => self.hash(&self.translate_key(key)),
            SortKind::General | SortKind::Human | SortKind::Version => 0,
        }
    }

    /// Returns whether equal prefixes mean equal keys for this kind of comparison.
    pub(super) fn prefix_decides(&self) -> bool {
        self.kind == SortKind::Month
    }
}

/// A `-k` key.
#[derive(Clone, Debug)]
pub(super) struct LineKey {
    /// The number of the first field, from 0.
    pub start_field: usize,
    pub start_char: usize,
    /// The number of the last field, from 0; `None` if the key extends to the end of the line.
    pub end_field: Option<usize>,
    /// The number of characters of the last field; 0 if the key extends to the end of the field.
    pub end_char: usize,
    pub tab: Option<u8>,
    pub order: Ordering,
}

fn is_blank(c: u8) -> bool {
    matches!(c, b' ' | b'\t' | b'\n')
}

impl LineKey {
    pub(super) fn whole_line() -> LineKey {
        LineKey {
            start_field: 0,
            start_char: 0,
            end_field: None,
            end_char: 0,
            tab: None,
            order: Ordering::default(),
        }
    }

    /// Returns the start and end of the key in the line.
    pub(super) fn range(&self, line: &[u8]) -> (usize, usize) {
        let start = self.start(line);
        let end = self.end(line);
        (start, end.max(start))
    }

    fn start(&self, line: &[u8]) -> usize {
        let mut at = 0;
        match self.tab {
            Some(tab) => {
                for _ in 0..self.start_field {
                    match memchr::memchr(tab, &line[at..]) {
                        Some(i) => at += i + 1,
                        None => {
                            at = line.len();
                            break;
                        }
                    }
                }
            }
            None => {
                for _ in 0..self.start_field {
                    if at >= line.len() {
                        break;
                    }
                    at = next_field(line, at);
                }
            }
        }
        if self.order.skip_start {
            at += line[at..].iter().take_while(|c| is_blank(**c)).count();
        }
        at.saturating_add(self.start_char).min(line.len())
    }

    fn end(&self, line: &[u8]) -> usize {
        let Some(field) = self.end_field else { return line.len() };
        let fields = if self.end_char == 0 { field.saturating_add(1) } else { field };
        let mut at = 0;
        match self.tab {
            Some(tab) => {
                for i in (0..fields).rev() {
                    match memchr::memchr(tab, &line[at..]) {
                        // The separator is skipped unless the key ends before it.
                        Some(n) => at += n + usize::from(i > 0 || self.end_char > 0),
                        None => {
                            at = line.len();
                            break;
                        }
                    }
                }
            }
            None => {
                for _ in 0..fields {
                    if at >= line.len() {
                        break;
                    }
                    at = next_field(line, at);
                }
            }
        }
        if self.end_char > 0 {
            if self.order.skip_end {
                at += line[at..].iter().take_while(|c| is_blank(**c)).count();
            }
            at = at.saturating_add(self.end_char).min(line.len());
        }
        at
    }
}

/// Returns the end of the next field, which consists of blanks and then bytes that are not blank.
fn next_field(line: &[u8], at: usize) -> usize {
    let rest = &line[at..];
    let blanks = rest.iter().take_while(|c| is_blank(**c)).count();
    at + blanks + rest[blanks..].iter().take_while(|c| !is_blank(**c)).count()
}

impl SortOptions {
    /// Compares two lines by the keys from index `from` on; returns `Equal` if all of them are
    /// equal.
    pub(super) fn compare_keys(&self, from: usize, a: &[u8], b: &[u8]) -> Order {
        for key in self.keys.iter().skip(from) {
            let ((s, e), (t, f)) = (key.range(a), key.range(b));
            let order = key.order.compare_keys(&a[s..e], &b[t..f]);
            if order.is_ne() {
                return if key.order.reverse { order.reverse() } else { order };
            }
        }
        Order::Equal
    }

    /// Compares lines whose keys are all equal: by their whole text, unless the sort is stable.
    pub(super) fn last_resort(&self, a: &[u8], b: &[u8]) -> Order {
        if self.stable {
            return Order::Equal;
        }
        let order = a.cmp(b);
        if self.reverse { order.reverse() } else { order }
    }

    /// Compares two lines.
    pub(super) fn compare_lines(&self, a: &[u8], b: &[u8]) -> Order {
        self.compare_keys(0, a, b).then_with(|| self.last_resort(a, b))
    }
}
