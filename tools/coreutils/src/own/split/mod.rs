//! `split` (POSIX XCU split; GNU 9.1).
//!
//! | file | contents |
//! |---|---|
//! | `options` | options, and the way of splitting that they choose |
//! | `names` | the names of the pieces |
//! | `output` | the files and commands to which the pieces go |
//!
//! Deviation: with `-n`, an input of unknown size is read into memory; GNU 9.1 refuses it.

mod names;
mod options;
mod output;

use std::fs::File;
use std::io::{self, BufRead, BufReader, Read, Seek, Write};

use box_applet::{Ctx, Ended, Exit, InputSource, StdInput};

use crate::common::{input, quote};
use options::{SPEC, SplitCut, SplitOptions, SplitRefusal, SplitWay};
use output::SplitOutputs;

/// The input. It is separate from the applet's streams, because commands are started while it is
/// read.
enum SplitReader {
    Stdin(StdInput),
    File(BufReader<File>),
    Memory(io::Cursor<Vec<u8>>),
}

impl Read for SplitReader {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        match self {
            SplitReader::Stdin(r) => r.read(out),
            SplitReader::File(r) => r.read(out),
            SplitReader::Memory(r) => r.read(out),
        }
    }
}

impl BufRead for SplitReader {
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        match self {
            SplitReader::Stdin(r) => r.fill_buf(),
            SplitReader::File(r) => r.fill_buf(),
            SplitReader::Memory(r) => r.fill_buf(),
        }
    }

    fn consume(&mut self, n: usize) {
        match self {
            SplitReader::Stdin(r) => r.consume(n),
            SplitReader::File(r) => r.consume(n),
            SplitReader::Memory(r) => r.consume(n),
        }
    }
}

/// The reason why a split ends early.
enum SplitStop {
    Read(io::Error),
    /// Another error; the message has been printed, and this is the exit status.
    Ended(Exit),
}

impl From<io::Error> for SplitStop {
    fn from(e: io::Error) -> SplitStop {
        SplitStop::Read(e)
    }
}

