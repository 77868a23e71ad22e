//! Reads the beginning of a push: any bytes, or a valid list with some bytes changed. The result
//! must not depend on the pieces in which the bytes arrive. An accepted list must be in the
//! bytes as it was read, must name refs that git accepts, and is bounded.
#![no_main]

use libfuzzer_sys::fuzz_target;
use std::collections::BTreeSet;
use wasibox_bridge::git::{MAX_COMMANDS, MAX_LIST, PushFault, PushList, PushParser};
use wasibox_fuzz::patched;

const GOOD: &str = "0034shallow 1111111111111111111111111111111111111111\
    0095\
    1111111111111111111111111111111111111111 2222222222222222222222222222222222222222 \
    refs/heads/agent/x\0 report-status-v2 side-band-64k push-options\
    0069\
    0000000000000000000000000000000000000000 2222222222222222222222222222222222222222 \
    refs/heads/agent/y\n\
    0000000bci.skip0000PACK";

fn parse(bytes: &[u8], piece: usize) -> Result<PushList, PushFault> {
    let mut parser = PushParser::default();
    for part in bytes.chunks(piece) {
        if parser.push(part)? {
            break;
        }
    }
    parser.finish()
}

fn has(bytes: &[u8], part: &str) -> bool {
    bytes.windows(part.len()).any(|window| window == part.as_bytes())
}

fuzz_target!(|data: &[u8]| {
    let Some((&how, rest)) = data.split_first() else { return };
    let bytes = if how % 2 == 0 { rest.to_vec() } else { patched(GOOD.as_bytes(), rest) };
    let whole = parse(&bytes, bytes.len().max(1));
    for piece in [1, 2, 7, 100] {
        assert_eq!(parse(&bytes, piece), whole);
    }
    let Ok(list) = whole else { return };
    assert!(list.commands.len() <= MAX_COMMANDS);
    let names: BTreeSet<&str> = list.commands.iter().map(|c| c.name.as_str()).collect();
    assert_eq!(names.len(), list.commands.len());
    let size: usize = list.commands.iter().map(|c| c.name.len() + c.old.len() + c.new.len()).sum();
    assert!(size <= MAX_LIST);
    for command in &list.commands {
        assert!(has(&bytes, &format!("{} {} {}", command.old, command.new, command.name)));
        assert!(command.name.starts_with("refs/") && !command.name.ends_with('/'));
        let parts: Vec<&str> = command.name.split('/').collect();
        assert!(parts.len() > 2 && parts.iter().all(|p| !p.is_empty() && !p.starts_with('.')));
        assert!(!command.name.contains("..") && !command.name.chars().any(char::is_control));
    }
});
