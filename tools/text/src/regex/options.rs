//! Options: the syntax of a pattern, and the way in which it is matched.

/// The dialect of a pattern. All have GNU's extensions (`\w \W \s \S \b \B \< \>`
/// and the anchors of the text, a backslash with a grave accent or an apostrophe).
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum RegexSyntax {
    /// `sed`: POSIX basic with `\+ \? \|`.
    Bre,
    /// `expr`: as [`RegexSyntax::Bre`] but `a**` is `a*`, and a range whose end comes before its
    /// start is empty.
    Expr,
    /// `sed -E`: POSIX extended; a lone `)` is an error.
    Ere,
    /// `regcomp(3)` with `REG_EXTENDED`, as in bash's `[[ =~ ]]`: as [`RegexSyntax::Ere`] but a
    /// lone `)` is itself.
    EreRegcomp,
    /// `grep`: as [`RegexSyntax::Bre`], more lenient about `*` and `\{`; a newline separates
    /// alternatives.
    Grep,
    /// `grep -E`: lenient like awk. A `*` after nothing is ignored, and a `{` that opens no
    /// interval and a lone `)` stand for themselves; a newline separates alternatives.
    Egrep,
    /// awk as gawk reads it: extended, no back-references, `\y` for `\b`, the string escapes
    /// `\a \b \f \n \r \t \v \/ \" \ddd \xHH`, also in brackets.
    Awk,
    /// `find -regextype posix-awk` and `gnu-awk`: extended, no back-references; a backslash in
    /// brackets escapes.
    PosixAwk,
    /// `find -regex`: `* + ?`, `\( \) \|`, no intervals and no character classes.
    Emacs,
    /// `find -regextype posix-minimal-basic`: without `\+ \? \|`.
    MinimalBre,
}

/// The condition on the text around a match.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum MatchBound {
    #[default]
    None,
    /// No word character before or after (`grep -w`).
    Word,
    /// The whole line, or the whole text without [`RegexOptions::lines`] (`grep -x`,
    /// `find -regex`).
    Line,
}

/// The options of compiling a pattern.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RegexOptions {
    pub syntax: RegexSyntax,
    /// Whether letters match without regard to case (simple Unicode folding).
    pub icase: bool,
    /// `^` and `$` also match at the newlines inside the text (sed's `M`); only the anchors of the
    /// text match at its ends alone.
    pub multiline: bool,
    /// Neither `.` nor `[^x]` matches a newline (POSIX `REG_NEWLINE`).
    pub newline_apart: bool,
    /// The text holds many lines ended by this byte. All four anchors match at each line's ends,
    /// and nothing matches the byte itself, so that no match spans lines. The text searched should
    /// not include the last line's terminator, or an empty line is seen after it.
    pub lines: Option<u8>,
    /// Characters are UTF-8 sequences; a byte that belongs to none is matched by itself only, by
    /// no `.` or `[^x]`. Otherwise every byte is a character (the C locale).
    pub utf8: bool,
    pub bound: MatchBound,
    /// `[:space:]` without outer brackets is an error, as in GNU's matcher for grep and sed.
    pub outer_brackets: bool,
}

impl RegexOptions {
    /// Returns the default options: case matters, the text is one line, characters are UTF-8.
    pub const fn new(syntax: RegexSyntax) -> RegexOptions {
        RegexOptions {
            syntax,
            icase: false,
            multiline: false,
            newline_apart: false,
            lines: None,
            utf8: true,
            bound: MatchBound::None,
            outer_brackets: matches!(syntax, RegexSyntax::Grep | RegexSyntax::Egrep),
        }
    }

    /// Sets whether letters match without regard to case.
    pub const fn icase(self, icase: bool) -> RegexOptions {
        RegexOptions { icase, ..self }
    }

    /// Sets whether `^` and `$` also match at the newlines inside the text.
    pub const fn multiline(self, multiline: bool) -> RegexOptions {
        RegexOptions { multiline, ..self }
    }

    /// Sets whether newlines are matched by neither `.` nor `[^x]`.
    pub const fn newline_apart(self, newline_apart: bool) -> RegexOptions {
        RegexOptions { newline_apart, ..self }
    }

    /// Makes the text one of lines with this terminator, which no match contains.
    pub const fn lines(self, terminator: u8) -> RegexOptions {
        RegexOptions { lines: Some(terminator), ..self }
    }