impl From<Exit> for SplitStop {
    fn from(exit: Exit) -> SplitStop {
        SplitStop::Ended(exit)
    }
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Ended {
    let p = SPEC.parse_or_exit(ctx, args, Exit::FAILURE)?;
    let options = SplitOptions::new(&p).map_err(|refusal| match refusal {
        SplitRefusal::Usage(text) => input::usage_error(ctx, &[&text]),
        SplitRefusal::Value(text) => input::report_failure(ctx, &[&text]),
    })?;
    if let Some(extra) = p.operands.get(2) {
        return Err(input::extra_operand(ctx, extra));
    }
    let name = p.operands.first().map_or(&b"-"[..], Vec::as_slice);
    let mut reader = open(ctx, name)?;
    let path = (name != b"-").then(|| ctx.path(name));
    let SplitOptions { way, separator, elide, verbose, filter, names } = options;
    let has_filter = filter.is_some();
    let mut outputs = SplitOutputs::new(ctx, names, (filter, verbose), path);
    let done = match way {
        SplitWay::Lines(n) => by_lines(&mut reader, &mut outputs, n, separator),
        SplitWay::Bytes(n) => by_bytes(&mut reader, &mut outputs, n),
        SplitWay::LineBytes(n) => by_line_bytes(&mut reader, &mut outputs, n, separator),
        SplitWay::Chunks { cut: SplitCut::RoundRobin, count, only: None } => {
            let made = SplitMade { count, elide, has_filter };
            in_turn(&mut reader, &mut outputs, made, separator)
        }
        SplitWay::Chunks { cut: SplitCut::RoundRobin, count, only: Some(only) } => {
            every(&mut reader, outputs.ctx, (only, count), separator)
        }
        SplitWay::Chunks { cut, count, only } => {
            let size = match size(&mut reader) {
                Ok(size) => size,
                Err(e) => return Err(input::file_error(outputs.ctx, name, &e)),
            };
            let chunks = Chunks { cut, size, count, elide, separator };
            match only {
                Some(only) => chunks.extract(&mut reader, outputs.ctx, only),
                None => chunks.split(&mut reader, &mut outputs),
            }
        }
    };
    match done.and_then(|()| Ok(outputs.close()?)) {
        Ok(()) => Ok(Exit::SUCCESS),
        Err(SplitStop::Ended(exit)) => Err(exit),
        Err(SplitStop::Read(e)) => Err(input::file_error(ctx, name, &e)),
    }
}

fn open(ctx: &mut Ctx<'_>, name: &[u8]) -> Result<SplitReader, Exit> {
    if name == b"-" {
        return Ok(SplitReader::Stdin(ctx.stdin.detach_stream()));
    }
    match input::open_file(&ctx.path(name)) {
        Ok(file) => Ok(SplitReader::File(BufReader::with_capacity(input::BLOCK, file))),
        Err(e) if e.raw_os_error() == Some(box_sys::errno::code::EISDIR) => {
            Err(input::file_error(ctx, name, &e))
        }
        Err(e) => {
            let shown = quote::quote_in_sentence(name);
            let why = box_sys::error_text(&e);
            Err(input::report_failure(
                ctx,
                &[b"cannot open ", &shown, b" for reading: ", why.as_bytes()],
            ))
        }
    }
}

/// Returns the number of bytes that are still to be read. An input of unknown size is read into
/// memory first.
fn size(reader: &mut SplitReader) -> io::Result<u64> {
    let known = |file: &File| -> Option<u64> {
        let meta = file.metadata().ok().filter(|meta| meta.is_file())?;
        // The file may be shared, so its position need not be the beginning.
        let mut file = file;
        let at = file.stream_position().ok()?;
        Some(meta.len().saturating_sub(at))
    };
    let found = match reader {
        // The reader's buffer is still empty, so the position of the file is that of the reader.
        SplitReader::File(r) => known(r.get_ref()).filter(|n| *n > 0),
        SplitReader::Stdin(r) => match r.source() {
            InputSource::File(file) => known(file).filter(|n| *n > 0),
            _ => None,
        },
        SplitReader::Memory(_) => None,
    };
    if let Some(size) = found {
        return Ok(size);
    }
    let mut text = Vec::new();
    reader.read_to_end(&mut text)?;
    let size = text.len() as u64;
    *reader = SplitReader::Memory(io::Cursor::new(text));
    Ok(size)
}

/// Passes at most `most` bytes of the input to `put`, block by block; returns their number.
fn pass(
    reader: &mut SplitReader,
    most: u64,
    mut put: impl FnMut(&[u8]) -> Result<(), SplitStop>,
) -> Result<u64, SplitStop> {
    let mut left = most;
    while left > 0 {
        let block = match reader.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            block => block?,
        };
        if block.is_empty() {
            break;
        }
        let n = block.len().min(usize::try_from(left).unwrap_or(usize::MAX));
        put(&block[..n])?;
        reader.consume(n);
        left -= n as u64;
    }
    Ok(most - left)
}

/// Calls `put` with each part of a line, and with a flag that says whether the line ends there.
/// `put` returns whether to continue.
fn for_each_part(
    reader: &mut SplitReader,
    separator: u8,
    mut put: impl FnMut(&[u8], bool) -> Result<bool, SplitStop>,
) -> Result<(), SplitStop> {
    loop {
        let block = match reader.fill_buf() {
            Err(e) if e.kind() == io::ErrorKind::Interrupted => continue,
            block => block?,
        };
        if block.is_empty() {
            return Ok(());
        }
        let end = memchr::memchr(separator, block).map(|at| at + 1);
        let n = end.unwrap_or(block.len());
        let goes_on = put(&block[..n], end.is_some())?;
        reader.consume(n);
        if !goes_on {
            return Ok(());
        }
    }
}

fn by_lines(
    reader: &mut SplitReader,
    outputs: &mut SplitOutputs<'_, '_>,
    most: u64,
    separator: u8,
) -> Result<(), SplitStop> {
    let mut left = 0;
    for_each_part(reader, separator, |part, ends| {
        if left == 0 {
            outputs.begin()?;
            left = most;
        }
        outputs.write(part)?;
        left -= u64::from(ends);
        Ok(true)
    })
}

