//! Writes a meta-block (RFC 7932, sections 4, 5 and 9) with one prefix code for literals, one for
//! lengths and one for distances.

use super::bits::Bits;
use super::matches::CopyCommand;
use super::prefix::PrefixCode;

/// The base and the number of extra bits of each insert code (a length of literals).
#[rustfmt::skip]
const INSERTS: [(usize, u32); 24] = [
    (0, 0), (1, 0), (2, 0), (3, 0), (4, 0), (5, 0), (6, 1), (8, 1), (10, 2), (14, 2), (18, 3), (26, 3), (34, 4), (50, 4),
    (66, 5), (98, 5), (130, 6), (194, 7), (322, 8), (578, 9), (1090, 10), (2114, 12), (6210, 14), (22594, 24),
];
/// The base and the number of extra bits of each copy code (a length of a copy).
#[rustfmt::skip]
const COPIES: [(usize, u32); 24] = [
    (2, 0), (3, 0), (4, 0), (5, 0), (6, 0), (7, 0), (8, 0), (9, 0), (10, 1), (12, 1), (14, 2), (18, 2), (22, 3), (30, 3),
    (38, 4), (54, 4), (70, 5), (102, 5), (134, 6), (198, 7), (326, 8), (582, 9), (1094, 10), (2118, 24),
];
/// The first symbol for each pair of a group of eight insert codes and a group of eight copy codes,
/// with an explicit distance.
const CELLS: [[usize; 3]; 3] = [[128, 192, 384], [256, 320, 512], [448, 576, 640]];

/// A command as symbols and extra bits. Each pair of `insert` and `copy` is the value of the extra
/// bits and their number; `distance` has the symbol before such a pair.
struct CommandSymbols {
    symbol: usize,
    insert: (u64, u32),
    copy: (u64, u32),
    distance: Option<(usize, u64, u32)>,
}

/// Returns the code of a length, with the value and the number of its extra bits.
fn length_code(table: &[(usize, u32)], length: usize) -> (usize, (u64, u32)) {
    let code = table.partition_point(|(base, _)| *base <= length).saturating_sub(1);
    let (base, bits) = table[code];
    (code, (length.saturating_sub(base) as u64, bits))
}

/// Returns the code of a distance, with the value and the number of its extra bits. Code 0 repeats
/// the last distance.
fn distance_code(distance: usize, last: usize) -> (usize, u64, u32) {
    if distance == last {
        return (0, 0, 0);
    }
    let d = distance + 3;
    let bits = d.ilog2() - 1;
    let half = (d >> bits) & 1;
    let offset = (2 + half) << bits;
    (16 + 2 * (bits as usize - 1) + half, (d - offset) as u64, bits)
}

fn code_command(command: &CopyCommand, last: &mut usize) -> CommandSymbols {
    let (insert, more) = length_code(&INSERTS, command.insert);
    let (copy, extra) = length_code(&COPIES, command.copy);
    let symbol = CELLS[insert / 8][copy / 8] + ((insert % 8) << 3) + copy % 8;
    let distance = (command.copy > 0).then(|| distance_code(command.distance, *last));
    if command.copy > 0 {
        *last = command.distance;
    }
    CommandSymbols { symbol, insert: more, copy: extra, distance }
}

/// Writes a text as a meta-block. The text must not be empty, and `commands` must describe it.
pub fn write(out: &mut Bits, text: &[u8], commands: &[CopyCommand]) {
    // A block does not know the last distance before it, so it begins without one.
    let mut last = 0;
    let coded: Vec<CommandSymbols> = commands.iter().map(|c| code_command(c, &mut last)).collect();
    let (mut literals, mut symbols, mut distances) = ([0; 256], [0; 704], [0; 64]);
    let mut at = 0;
    for (command, code) in commands.iter().zip(&coded) {
        text[at..at + command.insert].iter().for_each(|b| literals[usize::from(*b)] += 1);
        symbols[code.symbol] += 1;
        if let Some((distance, ..)) = code.distance {
            distances[distance] += 1;
        }
        at += command.insert + command.copy;
    }
    let codes = [
        PrefixCode::from_counts(&literals),
        PrefixCode::from_counts(&symbols),
        PrefixCode::from_counts(&distances),
    ];
    if bits_of(&coded, &codes, &literals) / 8 + 100 >= text.len() as u64 {
        write_head(out, text.len(), true);
        out.align();
        out.copy(text);
        return;
    }
    write_head(out, text.len(), false);
    // The literals, lengths and distances have one type of block and one code each. There are no
    // direct distances and no contexts.
    out.put(0, 3 + 6 + 2 + 2);
    for (code, bits) in codes.iter().zip([8, 10, 6]) {
        code.write_code(out, bits);
    }
    let codes = codes.map(|code| code.without_bits());
    let mut at = 0;
    for (command, code) in commands.iter().zip(&coded) {
        codes[1].put_symbol(out, code.symbol);
        out.put(code.insert.0, code.insert.1);
        out.put(code.copy.0, code.copy.1);
        text[at..at + command.insert]
            .iter()
            .for_each(|b| codes[0].put_symbol(out, usize::from(*b)));
        at += command.insert + command.copy;
        if let Some((distance, extra, bits)) = code.distance {
            codes[2].put_symbol(out, distance);
            out.put(extra, bits);
        }
    }
}

/// Writes the header of a block that is not the last: its length, and whether it is uncompressed.
fn write_head(out: &mut Bits, length: usize, is_plain: bool) {
    let nibbles = (usize::BITS - (length - 1).leading_zeros()).div_ceil(4).clamp(4, 6);
    out.put(0, 1);
    out.put(u64::from(nibbles - 4), 2);
    out.put(length as u64 - 1, nibbles * 4);
    out.put(u64::from(is_plain), 1);
}

/// Returns the number of bits that the block's commands and literals take.
fn bits_of(coded: &[CommandSymbols], codes: &[PrefixCode; 3], literals: &[u32; 256]) -> u64 {
    let commands = coded.iter().map(|c| {
        let distance =
            c.distance.map_or(0, |(symbol, _, bits)| codes[2].symbol_cost(symbol) + bits);
        u64::from(codes[1].symbol_cost(c.symbol) + c.insert.1 + c.copy.1 + distance)
    });
    let texts = literals.iter().enumerate();
    let texts = texts.map(|(byte, n)| u64::from(*n) * u64::from(codes[0].symbol_cost(byte)));
    commands.sum::<u64>() + texts.sum::<u64>()
}
