//! `dd` (POSIX XCU dd; GNU manual "dd invocation").

use std::fs::{File, OpenOptions};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::rc::Rc;
use std::time::{Duration, Instant};

use box_applet::{Ctx, Exit, Sink, Source};

use crate::common::number::{self, NumberError};
use crate::common::{input, quote};

const HELP: &str = "Usage: dd [OPERAND]...
  or:  dd OPTION
Copy a file, converting and formatting according to the operands.

  bs=BYTES        read and write up to BYTES bytes at a time (default: 512); overrides ibs and obs
  cbs=BYTES       convert BYTES bytes at a time
  conv=CONVS      convert the file as per the comma separated symbol list:
                  ascii ebcdic ibm block unblock lcase ucase sparse swab sync
                  excl nocreat notrunc noerror fdatasync fsync
  count=N         copy only N input blocks
  ibs=BYTES       read up to BYTES bytes at a time (default: 512)
  if=FILE         read from FILE instead of stdin
  iflag=FLAGS     read as per the comma separated symbol list
  obs=BYTES       write BYTES bytes at a time (default: 512)
  of=FILE         write to FILE instead of stdout
  oflag=FLAGS     write as per the comma separated symbol list
  seek=N          (or oseek=N) skip N obs-sized output blocks
  skip=N          (or iseek=N) skip N ibs-sized input blocks
  status=LEVEL    'none' error messages only, 'noxfer' no transfer statistics, 'progress' periodic statistics

N and BYTES may be followed by: c=1, w=2, b=512, kB=1000, K=1024, MB, M, GB, G, and so on;
a trailing B means a number of bytes; products are written with x.
Flags: append direct directory dsync sync fullblock nonblock noatime nocache noctty nofollow
       count_bytes skip_bytes seek_bytes
      --help        display this help and exit
      --version     output version information and exit
";

#[derive(Clone, Copy, PartialEq)]
enum Case {
    Keep,
    Lower,
    Upper,
}

struct Options {
    ibs: usize,
    obs: usize,
    cbs: usize,
    /// `bs` was given: short reads are written as they come.
    direct: bool,
    input: Option<Vec<u8>>,
    output: Option<Vec<u8>>,
    /// In bytes or blocks.
    skip: (u64, bool),
    seek: (u64, bool),
    count: Option<(u64, bool)>,
    case: Case,
    table: Option<&'static [u8; 256]>,
    block: bool,
    unblock: bool,
    swab: bool,
    pad: bool,
    noerror: bool,
    notrunc: bool,
    nocreat: bool,
    excl: bool,
    sparse: bool,
    sync: bool,
    fullblock: bool,
    append: bool,
    status: Status,
}

#[derive(Clone, Copy, PartialEq)]
enum Status {
    Normal,
    None,
    NoTransfer,
    Progress,
}

#[derive(Default)]
struct Counts {
    in_full: u64,
    in_part: u64,
    out_full: u64,
    out_part: u64,
    truncated: u64,
    bytes: u64,
}

/// A number as `dd` reads it: with suffixes and products.
fn size(text: &[u8]) -> Result<(u64, bool), NumberError> {
    if let Some(x) = text.iter().position(|c| *c == b'x') {
        // `0x10` is the product of nothing and ten, not hexadecimal: GNU warns and takes 0.
        let (a, ab) = size(&text[..x])?;
        let (b, bb) = size(&text[x + 1..])?;
        return a.checked_mul(b).map(|n| (n, ab || bb)).ok_or(NumberError::Overflow);
    }
    if !text.first().is_some_and(u8::is_ascii_digit) {
        return Err(NumberError::Invalid);
    }
    let plain = |t: &[u8], f: u64| {
        number::decimal(t).ok_or(NumberError::Invalid)?.checked_mul(f).ok_or(NumberError::Overflow)
    };
    let n = match text {
        [d @ .., b'c'] => plain(d, 1)?,
        [d @ .., b'w'] => plain(d, 2)?,
        [d @ .., b'B'] if d.last().is_some_and(u8::is_ascii_digit) => {
            return Ok((plain(d, 1)?, true));
        }
        _ => number::size(text)?,
    };
    Ok((n, false))
}

