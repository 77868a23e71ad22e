//! The conditions of `test` and `[` (POSIX XCU test).
//!
//! Up to four words mean what POSIX's table says for their number; longer expressions are read by
//! the grammar `-o`, `-a`, `!`, parentheses, operators. The shell's builtin and the applet of
//! coreutils agree on that. They differ by their [`ConditionHost`]: the set of operators, the
//! comparison of integers, and the texts of messages.

use std::cmp::Ordering;
use std::ops::Deref;

use box_sys::{FileKind, Stat, meta};

/// The maximum nesting of parentheses, because each level takes some of the program's stack.
const MAX_DEPTH: u32 = 200;

/// An error in an expression.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ConditionProblem {
    /// Two words, the first of which is not an operator.
    NotUnary { operator: Vec<u8>, operand: Vec<u8> },
    /// The second of three words is not an operator.
    NotBinary(Vec<u8>),
    /// An operand is missing after this word.
    Missing(Vec<u8>),
    /// This word is in the place of a closing parenthesis; `None` is the end of the expression.
    Unclosed(Option<Vec<u8>>),
    /// A complete expression is followed by this word.
    Extra(Vec<u8>),
    /// This operand is not an integer.
    Integer(Vec<u8>),
    /// Parentheses are nested more than 200 levels deep.
    Deep,
}

/// An operator between two operands.
#[derive(Clone, Copy, Debug)]
pub enum BinaryTest {
    /// A comparison of the operands as byte strings.
    Text(fn(Ordering) -> bool),
    /// A comparison of the operands as integers.
    Number(fn(Ordering) -> bool),
    Files(FileComparison),
}

/// A comparison of two files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileComparison {
    /// `-nt`: the first file is newer, or only the first exists.
    Newer,
    /// `-ot`: the first file is older, or only the second exists.
    Older,
    /// `-ef`: both names refer to the same file.
    Same,
}

impl BinaryTest {
    /// Returns the binary operator that is written like this.
    #[must_use]
    pub fn parse(text: &[u8]) -> Option<BinaryTest> {
        Some(match text {
            b"=" | b"==" => BinaryTest::Text(Ordering::is_eq),
            b"!=" => BinaryTest::Text(Ordering::is_ne),
            b"<" => BinaryTest::Text(Ordering::is_lt),
            b">" => BinaryTest::Text(Ordering::is_gt),
            b"-eq" => BinaryTest::Number(Ordering::is_eq),
            b"-ne" => BinaryTest::Number(Ordering::is_ne),
            b"-lt" => BinaryTest::Number(Ordering::is_lt),
            b"-le" => BinaryTest::Number(Ordering::is_le),
            b"-gt" => BinaryTest::Number(Ordering::is_gt),
            b"-ge" => BinaryTest::Number(Ordering::is_ge),
            b"-nt" => BinaryTest::Files(FileComparison::Newer),
            b"-ot" => BinaryTest::Files(FileComparison::Older),
            b"-ef" => BinaryTest::Files(FileComparison::Same),
            _ => return None,
        })
    }
}

/// The caller's part of an evaluation: everything that the expression itself does not determine.
pub trait ConditionHost {
    /// The error of an evaluation.
    type Error: From<ConditionProblem>;
    /// The letters of the unary operators.
    const UNARY: &'static [u8];

    /// Evaluates a unary operator other than `-n` and `-z`.
    fn unary(&mut self, letter: u8, operand: &[u8]) -> Result<bool, Self::Error>;

    /// Evaluates a unary operator that takes no operand when it is part of a longer expression;
    /// `None` if this is not one.
    fn alone(&mut self, _letter: u8, _next: &[u8]) -> Option<bool> {
        None
    }

    /// Compares two operands as integers.
    fn compare(&mut self, left: &[u8], right: &[u8]) -> Result<Ordering, Self::Error>;

    /// Compares two files by `-nt`, `-ot` or `-ef`.
    fn files(&mut self, operator: FileComparison, left: &[u8], right: &[u8]) -> bool;
}

