//! Builtins with their options and operands (bash manual 4).

use super::Script;

const TEXTS: &[&str] = &[
    "'a b c'",
    "' a  b '",
    "'a:b:c'",
    "'x\\ y z'",
    "''",
    "'a\\'",
    "\"$a\"",
    "$'one two\\nthree'",
    "'  '",
    "':a::b:'",
    "\"$b $c\"",
    "$'a\\tb\\t\\tc'",
    "'1 2 3 4 5'",
    "'é ü'",
    "$'l1\\nl2\\n\\nl4'",
    "'a,b,,c,'",
    "$'a\\\\\\nb'",
    "'*'",
    "$'x\\n'",
];

impl Script {
    pub(crate) fn builtin(&mut self) -> String {
        match self.random.below(24) {
            0..=4 => self.printf(),
            5..=8 => self.read(),
            9..=11 => self.condition(),
            12 => format!(
                "echo {} {}",
                self.random.pick(&["-n", "-e", "-E", "-ne", "-en", "--", "-x", "-nn", "-e -n"]),
                self.random.pick(&[
                    "'a\\tb'",
                    "'a\\nb\\c d'",
                    "'\\x41\\0101\\101'",
                    "'\\u00e9'",
                    "\"$a\"",
                    "'\\\\'",
                    "a '' b",
                    "'\\e[0m'",
                    "'\\q'",
                    "",
                    "-n"
                ])
            ),
            13 => format!("set -- {}; p \"$@\"", self.words(3)),
            14 => self
                .random
                .pick(&[
                    "shift; p \"$@\"",
                    "shift 2; echo $?",
                    "shift 0",
                    "set --; p $#",
                    "set -- a b c; shift; p \"$*\"",
                    "set a -b; p \"$@\"",
                    "set - x; p $@",
                    "set +x -- q; p $1",
                    "shift $n; echo $?",
                ])
                .into(),
            15 => self.mapfile(),
            16 => self.getopts(),
            17 => self.declaring(),
            18 => format!(
                "let {}; echo $?",
                self.random.pick(&[
                    "n=1 i=2",
                    "'n += 3'",
                    "n++",
                    "'1 + 1' 0",
                    "'i = n > 2 ? 1 : 0'",
                    "arr[1]=4",
                    "'m[k]=5'",
                    "x=y=3",
                    "'(1)'",
                    "'x ='"
                ])
            ),
            19 => self
                .random
                .pick(&[
                    "cd sub; pwd | sed 's|.*/||'; cd - >/dev/null; p \"${PWD##*/}\"",
                    "cd sub && p *; cd ..",
                    "cd ./sub/..; p f*",
                    "pushd sub >/dev/null; p *; dirs -p | wc -l; popd >/dev/null",
                    "CDPATH=sub cd deep >/dev/null; p \"${PWD##*/}\"; cd ../..",
                    "cd -P sub; cd -L ..",
                    "cd --; p \"${PWD##*/}\"; cd \"$OLDPWD\"",
                    "dirs +0 | sed 's|.*/||'",
                ])
                .into(),
            20 => self
                .random
                .pick(&[
                    "type -t p echo if cat nosuch",
                    "type -a true",
                    "command -v p if echo",
                    "command -V if",
                    "type p 2>&1",
                    "hash -r; echo $?",
                    "command -v cat | sed 's|.*/||'",
                    "builtin echo x",
                    "command echo y",
                    "enable -n echo; enable echo; echo z",
                    "type -P cat >/dev/null; echo $?",
                    "command -p echo q",
                    "type -f p 2>&1",
                    "declare -F p",
                    "alias q='r s'; alias q; alias; unalias -a",
                    "caller; echo $?",
                    "kill -l 15",
                    "kill -l HUP",
                    "umask; umask -S; umask 027; umask",
                    "ulimit -c 0; ulimit -c",
                    "help -s true >/dev/null; echo $?",
                    "times >/dev/null; echo $?",
                    "jobs; echo $?",
                    "wait; echo $?",
                    "true; false; echo $? ${PIPESTATUS[@]}",
                    "printenv nosuch; echo $?",
                    "logout 2>&1; echo $?",
                    "exec; echo $?",
                    "readonly -p | grep -c BASHOPTS",
                    "export -p | grep -c PATH",
                    "echo ${BASH_VERSINFO[0]} $BASH_SUBSHELL $LINENO",
                    "p $FUNCNAME ${BASH_SOURCE[0]##*/} $0",
                    "compgen -W 'aa ab b' a",
                    "compgen -A function p",
                    "compgen -v arr",
                    "test -v a; echo $?",
                    "unset -f p2; echo $?",
                    ": ${a:=x} ${u:=y}; p $u",
                    "echo $((LINENO)) ${#BASH_LINENO[@]}",
                    "p \"${!BASH_V@}\" ${GROUPS[0]+g} ${UID+u}",
                    "p $_",
                    "OPTIND=1; p $OPTIND $OPTERR",
                    "p \"${DIRSTACK[0]##*/}\" $SHLVL",
                    "p \"$IFS\" $PS4",
                    "suspend 2>&1; echo $?",
                ])
                .into(),
            21 => format!("printf '%q ' {}; echo", self.words(3)),
            22 => format!("p {} {}", self.param(), self.param()),
            _ => format!("v={}; p \"$v\" $v", self.word()),
        }
    }