pub(crate) fn run(ctx: &mut Ctx<'_>, args: &[Vec<u8>]) -> Exit {
    match args {
        [a] if a == b"--help" => {
            let _ = ctx.stdout.write_all(HELP.as_bytes());
            return Exit::SUCCESS;
        }
        [a] if a == b"--version" => {
            let text = format!("dd (Wasibox) {}\n", env!("CARGO_PKG_VERSION"));
            let _ = ctx.stdout.write_all(text.as_bytes());
            return Exit::SUCCESS;
        }
        _ => {}
    }
    let o = match options(args) {
        Ok(o) => o,
        Err(m) => {
            ctx.error_bytes(&[&m]);
            if !m.starts_with(b"invalid number") && !m.starts_with(b"cannot combine") {
                input::usage_hint(ctx);
            }
            return Exit::FAILURE;
        }
    };
    copy(ctx, &o)
}

fn options(args: &[Vec<u8>]) -> Result<Options, Vec<u8>> {
    let mut o = Options {
        ibs: 512,
        obs: 512,
        cbs: 0,
        direct: false,
        input: None,
        output: None,
        skip: (0, false),
        seek: (0, false),
        count: None,
        case: Case::Keep,
        table: None,
        block: false,
        unblock: false,
        swab: false,
        pad: false,
        noerror: false,
        notrunc: false,
        nocreat: false,
        excl: false,
        sparse: false,
        sync: false,
        fullblock: false,
        append: false,
        status: Status::Normal,
    };
    let mut bs = None;
    let (mut skip_bytes, mut seek_bytes, mut count_bytes) = (false, false, false);
    let mut ended = false;
    for a in args {
        if a == b"--" && !ended {
            ended = true;
            continue;
        }
        let Some(eq) = a.iter().position(|c| *c == b'=') else {
            return Err([b"unrecognized operand ", quote::always(a).as_slice()].concat());
        };
        let (name, value) = (&a[..eq], &a[eq + 1..]);
        let bad = |e: NumberError| {
            [b"invalid number: ", quote::always(value).as_slice(), number::reason(e)].concat()
        };
        let number = || size(value).map_err(bad);
        let block = || -> Result<usize, Vec<u8>> {
            let n = number()?.0;
            if n == 0 {
                return Err(bad(NumberError::Invalid));
            }
            // Larger blocks than this cannot be held in the guest's memory.
            usize::try_from(n).ok().filter(|n| *n <= 1 << 30).ok_or_else(|| {
                let shown = quote::always(value);
                [b"invalid number: ", shown.as_slice(), b": Value too large for defined data type"]
                    .concat()
            })
        };
        match name {
            b"if" => o.input = Some(value.to_vec()),
            b"of" => o.output = Some(value.to_vec()),
            b"bs" => bs = Some(block()?),
            b"ibs" => o.ibs = block()?,
            b"obs" => o.obs = block()?,
            b"cbs" => o.cbs = block()?,
            b"skip" | b"iseek" => o.skip = number()?,
            b"seek" | b"oseek" => o.seek = number()?,
            b"count" => o.count = Some(number()?),
            b"status" => {
                o.status = match value {
                    b"none" => Status::None,
                    b"noxfer" => Status::NoTransfer,
                    b"progress" => Status::Progress,
                    _ => {
                        return Err(
                            [b"invalid status level: ", quote::always(value).as_slice()].concat()
                        );
                    }
                }
            }
            b"conv" => {
                for c in value.split(|c| *c == b',') {
                    match c {
                        b"ascii" => (o.table, o.unblock) = (Some(&EBCDIC_TO_ASCII), true),
                        b"ebcdic" => (o.table, o.block) = (Some(&ASCII_TO_EBCDIC), true),
                        b"ibm" => (o.table, o.block) = (Some(&ASCII_TO_IBM), true),
                        b"block" => o.block = true,
                        b"unblock" => o.unblock = true,
                        b"lcase" | b"ucase" => {
                            let case = if c == b"lcase" { Case::Lower } else { Case::Upper };
                            if o.case != Case::Keep && o.case != case {
                                return Err(b"cannot combine lcase and ucase".to_vec());
                            }
                            o.case = case;
                        }
                        b"swab" => o.swab = true,
                        b"sync" => o.pad = true,
                        b"noerror" => o.noerror = true,
                        b"notrunc" => o.notrunc = true,
                        b"nocreat" => o.nocreat = true,
                        b"excl" => o.excl = true,
                        b"sparse" => o.sparse = true,
                        b"fsync" | b"fdatasync" => o.sync = true,
                        _ => {
                            return Err(
                                [b"invalid conversion: ", quote::always(c).as_slice()].concat()
                            );
                        }
                    }
                }
            }
            b"iflag" | b"oflag" => {
                for f in value.split(|c| *c == b',') {
                    match (f, name == b"iflag") {
                        (b"fullblock", true) => o.fullblock = true,
                        (b"count_bytes", true) => count_bytes = true,
                        (b"skip_bytes", true) => skip_bytes = true,
                        (b"seek_bytes", false) => seek_bytes = true,
                        (b"append", false) => o.append = true,
                        (
                            b"append" | b"direct" | b"directory" | b"dsync" | b"sync" | b"nonblock"
                            | b"noatime" | b"nocache" | b"noctty" | b"nofollow" | b"binary"
                            | b"text" | b"cio",
                            _,
                        ) => {}
                        (_, input) => {
                            let what: &[u8] = if input {
                                b"invalid input flag: "
                            } else {
                                b"invalid output flag: "
                            };
                            return Err([what, &quote::always(f)].concat());
                        }
                    }
                }
            }
            _ => return Err([b"unrecognized operand ", quote::always(a).as_slice()].concat()),
        }
    }
    if let Some(n) = bs {
        (o.ibs, o.obs, o.direct) = (n, n, true);
    }
    o.skip.1 |= skip_bytes;
    o.seek.1 |= seek_bytes;
    if let Some(c) = &mut o.count {
        c.1 |= count_bytes;
    }
    if o.excl && o.nocreat {
        return Err(b"cannot combine excl and nocreat".to_vec());
    }
    // Without a record length there are no records to convert.
    if o.cbs == 0 {
        (o.block, o.unblock) = (false, false);
    }
    if o.block && o.unblock {
        return Err(b"cannot combine block and unblock".to_vec());
    }
    Ok(o)
}

