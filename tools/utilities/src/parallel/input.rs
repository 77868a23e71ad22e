//! The arguments of `parallel`: lists from the command line, from files and from standard input,
//! and their combinations.

use std::fs::File;
use std::io::{BufRead, BufReader};

use box_applet::Ctx;

use super::options::Plan;

/// The arguments of one job.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct ArgumentTuple {
    pub values: Vec<Vec<u8>>,
    /// The word around `{}` is repeated for each value (`-X`).
    pub context: bool,
}

/// The message about arguments that cannot be read.
#[derive(Debug)]
pub(super) struct SourceError(pub String);

/// The arguments of all jobs.
pub(super) struct Input {
    feed: Feed,
    /// The names of lists, with `--header :`.
    pub names: Vec<Vec<u8>>,
    reads_standard_input: bool,
    peeked: Option<ArgumentTuple>,
    delimiter: u8,
    colsep: Option<fancy_regex::Regex>,
    trim: (bool, bool),
    end_text: Option<Vec<u8>>,
}

enum Feed {
    /// One list from standard input or a file, read as it is needed.
    StandardInput,
    File(BufReader<File>),
    /// Groups of lists. The lists of a group advance together; of the groups, every combination is
    /// used, and the last one changes fastest.
    Lists {
        groups: Vec<Vec<Vec<Vec<u8>>>>,
        at: Option<Vec<usize>>,
    },
    Ended,
}

/// The marks that begin a list on the command line.
fn is_mark(word: &[u8]) -> bool {
    matches!(word, b":::" | b"::::" | b":::+" | b"::::+")
}

/// Splits the command line at the first mark of a list.
pub(super) fn split_sources(args: &[Vec<u8>]) -> (&[Vec<u8>], &[Vec<u8>]) {
    let at = args.iter().position(|a| is_mark(a)).unwrap_or(args.len());
    args.split_at(at)
}

fn read_error(name: &[u8], e: &std::io::Error) -> SourceError {
    let (name, reason) = (String::from_utf8_lossy(name), box_sys::error_text(e));
    SourceError(format!("Cannot open input file `{name}': {reason}."))
}

impl Input {
    /// Opens the lists; reads them if there are several.
    pub(super) fn open(
        ctx: &mut Ctx<'_>,
        plan: &Plan,
        sources: &[Vec<u8>],
    ) -> Result<Input, SourceError> {
        let mut input = Input {
            feed: Feed::Ended,
            names: Vec::new(),
            reads_standard_input: sources.is_empty() && plan.files.is_empty(),
            peeked: None,
            delimiter: plan.delimiter,
            colsep: plan.colsep.clone(),
            trim: plan.trim,
            end_text: plan.end_text.clone(),
        };
        if input.reads_standard_input && !plan.has_header {
            input.feed = Feed::StandardInput;
            return Ok(input);
        }
        if let (true, [name]) = (sources.is_empty() && !plan.has_header, plan.files.as_slice())
            && name != b"-"
        {
            let file = File::open(ctx.path(name)).map_err(|e| read_error(name, &e))?;
            input.feed = Feed::File(BufReader::new(file));
            return Ok(input);
        }
        let mut groups: Vec<Vec<Vec<Vec<u8>>>> = Vec::new();
        let mut files = plan.files.clone();
        if input.reads_standard_input {
            files.push(b"-".to_vec());
        }
        for name in &files {
            let list = input.read_list(ctx, name)?;
            groups.push(vec![list]);
        }
        input.read_sources(ctx, sources, &mut groups)?;
        if plan.links {
            groups = vec![groups.into_iter().flatten().collect()];
        }
        if plan.has_header {
            for list in groups.iter_mut().flatten() {
                let name = if list.is_empty() { Vec::new() } else { list.remove(0) };
                input.names.extend(input.split_columns(&name));
            }
        }
        let lengths: Vec<usize> = groups.iter().map(|g| group_length(g)).collect();
        if !groups.is_empty() && lengths.iter().all(|n| *n > 0) {
            let at = Some(vec![0; groups.len()]);
            input.feed = Feed::Lists { groups, at };
        }
        Ok(input)
    }

    /// Reads the lists after the marks on the command line.
    fn read_sources(
        &self,
        ctx: &mut Ctx<'_>,
        sources: &[Vec<u8>],
        groups: &mut Vec<Vec<Vec<Vec<u8>>>>,
    ) -> Result<(), SourceError> {
        let mut at = 0;
        while at < sources.len() {
            let mark = sources[at].as_slice();
            let end = sources[at + 1..].iter().position(|w| is_mark(w));
            let end = end.map_or(sources.len(), |n| at + 1 + n);
            let words = &sources[at + 1..end];
            let lists = if mark.starts_with(b"::::") {
                let read = |name: &Vec<u8>| self.read_list(ctx, name);
                words.iter().map(read).collect::<Result<Vec<_>, _>>()?
            } else {
                let stop = self.end_text.as_ref().and_then(|t| words.iter().position(|w| w == t));
                vec![words[..stop.unwrap_or(words.len())].to_vec()]
            };
            for (n, list) in lists.into_iter().enumerate() {
                match groups.last_mut() {
                    Some(group) if mark.ends_with(b"+") && n == 0 => group.push(list),
                    _ => groups.push(vec![list]),
                }
            }
            at = end;
        }
        Ok(())
    }