    fn printf(&mut self) -> String {
        const CONVERSIONS: &[&str] = &[
            "%s", "%d", "%5s", "%-5s|", "%05d", "%x", "%#x", "%o", "%c", "%b", "%q", "%%", "%i",
            "%u", "%X", "%.2s", "%10.3s|", "%+d", "% d", "%*d", "%-*s|", "%.*s", "%.3d", "%e",
            "%.2f", "%g", "%5.1f", "%a", "%Q", "%5%", "%z", "%", "%-", "%#o", "%'d", "%ld", "%hhd",
            "%5c|", "%.0f", "%G", "%E", "%n", "%F", "%5b|", "%.1b", "%-5q|", "%.2q", "%3$s", "%jd",
            "%Lf", "%010.3f", "%+.1e", "%#g", "%.0s", "%0*d", "%-05d|", "%+5d|",
        ];
        const TEXT: &[&str] = &[
            " ", ",", "\\n", "\\t", "a", "\\\\", "\\x41", "\\101", "\\0101", "\\u00e9", "\\q",
            "\\c", "\\'", "é", ":", "-", "\\\"", "\\e", "\\0", "\\1", "\\x", "\\u",
        ];
        const ARGUMENTS: &[&str] = &[
            "1",
            "-1",
            "0",
            "abc",
            "'a b'",
            "''",
            "010",
            "08",
            "0x1f",
            "3.14",
            "1e3",
            "\"'A\"",
            "'\"B'",
            "'a\\tb'",
            "'a\\cb'",
            "é",
            "\"'é\"",
            "9223372036854775808",
            "-0",
            "1x",
            "' 1'",
            "'1 '",
            "inf",
            "nan",
            "1.5e400",
            "-5",
            "'\\x41'",
            "'\\0101'",
            "$a",
            "\"$b\"",
            "$u",
            "$'x\\ny'",
            "12345678901234567890",
            "+3",
            ".5",
            "0b1",
            "--",
            "'\\101'",
            "'%d'",
            "0x",
            "1e",
            "'~'",
            "' '",
            "\"'\"",
            "-3",
            "7",
        ];
        let mut format = String::new();
        for _ in 0..1 + self.random.below(3) {
            if self.random.chance(65) {
                format.push_str(self.random.pick(CONVERSIONS));
            } else {
                format.push_str(self.random.pick(TEXT));
            }
        }
        let arguments: Vec<&str> =
            (0..self.random.below(4)).map(|_| self.random.pick(ARGUMENTS)).collect();
        let mut arguments = arguments.join(" ");
        if format.contains('*') {
            // This prevents widths of gigabytes.
            arguments = "5 x 3".into();
        }
        let quote = if format.contains('\'') { '"' } else { '\'' };
        match self.random.below(8) {
            0 => format!("printf -v v {quote}{format}{quote} {arguments}; p \"$v\" $?"),
            1 => format!("printf -v 'arr[2]' {quote}{format}{quote} {arguments}; declare -p arr"),
            2 => format!("printf {quote}{format}\\n{quote} {}", self.words(3)),
            3 => format!("printf -- {quote}{format}{quote} {arguments}; echo \" $?\""),
            _ => format!("printf {quote}{format}\\n{quote} {arguments}; echo $?"),
        }
    }

