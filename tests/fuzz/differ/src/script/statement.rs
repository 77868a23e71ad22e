//! Statements: the lines of a script.

use super::Script;

impl Script {
    /// Returns any statement, on one line or on several.
    pub(crate) fn statement(&mut self) -> String {
        if self.leaf() {
            return self.simple();
        }
        self.deeper(|s| match s.random.below(33) {
            0..=10 => s.simple(),
            11..=17 => s.compound(),
            18..=20 => s.redirected(),
            21 => s.pipeline(),
            22 => s.here_document(),
            23 => s.errors(),
            24 => s.quoted_script(),
            25 => s.option(),
            26 => s.traced(),
            27 => format!("{} && {} || {}", s.simple(), s.simple(), s.simple()),
            28 => format!("! {}; echo $?", s.simple()),
            29..=31 => s.placed(),
            _ => s.shown(),
        })
    }

    /// Returns statements for a body, joined by `; `. They contain no here-documents.
    pub(crate) fn body(&mut self) -> String {
        let mut parts = Vec::new();
        for _ in 0..1 + self.random.below(2) {
            let statement = self.statement();
            parts.push(statement);
        }
        if self.loops > 0 && self.random.chance(18) {
            parts.push(
                self.random
                    .pick(&["break", "continue", "break 2", "continue 2", "[[ $a ]] && break"])
                    .into(),
            );
        }
        if self.in_function && self.random.chance(12) {
            parts.push(
                self.random
                    .pick(&["return", "return 3", "return $n", "[[ $a ]] || return 1"])
                    .into(),
            );
        }
        parts.join("\n")
    }

    /// Returns a command that contains no other commands.
    pub(crate) fn simple(&mut self) -> String {
        match self.random.below(20) {
            0..=5 => format!("p {}", self.words(3)),
            6..=9 => self.assignment(),
            10..=14 => self.builtin(),
            15 => format!("echo {}", self.words(3)),
            16 => self.call(),
            17 => format!("p {}", self.glob()),
            18 => format!("(( {} )); echo $?", self.expression()),
            _ => self.condition(),
        }
    }

    pub(crate) fn assignment(&mut self) -> String {
        let name = self.scalar();
        match self.random.below(22) {
            0..=4 => format!("{name}={}", self.word()),
            5 => format!("{name}+={}", self.word()),
            6 | 7 => format!("arr=({})", self.words(3)),
            8 => format!("arr+=({})", self.words(2)),
            9 => {
                let subscript = self.random.pick(&[
                    "0", "1", "5", "-1", "n", "i+1", "$i", "i++", "-9", "'2'", "", "@", "a", "$u",
                    "1+1", "08",
                ]);
                let op = self.random.pick(&["=", "+="]);
                format!("arr[{subscript}]{op}{}", self.word())
            }
            10 => {
                let key = self.random.pick(&[
                    "k", "'a b'", "$a", "\"$b\"", "k2", "$u", "x y", "@", "*", "']'", "\\]", "n",
                    "~", "\"\"", "${a}",
                ]);
                let op = self.random.pick(&["=", "+="]);
                format!("m[{key}]{op}{}", self.word())
            }
            11 => format!("arr=([2]={} [0]={} {})", self.word(), self.word(), self.word()),
            12 => {
                let options = self.random.pick(&[
                    "-i", "-a", "-A", "-l", "-u", "-x", "-r", "-g", "-", "+i", "+x", "-au", "-ai",
                    "-il", "-t", "-n", "+n", "-Ai", "+a", "-lu", "-c",
                ]);
                let name = self.random.pick(&["a", "b", "v", "w", "arr", "m", "q", "n", "r"]);
                match self.random.below(4) {
                    0 => format!("declare {options} {name}"),
                    1 => format!("declare {options} {name}=({})", self.words(2)),
                    2 => format!("declare {options} {name}+={}", self.word()),
                    _ => format!("declare {options} {name}={}", self.word()),
                }
            }
            13 => format!(
                "declare -p {}",
                self.random.pick(&["a", "arr", "m", "n", "r", "u", "a b", "v", "e", "nosuch"])
            ),
            14 => format!(
                "{name}={} {}",
                self.word(),
                self.random.pick(&[
                    "eval 'p \"$a\" \"$b\"'",
                    "p \"$a\"",
                    ":",
                    "printenv a",
                    "export -p >/dev/null",
                    "command eval 'p $a'"
                ])
            ),
            15 => format!("IFS={} ; p $a $* \"$*\" ${{arr[*]}} \"${{arr[*]}}\"", self.ifs()),
            16 => format!(
                "unset {}",
                self.random.pick(&[
                    "a", "b", "arr[1]", "arr", "m[k]", "'m[a b]'", "-v a", "-f fa", "r", "-n r",
                    "arr[-1]", "arr[@]", "u", "nosuch", "1a", "m", "IFS", "'arr[n]'", "'m[@]'"
                ])
            ),
            17 => format!("export {name}={}; printenv {name}", self.word()),
            18 => format!("{name}={} b={} c=$a$b", self.word(), self.word()),
            19 => format!(
                "m=({})",
                self.random.pick(&[
                    "[k]=1 [x]=2",
                    "k 1 x 2",
                    "[k]+=3",
                    "a",
                    "[a b]=1",
                    "['q']=\"$a\" [$b]=2",
                    "",
                    "[k]=1 z",
                    "[$u]=1"
                ])
            ),
            20 => format!(
                "declare -n r={}; {}",
                self.random.pick(&["a", "arr", "m", "arr[1]", "m[k]", "new", "b", "r", "1x", "u"]),
                self.random.pick(&[
                    "r=x",
                    "p \"$r\" \"${!r}\"",
                    "r+=y; p $a",
                    "unset r; declare -p a",
                    "r=(1 2)",
                    "r[1]=z; declare -p arr",
                    "for r in a b; do r=q; done",
                    "declare -p r",
                    "p ${#r} ${r@A}"
                ])
            ),
            _ => format!("local {name}={}", self.word()),
        }
    }

