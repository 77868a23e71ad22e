//! Lists that the parser of pushes reads or refuses.

use super::*;

const A: &str = "1111111111111111111111111111111111111111";
const B: &str = "2222222222222222222222222222222222222222";
const NONE: &str = "0000000000000000000000000000000000000000";
const CAPS: &str = " report-status-v2 side-band-64k object-format=sha1 agent=git/2.47.3";

fn line(text: &str) -> String {
    format!("{:04x}{text}", text.len() + 4)
}

fn push(commands: &[&str], caps: &str, rest: &str) -> Vec<u8> {
    let mut out = String::new();
    for (i, command) in commands.iter().enumerate() {
        out += &line(&if i == 0 { format!("{command}\0{caps}") } else { (*command).to_string() });
    }
    (out + "0000" + rest).into_bytes()
}

fn parse(bytes: &[u8]) -> Result<PushList, PushFault> {
    let whole = parse_in_pieces(bytes, bytes.len().max(1));
    for size in [1, 3, 5, 64] {
        assert_eq!(parse_in_pieces(bytes, size), whole, "pieces of {size}");
    }
    whole
}

fn parse_in_pieces(bytes: &[u8], size: usize) -> Result<PushList, PushFault> {
    let mut parser = PushParser::default();
    for piece in bytes.chunks(size) {
        if parser.push(piece)? {
            break;
        }
    }
    parser.finish()
}

/// Pushes as git 2.47 sends them.
#[test]
fn pushes_of_git() {
    let update = format!("{A} {B} refs/heads/agent/x");
    let list = parse(&push(&[&update], CAPS, "PACK\0\0\0\x02...")).expect("a push");
    assert_eq!(list.commands.len(), 1);
    let command = &list.commands[0];
    assert_eq!(
        (command.old.as_str(), command.new.as_str(), command.name.as_str()),
        (A, B, "refs/heads/agent/x")
    );
    assert_eq!(command.action(), PushAction::Update);
    assert!(list.wants_report && list.has_side_band && list.options.is_empty());

    // Creation, deletion and an update in one, without a pack behind them.
    let create = format!("{NONE} {A} refs/heads/new");
    let delete = format!("{A} {NONE} refs/heads/old");
    let list = parse(&push(&[&create, &delete, &update], CAPS, "")).expect("a push");
    let actions: Vec<_> = list.commands.iter().map(PushCommand::action).collect();
    assert_eq!(actions, [PushAction::Create, PushAction::Delete, PushAction::Update]);
    let nothing = format!("{NONE} {NONE} refs/heads/old");
    let list = parse(&push(&[&nothing], CAPS, "")).expect("a push");
    assert_eq!(list.commands[0].action(), PushAction::Delete);

    // Shallow clones, lines that end, options, the other hash.
    let shallow = [line(&format!("shallow {A}\n")), line(&format!("{update}\0{CAPS}\n"))].concat();
    assert_eq!(parse((shallow + "0000PACK").as_bytes()).expect("a push").commands.len(), 1);
    let ended = [line(&format!("{update}\0{CAPS}")), line(&format!("{create}\n"))].concat();
    let list = parse((ended + "0000PACK").as_bytes()).expect("a push");
    assert_eq!(list.commands[1].name, "refs/heads/new");
    let options = line("ci.skip") + &line("a=b\n") + "0000PACK";
    let list = parse(&push(&[&update], " push-options", &options)).expect("a push");
    assert_eq!(list.options, ["ci.skip", "a=b"]);
    let long = format!("{} {} refs/heads/x", "a".repeat(64), "b".repeat(64));
    assert!(parse(&push(&[&long], " object-format=sha256", "PACK")).is_ok());
    assert!(!parse(&push(&[&update], "", "")).expect("a push").wants_report);
    let plain = line(&update) + "0000";
    assert!(!parse(plain.as_bytes()).expect("a push").wants_report);

    // git's question whether it may push at all.
    assert_eq!(parse(b"0000"), Ok(PushList::default()));
}