    fn read(&mut self) -> String {
        let options = self.random.pick(&[
            "", "", "-r", "-r", "-n 2", "-N 3", "-d :", "-d ''", "-a arr", "-ra arr", "-rn 3",
            "-e", "-s", "-u 0", "-n 0", "-rd b", "-r -N 2", "-a m", "-t 1", "-rd ' '", "-n 99",
            "-p x",
        ]);
        let names = self.random.pick(&[
            "a",
            "a b",
            "a b c",
            "",
            "v",
            "a a",
            "arr[1] b",
            "'m[k]'",
            "a b c d e f",
        ]);
        let names = if options.contains('a') { "" } else { names };
        let text = self.random.pick(TEXTS);
        let ifs =
            if self.random.chance(40) { format!("IFS={} ", self.ifs()) } else { String::new() };
        match self.random.below(6) {
            0 => format!("{ifs}read {options} {names} < f1; p $? \"$a\" \"$b\" \"$REPLY\""),
            1 => format!(
                "while {ifs}read {options} {names}; do p \"$a\" \"$REPLY\" \"${{arr[@]}}\"; [ $((rd=rd+1)) -gt 5 ] && break; done <<< {text}; p $?"
            ),
            2 => format!(
                "printf '%s' {text} | {{ {ifs}read {options} {names}; p $? \"$a\" \"$b\" \"$REPLY\" \"${{arr[@]}}\"; }}"
            ),
            3 => format!(
                "printf %b {text} > f9; {{ {ifs}read {options} {names}; p $? \"$a\" \"$REPLY\"; cat; }} < f9"
            ),
            _ => format!(
                "{ifs}read {options} {names} <<< {text}; p $? \"$a\" \"$b\" \"$c\" \"$REPLY\" \"${{arr[@]}}\""
            ),
        }
    }

    fn mapfile(&mut self) -> String {
        let options = self.random.pick(&[
            "",
            "-t",
            "-t",
            "-n 1",
            "-s 1",
            "-O 2",
            "-d :",
            "-t -d ''",
            "-tn 2 -s 1",
            "-t -O 1",
            "-C 'echo cb' -c 1 -t",
            "-u 0",
            "-tc 2 -C p",
            "-d b -t",
        ]);
        let name = self.random.pick(&["arr", "arr", "", "lines", "a", "m"]);
        let text = self.random.pick(TEXTS);
        let show = if name.is_empty() { "MAPFILE" } else { name };
        format!(
            "{} {options} {name} <<< {text}; echo $?; declare -p {show}",
            self.random.pick(&["mapfile", "readarray"])
        )
    }

    fn getopts(&mut self) -> String {
        let spec = self.random.pick(&["ab:c", ":ab:c", "a:", ":a:", "abc", "", ":", "a::b", "b:a"]);
        let arguments = self.random.pick(&[
            "-a",
            "-a -b x",
            "-abx",
            "-b",
            "-x",
            "-a -- -b",
            "x -a",
            "-ab x y",
            "-a-",
            "-c -b '' z",
            "",
            "-ba",
            "--",
            "-",
            "-b -a",
            "-abc x",
            "-a x -b",
        ]);
        let silent = self.random.pick(&["", "", "OPTERR=0; "]);
        format!(
            "{silent}OPTIND=1; while getopts '{spec}' o {arguments}; do p \"$o\" \"$OPTARG\" $OPTIND; done; p $? \"$o\" $OPTIND \"${{OPTARG-none}}\""
        )
    }