    /// Returns a situation that ends a command or the shell, usually in a subshell.
    fn errors(&mut self) -> String {
        let command = match self.random.below(12) {
            0 => self
                .random
                .pick(&[
                    "set -u; p $u; echo not",
                    "set -u; p ${u[0]} ${arr[9]}; echo not",
                    "set -u; p ${#u}; echo x",
                    "set -u; p \"$@\" $9; echo not",
                    "set -u; (( u + 1 )); echo $?",
                    "set -u; p ${!u}; echo not",
                    "set -u; p ${arr[@]} ${nope[@]}; echo $?",
                    "set -u; p ${u#x}",
                    "set -u; p ${u-} ${u:+x}",
                ])
                .into(),
            1 => format!("set -e; {}; echo after", self.simple()),
            2 => self
                .random
                .pick(&[
                    "p ${a?no}; p ${u?msg}; echo not",
                    "p ${u:?}; echo not",
                    "p ${e:?empty $a}; echo not",
                    "p ${1?one} ${9?nine}",
                    "p ${arr[9]?none}",
                    "p ${u?'a b'}",
                ])
                .into(),
            3 => self
                .random
                .pick(&[
                    "p ${a!b}; echo not",
                    "p ${a b}",
                    "p ${@x}",
                    "p ${a@z}; echo not",
                    "p ${!a b}",
                    "echo ${a..b}",
                    "p \"${a[}\"",
                ])
                .into(),
            4 => self
                .random
                .pick(&[
                    "(( 1/0 )); echo $?",
                    "p $((1%0)); echo not",
                    "p $(( 2 ** -1 )); echo $?",
                    "let 'x=' ; echo $?",
                    "p $((a b)); echo n",
                    "(( = )); echo $?",
                    "p ${a:1/0}; echo $?",
                    "arr[1/0]=x; echo $?",
                    "p ${arr[1 1]}; echo $?",
                ])
                .into(),
            5 => self
                .random
                .pick(&[
                    "nosuchcmd; echo $?",
                    "./f1; echo $?",
                    "./sub; echo $?",
                    "/no/such; echo $?",
                    "'' ; echo $?",
                    "\"$u\"; echo $?",
                    "$u; echo $?",
                    "f1; echo $?",
                    "nosuch/x a; echo $?",
                    "command nosuch; echo $?",
                    "sub/; echo $?",
                    "builtin nosuch; echo $?",
                    "exec nosuch; echo not",
                ])
                .into(),
            6 => self
                .random
                .pick(&[
                    "readonly a=1; a=2; echo $?",
                    "readonly a; unset a; echo $?",
                    "readonly arr; arr[0]=x; echo n",
                    "readonly a; a=1 p x; echo $?",
                    "readonly a; for a in 1 2; do echo $a; done; echo $?",
                    "readonly a; read a <<< x; echo $?",
                    "readonly a; (( a=3 )); echo $?",
                    "readonly a; printf -v a x; echo $?",
                    "readonly a; export a=4; echo $?",
                    "readonly a; declare a=4; echo $?",
                    "readonly a; local a; echo $?",
                    "readonly n; (( n++ )); echo $?",
                ])
                .into(),
            7 => self
                .random
                .pick(&[
                    "shift 99; echo $?",
                    "shift -1; echo $?",
                    "shift x; echo $?",
                    "return 3; echo $?",
                    "break; echo $?",
                    "continue 2; echo $?",
                    "exit x; echo $?",
                    "exit 300",
                    "exit -1",
                    "cd nosuch; echo $?",
                    "cd f1; echo $?",
                    "cd '' ; echo $?",
                    "set -Z; echo $?",
                    "unset -q a; echo $?",
                    "read -q; echo $?",
                    "declare -Q; echo $?",
                    "shopt nosuch; echo $?",
                    "local x; echo $?",
                    "source nosuch; echo $?",
                    ". ; echo $?",
                    "getopts; echo $?",
                    "export 1a; echo $?",
                    "trap; trap x NOSIG; echo $?",
                    "kill -l 99; echo $?",
                    "printf; echo $?",
                    "test a b; echo $?",
                    "[ a; echo $?",
                    "umask 9; echo $?",
                    "wait x; echo $?",
                    "hash nosuch; echo $?",
                    "type nosuch; echo $?",
                    "pushd; echo $?",
                    "popd; echo $?",
                    "exit 1 2; echo $?",
                    "cd a b; echo $?",
                    "return 1 2; echo $?",
                    "unalias x; echo $?",
                    "mapfile -n x; echo $?",
                    "let; echo $?",
                    "eval '('; echo $?",
                    "alias nosuch; echo $?",
                    "bind -x; echo ok",
                    "enable nosuch; echo $?",
                    "history -x; echo ok",
                    "times x >/dev/null; echo ok",
                    "readonly -z; echo $?",
                    "set -o nosuch; echo $?",
                    "printf -v 1x y; echo $?",
                    "fg; echo $?",
                    "caller x; echo $?",
                    "help nosuchtopic; echo $?",
                    "disown x; echo $?",
                    "complete -Z; echo $?",
                ])
                .into(),
            8 => format!(
                "eval {}; echo $?",
                self.random.pick(&[
                    "'if'",
                    "'echo )'",
                    "'for'",
                    "'a=('",
                    "'echo \"'",
                    "'f('",
                    "'case x'",
                    "'{'",
                    "'fi'",
                    "'echo $('",
                    "'while true; do'",
                    "'((1+'",
                    "'[[ a'",
                    "'a |'",
                    "'&'",
                    "';;'",
                    "'<'",
                    "'echo `'",
                    "'${'",
                    "'[[ a b ]]'",
                    "'[[ -z ]]'",
                    "'for 1 in a; do :; done'",
                    "'for a in b do'",
                    "'> '",
                    "'done'",
                    "'x() '",
                    "'case a in b) echo'",
                    "'[[ a =~ ( ]]'",
                    "'echo a; )'",
                    "'! '",
                    "'time'",
                    "'echo ${a'",
                    "'a=(b (c))'",
                    "'function'",
                    "'a && '",
                    "'select'",
                    "'} '",
                    "'[[ ( a ]]'",
                    "'if true; then fi'",
                    "'((a'",
                    "'echo >&'",
                    "'for ((1;2)); do :; done'",
                    "'in'",
                    "'do'",
                    "'() { :; }'",
                    "'x=1 y() { :; }'"
                ])
            ),
            9 => self
                .random
                .pick(&[
                    "p ${arr[-99]}; echo $?",
                    "arr[-99]=x; echo $?",
                    "p ${m[]}; echo $?",
                    "m[]=x; echo $?",
                    "declare -A arr; echo $?",
                    "declare -a m; echo $?",
                    "unset 'arr[-99]'; echo $?",
                    "declare -n r=r; echo $?",
                    "declare -n r=1x; echo $?",
                    "declare -n x=y y=x; p $x; echo $?",
                    "declare -i n=1x; echo $?",
                    "a[1]=x; declare -p a",
                    "m=5; declare -p m",
                    "arr[@]=x; echo $?",
                    "declare 1x=2; echo $?",
                    "a-b=1; echo $?",
                    "arr=(a b) p x; echo $?",
                    "declare -r z=1 z=2; echo $?",
                    "export arr; printenv arr; echo $?",
                    "unset a[0]; echo $?",
                    "read 1x <<< a; echo $?",
                    "for arr[1] in a; do :; done",
                    "declare -a q[3]; declare -p q",
                    "local -n z",
                ])
                .into(),
            10 => self
                .random
                .pick(&[
                    "p < nosuch; echo $?",
                    "p > sub; echo $?",
                    "p >&9; echo $?",
                    "p <&9; echo $?",
                    "p > $u; echo $?",
                    "p > \"\"; echo $?",
                    "p > *; echo $?",
                    "p > nosuch/x; echo $?",
                    "exec 9<nosuch; echo $?",
                    "p 3<&-; echo $?",
                    "p >&x9; cat x9",
                    "set -C; p a > f1; echo $?; p b >| f9; cat f9",
                    "p x > $a$b; echo $?",
                    "cat <<< $u; echo $?",
                    ": > 'a b'; ls",
                    "exec 5>&1 5>&-; p x >&5; echo $?",
                    "p x 2>&- ; echo $?",
                    "echo x >&-; echo $?",
                    "p x <f1 >f9 2>&1; cat f9",
                    "p a > {a,b}; echo $?",
                    "p ${u?x} > f9; ls f9",
                ])
                .into(),
            _ => format!("{}; {}", self.option_text(), self.simple()),
        };
        match self.random.below(6) {
            0 => command,
            1 | 2 => format!("( {command} ) 2>&1; echo $?"),
            _ => format!("( {command}\n); echo $?"),
        }
    }