    /// Sets whether characters are UTF-8 sequences instead of single bytes.
    pub const fn utf8(self, utf8: bool) -> RegexOptions {
        RegexOptions { utf8, ..self }
    }

    /// Returns the same options for a tool that refuses `[:space:]` without outer brackets.
    pub const fn outer_brackets(self) -> RegexOptions {
        RegexOptions { outer_brackets: true, ..self }
    }

    /// Returns the same options with a condition on the text around a match.
    pub const fn bound(self, bound: MatchBound) -> RegexOptions {
        RegexOptions { bound, ..self }
    }
}

/// The rules a dialect consists of (the `RE_…` bits of GNU's `re_syntax_options`).
#[derive(Clone, Copy, Debug)]
pub(super) struct DialectRules {
    /// `\(`, `\{`, `\|` are the operators (otherwise they are written without the backslash).
    pub bk_parens: bool,
    pub bk_braces: bool,
    pub bk_vbar: bool,
    /// `\+` and `\?` are the operators; `limited`: neither form is, nor is alternation.
    pub bk_plus_qm: bool,
    pub limited: bool,
    pub intervals: bool,
    /// `^` and `$` are anchors everywhere.
    pub anchors_anywhere: bool,
    /// Whether a repetition operator after nothing is an error, or ignored; otherwise it stands for
    /// itself.
    pub leading_op_error: bool,
    pub leading_op_ignored: bool,
    /// `a**` and a leading `\{` are errors.
    pub double_op_error: bool,
    /// A lone `)` is itself.
    pub close_paren_literal: bool,
    /// A `{` that opens no valid interval is itself.
    pub bad_interval_literal: bool,
    pub newline_alternates: bool,
    pub backrefs: bool,
    pub classes: bool,
    /// `[z-a]` matches nothing; otherwise it is an error.
    pub empty_ranges: bool,
    /// A backslash in brackets quotes the next character; otherwise it stands for itself.
    pub bracket_escapes: bool,
    /// Escapes of awk strings and regular expressions.
    pub awk_escapes: bool,
}

impl RegexSyntax {
    pub(super) const fn rules(self) -> DialectRules {
        let basic = DialectRules {
            bk_parens: true,
            bk_braces: true,
            bk_vbar: true,
            bk_plus_qm: true,
            limited: false,
            intervals: true,
            anchors_anywhere: false,
            leading_op_error: false,
            leading_op_ignored: false,
            double_op_error: true,
            close_paren_literal: false,
            bad_interval_literal: false,
            newline_alternates: false,
            backrefs: true,
            classes: true,
            empty_ranges: false,
            bracket_escapes: false,
            awk_escapes: false,
        };
        let extended = DialectRules {
            bk_parens: false,
            bk_braces: false,
            bk_vbar: false,
            bk_plus_qm: false,
            anchors_anywhere: true,
            leading_op_error: true,
            leading_op_ignored: true,
            double_op_error: false,
            ..basic
        };
        match self {
            RegexSyntax::Bre => basic,
            RegexSyntax::Expr => {
                DialectRules { double_op_error: false, empty_ranges: true, ..basic }
            }
            RegexSyntax::Grep => {
                DialectRules { double_op_error: false, newline_alternates: true, ..basic }
            }
            RegexSyntax::MinimalBre => DialectRules { limited: true, ..basic },
            RegexSyntax::Ere => extended,
            RegexSyntax::EreRegcomp => DialectRules { close_paren_literal: true, ..extended },
            RegexSyntax::Egrep => DialectRules {
                leading_op_error: false,
                close_paren_literal: true,
                bad_interval_literal: true,
                newline_alternates: true,
                ..extended
            },
            RegexSyntax::PosixAwk => DialectRules {
                backrefs: false,
                close_paren_literal: true,
                bracket_escapes: true,
                empty_ranges: true,
                ..extended
            },
            RegexSyntax::Awk => DialectRules {
                leading_op_error: false,
                leading_op_ignored: false,
                bad_interval_literal: true,
                backrefs: false,
                bracket_escapes: true,
                awk_escapes: true,
                ..extended
            },
            RegexSyntax::Emacs => DialectRules {
                bk_plus_qm: false,
                intervals: false,
                classes: false,
                double_op_error: false,
                ..basic
            },
        }
    }
}
