//! Documents from files and standard input.

use std::cell::RefCell;
use std::collections::VecDeque;
use std::io::Read;

use box_applet::Ctx;
use box_sys::strerror;
use jaq_json::Val;

use crate::options::Options;

/// The inputs of a run, one by one, from all files in order. A file that cannot be opened is
/// noted and skipped; a document that does not parse ends its file.
pub struct Documents<'o> {
    options: &'o Options,
    /// Names and contents still to be read.
    sources: VecDeque<(Option<Vec<u8>>, Vec<u8>)>,
    current: Box<dyn Iterator<Item = Result<Val, String>>>,
    filename: &'o RefCell<Val>,
    slurped: bool,
    /// Messages about files that could not be opened; the run ends with status 2.
    pub failures: Vec<String>,
}

impl<'o> Documents<'o> {
    /// Reads all sources; `filename` is kept at the name of the current file.
    pub fn open(
        ctx: &mut Ctx<'_>,
        options: &'o Options,
        filename: &'o RefCell<Val>,
    ) -> Documents<'o> {
        let mut sources = VecDeque::new();
        let mut failures = Vec::new();
        if options.files.is_empty() {
            let mut data = Vec::new();
            if let Err(e) = ctx.stdin.read_to_end(&mut data) {
                failures.push(format!("Could not read standard input: {}", strerror(&e)));
            }
            sources.push_back((None, data));
        }
        for file in &options.files {
            match std::fs::read(ctx.path(file)) {
                Ok(data) => sources.push_back((Some(file.clone()), data)),
                Err(e) => failures.push(format!(
                    "Could not open {}: {}",
                    String::from_utf8_lossy(file),
                    strerror(&e)
                )),
            }
        }
        Documents {
            options,
            sources,
            current: Box::new(std::iter::empty()),
            filename,
            slurped: false,
            failures,
        }
    }

    /// The next value, all files taken as one stream.
    fn next_value(&mut self) -> Option<Result<Val, String>> {
        loop {
            if let Some(v) = self.current.next() {
                return Some(v);
            }
            let (name, data) = self.sources.pop_front()?;
            *self.filename.borrow_mut() = name.map_or(Val::Null, Val::utf8_str);
            self.current =
                if self.options.raw_input { lines(data) } else { parse(data, self.options) };
        }
    }

    fn slurp(&mut self) -> Result<Val, String> {
        if self.options.raw_input {
            let all: Vec<u8> = self.sources.drain(..).flat_map(|(_, d)| d).collect();
            return Ok(Val::utf8_str(all));
        }
        let mut values = Vec::new();
        while let Some(v) = self.next_value() {
            values.push(v?);
        }
        Ok(values.into_iter().collect())
    }
}

impl Iterator for Documents<'_> {
    type Item = Result<Val, String>;

    fn next(&mut self) -> Option<Self::Item> {
        if self.options.slurp {
            if self.slurped {
                return None;
            }
            self.slurped = true;
            return Some(self.slurp());
        }
        self.next_value()
    }
}

type Values = Box<dyn Iterator<Item = Result<Val, String>>>;

fn lines(data: Vec<u8>) -> Values {
    let mut rest = bytes::Bytes::from(data);
    Box::new(std::iter::from_fn(move || {
        if rest.is_empty() {
            return None;
        }
        let end = rest.iter().position(|&c| c == b'\n');
        let line = rest.split_to(end.unwrap_or(rest.len()));
        if end.is_some() {
            let _ = rest.split_to(1);
        }
        Some(Ok(Val::utf8_str(line)))
    }))
}

/// All documents of a stream.
pub fn from_stream(mut stream: impl Read, options: &Options) -> Vec<Result<Val, String>> {
    let mut data = Vec::new();
    if let Err(e) = stream.read_to_end(&mut data) {
        return vec![Err(strerror(&e))];
    }
    if options.raw_input {
        return if options.slurp { vec![Ok(Val::utf8_str(data))] } else { lines(data).collect() };
    }
    let values = parse(data, options);
    if options.slurp { vec![values.collect::<Result<Val, String>>()] } else { values.collect() }
}

/// All documents of a text. After an error nothing more comes from it.
fn parse(data: Vec<u8>, options: &Options) -> Values {
    let mut out = Vec::new();
    let data = if options.seq {
        data.into_iter().map(|c| if c == 0x1e { b' ' } else { c }).collect()
    } else {
        data
    };
    for v in jaq_json::read::parse_many(&data) {
        match v {
            Ok(v) if options.stream => stream(&v, &mut Vec::new(), &mut out),
            Ok(v) => out.push(Ok(v)),
            Err(e) => {
                out.push(Err(format!("{e}")));
                break;
            }
        }
    }
    Box::new(out.into_iter())
}

/// The streaming form of a value (jq manual, "Streaming"): events of leaves with their paths,
/// and a closing event per container.
fn stream(v: &Val, path: &mut Vec<Val>, out: &mut Vec<Result<Val, String>>) {
    let event = |items: Vec<Val>| Ok(items.into_iter().collect::<Val>());
    let here = |path: &[Val]| path.iter().cloned().collect::<Val>();
    let mut last = None;
    match v {
        Val::Arr(a) if !a.is_empty() => {
            for (i, x) in a.iter().enumerate() {
                path.push(Val::from(i));
                stream(x, path, out);
                last = path.pop();
            }
        }
        Val::Obj(o) if !o.is_empty() => {
            for (k, x) in o.iter() {
                path.push(k.clone());
                stream(x, path, out);
                last = path.pop();
            }
        }
        leaf => out.push(event(vec![here(path), leaf.clone()])),
    }
    if let Some(key) = last {
        path.push(key);
        out.push(event(vec![here(path)]));
        path.pop();
    }
}