    fn option_text(&mut self) -> &'static str {
        self.random.pick(&[
            "set -u",
            "set -e",
            "set -f",
            "set -o pipefail",
            "set +B",
            "set -a",
            "set -n",
            "set -C",
            "set -v",
            "set -k",
            "set -h",
            "shopt -s nullglob",
            "shopt -s failglob",
            "shopt -s dotglob",
            "shopt -s globstar",
            "shopt -s nocaseglob",
            "shopt -s nocasematch",
            "shopt -s extglob",
            "shopt -u extglob",
            "shopt -u patsub_replacement",
            "shopt -s xpg_echo",
            "shopt -s lastpipe",
            "shopt -s inherit_errexit",
            "shopt -u sourcepath",
            "shopt -s expand_aliases",
            "shopt -s assoc_expand_once",
            "shopt -s localvar_inherit",
            "shopt -s globasciiranges",
            "shopt -s shift_verbose",
            "set -o posix",
            "set +o posix",
            "shopt -u globskipdots",
            "GLOBIGNORE='*1:.*'",
            "shopt -s localvar_unset",
            "set -P",
            "set -E",
            "set -T",
        ])
    }

    fn option(&mut self) -> String {
        match self.random.below(6) {
            0 => self.option_text().into(),
            1 => self
                .random
                .pick(&[
                    "set -o | grep -E '^(errexit|nounset|noglob|pipefail)'",
                    "shopt -p extglob nullglob",
                    "echo $-",
                    "shopt -q extglob; echo $?",
                    "[[ -o errexit ]]; echo $?",
                    "set +o | grep nounset",
                    "shopt -po pipefail",
                    "echo ${SHELLOPTS%%:*}",
                    "shopt -s nosuch; echo $?",
                    "set -- $-; p ${#1}",
                ])
                .into(),
            _ => {
                let option = self.option_text();
                format!("( {option}; {}\n{} )", self.statement(), self.simple())
            }
        }
    }

    /// Returns a statement under `set -x`, with its trace on standard output.
    fn traced(&mut self) -> String {
        format!("{{ set -x; {}; set +x; }} 2>&1", self.simple())
    }

    /// Returns a statement whose messages go to standard output.
    fn shown(&mut self) -> String {
        format!("( {}\n) 2>&1", self.statement())
    }

    /// Returns a statement as text that is read as a script again.
    fn quoted_script(&mut self) -> String {
        let inner = self.deeper(|s| s.statement());
        match self.random.below(5) {
            0 => format!("bash -c {} x y 'a b'; echo $?", single_quoted(&inner)),
            1 => format!("printf '%s\\n' {} > f9; . ./f9; echo $?", single_quoted(&inner)),
            2 => format!(
                "printf '%s\\n' {} > f9; source ./f9 1 '2 3'; echo $?",
                single_quoted(&inner)
            ),
            _ => format!("eval {}; echo $?", single_quoted(&inner)),
        }
    }
}

/// Returns the text in single quotes.
pub(crate) fn single_quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', "'\\''"))
}
