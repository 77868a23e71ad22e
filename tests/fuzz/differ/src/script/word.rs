//! Words: literals, quotes, patterns, braces, tildes (bash manual 3.1.2, 3.5).

use super::Script;

/// Quoted texts that have caused trouble in shells.
const VALUES: &[&str] = &[
    "''",
    "a",
    "abc",
    "'a b'",
    "' x  y '",
    "'*'",
    "'a*b'",
    "'?'",
    "'\\'",
    "'a\\b'",
    "'\\\\'",
    "$'a\\nb'",
    "$'a\\tb'",
    "$'\\n'",
    "é",
    "'日本 é'",
    "'~'",
    "a:b:c",
    "':a::b:'",
    "'[a]'",
    "'[a-c]'",
    "1",
    "-1",
    "007",
    "0x1F",
    "1+1",
    "'n+1'",
    "a=b",
    "--",
    "-n",
    "-e",
    "'!'",
    "'$a'",
    "'`'",
    "'\"'",
    "\\'",
    "'{a,b}'",
    "'x;y'",
    "ABC",
    "aXbXc",
    "'a  b'",
    "f1",
    "'f*'",
    "sub/x",
    "../w",
    "'&'",
    "'a&b'",
    "'\\&'",
    "10",
    "9223372036854775807",
    "'a\\*'",
    "'(x)'",
    "'a|b'",
    "/a/b.c/d.e",
    "'foo bar baz'",
    "hello",
    "'HeLLo WoRLD'",
    "'arr[0]'",
    "b",
    "'%s'",
    "'#'",
    "' '",
    "'\\a'",
    "$'\\x01'",
    "'a#b'",
    "n",
    "'-'",
    "''\\''x'",
    "$'\\e'",
    "x.y",
    "'*.c'",
    "12345",
    "ß",
    "ÀÉ",
];

/// Literal text outside quotes.
const PLAIN: &[&str] = &[
    "a", "b", "x", "abc", "1", "0", "-", "=", ":", "+", ",", ".", "@", "%", "_", "x=y", "a:b", "/",
    "a/b", "é", "^", "-x", "]", "a]", "foo", "X", "]b", "#", "a#b", "!", "~", "--",
];

/// Patterns and pieces of them.
const PATTERNS: &[&str] = &[
    "*",
    "?",
    "a",
    "b",
    "[ab]",
    "[!a]",
    "[^b]",
    "[a-c]",
    "[[:alpha:]]",
    "[[:space:]]",
    "[[:digit:]]",
    "\\*",
    "'*'",
    "\"?\"",
    "[]a]",
    "[a",
    "x",
    "*b",
    "a*",
    ".",
    "/",
    "\\/",
    "\"a b\"",
    "' '",
    "\\\\",
    "é",
    "$a",
    "\"$a\"",
    "${b}",
    "?a",
    "[[:upper:]]",
    "1",
    "[0-9]",
    ":",
    "[*]",
    "[\\]]",
    "\\a",
    "''",
    "[!]]",
    "X",
    "l",
    "o",
    "[a-",
    "&",
    "#",
    "%",
    "[[.a.]]",
    "[[=a=]]",
    "[é]",
    "?(a)",
    "[b-a]",
    "!",
    "^",
    "-",
];

const EXTGLOBS: &[&str] = &[
    "@(a|b)",
    "*(a|b)",
    "+(a)",
    "?(a|bc)",
    "!(a)",
    "!(*b*)",
    "+([ab])",
    "@(a|@(b|c))",
    "*(?)",
    "@()",
    "+(a|*)",
    "!()",
    "@(*)",
    "+(l|o)",
    "*(!(a))",
    "@($a|x)",
];

/// Patterns that match files of the working directory.
const GLOBS: &[&str] = &[
    "*",
    "f*",
    "*.c",
    "?1",
    "f[12]",
    "[a-f]*",
    ".*",
    "sub/*",
    "*/x",
    "*/*",
    "f?",
    "no*such",
    "sub*/",
    "*/",
    "./f*",
    "[!f]*",
    "s*/.*",
    "**",
    "**/x",
    "'f'*",
    "\\f*",
    "f\\*",
    "\"*\"",
    "f'*'1",
    "*\\ *",
    "*[ ]*",
    "{f,s}*",
    "[[:upper:]]*",
    "sub/[x-z]",
    "../w/f*",
    "//dev/nul?",
    "sub//x*",
    "*1",
    "[f]1",
    "f[!1]",
    "*é*",
];

