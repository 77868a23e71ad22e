//! The machine: variables, record, streams, and the run from BEGIN to END.
//!
//! | file | contents |
//! |---|---|
//! | `vm/exec` | the instruction loop |
//! | `vm/update`, `vm/types` | `+=`, `++`, arithmetic; `typeof` |
//! | `vm/place` | loading and storing variables, fields, elements; special variables |
//! | `vm/record`, `vm/split` | `$0` and its fields |
//! | `vm/reader`, `vm/input` | records from streams; ARGV and the main input |
//! | `vm/stream`, `vm/output`, `vm/getline` | redirections, pipes, `close`, `print`, `getline` |
//! | `vm/inplace` | `-i inplace` |
//! | `vm/format` | `printf`, `sprintf` |
//! | `vm/builtin` | built-in functions by name; `vm/string`, `vm/subst`, `vm/sort`, `vm/time`, `vm/bits` their bodies |
//! | `vm/regexes`, `vm/random` | compiled patterns; `rand` |

mod bits;
mod builtin;
mod exec;
mod format;
mod getline;
mod inplace;
mod input;
mod output;
mod place;
mod random;
mod reader;
mod record;
mod regexes;
mod sort;
mod split;
mod stream;
mod string;
mod subst;
mod time;
mod types;
mod update;

use std::rc::Rc;

use box_applet::Ctx;
use box_text::regex::Regex;

use crate::array::{Array, ArrayRef, AwkKey};
use crate::code::{AwkCode, Pc};
use crate::error::AwkRunError;
use crate::special::Special;
use crate::text::AwkText;
use crate::value::{AwkValue, NumberFormat};
use input::MainInput;
use random::AwkRandom;
use reader::RecordSeparator;
use record::AwkRecord;
use regexes::Regexes;
use stream::AwkStreams;

pub use input::assignment_position;
pub use regexes::check_pattern;

type Result<T> = std::result::Result<T, AwkRunError>;

/// The content of a variable.
#[derive(Clone, Debug)]
enum GlobalCell {
    Value(AwkValue),
    Array(ArrayRef),
}

/// The state of the caller that a return restores.
#[derive(Clone, Copy, Debug)]
struct AwkFrame {
    ret: Pc,
    /// The index at which the caller's parameters begin.
    base: usize,
    /// The number of `for (k in a)` loops in progress in the caller.
    iters: usize,
}

/// A `for (k in a)` in progress.
struct Iter {
    keys: std::vec::IntoIter<AwkKey>,
}

/// The end of a piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum AwkFlow {
    Done,
    Next,
    NextFile,
    Exit,
}

/// Settings from the command line.
#[derive(Clone, Debug, Default)]
pub struct RunSettings {
    pub traditional: bool,
    pub utf8: bool,
    /// `-i inplace`.
    pub inplace: bool,
    /// The `-v` assignments that name a suffix for backups.
    pub inplace_suffix: Vec<(Vec<u8>, Vec<u8>)>,
    /// `-n`: input may hold octal and hexadecimal numbers.
    pub non_decimal: bool,
    /// The elements of ARGV, from the program's name on.
    pub argv: Vec<Vec<u8>>,
    /// `-v` and `-F`, in order.
    pub assignments: Vec<(Vec<u8>, Vec<u8>)>,
}

/// The machine.
pub struct AwkMachine<'c, 'a> {
    ctx: &'c mut Ctx<'a>,
    code: Rc<AwkCode>,
    settings: RunSettings,
    globals: Vec<GlobalCell>,
    locals: Vec<GlobalCell>,
    base: usize,
    stack: Vec<AwkValue>,
    arrays: Vec<ArrayRef>,
    patterns: Vec<Rc<Regex>>,
    frames: Vec<AwkFrame>,
    iters: Vec<Iter>,
    ranges: Vec<bool>,
    record: AwkRecord,
    rt: Vec<u8>,
    nr: f64,
    fnr: f64,
    convfmt: NumberFormat,
    ofmt: NumberFormat,
    ofs: Vec<u8>,
    ors: Vec<u8>,
    subsep: Vec<u8>,
    separator: RecordSeparator,
    regexes: Regexes,
    main: MainInput,
    streams: AwkStreams,
    random: AwkRandom,
    /// The file being rewritten under `-i inplace`.
    edit: Option<inplace::InplaceEdit>,
    exit_status: u8,
    /// The current instruction, whose line messages show.
    pc: usize,
    /// The number of active calls of comparison functions by `asort`.
    sort_depth: usize,
    /// A buffer that output lines reuse.
    scratch: Vec<u8>,
    /// The zone that was used last, and the value of `TZ` that named it.
    zone: Option<(Vec<u8>, Rc<box_text::time::Zone>)>,
}

