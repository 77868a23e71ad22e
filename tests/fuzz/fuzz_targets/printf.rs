//! Formats values, decodes escapes, parses numbers and quotes text. There must be no panic, output
//! must be bounded, and quoted text must read back as the same.
#![no_main]

use box_text::escape::{ansi_c, ansi_c_quote};
use box_text::number::{parse_float, parse_integer};
use box_text::printf::{self, LongDouble};
use libfuzzer_sys::fuzz_target;

/// The callers that print limit widths; this target does not.
const WIDTH: usize = 1 << 12;

fuzz_target!(|data: &[u8]| {
    let mut parts = data.splitn(2, |&b| b == b'\n');
    let (Some(format), Some(argument)) = (parts.next(), parts.next()) else { return };
    let _ = parse_float(argument);
    let integer = parse_integer(argument, 0);
    if let Some(mut directive) = printf::parse(format) {
        let spec = &mut directive.spec;
        spec.width = spec.width.min(WIDTH);
        spec.precision = spec.precision.map(|p| p.min(WIDTH));
        let mut out = Vec::new();
        printf::put_signed(&mut out, spec, integer.signed().0);
        printf::put_unsigned(&mut out, spec, directive.conversion, integer.unsigned().0);
        printf::put_string(&mut out, spec, argument);
        printf::string_chars(&mut out, spec, argument);
        let (number, used, _) = LongDouble::parse(argument);
        assert!(used <= argument.len());
        printf::long_double(&mut out, spec, directive.conversion, &number);
        // A long double has up to 4933 digits before the decimal point.
        assert!(out.len() < 8 * WIDTH + 4 * argument.len() + 8192, "{} bytes", out.len());
    }
    let _ = ansi_c(format);
    if !argument.contains(&0) {
        let quoted = ansi_c_quote(argument);
        assert_eq!(ansi_c(&quoted[2..quoted.len() - 1]), argument);
    }
});