/// The output with its position kept for `sparse`, in whole blocks.
struct Out<'a> {
    sink: &'a mut dyn Write,
    file: Option<Rc<File>>,
    buf: Vec<u8>,
    obs: usize,
    sparse: bool,
    hole: bool,
}

impl Out<'_> {
    fn write_block(&mut self, data: &[u8], counts: &mut Counts) -> io::Result<()> {
        if self.sparse
            && data.iter().all(|b| *b == 0)
            && let Some(f) = &self.file
            && (&**f).seek(SeekFrom::Current(data.len() as i64)).is_ok()
        {
            self.hole = true;
            self.count(data.len(), counts);
            return Ok(());
        }
        self.hole = false;
        match &self.file {
            Some(f) => (&**f).write_all(data)?,
            None => self.sink.write_all(data)?,
        }
        self.count(data.len(), counts);
        Ok(())
    }

    fn count(&self, n: usize, counts: &mut Counts) {
        counts.bytes += n as u64;
        if n == self.obs {
            counts.out_full += 1;
        } else {
            counts.out_part += 1;
        }
    }

    /// Collects output blocks.
    fn put(&mut self, data: &[u8], counts: &mut Counts) -> io::Result<()> {
        self.buf.extend_from_slice(data);
        while self.buf.len() >= self.obs {
            let rest = self.buf.split_off(self.obs);
            let block = std::mem::replace(&mut self.buf, rest);
            self.write_block(&block, counts)?;
        }
        Ok(())
    }

    fn finish(&mut self, counts: &mut Counts) -> io::Result<()> {
        if !self.buf.is_empty() {
            let block = std::mem::take(&mut self.buf);
            self.write_block(&block, counts)?;
        }
        if self.hole
            && let Some(f) = &self.file
        {
            let end = (&**f).stream_position()?;
            if f.metadata().is_ok_and(|m| m.len() < end) {
                f.set_len(end)?;
            }
        }
        self.sink.flush()
    }
}

