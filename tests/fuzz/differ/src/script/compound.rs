//! Compound commands, functions and traps (bash manual 3.2.5, 3.3).

use super::Script;
use super::statement::single_quoted;

impl Script {
    pub(crate) fn compound(&mut self) -> String {
        match self.random.below(24) {
            0 | 1 => {
                let (test, body) = (self.test(), self.body());
                if self.random.chance(50) {
                    format!("if {test}; then {body}\nelse {}\nfi", self.body())
                } else if self.random.chance(30) {
                    format!(
                        "if {test}; then {body}\nelif {}; then {}\nfi; echo $?",
                        self.test(),
                        self.body()
                    )
                } else {
                    format!("if {test}; then {body}\nfi")
                }
            }
            2..=4 => {
                let name = self.random.pick(&["v", "a", "x", "i", "r"]);
                let words = match self.random.below(6) {
                    0 => String::new(),
                    1 => " in \"$@\"".into(),
                    2 => format!(" in {}", self.glob()),
                    3 => format!(" in {}", self.braces()),
                    _ => format!(" in {}", self.words(3)),
                };
                let body = self.looped();
                format!("for {name}{words}; do p \"${name}\"; {body}\ndone")
            }
            5 | 6 => {
                let k = self.counter();
                let (word, compare) =
                    if self.random.chance(60) { ("while", "-lt") } else { ("until", "-ge") };
                let body = self.looped();
                format!(
                    "{k}=0; {word} [ \"${k}\" {compare} 3 ]; do {k}=$(({k}+1)); {body}\ndone; echo $?"
                )
            }
            7 => {
                let k = self.counter();
                let body = self.looped();
                format!("for (({k}=0; {k}<3; {k}++)); do {body}\ndone")
            }
            8..=10 => self.case(),
            11 => {
                let words = self.words(2);
                let answer = self.random.pick(&["1", "2", "9", "x", "", "0", "1 "]);
                format!(
                    "select v in {words}; do p \"$v\" \"$REPLY\"; break; done <<< '{answer}'; echo $?"
                )
            }
            12..=14 => self.function(),
            15..=17 => format!("( {}\n); echo $?", self.body()),
            18 => format!("{{ {}\n}}", self.body()),
            19 => self.trap(),
            20 => self.recursion(),
            21 => format!(
                "shopt -s expand_aliases; alias {}\n{}",
                self.random.pick(&[
                    "z='p 1 '",
                    "z='echo \"q'",
                    "z=p",
                    "z='p '",
                    "p='p x'",
                    "z='p a; p'",
                    "z='if true; then p'",
                    "z='('"
                ]),
                self.random.pick(&[
                    "z a",
                    "z z",
                    "\\z a",
                    "z a b\"; echo x",
                    "'z'",
                    "alias z; z 1",
                    "unalias z; z",
                    "eval 'z y'",
                    "p 3",
                    "z w; fi",
                    "z p a )",
                    "f() { z q; }; f",
                    "z=1 z",
                    "echo $(z r)"
                ])
            ),
            22 => format!("({}) & wait $!; echo $?", self.deeper(|s| s.simple())),
            _ => self.test(),
        }
    }

    fn counter(&mut self) -> String {
        self.counters += 1;
        format!("k{}", self.counters)
    }

    fn looped(&mut self) -> String {
        self.loops += 1;
        let body = self.body();
        self.loops -= 1;
        body
    }

    /// Returns a command for its status.
    fn test(&mut self) -> String {
        match self.random.below(8) {
            0..=3 => self.bare_condition(),
            4 => self
                .random
                .pick(&[
                    "true",
                    "false",
                    ":",
                    "! true",
                    "[ -f f1 ]",
                    "(exit 3)",
                    "[[ -d sub ]]",
                    "p x",
                ])
                .into(),
            5 => format!("(( {} ))", self.expression()),
            6 => format!("{} && {}", self.bare_condition(), self.bare_condition()),
            _ => self.simple(),
        }
    }

    fn case(&mut self) -> String {
        let mut out = format!("case {} in\n", self.word());
        for at in 0..1 + self.random.below(3) {
            let mut patterns = self.pattern();
            if self.random.chance(30) {
                patterns = format!("{patterns} | {}", self.word());
            }
            if self.random.chance(25) {
                patterns = self.word();
            }
            let open = if self.random.chance(25) { "(" } else { "" };
            let end = self.random.pick(&[";;", ";;", ";;", ";&", ";;&"]);
            let body = if self.random.chance(70) { format!("echo c{at}") } else { self.body() };
            out.push_str(&format!("{open}{patterns}) {body}\n{end}\n"));
        }
        if self.random.chance(50) {
            out.push_str("*) echo other\nesac; echo $?");
        } else {
            out.push_str("esac; echo $?");
        }
        out
    }

