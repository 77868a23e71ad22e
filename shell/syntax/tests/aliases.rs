//! Alias substitution as in bash (`data/aliases.txt`).

use sh_syntax::ast::CommandKind;
use sh_syntax::parse::{Aliases, ParseOptions, Parser};
use sh_syntax::print;

struct Table(Vec<(String, String)>);

impl Aliases for Table {
    fn get(&self, name: &[u8]) -> Option<std::rc::Rc<[u8]>> {
        self.0.iter().find(|(n, _)| n.as_bytes() == name).map(|(_, v)| v.as_bytes().into())
    }
}

#[test]
fn as_bash() {
    let options = ParseOptions { expand_aliases: true, ..ParseOptions::default() };
    let mut count = 0;
    for block in include_str!("data/aliases.txt").split("%%\n").skip(1) {
        let mut pieces = block.splitn(3, "--\n");
        let mut piece = || pieces.next().expect("three parts");
        let (aliases, body, want) = (piece(), piece(), piece());
        let value =
            |v: &str| v.replace("\\\\", "\u{1}").replace("\\n", "\n").replace('\u{1}', "\\");
        let table = aliases
            .lines()
            .filter_map(|l| l.split_once('='))
            .map(|(n, v)| (n.to_string(), value(v)));
        let table = Table(table.collect());
        let mut parser = Parser::new(format!("f() {{\n{body}}}\n"), options.clone());
        let list = match parser.next_command(&table) {
            Ok(Some(l)) => l,
            other => panic!("{block}: {other:?}"),
        };
        let CommandKind::Function(f) = &list.items[0].and_or.first.stages[0].command.kind else {
            panic!("{block}: no function");
        };
        let got = String::from_utf8_lossy(&print::print_function(f)).into_owned() + "\n";
        assert_eq!(got, want, "{block}");
        count += 1;
    }
    assert!(count > 55, "{count}");
}

/// A definition by a command takes effect on the next line, not on its own.
#[test]
fn from_the_next_command_on() {
    let options = ParseOptions { expand_aliases: true, ..ParseOptions::default() };
    let text = "x a; x b\nx c\n";
    let mut parser = Parser::new(text, options);
    let mut words = |table: &Table| {
        let list = parser.next_command(table).expect("parses").expect("a command");
        String::from_utf8_lossy(&print::print_list(&list)).into_owned()
    };
    assert_eq!(words(&Table(Vec::new())), "x a;\nx b\n");
    assert_eq!(words(&Table(vec![("x".into(), "y z".into())])), "y z c\n");
    assert_eq!(parser.offset(), text.len());
}

/// Many substitutions early in a long source take linear time.
#[test]
fn linear_time() {
    let options = ParseOptions { expand_aliases: true, ..ParseOptions::default() };
    let table = Table(vec![("x".into(), "a long replacement of a short name".into())]);
    let text = format!("{}{}", "x\n".repeat(20_000), "echo padding\n".repeat(50_000));
    let mut parser = Parser::new(text, options);
    while parser.next_command(&table).expect("parses").is_some() {}
}
