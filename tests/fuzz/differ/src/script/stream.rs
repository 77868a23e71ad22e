//! Redirections, here-documents and pipelines (bash manual 3.2.3, 3.6).

use super::Script;

impl Script {
    fn file(&mut self) -> &'static str {
        self.files += 1;
        self.random.pick(&["f1", "o1", "o2", "'o 3'", "\"o$n\"", "sub/o4", "o{5,}", "./o6"])
    }

    pub(crate) fn redirected(&mut self) -> String {
        let command = if self.random.chance(70) { self.simple() } else { self.statement() };
        let file = self.file();
        match self.random.below(18) {
            0..=2 => format!("{{ {command}\n}} > {file}; cat {file}"),
            3 => format!("{{ {command}\n}} >> {file}; {{ p more; }} >> {file}; cat {file}"),
            4 => format!("{{ {command}\n}} > {file} 2>&1; cat {file}"),
            5 => format!("{{ {command}\n}} &> {file}; cat {file}"),
            6 => format!("{{ {command}\n}} 2>&1 > {file}; cat {file}"),
            7 => format!("exec 3> {file}; {{ {command}\n}} >&3; exec 3>&-; cat {file}"),
            8 => format!(
                "exec {{fd}}> {file}; p x >&$fd; exec {{fd}}>&-; cat {file}; [ $fd -ge 10 ]; echo $?"
            ),
            9 => "exec 4< f1; read -r a <&4; read -ru 4 b; exec 4<&-; p \"$a\" \"$b\"".into(),
            10 => format!("exec 5>&1; {{ {command}\n}} > /dev/null 2>&1; p x >&5; exec 5>&-"),
            11 => format!(
                "cat < {} | tr a-z A-Z",
                self.random.pick(&["f1", "sub/x", "nosuch", "'a b'", "\"$a\""])
            ),
            12 => format!("cat <<< {}", self.word()),
            13 => self
                .random
                .pick(&[
                    "p a > o1 > o2; cat o1 o2",
                    "p b 3>&1 >&3 3>&-",
                    "{ p out; p err >&2; } 2>/dev/null",
                    "p x >| f1; cat f1",
                    "exec 6<>f1; read -u 6 a; p new >&6; exec 6>&-; cat f1",
                    "cat < f1 > o1 2>&1; cat o1",
                    "> o1 p first; cat o1",
                    "p q 2> o1 >&2; cat o1",
                    "cat 0< f1",
                    "p x &>> o1; cat o1",
                    "while read -r l; do p \"$l\"; done < f1",
                    "for x in 1 2; do p $x; done > o1; cat o1",
                    "read a < <(echo q w); p \"$a\"",
                    "cat <(echo 1) <(echo 2)",
                    "p w > >(cat); wait $!",
                    "(p sub; p e >&2) > o1 2>&1; cat o1",
                    "{ p 1; } 3> o1 >&3; cat o1",
                    "echo x > o1; echo y >> o1; p \"$(< o1)\"",
                    "p m 1>&2 2>/dev/null",
                    "exec 7<f1 8<&7-; cat <&8; exec 8<&-",
                    "fz() { cat; } <<< zz; fz; fz",
                    "if true; then p t; fi > o1; cat o1",
                    "case x in x) p c;; esac > o1; cat o1",
                    "(( 1 )) > o1; echo $? ; cat o1",
                    "[[ a ]] > o1; echo $?",
                    "p a >&2 2>&1 | cat",
                    "p {o,p}1 > o1; cat o1",
                    "cat - < f1",
                    "exec 3<<< x; cat <&3; exec 3<&-",
                    "p $(cat < f1) < /dev/null",
                    "read -r a b < f1; p \"$a\" \"$b\"",
                    "cat <<< a <<< b",
                    "p x > o1; cat < o1 >> o1.b; cat o1.b",
                ])
                .into(),
            14 => format!("p {} > {}; echo $?", self.word(), self.word()),
            15 => format!("while read -r line; do p \"$line\"; done < <( {command}\n)"),
            16 => format!("x=$( {command}\n) ; p \"$x\" $?"),
            _ => format!("{{ {command}\n}} < f1"),
        }
    }

    pub(crate) fn pipeline(&mut self) -> String {
        let first = if self.random.chance(60) {
            self.simple()
        } else {
            format!("{{ {}\n}}", self.statement())
        };
        let last = self.random.pick(&[
            "cat",
            "tr a-z A-Z",
            "sort",
            "while read -r x y; do p \"$x\" \"$y\"; done",
            "{ cat; p \"$a\"; }",
            "wc -l | tr -d ' '",
            "(cat; exit 4)",
            "sed 's/a/b/'",
            "mapfile -t arr",
            "{ read -r v; cat >/dev/null; p \"$v\"; }",
            "cat | cat",
            "grep -c .",
            "{ cat > o1; cat o1; }",
            "if read -r q; then p \"$q\"; cat; fi",
        ]);
        let after = self.random.pick(&[
            "",
            "; echo $?",
            "; p \"${PIPESTATUS[@]}\"",
            "; p \"$v\" \"${arr[0]}\"",
            "; p $? ${PIPESTATUS[*]}",
        ]);
        let bar = if self.random.chance(12) { "|&" } else { "|" };
        let not = if self.random.chance(8) { "! " } else { "" };
        format!("{not}{first} {bar} {last}{after}")
    }

    /// Returns a function, a text or a group that runs in a separate process and begins with a
    /// redirection.
    pub(crate) fn placed(&mut self) -> String {
        let first = self.random.pick(&[
            "ls > /dev/null",
            "echo hidden > /dev/null",
            "V=1 env > /dev/null",
            "cat f1 > o1",
            "read -r a < f1",
            "exec 2> /dev/null",
            "cat < f1",
            "p x 2>&1",
            ": {d}< f1",
            "ls /nowhere 2> /dev/null",
        ]);
        let outside = std::mem::replace(&mut self.in_function, true);
        let loops = std::mem::take(&mut self.loops);
        let rest = if self.is_plain { self.plain() } else { self.simple() };
        self.in_function = outside;
        self.loops = loops;
        let body = format!("{first}; {rest}");
        let quoted = super::statement::single_quoted(&body);
        let (before, command) = match self.random.below(7) {
            0 | 1 => (format!("pf() {{ {body}\n}}"), "pf 1 2".into()),
            2 => (String::new(), format!("eval {quoted}")),
            // A builtin comes last, because bash 5.2 may replace itself by a last program and then
            // forgets what follows `.`.
            3 => (format!("printf '%s\\n' {quoted} : > src"), ". ./src".into()),
            4 => (String::new(), format!("{{ {body}\n}}")),
            5 => (format!("pg() {{ {body}\n}}; pf() {{ pg; echo f; }}"), "pf".into()),
            _ => (String::new(), format!("for i in 1 2; do {body}\ndone")),
        };
        let action = super::statement::single_quoted(&command);
        let place = match self.random.below(16) {
            0 | 1 => format!("{command} | cat"),
            2 => format!("echo in | {command} | cat"),
            3 => format!("echo in | {command}"),
            4 => format!("{command} & wait $!"),
            5 => format!("x=$({command}); p \"$x\""),
            6 => format!("cat <({command}; echo sub)"),
            7 => format!("( {command} )"),
            8 => format!("cat <({command})"),
            9 => format!(": > >({command}); wait $!"),
            10 => format!("trap {action} ERR; false; trap - ERR"),
            11 => format!("trap {action} DEBUG; p main; trap - DEBUG"),
            12 => {
                format!("pr() {{ p in; }}; declare -ft pr; trap {action} RETURN; pr; trap - RETURN")
            }
            13 => format!("trap {action} USR1; kill -USR1 $BASHPID; trap - USR1"),
            14 => format!("( trap {action} EXIT; p main )"),
            _ => command,
        };
        format!("{before}\n{place}\necho $?")
    }

    /// Returns a command about which the shells agree.
    fn plain(&mut self) -> String {
        self.random
            .pick(&[
                "p \"$@\"",
                "echo on",
                "p $? \"$a\"",
                "a=new; p \"$a\"",
                "cat f2; p end",
                "return 3",
                "exit 4",
                "(exit 5); p $?",
                "exec echo replaced",
                "ls f1 f2 | cat",
                "local l=1; p $l",
                "x=$(cat f2); p \"$x\"",
                "while read -r l; do p \"$l\"; done < f1",
                "trap 'echo T' EXIT; p trap",
                "wait; p $?",
            ])
            .into()
    }

    /// Returns a script that only puts constructs into places.
    pub(crate) fn places(&mut self) -> String {
        self.is_plain = true;
        let mut out = String::from("p() { printf '[%s]' \"$#\" \"$@\"; echo; }\na=1\n");
        for _ in 0..3 {
            let text = self.placed();
            out.push_str(&format!("(\n{text}\n) 2> /dev/null; echo \"= $?\"\n"));
        }
        out
    }

    pub(crate) fn here_document(&mut self) -> String {
        let mut body = String::new();
        for _ in 0..self.random.below(4) {
            match self.random.below(9) {
                0..=3 => body.push_str(&self.param()),
                4 => body.push_str(&self.substitution()),
                5 => body.push_str(&self.arithmetic()),
                _ => body.push_str(self.random.pick(&[
                    "a b",
                    "\\$a",
                    "\\\\",
                    "\"q\"",
                    "'s'",
                    "\\\n",
                    "\t",
                    "`echo x`",
                    "\\`",
                    "$",
                    "*",
                    "{a,b}",
                    "\n",
                    "  x",
                    "~",
                    "\\a",
                    "E",
                    "EOFx",
                    "\\\"",
                    "${a:-\"x\"}",
                    "${u:-'y z'}",
                    "${u-\"a b\"}",
                ])),
            }
            if self.random.chance(50) {
                body.push('\n');
            }
        }
        let (open, close) = match self.random.below(8) {
            0 => ("<<'EOF'", "EOF"),
            1 => ("<<\\EOF", "EOF"),
            2 => ("<<-EOF", "\tEOF"),
            3 => ("<<\"E F\"", "E F"),
            4 => ("<<- 'EOF'", "\t\tEOF"),
            _ => ("<<EOF", "EOF"),
        };
        let body = if open.starts_with("<<-") { body.replace('\n', "\n\t") } else { body };
        match self.random.below(8) {
            0 => format!("cat {open} | tr a-z A-Z\n{body}\n{close}"),
            1 => format!("while read -r l m; do p \"$l\" \"$m\"; done {open}\n{body}\n{close}"),
            2 => format!("x=$(cat {open}\n{body}\n{close}\n); p \"$x\""),
            3 => format!("read -r a b {open}; p \"$a\" \"$b\"\n{body}\n{close}"),
            4 => format!("cat {open} - 2>&1 <<E2; p after\n{body}\n{close}\nsecond $a\nE2"),
            5 => format!("hd() {{ cat {open}\n{body}\n{close}\n}}; hd 1 2; declare -f hd"),
            _ => format!("cat {open}\n{body}\n{close}"),
        }
    }
}