fn copy(ctx: &mut Ctx<'_>, o: &Options) -> Exit {
    // Standard input is read without read-ahead: who reads it next must not miss bytes.
    let stdin = ctx.stdin.source().clone();
    let mut reader: Box<dyn ReadSeek> = match (&o.input, stdin) {
        (Some(name), _) => match File::open(ctx.path(name)) {
            Ok(f) => Box::new(f),
            Err(e) => return open_error(ctx, name, &e),
        },
        (None, Source::File(f)) => Box::new(Shared(f)),
        (None, Source::Bytes(b)) => Box::new(io::Cursor::new(b.to_vec())),
        (None, Source::Closed) => {
            let e = io::Error::from_raw_os_error(box_sys::errno::code::EBADF);
            return open_error(ctx, b"standard input", &e);
        }
    };
    let input_name = o.input.clone().unwrap_or_else(|| b"standard input".to_vec());
    let output_name = o.output.clone().unwrap_or_else(|| b"standard output".to_vec());
    let file = match &o.output {
        Some(name) => {
            let mut open = OpenOptions::new();
            open.write(true).create(!o.nocreat).create_new(o.excl).append(o.append);
            // What lies before the seek position stays.
            open.truncate(!o.notrunc && o.seek.0 == 0 && !o.append && !o.excl);
            match open.open(ctx.path(name)) {
                Ok(f) => Some(Rc::new(f)),
                Err(e) => return open_error(ctx, name, &e),
            }
        }
        None => match ctx.stdout.sink() {
            Sink::File(f) => Some(f.clone()),
            _ => None,
        },
    };
    let skip = if o.skip.1 { o.skip.0 } else { o.skip.0.saturating_mul(o.ibs as u64) };
    let seek = if o.seek.1 { o.seek.0 } else { o.seek.0.saturating_mul(o.obs as u64) };
    if let Err(e) = skip_input(&mut *reader, skip, o.ibs) {
        input::cannot(ctx, "cannot skip", &input_name, &e);
        return Exit::FAILURE;
    }
    if skip > 0 && reader.beyond_end() {
        let shown = quote::colon(&input_name);
        ctx.error_bytes(&[&shown, b": cannot skip to specified offset"]);
    }
    if seek > 0
        && let Some(f) = &file
    {
        if o.output.is_some()
            && !o.notrunc
            && let Err(e) = f.set_len(seek)
        {
            // Devices have no length; seeking is enough for them.
            if f.metadata().is_ok_and(|m| m.is_file()) {
                let text = format!("failed to truncate to {seek} bytes in output file ");
                let shown = quote::always(&output_name);
                ctx.error_bytes(&[
                    text.as_bytes(),
                    &shown,
                    b": ",
                    box_sys::strerror(&e).as_bytes(),
                ]);
                return Exit::FAILURE;
            }
        }
        if let Err(e) = (&**f).seek(SeekFrom::Current(i64::try_from(seek).unwrap_or(i64::MAX))) {
            let shown = quote::always(&output_name);
            ctx.error_bytes(&[&shown, b": cannot seek: ", box_sys::strerror(&e).as_bytes()]);
            return Exit::FAILURE;
        }
    }
    let _ = ctx.stdout.flush();
    let start = Instant::now();
    let mut counts = Counts::default();
    let mut errors: Vec<(bool, io::Error)> = Vec::new();
    {
        let mut out = Out {
            sink: &mut ctx.stdout,
            file: file.clone(),
            buf: Vec::new(),
            obs: o.obs,
            sparse: o.sparse,
            hole: false,
        };
        let progress = (o.status == Status::Progress).then_some(&mut ctx.stderr as &mut dyn Write);
        transfer(&mut *reader, &mut out, o, &mut counts, &mut errors, start, progress);
    }
    let mut exit = Exit::SUCCESS;
    for (reading, e) in &errors {
        if !reading && e.kind() == io::ErrorKind::BrokenPipe {
            return Exit::SIGPIPE;
        }
        let (what, name) =
            if *reading { ("error reading", &input_name) } else { ("error writing", &output_name) };
        input::cannot(ctx, what, name, e);
        exit = Exit::FAILURE;
    }
    ctx.stdout.take_error();
    if o.sync
        && let Some(f) = &file
    {
        let _ = f.sync_all();
    }
    if o.status != Status::None {
        let text = report(&counts, start.elapsed(), o.status, o.status == Status::Progress);
        let _ = ctx.stderr.write_all(text.as_bytes());
    }
    exit
}

fn open_error(ctx: &mut Ctx<'_>, name: &[u8], e: &io::Error) -> Exit {
    input::cannot(ctx, "failed to open", name, e);
    Exit::FAILURE
}

/// A file shared with the context, read without buffering.
struct Shared(Rc<File>);

impl Read for Shared {
    fn read(&mut self, buf: &mut [u8]) -> io::Result<usize> {
        (&*self.0).read(buf)
    }
}

