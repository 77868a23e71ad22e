//! Checking whether a typed text is a complete command.

use super::{NoAliases, ParseOptions, Parser};

/// Returns whether a shell would run this text instead of requesting another line. A text with a
/// syntax error is complete, because the shell reports the error.
pub fn is_complete(text: &[u8]) -> bool {
    let line = text.strip_suffix(b"\n").unwrap_or(text);
    if line.iter().rev().take_while(|b| **b == b'\\').count() % 2 == 1 {
        return false;
    }
    let mut parser = Parser::new(text, ParseOptions { extglob: true, ..ParseOptions::default() });
    loop {
        match parser.next_command(&NoAliases) {
            // A warning means that the end of the text ended a here-document.
            Ok(_) if !parser.take_warnings().is_empty() => return false,
            Ok(Some(_)) => {}
            Ok(None) => return true,
            Err(e) => return !e.is_incomplete(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn commands_are_complete_when_bash_runs_them() {
        for whole in [
            "ls",
            "echo 'a b'",
            "if true; then echo; fi",
            "f() { :; }",
            "cat <<E\nx\nE\n",
            "echo )",
            "a \\\\",
            "",
        ] {
            assert!(is_complete(whole.as_bytes()), "{whole}");
        }
        for part in [
            "echo 'a",
            "if true",
            "for x in a",
            "echo $(",
            "cat <<E\nx",
            "ls |",
            "a &&",
            "f() {",
            "echo \\",
            "case x in",
        ] {
            assert!(!is_complete(part.as_bytes()), "{part}");
        }
    }
}