impl<'c, 'a> AwkMachine<'c, 'a> {
    /// Creates a machine that has not begun to run.
    pub fn new(ctx: &'c mut Ctx<'a>, code: AwkCode, settings: RunSettings) -> AwkMachine<'c, 'a> {
        let cells = |_| GlobalCell::Value(AwkValue::Uninit);
        let globals = (0..code.globals.len().max(crate::special::NAMES.len())).map(cells).collect();
        let default_format = NumberFormat::new(b"%.6g");
        let mut m = AwkMachine {
            globals,
            ranges: vec![false; code.ranges as usize],
            regexes: Regexes::new(code.patterns.clone(), settings.utf8),
            record: AwkRecord::new(settings.utf8),
            code: Rc::new(code),
            ctx,
            settings,
            locals: Vec::new(),
            base: 0,
            stack: Vec::with_capacity(64),
            arrays: Vec::new(),
            patterns: Vec::new(),
            frames: Vec::new(),
            iters: Vec::new(),
            rt: Vec::new(),
            nr: 0.0,
            fnr: 0.0,
            convfmt: default_format.clone(),
            ofmt: default_format,
            ofs: b" ".to_vec(),
            ors: b"\n".to_vec(),
            subsep: vec![0x1c],
            separator: RecordSeparator::Byte(b'\n'),
            main: MainInput::default(),
            streams: AwkStreams::default(),
            random: AwkRandom::new(),
            edit: None,
            exit_status: 0,
            pc: 0,
            sort_depth: 0,
            zone: None,
            scratch: Vec::new(),
        };
        m.set_defaults();
        m
    }

    fn set_global(&mut self, s: Special, v: AwkValue) {
        self.globals[s as usize] = GlobalCell::Value(v);
    }

    fn set_defaults(&mut self) {
        use Special as S;
        for (s, text) in [
            (S::Fs, &b" "[..]),
            (S::Ofs, b" "),
            (S::Ors, b"\n"),
            (S::Rs, b"\n"),
            (S::Subsep, b"\x1c"),
            (S::Convfmt, b"%.6g"),
            (S::Ofmt, b"%.6g"),
            (S::Filename, b""),
            (S::Errno, b""),
            (S::Rt, b""),
            (S::Fieldwidths, b""),
            (S::Fpat, b"[^[:space:]]+"),
            (S::Textdomain, b"messages"),
        ] {
            self.set_global(s, AwkValue::str(text));
        }
        for s in [S::Rstart, S::Ignorecase, S::Argind, S::Binmode, S::Lint] {
            self.set_global(s, AwkValue::Num(0.0));
        }
        self.set_global(S::Rlength, AwkValue::Num(-1.0));
        let argv = Array::new_shared();
        for (n, arg) in self.settings.argv.iter().enumerate() {
            argv.borrow_mut().set(AwkKey::Int(n as i64), AwkValue::Input(AwkText::new(arg)));
        }
        self.set_global(S::Argc, AwkValue::Num(self.settings.argv.len() as f64));
        self.globals[S::Argv as usize] = GlobalCell::Array(argv);
        let environ = Array::new_shared();
        for (k, v) in self.ctx.env.iter() {
            environ.borrow_mut().set(AwkKey::from_bytes(k), AwkValue::Input(AwkText::new(v)));
        }
        self.globals[S::Environ as usize] = GlobalCell::Array(environ);
        self.globals[S::Procinfo as usize] = GlobalCell::Array(self.procinfo_array());
        let functab = Array::new_shared();
        for f in &self.code.functions {
            functab.borrow_mut().set(AwkKey::from_bytes(&f.name), AwkValue::str(&f.name));
        }
        self.globals[S::Functab as usize] = GlobalCell::Array(functab);
        // The keys are for `in` and `for`; values are looked up in the variables themselves.
        let symtab = Array::new_shared();
        for name in &self.code.globals {
            symtab.borrow_mut().set(AwkKey::from_bytes(name), AwkValue::Uninit);
        }
        self.globals[S::Symtab as usize] = GlobalCell::Array(symtab);
    }