#[test]
fn what_is_no_list_is_refused() {
    use PushFault as F;
    let update = format!("{A} {B} refs/heads/x");
    let other = format!("{A} {B} refs/heads/y");
    let one = |text: &str| (line(text) + "0000").into_bytes();
    let name = |bytes: &[u8]| {
        let text = [format!("{A} {B} ").as_bytes(), bytes].concat();
        [format!("{:04x}", text.len() + 4).as_bytes(), &text, b"0000"].concat()
    };
    let ended = line(&update);
    for (what, bytes, fault) in [
        // Lengths.
        ("no digits", b"zzzz".to_vec(), F::Length),
        ("a sign", b"+0ab".to_vec(), F::Length),
        ("a space", b" 0ab".to_vec(), F::Length),
        ("a delimiter of version 2", b"0001".to_vec(), F::Length),
        ("an end of version 2", b"0002".to_vec(), F::Length),
        ("three", b"0003".to_vec(), F::Length),
        ("an empty line", b"0004".to_vec(), F::Length),
        ("too long", b"fff1".to_vec(), F::Length),
        ("the longest", b"ffff".to_vec(), F::Length),
        // Ends.
        ("nothing", Vec::new(), F::End),
        ("half a length", b"00".to_vec(), F::End),
        ("half a line", ended.as_bytes()[..30].to_vec(), F::End),
        ("no flush", ended.clone().into_bytes(), F::End),
        ("no options", push(&[&update], "push-options", ""), F::End),
        ("half a pack's name", push(&[&update], CAPS, "PA"), F::End),
        // Bytes after the list.
        ("no pack", push(&[&update], CAPS, "0000PACK"), F::Pack),
        ("a second list", push(&[&update], CAPS, &line(&other)), F::Pack),
        ("options that are not announced", push(&[&update], CAPS, &line("a=b")), F::Pack),
        ("a list after nothing", [b"0000", ended.as_bytes()].concat(), F::Pack),
        ("a pack after nothing", b"0000PACK".to_vec(), F::Pack),
        // Lines.
        ("two words", one(&format!("{A} refs/heads/x")), F::Line),
        ("one word", one("refs/heads/x"), F::Line),
        ("capital digits", one(&format!("{} {B} refs/heads/x", "A".repeat(40))), F::Line),
        ("39 digits", one(&format!("{} {B} refs/heads/x", &A[1..])), F::Line),
        ("41 digits", one(&format!("{A}1 {B} refs/heads/x")), F::Line),
        ("two lengths", one(&format!("{A} {} refs/heads/x", "b".repeat(64))), F::Line),
        (
            "two lengths in two lines",
            push(
                &[&update, &format!("{} {} refs/heads/y", "a".repeat(64), "b".repeat(64))],
                CAPS,
                "",
            ),
            F::Line,
        ),
        ("no digits in an id", one(&format!("{} {B} refs/heads/x", "g".repeat(40))), F::Line),
        ("a tab", one(&format!("{A}\t{B} refs/heads/x")), F::Line),
        ("two spaces", one(&format!("{A}  {B} refs/heads/x")), F::Line),
        ("a space first", one(&format!(" {A} {B} refs/heads/x")), F::Line),
        (
            "capabilities again",
            push(&[&update, &format!("{other}\0push-options")], CAPS, ""),
            F::Line,
        ),
        ("a NUL in a later line", push(&[&update, &format!("{other}\0")], CAPS, ""), F::Line),
        ("shallow later", push(&[&update, &format!("shallow {A}")], CAPS, ""), F::Line),
        ("shallow alone", one(&format!("shallow {A}")), F::Line),
        ("shallow with more", one(&format!("shallow {A} {B} refs/heads/x")), F::Line),
        ("a command of fetch", one(&format!("want {A}")), F::Line),
        ("a command of version 2", one("command=ls-refs"), F::Line),
        ("an error", one("ERR no"), F::Line),
        // Signed pushes have their commands elsewhere.
        ("a certificate", one(&format!("push-cert\0{CAPS}")), F::Signed),
        ("a certificate later", push(&[&update, "push-cert"], CAPS, ""), F::Signed),
        ("a nonce", push(&[&update], "push-cert=1", ""), F::Capability("push-cert=1".into())),
        // Capabilities.
        ("an unknown one", push(&[&update], "report-status x", ""), F::Capability("x".into())),
        (
            "one with a tab",
            push(&[&update], "atomic\tpush-options", ""),
            F::Capability("atomic\tpush-options".into()),
        ),
        (
            "one with a NUL",
            push(&[&update], "atomic\0push-options", ""),
            F::Capability("atomic\0push-options".into()),
        ),
        ("in capitals", push(&[&update], "Push-Options", ""), F::Capability("Push-Options".into())),
        // Refs.
        ("a ref twice", push(&[&update, &update], CAPS, ""), F::Twice("refs/heads/x".into())),
        ("no name", name(b""), F::Ref(String::new())),
        ("HEAD", name(b"HEAD"), F::Ref("HEAD".into())),
        ("dots", name(b"refs/heads/agent/../main"), F::Ref("refs/heads/agent/../main".into())),
        ("a newline", name(b"refs/heads/a\nb"), F::Ref("refs/heads/a\nb".into())),
        ("two newlines", name(b"refs/heads/a\n\n"), F::Ref("refs/heads/a\n".into())),
        ("a carriage return", name(b"refs/heads/a\r\n"), F::Ref("refs/heads/a\r".into())),
        ("a space", name(b"refs/heads/a b"), F::Ref("refs/heads/a b".into())),
        ("a space at the end", name(b"refs/heads/a "), F::Ref("refs/heads/a ".into())),
        ("no UTF-8", name(b"refs/heads/\xff"), F::Ref("refs/heads/\u{fffd}".into())),
        (
            "overlong UTF-8",
            name(b"refs/heads/\xc0\xafx"),
            F::Ref("refs/heads/\u{fffd}\u{fffd}x".into()),
        ),
        ("a folder", name(b"refs/heads/agent/"), F::Ref("refs/heads/agent/".into())),
        ("an option", push(&[&update], "push-options", &(line("a\x1b[2J") + "0000")), F::Option),
    ] {
        assert_eq!(parse(&bytes), Err(fault), "{what}");
    }
}

