//! Acceptance and messages compared with those of real bash (`data/messages.txt`).

mod common;

use common::{Table, parse};
use sh_syntax::parse::{NoAliases, ParseOptions, Parser};

struct Case {
    text: String,
    messages: String,
}

fn cases() -> Vec<Case> {
    let data = include_str!("data/messages.txt");
    let mut cases = Vec::new();
    for block in data.split("\n%% ").skip(1) {
        let (_, rest) = block.split_once('\n').expect("bash's status");
        let (text, messages) =
            rest.split_once("\n--\n").or(rest.strip_suffix("\n--").map(|t| (t, ""))).expect("--");
        cases.push(Case { text: format!("{text}\n"), messages: messages.trim_end().to_string() });
    }
    cases
}

#[test]
fn as_bash() {
    let cases = cases();
    assert!(cases.len() > 480, "{} cases", cases.len());
    let mut failed = Vec::new();
    for c in &cases {
        let mut parser = Parser::new(c.text.as_str(), ParseOptions::default());
        let mut got = Vec::new();
        loop {
            let result = parser.next_command(&NoAliases);
            for w in parser.take_warnings() {
                got.extend_from_slice(format!("bash: line {}: warning: ", w.line).as_bytes());
                got.extend_from_slice(&w.message);
                got.push(b'\n');
            }
            match result {
                Ok(Some(_)) => {}
                Ok(None) => break,
                Err(e) => {
                    got.extend(e.render(b"bash: "));
                    break;
                }
            }
        }
        let got = String::from_utf8_lossy(&got).trim_end().to_string();
        if got != c.messages {
            failed.push(format!("{:?}\n  bash {:?}\n  ours {got:?}", c.text, c.messages));
        }
    }
    assert!(failed.is_empty(), "{}", failed.join("\n"));
}

/// The differences from bash 5.2.15, and the reasons.
#[test]
fn deviations() {
    let options = ParseOptions::default();
    let fails = |t: &str| parse(t, &options, &Table::default()).is_err();
    // Bash takes the text for an expression with a stray parenthesis, and runs nothing.
    assert!(fails("for ((;;) do :; done\n"));
}

/// The messages are the same when the text arrives line by line.
#[test]
fn line_by_line() {
    struct Lines<'t>(std::str::SplitInclusive<'t, char>);
    impl sh_syntax::parse::SourceInput for Lines<'_> {
        fn read_line(&mut self, buf: &mut Vec<u8>, _: bool) -> bool {
            self.0.next().is_some_and(|l| {
                buf.extend_from_slice(l.as_bytes());
                true
            })
        }
    }
    for c in cases() {
        let input = Box::new(Lines(c.text.split_inclusive('\n')));
        let mut lines = Parser::with_input(input, ParseOptions::default());
        let mut whole = Parser::new(c.text.as_str(), ParseOptions::default());
        loop {
            let (a, b) = (lines.next_command(&NoAliases), whole.next_command(&NoAliases));
            // The source line may be cut short where bash has not read further yet.
            match (&a, &b) {
                (Err(a), Err(b)) => {
                    assert_eq!((a.line, &a.cause), (b.line, &b.cause), "{:?}", c.text)
                }
                _ => assert_eq!(a, b, "{:?}", c.text),
            }
            if !matches!(a, Ok(Some(_))) {
                break;
            }
        }
    }
}