impl Seek for Shared {
    fn seek(&mut self, pos: SeekFrom) -> io::Result<u64> {
        (&*self.0).seek(pos)
    }
}

trait ReadSeek: Read + Seek {
    /// Whether a regular file's position is past its end.
    fn beyond_end(&mut self) -> bool {
        false
    }
}

fn past_end(mut f: &File) -> bool {
    f.metadata().is_ok_and(|m| m.is_file() && f.stream_position().is_ok_and(|p| p > m.len()))
}

impl ReadSeek for File {
    fn beyond_end(&mut self) -> bool {
        past_end(self)
    }
}

impl ReadSeek for Shared {
    fn beyond_end(&mut self) -> bool {
        past_end(&self.0)
    }
}

impl ReadSeek for io::Cursor<Vec<u8>> {}

fn skip_input(reader: &mut dyn ReadSeek, mut bytes: u64, block: usize) -> io::Result<()> {
    if bytes == 0 {
        return Ok(());
    }
    if let Ok(offset) = i64::try_from(bytes)
        && reader.seek(SeekFrom::Current(offset)).is_ok()
    {
        return Ok(());
    }
    let mut buf = vec![0; block];
    while bytes > 0 {
        let want = usize::try_from(bytes).unwrap_or(usize::MAX).min(buf.len());
        match reader.read(&mut buf[..want]) {
            Ok(0) => break,
            Ok(n) => bytes -= n as u64,
            Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
            Err(e) => return Err(e),
        }
    }
    Ok(())
}

fn transfer(
    reader: &mut dyn ReadSeek,
    out: &mut Out<'_>,
    o: &Options,
    counts: &mut Counts,
    errors: &mut Vec<(bool, io::Error)>,
    start: Instant,
    mut progress: Option<&mut dyn Write>,
) {
    let mut buf = vec![0u8; o.ibs];
    let mut records = Records { column: 0, spaces: 0 };
    let mut last_report = start;
    let converts = o.block || o.unblock;
    let mut odd: Option<u8> = None;
    let mut total_in = 0u64;
    loop {
        let mut want = o.ibs;
        match o.count {
            Some((n, true)) => {
                want = want.min(usize::try_from(n - total_in.min(n)).unwrap_or(usize::MAX))
            }
            Some((n, false)) if counts.in_full + counts.in_part >= n => want = 0,
            _ => {}
        }
        if want == 0 {
            break;
        }
        let mut got = 0;
        let mut failed = false;
        loop {
            match reader.read(&mut buf[got..want]) {
                Ok(0) => break,
                Ok(n) => {
                    got += n;
                    if got == want || !o.fullblock {
                        break;
                    }
                }
                Err(e) if e.kind() == io::ErrorKind::Interrupted => {}
                Err(e) => {
                    errors.push((true, e));
                    failed = true;
                    break;
                }
            }
        }
        if failed {
            // With noerror a bad block is passed over, as far as the input can seek.
            let passed = o.noerror
                && errors.len() < 1000
                && reader.seek(SeekFrom::Current(o.ibs as i64)).is_ok();
            if !passed {
                break;
            }
        } else if got == 0 {
            break;
        }
        total_in += got as u64;
        if got == o.ibs {
            counts.in_full += 1;
        } else if got > 0 {
            counts.in_part += 1;
        }
        let mut len = got;
        if o.pad && len < o.ibs {
            let fill = if converts { b' ' } else { 0 };
            buf[len..].fill(fill);
            len = o.ibs;
        }
        let data = &mut buf[..len];
        if let Some(t) = o.table {
            data.iter_mut().for_each(|b| *b = t[usize::from(*b)]);
        }
        match o.case {
            Case::Lower => data.make_ascii_lowercase(),
            Case::Upper => data.make_ascii_uppercase(),
            Case::Keep => {}
        }
        let mut owned;
        let data: &[u8] = if o.swab {
            owned = Vec::with_capacity(data.len() + 1);
            owned.extend(odd.take());
            owned.extend_from_slice(data);
            if owned.len() % 2 == 1 {
                odd = owned.pop();
            }
            owned.chunks_exact_mut(2).for_each(|p| p.swap(0, 1));
            &owned
        } else {
            data
        };
        let written = if converts {
            let mut converted = Vec::with_capacity(data.len() * 2);
            if o.block {
                records.block(data, o, counts, &mut converted)
            } else {
                records.unblock(data, o, &mut converted)
            }
            out.put(&converted, counts)
        } else if o.direct && !o.swab {
            out.write_block(data, counts)
        } else {
            out.put(data, counts)
        };
        if let Err(e) = written {
            errors.push((false, e));
            return;
        }
        if let Some(w) = progress.as_deref_mut()
            && last_report.elapsed() >= Duration::from_secs(1)
        {
            last_report = Instant::now();
            let text = format!("\r{}", transfer_line(counts.bytes, start.elapsed()));
            let _ = w.write_all(text.as_bytes());
        }
    }
    let mut tail = Vec::new();
    if o.block {
        records.finish_block(o, &mut tail);
    } else if o.unblock {
        records.finish_unblock(o, &mut tail);
    }
    tail.extend(odd);
    if let Err(e) = out.put(&tail, counts).and_then(|()| out.finish(counts)) {
        errors.push((false, e));
    }
}