    fn function(&mut self) -> String {
        let outside = std::mem::replace(&mut self.in_function, true);
        let loops = std::mem::take(&mut self.loops);
        let mut body = String::new();
        if self.random.chance(60) {
            let name = self.scalar();
            body.push_str(&match self.random.below(9) {
                0..=2 => format!("local {name}={}; ", self.word()),
                3 => format!("local {name}; p \"${{{name}-unset}}\"; "),
                4 => format!("local -a arr=({}); ", self.words(2)),
                5 => "local -A m=([l]=1); ".into(),
                6 => format!("local -n q={name}; q=set; p \"${name}\" \"${{!q}}\"; "),
                7 => format!("local -i {name}=2+3; p ${name}; unset {name}; p \"${name}\"; "),
                _ => "local -; set -f; ".into(),
            });
        }
        let statements = self.body();
        body.push_str(&statements);
        self.in_function = outside;
        self.loops = loops;
        let name = function_name(self.functions);
        let arguments = self.words(2);
        self.functions += 1;
        let head = match self.random.below(5) {
            0 => format!("function {name}"),
            1 => format!("function {name}()"),
            _ => format!("{name}()"),
        };
        let shape = match self.random.below(8) {
            0 => format!("{head} ( {body}\n)"),
            1 => format!("{head} {{ {body}\n}} 2>&1"),
            2 => format!("{head}\n{{\n{body}\n}}"),
            _ => format!("{head} {{ {body}\n}}"),
        };
        let after = match self.random.below(8) {
            0 => format!("declare -f {name}"),
            1 => format!("type {name}"),
            2 => format!("x=$({name} {arguments}); p \"$x\" $?"),
            3 => format!("v=tmp {name} {arguments}; p \"$v\""),
            4 => format!("eval \"$(declare -f {name})\"; {name} {arguments}"),
            _ => format!("{name} {arguments}; echo $?"),
        };
        format!("{shape}\n{after}")
    }

    /// Returns a call of a function that was defined earlier.
    pub(crate) fn call(&mut self) -> String {
        if self.functions == 0 || self.in_function {
            return format!("p {}", self.words(2));
        }
        let name = function_name(self.random.below(self.functions));
        format!("{name} {}; echo $?", self.words(2))
    }

    fn recursion(&mut self) -> String {
        let outside = std::mem::replace(&mut self.in_function, true);
        let step = self.simple();
        self.in_function = outside;
        format!(
            "rec() {{ local d=$1; if [ \"$d\" -le 0 ]; then return 7; fi; {step}\nrec $((d-1)); }}\nFUNCNEST=9; rec 3; echo $?"
        )
    }

    fn trap(&mut self) -> String {
        let action = single_quoted(&match self.random.below(5) {
            0..=2 => format!(
                "echo T:$?:{}",
                self.random.pick(&[
                    "",
                    "$a",
                    "$LINENO",
                    "$BASH_COMMAND",
                    "${FUNCNAME[0]}",
                    "\"$@\""
                ])
            ),
            3 => self.deeper(|s| s.simple()),
            _ => self
                .random
                .pick(&["exit 5", "return 4", "trap - EXIT", "a=trapped", "(exit 9)", ""])
                .into(),
        });
        let (event, more) = match self.random.below(11) {
            0..=3 => ("EXIT", self.simple()),
            4 | 5 => ("ERR", "false; (exit 4); ! true; false || true".into()),
            6 => ("DEBUG", "p a; a=1; trap - DEBUG".into()),
            7 => ("RETURN", "tf() { p in; }; tf".into()),
            8 => ("ERR", format!("set -E; te() {{ false; {}; }}; te", self.simple())),
            9 => ("DEBUG", "set -T; td() { p in; }; td 2>&1; trap - DEBUG".into()),
            _ => ("EXIT", "exit 3".into()),
        };
        let tail = self.random.pick(&[
            "",
            "; trap -p",
            "; trap - ERR",
            "; set -e; false; echo not",
            "; (trap); (echo s; exit 2); echo $?",
        ]);
        if self.random.chance(75) {
            format!("( trap {action} {event}; {more}{tail}\n); echo $?")
        } else {
            format!("trap {action} {event}; {more}{tail}")
        }
    }
}

/// Returns `fa`, `fb`, ..., `fz`, `fza` and so on, which consist of letters only.
fn function_name(n: usize) -> String {
    let letter = char::from(b'a' + (n % 26) as u8);
    format!("f{}{letter}", "z".repeat(n / 26))
}