    fn declaring(&mut self) -> String {
        self.random
            .pick(&[
                "declare -p a b arr m r 2>&1",
                "declare -i n; n=n+2; p $n",
                "declare -u v=abc; p $v; v+=déf; p $v",
                "declare -l v=ABC; p ${v@a}",
                "declare -a q; declare -p q; q+=(x); declare -p q",
                "declare -A q=([x]=1 [y]=2); declare -p q; p \"${!q[@]}\"",
                "declare -ai q=(1+1 2*3); p \"${q[@]}\"; q[5]=5-1; declare -p q",
                "declare x=1 y; declare -p x y 2>&1",
                "declare -r z=1; declare -p z",
                "declare -x v=1; declare -p v; export -n v; declare -p v",
                "typeset -i n=08; echo $?",
                "declare -p nosuch; echo $?",
                "declare +i n; n=1+1; p $n",
                "declare -n ref=arr; p \"${ref[@]}\" \"${!ref}\"; ref[1]=z; declare -p arr",
                "declare -a arr2=\"(1 2 3)\"; declare -p arr2",
                "declare -A m2; m2+=([a]=1); m2[a]+=2; declare -p m2",
                "declare \"v=$a\"; p \"$v\"",
                "declare v=$a; p \"$v\"",
                "declare -i v=$a 2>/dev/null; p \"$v\"",
                "declare -a v=($a \"$b\"); p \"${v[@]}\"",
                "declare v+=x; p \"$v\"",
                "declare -i n+=5; p $n",
                "arr=([1]=b [0]=a c); declare -p arr",
                "arr=(\"${arr[@]}\" new); p \"${#arr[@]}\"",
                "arr=(${arr[@]/a/b}); declare -p arr",
                "unset 'arr[0]'; p \"${!arr[@]}\" \"${arr[0]-none}\"",
                "p \"${arr[@]@A}\" \"${m[@]@K}\"",
                "p \"${arr[*]@Q}\"",
                "a=(1 2); declare -p a; a=x; declare -p a",
                "declare -t v; declare -p v",
                "export -f p; bash -c 'p 1 2'; export -nf p",
                "declare -F | head -1",
                "readonly ro=1; readonly -p | grep ' ro='",
                "declare -g v=5; p $v",
                "declare -a 'q=([0]=x [2]=y)'; declare -p q",
                "v=1; v[2]=x; declare -p v",
                "declare -A v=1; declare -p v",
                "declare -lu v=aB; declare -p v",
                "declare -a arr; declare -p arr",
                "local a; echo $?",
                "n=5; p $((n++ + ++n)) $n",
                "declare -p BASH_VERSINFO | cut -c1-24",
                "declare -a q=(); q+=([3]=x y); declare -p q; p ${#q[@]}",
                "declare -Au q=([a]=x); q[B]=y; declare -p q",
                "declare -ru v=abc; declare -p v",
                "declare -xi v=3+4; declare -p v; printenv v",
            ])
            .into()
    }

    /// Returns `test`, `[` or `[[`, followed by a command that prints its status.
    pub(crate) fn condition(&mut self) -> String {
        format!("{}; echo $?", self.bare_condition())
    }