/// Conversion between lines and fixed-length records.
struct Records {
    column: usize,
    spaces: usize,
}

impl Records {
    fn space(o: &Options) -> u8 {
        // The table has been applied already: records are padded in the output's code.
        match o.table {
            Some(t) if o.block => t[usize::from(b' ')],
            _ => b' ',
        }
    }

    fn newline(o: &Options) -> u8 {
        match o.table {
            Some(t) if o.block => t[usize::from(b'\n')],
            _ => b'\n',
        }
    }

    fn block(&mut self, data: &[u8], o: &Options, counts: &mut Counts, out: &mut Vec<u8>) {
        let (space, newline) = (Self::space(o), Self::newline(o));
        for &b in data {
            if b == newline {
                out.resize(out.len() + o.cbs.saturating_sub(self.column), space);
                self.column = 0;
            } else {
                if self.column == o.cbs {
                    counts.truncated += 1;
                }
                if self.column < o.cbs {
                    out.push(b);
                }
                self.column += 1;
            }
        }
    }

    fn finish_block(&mut self, o: &Options, out: &mut Vec<u8>) {
        if self.column > 0 {
            out.resize(out.len() + o.cbs.saturating_sub(self.column), Self::space(o));
        }
    }

    fn unblock(&mut self, data: &[u8], o: &Options, out: &mut Vec<u8>) {
        for &b in data {
            if self.column == o.cbs {
                out.push(b'\n');
                self.column = 0;
                self.spaces = 0;
            }
            self.column += 1;
            if b == b' ' {
                self.spaces += 1;
            } else {
                out.resize(out.len() + self.spaces, b' ');
                self.spaces = 0;
                out.push(b);
            }
        }
    }

    fn finish_unblock(&mut self, _: &Options, out: &mut Vec<u8>) {
        if self.column > 0 {
            out.push(b'\n');
        }
    }
}

fn report(c: &Counts, elapsed: Duration, status: Status, progress: bool) -> String {
    let mut text = String::new();
    if progress {
        text.push('\n');
    }
    text.push_str(&format!(
        "{}+{} records in\n{}+{} records out\n",
        c.in_full, c.in_part, c.out_full, c.out_part
    ));
    match c.truncated {
        0 => {}
        1 => text.push_str("1 truncated record\n"),
        n => text.push_str(&format!("{n} truncated records\n")),
    }
    if status != Status::NoTransfer {
        text.push_str(&transfer_line(c.bytes, elapsed));
        text.push('\n');
    }
    text
}

/// `512 bytes copied, 0.001 s, 512 kB/s`
fn transfer_line(bytes: u64, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64().max(1e-9);
    let human = |n: u64, base: u64| -> String {
        let text = box_text::number::human(n, base);
        let split = text.find(|c: char| c.is_ascii_alphabetic()).unwrap_or(text.len());
        let (number, unit) = text.split_at(split);
        match (unit, base) {
            ("", _) => format!("{number} B"),
            (u, 1000) => format!("{number} {u}B"),
            (u, _) => format!("{number} {u}iB"),
        }
    };
    let sizes = match bytes {
        1 => "1 byte".to_string(),
        n if n >= 1000 => {
            let (si, iec) = (human(n, 1000), human(n, 1024));
            if n >= 1024 { format!("{n} bytes ({si}, {iec})") } else { format!("{n} bytes ({si})") }
        }
        n => format!("{n} bytes"),
    };
    let rate = human((bytes as f64 / seconds) as u64, 1000);
    let mut out = Vec::new();
    let spec = box_text::printf::Spec::default();
    box_text::printf::float(&mut out, &spec, b'g', seconds);
    format!("{sizes} copied, {} s, {rate}/s", String::from_utf8_lossy(&out))
}