impl Script {
    /// Returns a quoted value without expansions.
    pub(crate) fn value(&mut self) -> String {
        self.random.pick(VALUES).into()
    }

    /// Returns a word as an argument.
    pub(crate) fn word(&mut self) -> String {
        let parts = match self.random.below(10) {
            0..=5 => 1,
            6..=8 => 2,
            _ => 3,
        };
        (0..parts).map(|at| self.part(at == 0)).collect()
    }

    /// Returns some words.
    pub(crate) fn words(&mut self, most: usize) -> String {
        let words: Vec<String> = (0..1 + self.random.below(most)).map(|_| self.word()).collect();
        words.join(" ")
    }

    fn part(&mut self, first: bool) -> String {
        match self.random.below(22) {
            0..=2 => self.value(),
            3 => {
                let plain = self.random.pick(PLAIN);
                if plain == "#" && first { "a".into() } else { plain.into() }
            }
            4..=6 => self.double_quoted(),
            7..=12 => self.param(),
            13 => self.substitution(),
            14 => self.arithmetic(),
            15 => self.braces(),
            16 => self.random.pick(GLOBS).into(),
            17 => self.ansi_c(),
            18 => self.pattern(),
            19 if first => self.random.pick(&["~", "~/x", "~+", "~nosuch", "~-", "~/~"]).into(),
            20 => self
                .random
                .pick(&[
                    "\\a", "\\ ", "\\\\", "\\$a", "\\'", "\\\"", "\\*", "\\{a,b}", "\\~", "\\`",
                    "\\&",
                ])
                .into(),
            _ => format!("\"{}\"", self.param()),
        }
    }

    pub(crate) fn double_quoted(&mut self) -> String {
        let mut out = String::from("\"");
        for _ in 0..self.random.below(4) {
            match self.random.below(10) {
                0..=4 => out.push_str(&self.param()),
                5 => out.push_str(&self.substitution()),
                6 => out.push_str(&self.arithmetic()),
                7 => out.push_str(self.random.pick(&[
                    "\\\\", "\\$", "\\\"", "\\a", "\\`", "\\*", "'", "''", "*", "~", "{a,b}", "$",
                    "\\\n",
                ])),
                _ => {
                    out.push_str(self.random.pick(&["a", " ", "x y", ":", "é", "-", "1", "!", "&"]))
                }
            }
        }
        out.push('"');
        out
    }

    fn ansi_c(&mut self) -> String {
        self.random
            .pick(&[
                "$'\\t'",
                "$'a\\'b'",
                "$'\\x41'",
                "$'\\u00e9'",
                "$'\\101'",
                "$'\\cA'",
                "$'\\q'",
                "$'a\\\\b'",
                "$'\\\"'",
                "$'\\U1F600'",
                "$'\\0x'",
                "$'\\x'",
                "$'a\\0b'",
                "$'\\?'",
                "$'\\e['",
                "$'\\400'",
                "$'\\u'",
                "$'\\xff'",
                "$\"a b\"",
                "$\"$a\"",
                "$'a\nb'",
                "$'\\x4G'",
                "$'\\1234'",
            ])
            .into()
    }

    /// Returns a pattern of one to three pieces.
    pub(crate) fn pattern(&mut self) -> String {
        let mut out = String::new();
        for _ in 0..1 + self.random.below(3) {
            if self.random.chance(12) {
                out.push_str(self.random.pick(EXTGLOBS));
            } else {
                out.push_str(self.random.pick(PATTERNS));
            }
        }
        out
    }

    /// Returns a pattern that names files, or another pattern.
    pub(crate) fn glob(&mut self) -> String {
        if self.random.chance(80) { self.random.pick(GLOBS).into() } else { self.pattern() }
    }

