//! The word that is being typed, and the texts that may replace it: for completion.

/// Words after which another command begins.
const BEFORE_COMMANDS: &[&str] =
    &["if", "then", "else", "elif", "do", "while", "until", "time", "!", "{"];

/// A word that is being typed.
#[derive(Debug, PartialEq, Eq)]
pub struct WordToComplete<'a> {
    /// The offset in the line at which it begins.
    pub start: usize,
    /// The word as typed, without an open quote at its beginning.
    pub text: &'a str,
    /// The quote that is open.
    pub quote: Option<char>,
    pub is_command: bool,
    /// The name of the command that it is an operand of.
    pub command: &'a str,
}

impl WordToComplete<'_> {
    /// Returns the word without backslashes.
    pub fn plain_text(&self) -> String {
        let mut out = String::new();
        let mut chars = self.text.chars();
        while let Some(c) = chars.next() {
            match (c, self.quote) {
                ('\\', None | Some('"')) => out.extend(chars.next()),
                _ => out.push(c),
            }
        }
        out
    }

    /// Returns the text that stands for `plain` in the place of the word, with its open quote. A
    /// tilde at the beginning keeps its meaning.
    pub fn replacement(&self, plain: &str) -> String {
        match (self.quote, plain.strip_prefix("~/")) {
            (Some(quote), _) => format!("{quote}{}", quote_word(plain, quote)),
            (None, Some(rest)) => format!("~/{}", escape_word(rest)),
            (None, None) => escape_word(plain),
        }
    }
}

/// Returns the word at the end of the typed text.
///
/// ```
/// use sh_syntax::word::word_at_end;
///
/// let word = word_at_end("cd one\\ t");
/// assert_eq!((word.start, word.command, &*word.plain_text()), (3, "cd", "one t"));
/// assert_eq!(word.replacement("one two"), "one\\ two");
/// ```
pub fn word_at_end(typed: &str) -> WordToComplete<'_> {
    // The state of the scan: the word's start, its quote, whether a command is expected.
    let (mut start, mut quote, mut is_command, mut begun) = (0, None, true, false);
    // What is completed begins behind the last `=` of the word.
    let (mut quote_at, mut from, mut command) = (0, 0, "");
    let mut chars = typed.char_indices();
    while let Some((at, c)) = chars.next() {
        if let Some(q) = quote {
            if c == '\\' && q == '"' {
                chars.next();
            } else if c == q {
                quote = None;
            }
            continue;
        }
        if !begun {
            (start, from) = (at, at);
        }
        match c {
            ' ' | '\t' | '\n' => {
                let done = &typed[start..at];
                if begun && is_command {
                    is_command = BEFORE_COMMANDS.contains(&done) || done.contains('=');
                    if !is_command {
                        command = done;
                    }
                }
                is_command |= c == '\n';
                begun = false;
            }
            ';' | '|' | '&' | '(' | '`' => (is_command, begun) = (true, false),
            '<' | '>' => (is_command, begun, command) = (false, false, ""),
            '=' if begun => from = at + 1,
            '\\' => {
                chars.next();
                begun = true;
            }
            '\'' | '"' => {
                (quote, quote_at) = (Some(c), at);
                begun = true;
            }
            _ => begun = true,
        }
    }
    if !begun {
        (start, from) = (typed.len(), typed.len());
    }
    is_command = is_command && from == start;
    match quote {
        // A quote in the middle of a word: the text inside it is completed.
        Some(_) => WordToComplete {
            start: quote_at,
            text: &typed[quote_at + 1..],
            quote,
            is_command,
            command,
        },
        None => WordToComplete { start: from, text: &typed[from..], quote, is_command, command },
    }
}

/// Escapes a word so that the shell reads it back unchanged.
fn escape_word(text: &str) -> String {
    let mut out = String::new();
    for c in text.chars() {
        if " \t\"'`$&|;<>()[]{}*?!#\\~".contains(c) {
            out.push('\\');
        }
        out.push(c);
    }
    out
}

fn quote_word(text: &str, quote: char) -> String {
    let mut out = String::new();
    for c in text.chars() {
        match (quote, c) {
            ('"', '"' | '$' | '`' | '\\') => out.extend(['\\', c]),
            ('\'', '\'') => out.push_str("'\\''"),
            _ => out.push(c),
        }
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_word_at_the_end_is_found() {
        let is = |typed: &str| {
            let w = word_at_end(typed);
            (w.start, w.text.to_owned(), w.quote, w.is_command)
        };
        assert_eq!(is(""), (0, "".into(), None, true));
        assert_eq!(is("ec"), (0, "ec".into(), None, true));
        assert_eq!(is("cat a"), (4, "a".into(), None, false));
        assert_eq!(is("cat "), (4, "".into(), None, false));
        assert_eq!(is("cat x; l"), (7, "l".into(), None, true));
        assert_eq!(is("a | b"), (4, "b".into(), None, true));
        assert_eq!(is("A=1 gr"), (4, "gr".into(), None, true));
        assert_eq!(is("if tr"), (3, "tr".into(), None, true));
        assert_eq!(is("cat a\\ b"), (4, "a\\ b".into(), None, false));
        assert_eq!(is("cat 'a b"), (4, "a b".into(), Some('\''), false));
        assert_eq!(is("cat > o"), (6, "o".into(), None, false));
        assert_eq!(is("dd if=/d"), (6, "/d".into(), None, false));
        assert_eq!(is("echo é/ü"), (5, "é/ü".into(), None, false));
        assert_eq!(word_at_end("cd a").command, "cd");
        assert_eq!(word_at_end("ls; cd ").command, "cd");
    }

    #[test]
    fn words_are_read_back() {
        let word = |quote| WordToComplete {
            start: 0,
            text: "a\\ b",
            quote,
            is_command: false,
            command: "",
        };
        assert_eq!(word(None).replacement("a b$"), "a\\ b\\$");
        assert_eq!(word(None).replacement("~/a ~"), "~/a\\ \\~");
        assert_eq!(word(None).plain_text(), "a b");
        assert_eq!(word(Some('\'')).plain_text(), "a\\ b");
        assert_eq!(word(Some('\'')).replacement("it's"), "'it'\\''s");
        assert_eq!(word(Some('"')).replacement("a\"$"), "\"a\\\"\\$");
    }
}