/// POSIX's table 4-3: EBCDIC to ASCII.
const EBCDIC_TO_ASCII: [u8; 256] = invert(&ASCII_TO_EBCDIC);

const fn invert(table: &[u8; 256]) -> [u8; 256] {
    let mut out = [0u8; 256];
    let mut i = 0;
    while i < 256 {
        out[table[i] as usize] = i as u8;
        i += 1;
    }
    out
}

/// POSIX's table for `conv=ebcdic`.
const ASCII_TO_EBCDIC: [u8; 256] = [
    0o000, 0o001, 0o002, 0o003, 0o067, 0o055, 0o056, 0o057, 0o026, 0o005, 0o045, 0o013, 0o014,
    0o015, 0o016, 0o017, 0o020, 0o021, 0o022, 0o023, 0o074, 0o075, 0o062, 0o046, 0o030, 0o031,
    0o077, 0o047, 0o034, 0o035, 0o036, 0o037, 0o100, 0o132, 0o177, 0o173, 0o133, 0o154, 0o120,
    0o175, 0o115, 0o135, 0o134, 0o116, 0o153, 0o140, 0o113, 0o141, 0o360, 0o361, 0o362, 0o363,
    0o364, 0o365, 0o366, 0o367, 0o370, 0o371, 0o172, 0o136, 0o114, 0o176, 0o156, 0o157, 0o174,
    0o301, 0o302, 0o303, 0o304, 0o305, 0o306, 0o307, 0o310, 0o311, 0o321, 0o322, 0o323, 0o324,
    0o325, 0o326, 0o327, 0o330, 0o331, 0o342, 0o343, 0o344, 0o345, 0o346, 0o347, 0o350, 0o351,
    0o255, 0o340, 0o275, 0o232, 0o155, 0o171, 0o201, 0o202, 0o203, 0o204, 0o205, 0o206, 0o207,
    0o210, 0o211, 0o221, 0o222, 0o223, 0o224, 0o225, 0o226, 0o227, 0o230, 0o231, 0o242, 0o243,
    0o244, 0o245, 0o246, 0o247, 0o250, 0o251, 0o300, 0o117, 0o320, 0o137, 0o007, 0o040, 0o041,
    0o042, 0o043, 0o044, 0o025, 0o006, 0o027, 0o050, 0o051, 0o052, 0o053, 0o054, 0o011, 0o012,
    0o033, 0o060, 0o061, 0o032, 0o063, 0o064, 0o065, 0o066, 0o010, 0o070, 0o071, 0o072, 0o073,
    0o004, 0o024, 0o076, 0o341, 0o101, 0o102, 0o103, 0o104, 0o105, 0o106, 0o107, 0o110, 0o111,
    0o121, 0o122, 0o123, 0o124, 0o125, 0o126, 0o127, 0o130, 0o131, 0o142, 0o143, 0o144, 0o145,
    0o146, 0o147, 0o150, 0o151, 0o160, 0o161, 0o162, 0o163, 0o164, 0o165, 0o166, 0o167, 0o170,
    0o200, 0o212, 0o213, 0o214, 0o215, 0o216, 0o217, 0o220, 0o152, 0o233, 0o234, 0o235, 0o236,
    0o237, 0o240, 0o252, 0o253, 0o254, 0o112, 0o256, 0o257, 0o260, 0o261, 0o262, 0o263, 0o264,
    0o265, 0o266, 0o267, 0o270, 0o271, 0o272, 0o273, 0o274, 0o241, 0o276, 0o277, 0o312, 0o313,
    0o314, 0o315, 0o316, 0o317, 0o332, 0o333, 0o334, 0o335, 0o336, 0o337, 0o352, 0o353, 0o354,
    0o355, 0o356, 0o357, 0o372, 0o373, 0o374, 0o375, 0o376, 0o377,
];

/// POSIX's table for `conv=ibm`: EBCDIC but for these places.
const ASCII_TO_IBM: [u8; 256] = {
    let mut t = ASCII_TO_EBCDIC;
    t[0x5e] = 0o137;
    t[0x7e] = 0o241;
    t[0xcb] = 0o232;
    t[0xd5] = 0o255;
    t[0xe5] = 0o275;
    t
};