    fn read_list(&self, ctx: &mut Ctx<'_>, name: &[u8]) -> Result<Vec<Vec<u8>>, SourceError> {
        let text = ctx.read(name).map_err(|e| read_error(name, &e))?;
        let body = text.strip_suffix(&[self.delimiter]).unwrap_or(&text);
        if text.is_empty() {
            return Ok(Vec::new());
        }
        Ok(body.split(|c| *c == self.delimiter).map(<[u8]>::to_vec).collect())
    }

    /// Returns the arguments of the next job, without taking them.
    pub(super) fn peek(&mut self, ctx: &mut Ctx<'_>) -> Option<&ArgumentTuple> {
        if self.peeked.is_none() {
            self.peeked = self.next(ctx);
        }
        self.peeked.as_ref()
    }

    /// Returns the arguments of the next job.
    pub(super) fn next(&mut self, ctx: &mut Ctx<'_>) -> Option<ArgumentTuple> {
        if let Some(tuple) = self.peeked.take() {
            return Some(tuple);
        }
        let words = match &mut self.feed {
            Feed::Ended => return None,
            Feed::StandardInput => read_word(&mut ctx.stdin, self.delimiter).map(|w| vec![w]),
            Feed::File(file) => read_word(file, self.delimiter).map(|w| vec![w]),
            Feed::Lists { groups, at } => next_combination(groups, at),
        };
        let is_end = |words: &Vec<Vec<u8>>| words.first() == self.end_text.as_ref();
        let Some(words) = words.filter(|w| self.end_text.is_none() || !is_end(w)) else {
            self.feed = Feed::Ended;
            return None;
        };
        let columns = words.iter().flat_map(|w| self.split_columns(w));
        let values = columns.map(|w| trim(w, self.trim)).collect();
        Some(ArgumentTuple { values, context: false })
    }

    fn split_columns(&self, word: &[u8]) -> Vec<Vec<u8>> {
        match (&self.colsep, std::str::from_utf8(word)) {
            (Some(regex), Ok(text)) => {
                regex.split(text).map_while(Result::ok).map(|c| c.as_bytes().to_vec()).collect()
            }
            _ => vec![word.to_vec()],
        }
    }
}

fn trim(word: Vec<u8>, (left, right): (bool, bool)) -> Vec<u8> {
    let mut rest = word.as_slice();
    if left {
        rest = rest.trim_ascii_start();
    }
    if right {
        rest = rest.trim_ascii_end();
    }
    rest.to_vec()
}

fn read_word(reader: &mut impl BufRead, delimiter: u8) -> Option<Vec<u8>> {
    let mut word = Vec::new();
    match reader.read_until(delimiter, &mut word) {
        Ok(0) | Err(_) => None,
        Ok(_) => {
            if word.last() == Some(&delimiter) {
                word.pop();
            }
            Some(word)
        }
    }
}

/// Returns the number of steps of lists that advance together: a shorter list begins again.
fn group_length(group: &[Vec<Vec<u8>>]) -> usize {
    if group.iter().any(Vec::is_empty) {
        return 0;
    }
    group.iter().map(Vec::len).max().unwrap_or(0)
}

fn next_combination(
    groups: &[Vec<Vec<Vec<u8>>>],
    at: &mut Option<Vec<usize>>,
) -> Option<Vec<Vec<u8>>> {
    let places = at.as_mut()?;
    let mut words = Vec::new();
    for (group, place) in groups.iter().zip(places.iter()) {
        words.extend(group.iter().map(|list| list[place % list.len()].clone()));
    }
    for n in (0..places.len()).rev() {
        places[n] += 1;
        if places[n] < group_length(&groups[n]) {
            return Some(words);
        }
        places[n] = 0;
    }
    *at = None;
    Some(words)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn list(words: &str) -> Vec<Vec<u8>> {
        words.split(' ').map(|w| w.as_bytes().to_vec()).collect()
    }

    #[test]
    fn combinations() {
        let groups = vec![vec![list("a b")], vec![list("1 2 3"), list("x y")]];
        let mut at = Some(vec![0, 0]);
        let mut all = Vec::new();
        while let Some(words) = next_combination(&groups, &mut at) {
            all.push(String::from_utf8(words.concat()).expect("text"));
        }
        assert_eq!(all, ["a1x", "a2y", "a3x", "b1x", "b2y", "b3x"]);
    }
}