/// Returns whether the expression made of these words is true.
pub fn is_true<J: ConditionHost, W: Deref<Target = Vec<u8>>>(
    judge: &mut J,
    words: &[W],
) -> Result<bool, J::Error> {
    let mut e = Expression { judge, words, at: 0, depth: 0 };
    match words.len() {
        0 => Ok(false),
        1 => Ok(!words[0].is_empty()),
        2 => e.eval_two(0),
        3 => e.eval_three(0),
        4 if e.word_is(0, b"!") => e.eval_three(1).map(|t| !t),
        4 if e.word_is(0, b"(") && e.word_is(3, b")") => e.eval_two(1),
        _ => e.eval_whole(),
    }
}

struct Expression<'e, J, W> {
    judge: &'e mut J,
    words: &'e [W],
    at: usize,
    depth: u32,
}

impl<'e, J: ConditionHost, W: Deref<Target = Vec<u8>>> Expression<'e, J, W> {
    fn word_at(&self, at: usize) -> Option<&'e [u8]> {
        self.words.get(at).map(|w| w.as_slice())
    }

    fn word_is(&self, at: usize, text: &[u8]) -> bool {
        self.word_at(at) == Some(text)
    }

    /// Consumes the next word if it equals `text`.
    fn take_word(&mut self, text: &[u8]) -> bool {
        let is = self.word_is(self.at, text);
        self.at += usize::from(is);
        is
    }

    /// Evaluates the two words from `at` on.
    fn eval_two(&mut self, at: usize) -> Result<bool, J::Error> {
        let (a, b) = (&*self.words[at], &*self.words[at + 1]);
        if a.as_slice() == b"!" {
            return Ok(b.is_empty());
        }
        match self.unary_letter(a) {
            Some(letter) => self.eval_unary(letter, b),
            None => {
                Err(ConditionProblem::NotUnary { operator: a.clone(), operand: b.clone() }.into())
            }
        }
    }

    /// Evaluates the three words from `at` on.
    fn eval_three(&mut self, at: usize) -> Result<bool, J::Error> {
        let (a, op, b) = (&*self.words[at], &*self.words[at + 1], &*self.words[at + 2]);
        if let Some(op) = BinaryTest::parse(op) {
            return self.eval_binary(a, op, b);
        }
        match (a.as_slice(), op.as_slice(), b.as_slice()) {
            (_, b"-a", _) => Ok(!a.is_empty() && !b.is_empty()),
            (_, b"-o", _) => Ok(!a.is_empty() || !b.is_empty()),
            (b"!", ..) => self.eval_two(at + 1).map(|t| !t),
            (b"(", _, b")") => Ok(!op.is_empty()),
            _ => Err(ConditionProblem::NotBinary(op.clone()).into()),
        }
    }

    fn eval_whole(&mut self) -> Result<bool, J::Error> {
        let truth = self.eval_or()?;
        match self.word_at(self.at) {
            None => Ok(truth),
            Some(extra) => Err(ConditionProblem::Extra(extra.to_vec()).into()),
        }
    }

    fn eval_or(&mut self) -> Result<bool, J::Error> {
        let mut truth = self.eval_and()?;
        while self.take_word(b"-o") {
            truth |= self.eval_and()?;
        }
        Ok(truth)
    }

    fn eval_and(&mut self) -> Result<bool, J::Error> {
        let mut truth = self.eval_term()?;
        while self.take_word(b"-a") {
            truth &= self.eval_term()?;
        }
        Ok(truth)
    }

    fn eval_term(&mut self) -> Result<bool, J::Error> {
        let mut negated = false;
        while self.take_word(b"!") {
            negated = !negated;
        }
        Ok(self.eval_primary()? != negated)
    }

    fn eval_primary(&mut self) -> Result<bool, J::Error> {
        let Some(first) = self.word_at(self.at) else {
            let last = self.words.last().map(|last| last.to_vec());
            return Err(ConditionProblem::Missing(last.unwrap_or_default()).into());
        };
        self.at += 1;
        if first == b"(" {
            return self.eval_group();
        }
        if let (Some(op), Some(right)) = (self.word_at(self.at), self.word_at(self.at + 1))
            && let Some(op) = BinaryTest::parse(op)
        {
            self.at += 2;
            return self.eval_binary(first, op, right);
        }
        if let (Some(letter), Some(operand)) = (self.unary_letter(first), self.word_at(self.at)) {
            if let Some(truth) = self.judge.alone(letter, operand) {
                return Ok(truth);
            }
            self.at += 1;
            return self.eval_unary(letter, operand);
        }
        Ok(!first.is_empty())
    }

    /// Evaluates the contents of parentheses, starting after the opening one.
    fn eval_group(&mut self) -> Result<bool, J::Error> {
        self.depth += 1;
        if self.depth > MAX_DEPTH {
            return Err(ConditionProblem::Deep.into());
        }
        let truth = self.eval_or()?;
        self.depth -= 1;
        if !self.take_word(b")") {
            return Err(
                ConditionProblem::Unclosed(self.word_at(self.at).map(<[u8]>::to_vec)).into()
            );
        }
        Ok(truth)
    }

    /// Returns the letter of a unary operator.
    fn unary_letter(&self, word: &[u8]) -> Option<u8> {
        match word {
            [b'-', letter] if J::UNARY.contains(letter) => Some(*letter),
            _ => None,
        }
    }

    fn eval_unary(&mut self, letter: u8, operand: &[u8]) -> Result<bool, J::Error> {
        match letter {
            b'n' => Ok(!operand.is_empty()),
            b'z' => Ok(operand.is_empty()),
            _ => self.judge.unary(letter, operand),
        }
    }

    fn eval_binary(&mut self, left: &[u8], op: BinaryTest, right: &[u8]) -> Result<bool, J::Error> {
        match op {
            BinaryTest::Text(holds) => Ok(holds(left.cmp(right))),
            BinaryTest::Number(holds) => self.judge.compare(left, right).map(holds),
            BinaryTest::Files(op) => Ok(self.judge.files(op, left, right)),
        }
    }
}

