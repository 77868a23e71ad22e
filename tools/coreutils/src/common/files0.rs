//! The option `--files0-from=F`, which reads NUL-terminated file names from a file or standard
//! input.

use box_applet::{Ctx, Exit};

use super::{input, quote};

/// Returns the usable names, and the number of unusable ones, each of which has been reported.
///
/// # Errors
/// The list itself cannot be read, or there are operands, too. The error holds the exit status;
/// the message has been printed.
pub(crate) fn read(
    ctx: &mut Ctx<'_>,
    list: &[u8],
    operands: &[Vec<u8>],
) -> Result<(Vec<Vec<u8>>, usize), Exit> {
    if let Some(extra) = operands.first() {
        let why = b"\nfile operands cannot be combined with --files0-from";
        return Err(input::usage_error(
            ctx,
            &[b"extra operand ", &quote::quote_in_sentence(extra), why],
        ));
    }
    let mut text = ctx.read(list).map_err(|e| {
        let why = box_sys::error_text(&e);
        if e.raw_os_error() == Some(box_sys::errno::code::EISDIR) {
            let shown = quote::quote_with_colon(list);
            return input::report_failure(ctx, &[&shown, b": read error: ", why.as_bytes()]);
        }
        let shown = quote::quote_in_sentence(list);
        input::report_failure(ctx, &[b"cannot open ", &shown, b" for reading: ", why.as_bytes()])
    })?;
    let mut names = Vec::new();
    let mut bad = 0;
    if text.last() == Some(&0) {
        text.pop();
    } else if text.is_empty() {
        return Ok((names, bad));
    }
    for (i, name) in text.split(|c| *c == 0).enumerate() {
        if name.is_empty() {
            let shown = quote::quote_with_colon(list);
            let at = format!(":{}: invalid zero-length file name", i + 1);
            ctx.error_bytes(&[&shown, at.as_bytes()]);
            bad += 1;
        } else if name == b"-" && list == b"-" {
            let shown = quote::quote_in_sentence(name);
            ctx.error_bytes(&[
                b"when reading file names from stdin, no file name of ",
                &shown,
                b" allowed",
            ]);
            bad += 1;
        } else {
            names.push(name.to_vec());
        }
    }
    Ok((names, bad))
}