fn by_bytes(
    reader: &mut SplitReader,
    outputs: &mut SplitOutputs<'_, '_>,
    most: u64,
) -> Result<(), SplitStop> {
    loop {
        let mut is_open = false;
        let passed = pass(reader, most, |block| {
            if !std::mem::replace(&mut is_open, true) {
                outputs.begin()?;
            }
            Ok(outputs.write(block)?)
        })?;
        if passed < most {
            return Ok(());
        }
    }
}

/// Fills each piece with as many whole lines as fit. A line that is longer than a piece is cut.
fn by_line_bytes(
    reader: &mut SplitReader,
    outputs: &mut SplitOutputs<'_, '_>,
    most: u64,
    separator: u8,
) -> Result<(), SplitStop> {
    // The beginning of an unfinished line, and the length of the whole lines in the open piece.
    let (mut line, mut whole): (Vec<u8>, u64) = (Vec::new(), 0);
    fn put(
        line: &mut Vec<u8>,
        whole: u64,
        outputs: &mut SplitOutputs<'_, '_>,
    ) -> Result<u64, SplitStop> {
        if whole == 0 {
            outputs.begin()?;
        }
        outputs.write(line)?;
        let written = line.len() as u64;
        line.clear();
        Ok(whole + written)
    }
    for_each_part(reader, separator, |part, ends| {
        let mut part = part;
        loop {
            let room = most - whole - line.len() as u64;
            let fits = part.len() as u64 <= room;
            if fits && ends {
                line.extend_from_slice(part);
                whole = put(&mut line, whole, outputs)?;
                if whole == most {
                    whole = 0;
                }
                return Ok(true);
            }
            if part.len() as u64 >= room && whole > 0 {
                // The line goes to the next piece.
                whole = 0;
                continue;
            }
            let (now, later) = part.split_at(if fits { part.len() } else { room as usize });
            line.extend_from_slice(now);
            if line.len() as u64 == most {
                put(&mut line, 0, outputs)?;
            }
            part = later;
            if part.is_empty() {
                return Ok(true);
            }
        }
    })?;
    if !line.is_empty() {
        put(&mut line, whole, outputs)?;
    }
    Ok(())
}

/// The settings of the pieces to which lines go in turn.
struct SplitMade {
    count: u64,
    elide: bool,
    has_filter: bool,
}

/// The maximum number of bytes that are held in memory for files that are not open.
const MOST_HELD: usize = 32 << 20;

/// Distributes lines in turn to `made.count` pieces, of which at most one is open at a time.
fn in_turn(
    reader: &mut SplitReader,
    outputs: &mut SplitOutputs<'_, '_>,
    made: SplitMade,
    separator: u8,
) -> Result<(), SplitStop> {
    let SplitMade { count, elide, has_filter } = made;
    let mut pieces: Vec<(Option<Vec<u8>>, Vec<u8>)> = Vec::new();
    let add = |outputs: &mut SplitOutputs<'_, '_>, pieces: &mut Vec<_>| -> Result<(), SplitStop> {
        let name = outputs.next_name()?;
        if !has_filter {
            outputs.create(name.clone())?;
            outputs.close()?;
        }
        pieces.push((Some(name), Vec::new()));
        Ok(())
    };
    if !elide && !has_filter {
        for _ in 0..count {
            add(outputs, &mut pieces)?;
        }
    }
    let (mut turn, mut held) = (0usize, 0);
    for_each_part(reader, separator, |part, ends| {
        if turn == pieces.len() {
            add(outputs, &mut pieces)?;
        }
        pieces[turn].1.extend_from_slice(part);
        held += part.len();
        if ends {
            turn += 1;
            if turn as u64 == count {
                turn = 0;
            }
        }
        // A command gets all of its lines at once.
        if held > MOST_HELD && !has_filter {
            write_out(outputs, &mut pieces)?;
            held = 0;
        }
        Ok(true)
    })?;
    if !has_filter {
        return write_out(outputs, &mut pieces);
    }
    while !elide && (pieces.len() as u64) < count {
        add(outputs, &mut pieces)?;
    }
    for (name, text) in pieces {
        outputs.create(name.unwrap_or_default())?;
        outputs.write(&text)?;
    }
    Ok(())
}

fn write_out(
    outputs: &mut SplitOutputs<'_, '_>,
    pieces: &mut [(Option<Vec<u8>>, Vec<u8>)],
) -> Result<(), SplitStop> {
    for (name, text) in pieces.iter_mut().filter(|(_, text)| !text.is_empty()) {
        outputs.append(name.as_deref().unwrap_or_default(), text)?;
        text.clear();
    }
    Ok(())
}

