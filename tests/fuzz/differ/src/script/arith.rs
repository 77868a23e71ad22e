//! Arithmetic expressions (bash manual 6.5).

use super::Script;

const LEAVES: &[&str] = &[
    "0", "1", "2", "3", "7", "10", "n", "i", "a", "u", "$n", "$i", "arr[1]", "arr[i]", "m[k]", "n",
    "i", "x",
];
const ODD: &[&str] = &[
    "010",
    "08",
    "0x1f",
    "0xG",
    "2#101",
    "16#fF",
    "36#z",
    "64#_",
    "65#1",
    "9223372036854775807",
    "9223372036854775808",
    "-9223372036854775808",
    "$a",
    "${#a}",
    "arr[@]",
    "arr[-1]",
    "$u",
    "\"1\"",
    "'2'",
    "1x",
    "$(echo 3)",
    "`echo 4`",
    "$1",
    "$#",
    "2#2",
    "1#0",
    "#",
    "1.5",
    "n n",
    "arr[n-1]",
    "m['k']",
    "m[$a]",
    "${n}",
    "$((1+1))",
    "arr",
    "b",
    "-",
    "",
    "r",
    "${arr[0]}",
    "u[0]",
    "0x",
    "2#",
    "a[0]",
    "3#12",
    "${u:-5}",
    "\\1",
    "10#08",
    "e",
    "(",
    "0x7fffffffffffffff",
    "a b",
    "i i",
    "m[none]",
    "$?",
    "i=",
    "16#",
];
const BINARY: &[&str] = &[
    "+", "-", "*", "/", "%", "**", "<<", ">>", "<", ">", "<=", ">=", "==", "!=", "&", "^", "|",
    "&&", "||", ",", " + ", " - ", " * ",
];

impl Script {
    pub(crate) fn expression(&mut self) -> String {
        if self.leaf() || self.random.chance(35) {
            let odd = self.random.chance(18);
            return self.random.pick(if odd { ODD } else { LEAVES }).into();
        }
        self.deeper(|s| match s.random.below(14) {
            0..=6 => {
                let op = s.random.pick(BINARY);
                let left = s.expression();
                format!("{left}{op}{}", s.shift_safe(op))
            }
            7 => format!("({})", s.expression()),
            8 => format!("{}{}", s.random.pick(&["-", "+", "!", "~", "- ", "! "]), s.expression()),
            9 => {
                let name = s.random.pick(&["n", "i", "x", "arr[1]", "m[k]", "arr[i]", "u"]);
                let op = s.random.pick(&[
                    "=", "+=", "-=", "*=", "/=", "%=", "&=", "|=", "^=", "<<=", ">>=", "=",
                ]);
                format!("{name}{op}{}", s.shift_safe(op))
            }
            10 | 11 => {
                let name = s.random.pick(&["n", "i", "x", "arr[1]", "u", "m[k]"]);
                s.random
                    .pick(&["X++", "++X", "X--", "--X", "X ++", "- X", "-- X"])
                    .replace('X', name)
            }
            _ => format!("{}?{}:{}", s.expression(), s.expression(), s.expression()),
        })
    }

    /// Returns the right side of an operator. Shifts are by small numbers only, because C leaves
    /// others undefined.
    fn shift_safe(&mut self, op: &str) -> String {
        if op.contains("<<") || op.contains(">>") {
            return self.random.pick(&["0", "1", "2", "3", "31", "62", "63"]).into();
        }
        self.expression()
    }
}
