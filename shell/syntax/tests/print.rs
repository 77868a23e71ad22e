//! Tests of printing: the layout is bash's, and the text parses back to the same tree.

mod common;

use common::{Table, canonical, parse, plain};
use sh_syntax::ast::{CommandKind, CommandList};
use sh_syntax::parse::ParseOptions;
use sh_syntax::print;

/// `functions.expected` is `declare -f` of bash 5.2.15 for each function of `functions.sh`.
#[test]
fn functions() {
    let mut got = Vec::new();
    for item in plain(include_str!("data/functions.sh")).items {
        let CommandKind::Function(f) = &item.and_or.first.stages[0].command.kind else {
            panic!("a function")
        };
        got.extend(print::print_function(f));
        got.push(b'\n');
    }
    let got = String::from_utf8_lossy(&got).into_owned();
    for (n, (got, want)) in
        got.lines().zip(include_str!("data/functions.expected").lines()).enumerate()
    {
        assert_eq!(got, want, "line {}", n + 1);
    }
    assert_eq!(got.lines().count(), include_str!("data/functions.expected").lines().count());
}

fn round_trip(text: &str, list: CommandList) {
    let options = ParseOptions { extglob: true, ..ParseOptions::default() };
    let printed = String::from_utf8_lossy(&print::list_kept(&list)).into_owned();
    let again = match parse(&printed, &options, &Table::default()) {
        Ok(l) => l,
        Err(e) => panic!("{text:?} printed as {printed:?}: {e}"),
    };
    // Only a newline after a compound command in `$(...)` may still change.
    let settle = |l: &CommandList| {
        let text = String::from_utf8_lossy(&print::list_kept(l)).into_owned();
        (parse(&text, &options, &Table::default()).expect("parsed before"), text)
    };
    let (third, second) = settle(&again);
    assert!(second == settle(&third).1, "{text:?}");
    let (mut a, mut b) = (list, again);
    canonical::list(&mut a);
    canonical::list(&mut b);
    assert!(a == b, "{text:?} printed as {printed:?}\n{a:#?}\n{b:#?}");
}

#[test]
fn parses_back() {
    let options = ParseOptions { extglob: true, ..ParseOptions::default() };
    let data = include_str!("data/messages.txt");
    let texts = data
        .split("\n%% ")
        .skip(1)
        .filter_map(|b| Some(b.split_once('\n')?.1.split_once("\n--")?.0))
        // A here-document's body that follows its substitution is not in the substitution's text.
        .filter(|text| !text.starts_with("x=$(cat <<E"));
    let mut count = 0;
    for text in texts.chain(include_str!("data/functions.sh").split("\n}\n")) {
        if let Ok(list) = parse(text, &options, &Table::default()) {
            round_trip(text, list);
            count += 1;
        }
    }
    assert!(count > 250, "{count}");
    round_trip("functions.sh", plain(include_str!("data/functions.sh")));
}

/// Text that bash prints in a form that does not parse back, or that has a different meaning.
#[test]
fn unlike_bash() {
    for text in [
        "if cat <<E; then b; fi\nx\nE\n",
        "a 1<>x; a 0<>x\n",
        "if echo \\&; then b; fi\n",
        "case esac in (esac) a;; esac\n",
        "coproc a b\n",
        "a | b <<E || c\nx\nE\n",
        "a; b <<E & c\nx\nE\n",
        "x=$(cat <<E; b <<F | c\n1\nE\n2\nF\n)\n",
        "f() { p[&]() { a; }; }\n",
        "(!\n); ( ! ! \n); (a | (time\n)); f() (!\n)\n",
        "a $(!\n) <(b && !\n) \"$(c $(! !\n))\"\n",
    ] {
        round_trip(text, plain(text));
    }
}