/// Memory is bounded by the size of a list, whatever arrives.
#[test]
fn lists_are_bounded() {
    let many = |count: usize| {
        let all: Vec<String> = (0..count).map(|n| format!("{A} {B} refs/heads/{n}")).collect();
        push(&all.iter().map(String::as_str).collect::<Vec<_>>(), CAPS, "PACK")
    };
    assert_eq!(
        parse_in_pieces(&many(MAX_COMMANDS), 4096).map(|l| l.commands.len()),
        Ok(MAX_COMMANDS)
    );
    assert_eq!(parse_in_pieces(&many(MAX_COMMANDS + 1), 4096), Err(PushFault::Long));
    let shallow = line(&format!("shallow {A}"));
    let mut parser = PushParser::default();
    let mut taken = 0;
    let fault = loop {
        match parser.push(shallow.as_bytes()) {
            Ok(_) => taken += shallow.len(),
            Err(fault) => break fault,
        }
    };
    assert_eq!(fault, PushFault::Long);
    assert!(taken <= MAX_LIST);
    let options = line("option").repeat(MAX_LIST / 10);
    let update = format!("{A} {B} refs/heads/x");
    let long = push(&[&update], "push-options", &options);
    assert_eq!(parse_in_pieces(&long, 4096), Err(PushFault::Long));
    // A line that announces much and comes byte by byte takes no more than arrived.
    let mut parser = PushParser::default();
    parser.push(b"fff0").expect("a length");
    for _ in 0..1000 {
        parser.push(b"a").expect("a part of a line");
    }
    assert!(parser.line.capacity() < 4096);
}

/// Every truncated, changed or random list gives the same result in pieces of any size, and each
/// accepted command is in the bytes as it was read.
#[test]
fn hostile_bytes_have_one_reading() {
    let mut seed = 0x9e37_79b9_7f4a_7c15_u64;
    let mut random = move || {
        seed ^= seed << 13;
        seed ^= seed >> 7;
        seed ^= seed << 17;
        seed
    };
    let update = format!("{A} {B} refs/heads/agent/x");
    let create = format!("{NONE} {B} refs/heads/agent/y");
    let good = push(&[&update, &create], " push-options", &(line("a") + "0000PACK"));
    let mut accepted = 0;
    for _ in 0..20_000 {
        let mut bytes = good.clone();
        for _ in 0..random() % 4 {
            let at = (random() as usize) % bytes.len();
            bytes[at] = match random() % 4 {
                0 => b"0\0\n /."[(random() % 6) as usize],
                _ => random() as u8,
            };
        }
        if random() % 4 == 0 {
            bytes.truncate((random() as usize) % bytes.len());
        }
        let piece = (random() as usize) % 20 + 1;
        let whole = parse_in_pieces(&bytes, bytes.len().max(1));
        assert_eq!(parse_in_pieces(&bytes, piece), whole);
        let Ok(list) = whole else { continue };
        accepted += usize::from(!list.commands.is_empty());
        for PushCommand { name, old, new } in list.commands {
            let text = format!("{old} {new} {name}");
            assert!(bytes.windows(text.len()).any(|window| window == text.as_bytes()), "{text}");
            assert!(is_ref_name(&name));
        }
    }
    assert!(accepted > 1000, "{accepted}");
}
