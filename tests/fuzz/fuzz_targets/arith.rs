//! Evaluates an expression without expansions. The evaluator of the tree and that of text must
//! agree on value, error and side effects.
#![no_main]

mod shell;

use libfuzzer_sys::fuzz_target;
use sh_syntax::parse::{ParseOptions, parse_arith};

fuzz_target!(|data: &[u8]| {
    if data.iter().any(|b| matches!(b, 0 | b'$' | b'`' | b'\\' | b'"' | b'\'' | b'\n')) {
        return;
    }
    let Ok(arith) = parse_arith(data, &ParseOptions::default()) else { return };
    let (mut one, mut two) = (shell::Shell::new(), shell::Shell::new());
    let a = sh_expand::arith::eval_arith(&mut one, &arith);
    let b = sh_expand::arith::eval_text(&mut two, data);
    assert_eq!(a.is_ok(), b.is_ok(), "{a:?} {b:?}");
    if let (Ok(a), Ok(b)) = (a, b) {
        assert_eq!(a, b);
        assert_eq!(one.variables(), two.variables());
    }
});
