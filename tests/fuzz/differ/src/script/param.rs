//! Parameter expansions with odd operands (bash manual 3.5.3).

use super::Script;

const SCALARS: &[&str] = &["a", "b", "c", "e", "u", "n", "i", "a", "b", "v"];
const PARAMETERS: &[&str] = &[
    "arr[@]",
    "arr[*]",
    "arr[0]",
    "arr[1]",
    "arr[-1]",
    "arr[n]",
    "arr[i+1]",
    "arr",
    "m[k]",
    "m[@]",
    "m[*]",
    "m['a b']",
    "m[$a]",
    "1",
    "2",
    "9",
    "10",
    "@",
    "*",
    "@",
    "*",
    "r",
    "arr[9]",
    "m[none]",
    "new",
    "a[0]",
    "a[@]",
    "arr[$i]",
    "arr[-9]",
    "r[0]",
    "u[@]",
    "u[0]",
    "e[*]",
    "m[\"k2\"]",
    "arr[a]",
    "m",
];

impl Script {
    /// Returns the parameter of an expansion.
    fn parameter(&mut self) -> &'static str {
        if self.random.chance(55) {
            self.random.pick(SCALARS)
        } else {
            self.random.pick(PARAMETERS)
        }
    }

    /// Returns a scalar's name.
    pub(crate) fn scalar(&mut self) -> &'static str {
        self.random.pick(SCALARS)
    }

    pub(crate) fn param(&mut self) -> String {
        if self.leaf() || self.random.chance(35) {
            return self
                .random
                .pick(&[
                    "$a",
                    "$b",
                    "$c",
                    "$e",
                    "$u",
                    "$n",
                    "${a}",
                    "$@",
                    "$*",
                    "$1",
                    "$2",
                    "$#",
                    "$?",
                    "${#a}",
                    "${#@}",
                    "${arr[@]}",
                    "${arr[*]}",
                    "${#arr[@]}",
                    "${arr[1]}",
                    "${m[k]}",
                    "${#arr}",
                    "${!arr[@]}",
                    "${!m[@]}",
                    "${10}",
                    "$10",
                    "$r",
                    "${#1}",
                    "${#*}",
                    "${!a}",
                    "$v",
                    "${@}",
                    "${*}",
                    "${m[@]}",
                    "$-x",
                    "${u}",
                    "$1$2",
                ])
                .into();
        }
        let name = self.parameter();
        let colon = if self.random.chance(50) { ":" } else { "" };
        match self.random.below(20) {
            0 | 1 => format!("${{{name}{colon}-{}}}", self.operand()),
            2 => format!("${{{name}{colon}+{}}}", self.operand()),
            3 => format!("${{{}{colon}={}}}", self.scalar(), self.operand()),
            4 if self.random.chance(40) => format!("${{{name}{colon}?{}}}", self.operand()),
            4 | 5 => {
                let op = self.random.pick(&["#", "##", "%", "%%"]);
                format!("${{{name}{op}{}}}", self.operand_pattern())
            }
            6..=8 => {
                let op = self.random.pick(&["/", "//", "/#", "/%"]);
                let pattern = self.operand_pattern();
                let to = self.replacement();
                format!("${{{name}{op}{pattern}{to}}}")
            }
            9 | 10 => format!("${{{name}:{}}}", self.offset()),
            11 => format!("${{{name}:{}:{}}}", self.offset(), self.offset()),
            12 => {
                let op = self.random.pick(&["^", "^^", ",", ",,", "~", "~~"]);
                let pattern = if self.random.chance(50) { self.pattern() } else { String::new() };
                format!("${{{name}{op}{pattern}}}")
            }
            13 | 14 => {
                let op =
                    self.random.pick(&["Q", "A", "a", "E", "U", "u", "L", "K", "k", "P", "Q", "Z"]);
                format!("${{{name}@{op}}}")
            }
            15 => format!("${{#{name}}}"),
            16 => {
                let op = self
                    .random
                    .pick(&["", "", "-x", ":-y", "@Q", "#a", "/a/b", "^^", ":1", "@a", "@A", "+s"]);
                format!("${{!{name}{op}}}")
            }
            17 => self
                .random
                .pick(&[
                    "${!a@}",
                    "${!a*}",
                    "${!arr[*]}",
                    "${!m[*]}",
                    "${!ar@}",
                    "${!nosuch*}",
                    "${!r}",
                    "${!#}",
                ])
                .into(),
            18 => self
                .random
                .pick(&[
                    "${a[1]}",
                    "${a@}",
                    "${}",
                    "${a b}",
                    "${1a}",
                    "${-}x",
                    "${?}",
                    "${#-}",
                    "${##}",
                    "${#?}",
                    "${a:}",
                    "${a::}",
                    "${a:::}",
                    "${#a-x}",
                    "${#a:1}",
                    "${!1}",
                    "${!@}",
                    "${-1}",
                    "${a!}",
                    "${ a}",
                    "${a.b}",
                    "${@:0:1}",
                    "${@:1}",
                    "${*: -1}",
                    "${arr[]}",
                    "${arr[@]@k}",
                    "${#:-x}",
                    "${#-x}",
                    "${?-x}",
                    "${@-}",
                    "${#@}",
                    "${a-${b-${c-x}}}",
                    "${a:-\"${b:-'x y'}\"}",
                    "${arr[@]:1:2}",
                    "${arr[*]: -2}",
                    "${arr[@]: -1:1}",
                    "${@: -2:2}",
                    "${m[@]@A}",
                    "${arr[@]@A}",
                    "${@@Q}",
                    "${*@Q}",
                    "${@@A}",
                    "${#arr[*]}",
                    "${#arr[1]}",
                    "${#m[k]}",
                    "${u[0]-x}",
                    "${a+}",
                    "${arr[@]+set}",
                    "${arr[@]-unset}",
                    "${@:+x}",
                    "${*-none}",
                    "${a:n}",
                    "${a: n : i }",
                    "${a:(-2)}",
                    "${a:0:-1}",
                    "${a:1:-9}",
                    "${arr[@]:0:-1}",
                    "${a/}",
                    "${a//}",
                    "${a/a}",
                    "${a/#/x}",
                    "${a/%/x}",
                    "${a///x}",
                    "${a/\\//x}",
                ])
                .into(),
            _ => {
                let name = self.random.pick(&["arr[@]", "@", "arr[*]", "*", "m[@]"]);
                let op = self.random.pick(&[
                    "#a", "%b", "/a/X", "//[ab]", "^", "^^", ",,", "/#/<", "/%/>", ":1", ":0:2",
                    "@Q", "@U", "##*a", "@P",
                ]);
                format!("${{{name}{op}}}")
            }
        }
    }

    /// Returns the word of `${x:-word}`.
    fn operand(&mut self) -> String {
        match self.random.below(8) {
            0 => String::new(),
            1 => self
                .random
                .pick(&[
                    "a b", "x  y", "'a b'", "\"a b\"", "\\}", "'}'", "\"}\"", "{a,b}", "~", "*",
                    "a\\ b", "$", "\\\\", "'", "a'b'c", "#", "}", "\\a", "\"'\"", "'\"'",
                ])
                .into(),
            2..=4 => self.deeper(|s| s.word()),
            5 => self.deeper(|s| s.param()),
            6 => format!("\"{}\"", self.deeper(|s| s.param())),
            _ => format!("{} {}", self.deeper(|s| s.word()), self.deeper(|s| s.word())),
        }
    }

    /// Returns a pattern that does not end the expansion early. An unquoted slash would be a
    /// separator.
    fn operand_pattern(&mut self) -> String {
        match self.random.below(5) {
            0 => self.deeper(|s| s.param()),
            1 => format!("\"{}\"", self.deeper(|s| s.param())),
            _ => self.pattern(),
        }
    }

    fn replacement(&mut self) -> String {
        match self.random.below(7) {
            0 => String::new(),
            1 => "/".into(),
            2 | 3 => format!(
                "/{}",
                self.random.pick(&[
                    "x", "&", "\\&", "\"&\"", "<&>", "\\\\&", "'&'", "a b", "$a", "\"$b\"", "/",
                    "\\/", "\\\\", "*", "~", "&&", "'a b'", "\\x", "$'\\n'"
                ])
            ),
            _ => format!("/{}", self.deeper(|s| s.word())),
        }
    }

    /// Returns an offset or a length.
    fn offset(&mut self) -> String {
        match self.random.below(6) {
            0..=3 => self
                .random
                .pick(&[
                    "0", "1", "2", " -1", "(-2)", "n", "i", "n-2", "10", "$n", "1+1", " -9", "e",
                    "", "u", "'1'", "i++", "$((1))", "a", "x y",
                ])
                .into(),
            4 => format!("({})", self.deeper(|s| s.expression())),
            _ => self.random.pick(&["1", "0", " -1", "2"]).into(),
        }
    }
}