    pub(crate) fn bare_condition(&mut self) -> String {
        const FILES: &[&str] =
            &["f1", "sub", "nosuch", "'a b'", "''", "sub/x", "$a", "link", "\"$u\""];
        match self.random.below(14) {
            0 => {
                let op = self.random.pick(&[
                    "-e", "-f", "-d", "-s", "-L", "-r", "-w", "-h", "-x", "-p", "-S", "-b", "-c",
                ]);
                format!("[ {op} {} ]", self.random.pick(FILES))
            }
            1 => {
                let op =
                    self.random.pick(&["-z", "-n", "-v", "-o", "-z", "-n", "!", "-R", "-t", "-q"]);
                format!("[ {op} {} ]", self.word())
            }
            2 => {
                let op = self.random.pick(&[
                    "=", "==", "!=", "-eq", "-lt", "<", "\\<", "\\>", "-nt", "-ef", "-gt", "-a",
                    "-o", "=~",
                ]);
                let (left, right) = (self.word(), self.word());
                format!("[ {left} {op} {right} ]").replace(" < ", " \\< ")
            }
            3 => format!(
                "test {}",
                self.random.pick(&[
                    "",
                    "''",
                    "a",
                    "! a",
                    "! ''",
                    "a = a",
                    "'(' a ')'",
                    "'(' '' ')'",
                    "! a = b",
                    "a -a b",
                    "a -o ''",
                    "-n",
                    "!",
                    "-f",
                    "'(' ')'",
                    "a = ",
                    "= = =",
                    "! ! a",
                    "-a -a -a",
                    "'!' '!'",
                    "-n -n",
                    "1 -eq 1 -a 2 -gt 1",
                    "'(' a = a ')'",
                    "a b",
                    "a b c",
                    "1 -eq a",
                    "x -lt 1",
                    "' 1' -eq 1",
                    "08 -eq 8",
                    "0x1 -eq 1",
                    "-e f1 -a -d sub",
                    "a = b -o c = c",
                    "! -f x",
                    "-v arr[0]",
                    "-v 'm[k]'",
                    "-v arr",
                    "-v arr[@]",
                    "-z -a -z",
                    "'' -o '' -o a",
                    "'(' ! a ')'",
                    "1 -eq",
                    "\"$u\" = ''",
                    "$u = x",
                    "-n $u",
                    "f1 -ot sub/x",
                    "f1 -ef ./f1",
                    "'-f' = x"
                ])
            ),
            4..=6 => {
                let op = self.random.pick(&["==", "!=", "=", "==", "<", ">"]);
                let right = match self.random.below(3) {
                    0 => self.word(),
                    1 => format!("\"{}\"", self.param()),
                    _ => self.pattern(),
                };
                format!("[[ {} {op} {right} ]]", self.word())
            }
            7 | 8 => {
                let regex = self.random.pick(&[
                    "a",
                    "^a",
                    "b$",
                    "^(a|b)+",
                    "[0-9]+",
                    "(.)(.)",
                    "^$",
                    "\"a\"",
                    "a.c",
                    "'.'c",
                    "$a",
                    "\"$a\"",
                    "[[:space:]]",
                    "(a)(b)?",
                    "x*",
                    "^[a-c]*$",
                    "\\.",
                    "a\\ b",
                    "(",
                    "[",
                    "a{2}",
                    "(a+)(b+)",
                    "é",
                    ".",
                    "^.{3}$",
                    "a|b",
                    "()",
                    "[^a]",
                    "*",
                    "a**",
                    "\\w",
                    "(^a)",
                    "[]]",
                    "\\$",
                    "[\"a\"b]",
                    "a\\|b",
                    "$u",
                    "(.*) (.*)",
                    "^(([a-z])+)",
                    "\"(\"",
                    "[$b]",
                    "[a-z]+[[:digit:]]*",
                ]);
                format!("[[ {} =~ {regex} ]] && p \"${{BASH_REMATCH[@]}}\"", self.word())
            }
            9 => {
                let op = self.random.pick(&["-eq", "-ne", "-lt", "-ge"]);
                format!(
                    "[[ {} {op} {} ]]",
                    self.random
                        .pick(&["1", "n", "n+1", "$n", "a", "''", "arr[1]", "08", "$u", "'1 + 1'"]),
                    self.random.pick(&["1", "3", "i", "$i", "x=5", "0x3", "u"])
                )
            }
            10 => {
                let op = self.random.pick(&["-z", "-n", "-v", "-f", "-o", "-d", "-e", "-R", "-a"]);
                format!("[[ {op} {} ]]", self.word())
            }
            11 => format!("[[ {} || ( {} && ! {} ) ]]", self.word(), self.word(), self.word()),
            12 => format!("[[ {} ]]", self.word()),
            _ => format!(
                "[[ -v {} ]]",
                self.random.pick(&[
                    "a", "arr", "arr[1]", "m[k]", "u", "1", "arr[@]", "'m[a b]'", "m", "r",
                    "m[$a]", "@", "e", "arr[n]", "arr[-1]", "10"
                ])
            ),
        }
    }
}