/// Writes every `count`-th line to standard output, beginning with line `only`.
fn every(
    reader: &mut SplitReader,
    ctx: &mut Ctx<'_>,
    (only, count): (u64, u64),
    separator: u8,
) -> Result<(), SplitStop> {
    let mut turn = 1;
    for_each_part(reader, separator, |part, ends| {
        if turn == only {
            put(ctx, part)?;
        }
        if ends {
            turn = if turn == count { 1 } else { turn + 1 };
        }
        Ok(true)
    })
}

/// Writes to standard output. As in every tool, a failure is reported when the tool ends.
fn put(ctx: &mut Ctx<'_>, text: &[u8]) -> Result<(), Exit> {
    ctx.stdout.write_all(text).map_err(|_| Exit::FAILURE)
}

/// Pieces of about the same size: the whole size divided by their number. The last piece also has
/// the remainder.
struct Chunks {
    cut: SplitCut,
    size: u64,
    count: u64,
    elide: bool,
    separator: u8,
}

impl Chunks {
    /// Returns the offset at which a piece ends. `number` counts from 1.
    fn end(&self, number: u64) -> u64 {
        let step = self.size / self.count;
        match self.cut {
            _ if number == self.count => self.size,
            // If there are more pieces than bytes, each of the first pieces has one byte.
            SplitCut::Bytes if step == 0 => number.min(self.size),
            _ => number.saturating_mul(step),
        }
    }

    fn split(
        &self,
        reader: &mut SplitReader,
        outputs: &mut SplitOutputs<'_, '_>,
    ) -> Result<(), SplitStop> {
        if self.cut == SplitCut::Lines {
            return self.split_lines(reader, outputs);
        }
        let mut at = 0;
        for number in 1..=self.count {
            let length = self.end(number) - at;
            if length == 0 && self.elide {
                continue;
            }
            outputs.begin()?;
            at += pass(reader, length, |block| Ok(outputs.write(block)?))?;
        }
        Ok(())
    }

    fn split_lines(
        &self,
        reader: &mut SplitReader,
        outputs: &mut SplitOutputs<'_, '_>,
    ) -> Result<(), SplitStop> {
        let (mut number, mut at, mut is_begun) = (1, 0, false);
        let elide = self.elide;
        let skip =
            |outputs: &mut SplitOutputs<'_, '_>| if elide { Ok(()) } else { outputs.begin() };
        for_each_part(reader, self.separator, |part, ends| {
            if !std::mem::replace(&mut is_begun, true) {
                outputs.begin()?;
            }
            outputs.write(part)?;
            at += part.len() as u64;
            if ends && at < self.size && self.end(number) <= at {
                number += 1;
                while self.end(number) <= at {
                    skip(outputs)?;
                    number += 1;
                }
                is_begun = false;
            }
            Ok(at < self.size)
        })?;
        if is_begun {
            number += 1;
        }
        while number <= self.count && !self.elide {
            outputs.begin()?;
            number += 1;
        }
        Ok(())
    }

    /// Writes one piece to standard output.
    fn extract(
        &self,
        reader: &mut SplitReader,
        ctx: &mut Ctx<'_>,
        only: u64,
    ) -> Result<(), SplitStop> {
        if self.cut == SplitCut::Bytes {
            let start = if only == 1 { 0 } else { self.end(only - 1) };
            pass(reader, start, |_| Ok(()))?;
            pass(reader, self.end(only) - start, |block| Ok(put(ctx, block)?))?;
            return Ok(());
        }
        let (mut number, mut at) = (1, 0);
        for_each_part(reader, self.separator, |part, ends| {
            if number == only {
                put(ctx, part)?;
            }
            at += part.len() as u64;
            if ends && at < self.size && self.end(number) <= at {
                number = self.of_byte(at);
            }
            Ok(at < self.size && number <= only)
        })
    }

    /// Returns the number of the piece to which a line that begins at an offset belongs.
    fn of_byte(&self, at: u64) -> u64 {
        match self.size / self.count {
            0 => self.count,
            step => (at / step + 1).min(self.count),
        }
    }
}