/// Returns whether a unary operator holds for a file with this status; for `-h` and `-L`, the
/// status must be that of the link itself. `None` if there is no such file operator.
#[must_use]
pub fn file_holds(letter: u8, stat: &Stat) -> Option<bool> {
    Some(match letter {
        b'a' | b'e' => true,
        b'b' => stat.kind == FileKind::BlockDevice,
        b'c' => stat.kind == FileKind::CharDevice,
        b'd' => stat.kind == FileKind::Dir,
        b'f' => stat.kind == FileKind::File,
        b'g' => stat.mode & 0o2000 != 0,
        b'h' | b'L' => stat.kind == FileKind::Symlink,
        b'k' => stat.mode & 0o1000 != 0,
        b'p' => stat.kind == FileKind::Fifo,
        b'r' => meta::may_access(stat, 4),
        b's' => stat.size > 0,
        b'u' => stat.mode & 0o4000 != 0,
        b'w' => meta::may_access(stat, 2),
        b'x' => meta::may_access(stat, 1),
        b'G' => stat.gid == meta::ids().1,
        b'N' => stat.mtime > stat.atime,
        b'O' => stat.uid == meta::ids().0,
        b'S' => stat.kind == FileKind::Socket,
        _ => return None,
    })
}

/// Returns whether the comparison of two files holds. Either of them may be missing.
#[must_use]
pub fn files_hold(operator: FileComparison, left: Option<&Stat>, right: Option<&Stat>) -> bool {
    match (operator, left, right) {
        (FileComparison::Same, Some(a), Some(b)) => (a.dev, a.ino) == (b.dev, b.ino),
        (FileComparison::Newer, Some(a), Some(b)) => a.mtime > b.mtime,
        (FileComparison::Newer, Some(_), None) => true,
        (FileComparison::Older, Some(a), Some(b)) => a.mtime < b.mtime,
        (FileComparison::Older, None, Some(_)) => true,
        _ => false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    struct Plain;

    impl ConditionHost for Plain {
        type Error = ConditionProblem;
        const UNARY: &'static [u8] = b"nze";

        fn unary(&mut self, _: u8, operand: &[u8]) -> Result<bool, ConditionProblem> {
            Ok(operand == b"there")
        }

        fn compare(&mut self, left: &[u8], right: &[u8]) -> Result<Ordering, ConditionProblem> {
            let number = |text: &[u8]| {
                let n = std::str::from_utf8(text).ok().and_then(|t| t.parse::<i32>().ok());
                n.ok_or_else(|| ConditionProblem::Integer(text.to_vec()))
            };
            Ok(number(left)?.cmp(&number(right)?))
        }

        fn files(&mut self, operator: FileComparison, left: &[u8], right: &[u8]) -> bool {
            operator == FileComparison::Same && left == right
        }
    }

    fn truth(text: &str) -> Result<bool, ConditionProblem> {
        let words: Vec<Vec<u8>> = text.split_whitespace().map(|w| w.as_bytes().to_vec()).collect();
        is_true(&mut Plain, &words.iter().collect::<Vec<_>>())
    }

    /// The expected values are those of `test` in bash 5.2 and in GNU coreutils 9.1, which agree.
    #[test]
    fn truths() {
        for (text, expected) in [
            ("", false),
            ("a", true),
            ("-n", true),
            ("! a", false),
            ("-n a", true),
            ("-z a", false),
            ("-e there", true),
            ("-e not", false),
            ("a = a", true),
            ("a == b", false),
            ("a != b", true),
            ("9 -lt 10", true),
            ("9 -ge 10", false),
            ("x -ef x", true),
            ("( a )", true),
            ("( -n a )", true),
            ("! -n a", false),
            ("! ! ! a", false),
            ("-e = -e -a x", true),
            ("! a -o b -o c", true),
            ("! ( a )", false),
            ("( ! a ) -o b", true),
            ("1 -lt 2 -a b", true),
            ("a -o b -a ! c", true),
        ] {
            assert_eq!(truth(text), Ok(expected), "{text}");
        }
    }

    /// All of these have status 2 in bash and in coreutils; each mistake has its own message.
    #[test]
    fn mistakes() {
        let bytes = |text: &str| text.as_bytes().to_vec();
        for (text, expected) in [
            ("a b", ConditionProblem::NotUnary { operator: bytes("a"), operand: bytes("b") }),
            ("a ? b", ConditionProblem::NotBinary(bytes("?"))),
            ("a -a b -a", ConditionProblem::Missing(bytes("-a"))),
            ("a -a b -a !", ConditionProblem::Missing(bytes("!"))),
            ("a -a ( b", ConditionProblem::Unclosed(None)),
            ("( ( a b )", ConditionProblem::Unclosed(Some(bytes("b")))),
            ("( = ( -a x", ConditionProblem::Unclosed(Some(bytes("(")))),
            ("a = b c", ConditionProblem::Extra(bytes("c"))),
            ("! = x -a y", ConditionProblem::Extra(bytes("x"))),
            ("1 -eq x", ConditionProblem::Integer(bytes("x"))),
        ] {
            assert_eq!(truth(text), Err(expected), "{text}");
        }
    }

    #[test]
    fn parentheses_are_bounded() {
        let nested = |n: usize| "( ".repeat(n) + "a -o b" + &" )".repeat(n);
        assert_eq!(truth(&nested(200)), Ok(true));
        assert_eq!(truth(&nested(100_000)), Err(ConditionProblem::Deep));
        assert_eq!(truth(&("! ".repeat(100_000) + "a -o b")), Ok(true));
    }
}
