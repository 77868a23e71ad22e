//! Finds the places at which the lines of a paragraph end. Every way to break it has a cost, and
//! the cheapest one is taken.
//!
//! A line costs more the farther its length is from the goal, and from the length of the next line.
//! Ends of sentences and places after punctuation or before an opening parenthesis are good to
//! break at; breaks within `e.g. x` and lines that begin or end with a lone short word are bad.
//! The best breaks of the text after a word do not depend on the text before it, so they are found
//! from the last word to the first (GNU coreutils manual, "fmt invocation", which refers to the
//! algorithm of Knuth and Plass).

/// A word of a paragraph.
#[derive(Clone, Debug, Default)]
pub(super) struct Word {
    /// Its place in the paragraph's text.
    pub start: usize,
    pub length: usize,
    /// The blanks after it, unless a line ends there.
    pub space: usize,
    /// Whether it begins with an opening parenthesis or quote.
    pub opens: bool,
    /// Whether it ends like a sentence, before any closing parentheses and quotes.
    pub has_period: bool,
    /// Whether its last byte is punctuation.
    pub has_punctuation: bool,
    /// Whether it ends a sentence.
    pub is_final: bool,
    /// The length of a line that begins with the word.
    pub line_length: usize,
    /// The cost of the words from this one on.
    pub best_cost: i64,
    /// The first word of the next line, if one begins here.
    pub next_break: usize,
}

/// The widths of a paragraph.
#[derive(Clone, Copy, Debug)]
pub(super) struct LineWidths {
    pub most: usize,
    pub goal: usize,
    /// The indents of the first line and of the others.
    pub first_indent: usize,
    pub other_indent: usize,
    /// The length of the line before the first; 0 if there is none.
    pub previous: usize,
}

const fn squared(n: i64) -> i64 {
    n * n
}

/// The cost of a line as such.
const LINE: i64 = squared(70);
/// The cost of a break after a period that ends no sentence.
const NO_BREAK: i64 = squared(600);
const SENTENCE_BONUS: i64 = squared(50);
const PARENTHESIS_BONUS: i64 = squared(40);
const PUNCTUATION_BONUS: i64 = squared(40);
/// The additional cost that a break may have for each line that it adds to a piece, so that pieces
/// are cut at late breaks.
const LINE_CREDIT: i64 = squared(3);

/// Returns the cost of a line that is `n` characters from its goal.
fn distance_cost(n: i64) -> i64 {
    squared(n * 10)
}

/// Returns the cost of two lines whose lengths differ by `n`.
fn ragged_cost(n: i64) -> i64 {
    distance_cost(n) / 2
}

fn difference(a: usize, b: usize) -> i64 {
    a.cast_signed() as i64 - b.cast_signed() as i64
}

/// Finds the best breaks of a paragraph, and stores them in its words.
pub(super) fn find_breaks(words: &mut [Word], widths: &LineWidths) {
    let end = words.len();
    for start in (0..end).rev() {
        let mut best = i64::MAX;
        let mut length = if start == 0 { widths.first_indent } else { widths.other_indent };
        length += words[start].length;
        let mut next = start + 1;
        loop {
            let mut cost = line_cost(words, next, length, widths.goal);
            if start == 0 && widths.previous > 0 {
                cost += ragged_cost(difference(length, widths.previous));
            }
            if cost < best {
                best = cost;
                words[start].next_break = next;
                words[start].line_length = length;
            }
            if next == end {
                break;
            }
            length += words[next - 1].space + words[next].length;
            if length >= widths.most {
                break;
            }
            next += 1;
        }
        words[start].best_cost = best + break_cost(words, start);
    }
}

/// Returns the cost of a line of this length before word `next`, and of the lines after it.
fn line_cost(words: &[Word], next: usize, length: usize, goal: usize) -> i64 {
    let Some(word) = words.get(next) else { return 0 };
    let mut cost = distance_cost(difference(goal, length)) + word.best_cost;
    if word.next_break < words.len() {
        cost += ragged_cost(difference(length, word.line_length));
    }
    cost
}

/// Returns the cost of a line that begins with this word.
fn break_cost(words: &[Word], at: usize) -> i64 {
    let lone = |room: i64, word: &Word| squared(room) / (word.length as i64 + 2);
    let mut cost = LINE;
    if at > 0 {
        let before = &words[at - 1];
        if before.has_period {
            cost += if before.is_final { -SENTENCE_BONUS } else { NO_BREAK };
        } else if before.has_punctuation {
            cost -= PUNCTUATION_BONUS;
        } else if at > 1 && words[at - 2].is_final {
            cost += lone(200, before);
        }
    }
    if words[at].opens {
        cost -= PARENTHESIS_BONUS;
    } else if words[at].is_final {
        cost += lone(150, &words[at]);
    }
    cost
}

/// Returns the word before which a paragraph that is too long is cut: a good break near the end.
pub(super) fn find_cut(words: &[Word]) -> usize {
    let end = words.len();
    let mut cut = end;
    let mut best = i64::MAX;
    let mut at = words.first().map_or(end, |w| w.next_break);
    while at < end {
        let next = words[at].next_break;
        let cost = words[at].best_cost - words.get(next).map_or(0, |w| w.best_cost);
        if cost < best {
            (cut, best) = (at, cost);
        }
        best = best.saturating_add(LINE_CREDIT);
        at = next;
    }
    cut
}
