//! Generates random scripts by a grammar, which describes how a script looks, not what it means.
//!
//! | file | contents |
//! |---|---|
//! | `mod` | the generator's state, whole scripts |
//! | `statement` | a statement: assignments, printing, errors, shell options |
//! | `compound` | loops, conditions, functions, subshells, traps |
//! | `builtin` | `printf read test [[ getopts mapfile declare` and others |
//! | `stream` | redirections, here-documents, pipelines |
//! | `word` | words, quoting, patterns, braces |
//! | `param` | parameter expansions |
//! | `arith` | arithmetic expressions |
//!
//! # Invariants
//! - A script is a function of its seed.
//! - It ends: loops count, recursion counts down, and nothing waits.
//! - It prints the same each time: it has no clock, no process ids, no `RANDOM`, and no two writers
//!   at the same time.
//! - It writes only in its working directory.

mod arith;
mod builtin;
mod compound;
mod param;
mod statement;
mod stream;
mod word;

use crate::random::Random;

/// The maximum nesting depth of statements and of words.
const DEPTH: u32 = 4;

/// The generator's state.
pub struct Script {
    pub(crate) random: Random,
    depth: u32,
    /// The number of functions `fa`, `fb`, ... defined so far. A function calls only earlier ones.
    functions: usize,
    /// The number of counters `k1`, `k2`, ... used so far. Each loop has its own counter.
    counters: usize,
    files: usize,
    loops: usize,
    in_function: bool,
    /// Whether the bodies of constructs are commands about which the shells agree, as for
    /// [`generate_places`].
    is_plain: bool,
}

impl Script {
    fn new(seed: u64) -> Script {
        Script {
            random: Random::new(seed),
            depth: 0,
            functions: 0,
            counters: 0,
            files: 0,
            loops: 0,
            in_function: false,
            is_plain: false,
        }
    }
}

/// Returns the script of a seed that only puts constructs into places: functions, texts and groups
/// with a redirection at their beginning, as stages, in the background and in substitutions. No
/// deviation explains a difference in these.
pub fn generate_places(seed: u64) -> String {
    Script::new(seed).places()
}

/// Returns the script of a seed. Of a hundred scripts, `damage` have something removed, doubled or
/// inserted (`Script::damaged`), which tests recovery from errors. Apart from that, a seed gives
/// the same script for every value of `damage`.
pub fn generate(seed: u64, damage: usize) -> String {
    let mut s = Script::new(seed);
    let text = s.whole();
    if s.random.chance(damage) { s.damaged(&text) } else { text }
}

impl Script {
    fn whole(&mut self) -> String {
        let mut out = String::from("p() { printf '[%s]' \"$#\" \"$@\"; echo; }\n");
        if self.random.chance(20) {
            out.push_str("shopt -s extglob\n");
        }
        if self.random.chance(8) {
            out.push_str(self.random.pick(&[
                "set -u\n",
                "set -e\n",
                "set -o pipefail\n",
                "set -eu\n",
                "set -f\n",
                "set -o posix\n",
                "shopt -s nullglob\n",
                "shopt -s expand_aliases\n",
                "shopt -s inherit_errexit\n",
                "shopt -s lastpipe\n",
                "set -E\n",
                "set -T\n",
            ]));
        }
        out.push_str(&self.values());
        for _ in 0..2 + self.random.below(5) {
            let statement = self.statement();
            out.push_str(&statement);
            out.push('\n');
        }
        out.push_str(self.random.pick(&[
            "echo \"st=$?\"\n",
            "p \"$@\" $#\n",
            "declare -p a b c arr m n 2>/dev/null\n",
            "",
        ]));
        out
    }

    /// Returns assignments for the top of a script, so that expansions find values.
    fn values(&mut self) -> String {
        let mut out = Vec::new();
        for name in ["a", "b", "c"] {
            if self.random.chance(75) {
                let value = self.value();
                out.push(format!("{name}={value}"));
            }
        }
        if self.random.chance(60) {
            out.push("e= n=3 i=1".into());
        }
        if self.random.chance(45) {
            let values = self.list(4);
            out.push(format!("arr=({values})"));
        }
        if self.random.chance(15) {
            out.push("arr[7]=seven".into());
        }
        if self.random.chance(30) {
            let (one, two) = (self.value(), self.value());
            out.push(format!("declare -A m=([k]={one} [k2]={two} ['a b']=x)"));
        }
        if self.random.chance(10) {
            let target = self.random.pick(&["a", "arr", "m", "arr[1]", "m[k]", "new", "b"]);
            out.push(format!("declare -n r={target}"));
        }
        if self.random.chance(50) {
            let values = self.list(4);
            out.push(format!("set -- {values}"));
        }
        if self.random.chance(12) {
            let ifs = self.ifs();
            out.push(format!("IFS={ifs}"));
        }
        let mut text = out.join("\n");
        text.push('\n');
        text
    }

    /// Returns up to `most` quoted values.
    fn list(&mut self, most: usize) -> String {
        let values: Vec<String> = (0..self.random.below(most + 1)).map(|_| self.value()).collect();
        values.join(" ")
    }

    fn ifs(&mut self) -> &'static str {
        self.random.pick(&[
            ":",
            "' :'",
            "''",
            "a",
            "$'\\n'",
            "','",
            "': '",
            "$' \\t\\n'",
            "'b:'",
            "0",
            "'\\'",
            "-",
        ])
    }

    /// Returns the text with something removed, doubled or inserted, which usually is a syntax
    /// error.
    fn damaged(&mut self, text: &str) -> String {
        let mut lines: Vec<&str> = text.lines().collect();
        let at = 1 + self.random.below(lines.len().saturating_sub(1));
        let Some(line) = lines.get(at).copied() else { return text.into() };
        let mut words: Vec<&str> = line.split(' ').collect();
        let w = self.random.below(words.len());
        match self.random.below(3) {
            0 => drop(words.remove(w)),
            1 => words.insert(w, words[w]),
            _ => words.insert(
                w,
                self.random.pick(&[
                    ")", "(", ";;", "fi", "do", "'", "\"", "`", "$(", "${", "&&", "|", ">", "<<E",
                    "}", "{", "done", "in", ";", "]]", "[[", "((", "))", "esac", "then", "!",
                ]),
            ),
        }
        let line = words.join(" ");
        lines[at] = &line;
        lines.join("\n") + "\n"
    }

    /// Runs `f` one level deeper. Returns its result.
    fn deeper<T>(&mut self, f: impl FnOnce(&mut Script) -> T) -> T {
        self.depth += 1;
        let result = f(self);
        self.depth -= 1;
        result
    }

    fn leaf(&self) -> bool {
        self.depth >= DEPTH
    }
}