    /// Returns `{a,b}`, `{1..3}` and words that only look like them.
    pub(crate) fn braces(&mut self) -> String {
        if self.leaf() || self.random.chance(60) {
            return self
                .random
                .pick(&[
                    "{a,b}",
                    "{1..3}",
                    "{a..c}",
                    "{3..1}",
                    "{1..10..4}",
                    "{01..03}",
                    "{a..e..2}",
                    "{-1..1}",
                    "{a}",
                    "{}",
                    "{a,}",
                    "{,a}",
                    "{,}",
                    "{1..a}",
                    "{1..2..0}",
                    "{a,b",
                    "a,b}",
                    "{a,b}{c,d}",
                    "{a,{b,c}}",
                    "{a..}",
                    "{..b}",
                    "{1..3..-1}",
                    "{001..1}",
                    "{-01..1}",
                    "{z..x}",
                    "{A..C}",
                    "{a\\,b,c}",
                    "{'a,b',c}",
                    "{\"a\",b}",
                    "{$a,b}",
                    "${a}{1,2}",
                    "x{a,b}y",
                    "{a,b}}",
                    "{{a,b}",
                    "{a,b,}",
                    "{1,2}{3..4}",
                    "{1...3}",
                    "{9223372036854775806..9223372036854775807}",
                    "{a,b}$'x'",
                    "{a b,c}",
                    "{$n..5}",
                    "{1..$n}",
                    "{~,~/x}",
                    "{*,f?}",
                    "\\{a,b}",
                    "{a,b\\}",
                    "{c..a..1}",
                    "{-5..-3}",
                    "{1..2,x}",
                    "{+1..2}",
                    "{a..3}",
                    "{0x1..3}",
                    "{Y..b..1}",
                    "{'1'..3}",
                    "{1..02}",
                    "{,,}",
                    "{a,b}{,}",
                    "{{}}",
                    "{{,}}",
                    "{},a}",
                    "${a,b}",
                    "$(echo {a,b})",
                ])
                .into();
        }
        self.deeper(|s| {
            let parts: Vec<String> = (0..2 + s.random.below(2))
                .map(|_| if s.random.chance(20) { String::new() } else { s.word() })
                .collect();
            format!("{{{}}}", parts.join(","))
        })
    }

    /// Returns `$(...)` or backquotes with a command that prints something.
    pub(crate) fn substitution(&mut self) -> String {
        if self.leaf() {
            return self.random.pick(&["$(echo x)", "`echo y`", "$(printf 'a b')", "$(:)"]).into();
        }
        match self.random.below(9) {
            0 => format!("$(echo {})", self.deeper(|s| s.word())),
            1 => format!("$(printf '%s\\n' {})", self.deeper(|s| s.words(2))),
            2 => self
                .random
                .pick(&[
                    "`echo a b`",
                    "`echo \\$a`",
                    "`echo \\`echo x\\``",
                    "`echo \"a  b\"`",
                    "`echo \\\\\\\\`",
                ])
                .into(),
            3 => self
                .random
                .pick(&[
                    "$(<f1)",
                    "$(< sub/x)",
                    "$(<nosuch)",
                    "$(cat f1)",
                    "$(echo; echo; echo x; echo)",
                ])
                .into(),
            4 => format!("$({}\n)", self.deeper(|s| s.statement())),
            5 => format!("$({}; echo $?)", self.deeper(|s| s.simple())),
            6 => self
                .random
                .pick(&[
                    "$(exit 3)",
                    "$(false)",
                    "$(return 2)",
                    "$(echo \"$(echo 'a b')\")",
                    "$(p a \"$@\")",
                ])
                .into(),
            7 => self
                .random
                .pick(&[
                    "$(echo \"${a}\")",
                    "$(echo ')')",
                    "$(case x in x) echo c;; esac)",
                    "$( (echo s) )",
                    "$(echo a # )\n)",
                ])
                .into(),
            _ => "$(printf 'a\\n\\n')".into(),
        }
    }

    pub(crate) fn arithmetic(&mut self) -> String {
        let expression = self.deeper(|s| s.expression());
        if self.random.chance(6) {
            format!("$[{expression}]")
        } else {
            format!("$(({expression}))")
        }
    }
}