    fn procinfo_array(&self) -> ArrayRef {
        let info = Array::new_shared();
        {
            let mut a = info.borrow_mut();
            let mut set = |k: &[u8], v: AwkValue| a.set(AwkKey::from_bytes(k), v);
            set(b"version", AwkValue::str(b"5.2.1"));
            set(b"strftime", AwkValue::str(b"%a %b %e %H:%M:%S %Z %Y"));
            set(b"FS", AwkValue::str(b"FS"));
            set(b"platform", AwkValue::str(b"posix"));
            set(b"pid", AwkValue::Num(f64::from(self.ctx.procs.pid())));
            set(b"ppid", AwkValue::Num(f64::from(self.ctx.procs.parent_pid())));
            for id in [&b"uid"[..], b"gid", b"euid", b"egid"] {
                set(id, AwkValue::Num(0.0));
            }
        }
        info
    }

    /// Runs the program and returns the exit status.
    pub fn run(mut self) -> u8 {
        let ended = self.run_all();
        let status = match ended {
            Ok(()) => self.exit_status,
            Err(e) => self.report_error(&e),
        };
        let closed = self.close_all();
        match closed {
            Ok(()) => status,
            Err(e) => self.report_error(&e).max(status),
        }
    }

    fn run_all(&mut self) -> Result<()> {
        for (name, value) in std::mem::take(&mut self.settings.assignments) {
            self.assign_by_name(&name, &value)?;
        }
        let code = self.code.clone();
        let begun = match code.begin {
            Some(entry) => self.run_code(entry)?,
            None => AwkFlow::Done,
        };
        if begun != AwkFlow::Exit
            && (code.rules.is_some()
                || code.end.is_some()
                || code.begin_file.is_some()
                || code.end_file.is_some())
        {
            self.main_loop()?;
        }
        // After `exit` in another rule, END still runs.
        if let Some(entry) = code.end {
            self.run_code(entry)?;
        }
        Ok(())
    }

    fn main_loop(&mut self) -> Result<()> {
        let rules = self.code.rules;
        while self.next_main_record()? == input::RecordRead::Record {
            let Some(entry) = rules else { continue };
            let mut flow = self.run_code(entry)?;
            if flow == AwkFlow::NextFile {
                flow = self.end_file()?;
            }
            if flow == AwkFlow::Exit {
                break;
            }
        }
        Ok(())
    }

    /// Runs a piece of code from its entry to its end, with empty stacks.
    fn run_code(&mut self, entry: Pc) -> Result<AwkFlow> {
        self.stack.clear();
        self.arrays.clear();
        self.patterns.clear();
        self.locals.clear();
        self.frames.clear();
        self.iters.clear();
        self.base = 0;
        self.execute_code(entry)
    }

    /// Returns the place that the program has reached, for messages: `cmd. line:3: (FILENAME=x
    /// FNR=2) `.
    fn place_text(&self) -> String {
        let line = self.code.lines.get(self.pc).copied().unwrap_or_default();
        let source = match self.code.sources.get(line.source()) {
            Some(Some(name)) => String::from_utf8_lossy(name).into_owned(),
            _ => "cmd. line".into(),
        };
        let mut text = format!("{source}:{}: ", line.number());
        if self.nr > 0.0 {
            let name = self.global_value(Special::Filename).text(&self.convfmt);
            let name = if name.is_empty() { "-".into() } else { String::from_utf8_lossy(&name) };
            text.push_str(&format!("(FILENAME={name} FNR={}) ", self.fnr));
        }
        text
    }

    /// Prints an error and returns the exit status.
    fn report_error(&mut self, e: &AwkRunError) -> u8 {
        match e {
            AwkRunError::BrokenPipe => 141,
            AwkRunError::Fatal(message) => {
                let place = self.place_text();
                self.ctx.error(format_args!("{place}fatal: {message}"));
                2
            }
        }
    }

    fn print_warning(&mut self, message: &str) {
        let place = self.place_text();
        self.ctx.error(format_args!("{place}warning: {message}"));
    }
}
