//! The tools that carry out file requests. Their schemas and descriptions come from
//! `wasibox-files`.

use crate::exec::ClientCall;
use crate::schema;
use crate::show::is_picture;
use crate::tool::{AnswerPart, ToolResult};
use serde_json::{Map, Value, json};
use std::fmt::Write;
use wasibox::files::{Answer, FileEntry, FileText, GrepAnswer, GrepOutput, Request, SearchAnswer};
use wasibox::{Refusal, RefusalKind};

/// The JSON names of a request and of its answer.
#[derive(Clone, Copy)]
pub struct FileToolNames {
    pub request: &'static str,
    pub answer: &'static str,
}

impl FileToolNames {
    /// Returns the schema of the request's fields.
    pub fn input(self) -> Value {
        schema_variant(schema::input_schema_of::<Request>(), self.request)
    }

    /// Returns the schema of the answer's fields.
    pub fn output(self) -> Value {
        schema_variant(schema::of_answer::<Answer>(), self.answer)
    }

    /// Carries out the request.
    ///
    /// # Errors
    /// Returns an error for invalid arguments, and the errors of the file operation.
    pub fn run(
        self,
        arguments: Map<String, Value>,
        call: &ClientCall<'_>,
    ) -> Result<ToolResult, Refusal> {
        let request = json!({ self.request: arguments });
        let request: Request = serde_json::from_value(request).map_err(Refusal::invalid_request)?;
        let answer = call.session()?.files(&request)?;
        let (parts, doubled) = answer_parts(&answer, &request);
        let whole =
            serde_json::to_value(&answer).map_err(|e| Refusal::new(RefusalKind::Internal, e))?;
        let inner = match whole {
            Value::Object(o) => o.into_iter().next().map(|(_, inner)| inner),
            _ => None,
        };
        Ok(ToolResult { answer: inner.unwrap_or_default(), parts, doubled })
    }
}

/// Returns the schema of one variant of an enumeration, with all definitions.
fn schema_variant(schema: Value, name: &str) -> Value {
    let choices = schema.get("oneOf").and_then(Value::as_array);
    let found = choices.into_iter().flatten().find_map(|s| s.get("properties")?.get(name));
    let mut found = found.cloned().unwrap_or_default();
    if let (Some(object), Some(definitions)) = (found.as_object_mut(), schema.get("$defs")) {
        object.insert("$defs".into(), definitions.clone());
    }
    found
}

/// Returns an answer's parts for a model, and JSON pointers to the bytes in the answer that a part
/// repeats.
fn answer_parts(answer: &Answer, request: &Request) -> (Vec<AnswerPart>, Vec<&'static str>) {
    let text = match answer {
        Answer::Read { path, size, content } => return read(path, *size, content),
        Answer::Data { path, mime, data, next_offset, size } => {
            let data = data.0.clone();
            let part = if is_picture(mime) && next_offset.is_none() {
                AnswerPart::Image { mime: mime.clone(), data }
            } else {
                AnswerPart::Blob { path: path.clone(), mime: mime.clone(), data }
            };
            let more = next_offset.map_or(String::new(), |n| format!("; continue at offset {n}"));
            let text = format!("{path}: {size} bytes, {mime}{more}");
            return (vec![AnswerPart::Text(text), part], vec!["/data"]);
        }
        Answer::Written { path, created, size } => {
            let what = if *created { "created" } else { "written" };
            format!("{path} {what}, {size} bytes")
        }
        Answer::Edited { path, replacements, shown } => {
            format!("{path}: {replacements} replacements\n{shown}")
        }
        Answer::Patched(p) => {
            let line = |f: &wasibox::files::PatchedFile| {
                let what = match (f.created, f.deleted) {
                    (true, _) => "created",
                    (_, true) => "deleted",
                    _ => "patched",
                };
                format!("{} {what}, {} hunks\n", f.path, f.hunks)
            };
            let note = if p.dry_run { "nothing was written\n" } else { "" };
            p.files.iter().map(line).collect::<String>() + note
        }
        Answer::Deleted { path, count } => format!("{path} deleted, {count} in all"),
        Answer::Moved { from, to } => format!("{from} is now {to}"),
        Answer::Made { path, created } => {
            if *created {
                format!("{path} made")
            } else {
                format!("{path} was there already")
            }
        }
        Answer::Stat(entry) => listing_text(std::slice::from_ref(entry)),
        Answer::Entries { path, entries, next_offset } => {
            format!("{path}\n{}{}", listing_text(entries), continue_note(*next_offset))
        }
        Answer::Paths { paths, more } => {
            let note = if *more { "[there are more]\n" } else { "" };
            if paths.is_empty() { "[nothing]".into() } else { paths.join("\n") + "\n" + note }
        }
        Answer::Matches(m) => grep_text(m, request),
        Answer::Found(f) => search_text(f),
    };
    (vec![AnswerPart::Text(text)], Vec::new())
}

fn read(path: &str, size: u64, content: &FileText) -> (Vec<AnswerPart>, Vec<&'static str>) {
    let text = match content {
        FileText::Text { text, note, next_offset, .. } => {
            let note = note.as_ref().map_or(String::new(), |n| format!("\n[{n}]"));
            let more = match (next_offset, note.is_empty()) {
                (Some(n), true) => format!("\n[continue at offset {n}]"),
                _ => String::new(),
            };
            format!("{text}{note}{more}")
        }
        FileText::Data { mime, data } => {
            let data = data.0.clone();
            let part = if is_picture(mime) {
                AnswerPart::Image { mime: mime.clone(), data }
            } else {
                AnswerPart::Blob { path: path.into(), mime: mime.clone(), data }
            };
            let text = AnswerPart::Text(format!("{path}: {size} bytes, {mime}"));
            return (vec![text, part], vec!["/content/data/data"]);
        }
        FileText::Binary { mime, note } => format!("{path}: {size} bytes, {mime}\n{note}"),
        FileText::Directory { entries, next_offset } => {
            format!("{path}\n{}{}", listing_text(entries), continue_note(*next_offset))
        }
    };
    (vec![AnswerPart::Text(text)], Vec::new())
}

fn continue_note(next_offset: Option<u64>) -> String {
    next_offset.map_or(String::new(), |n| format!("[continue at offset {n}]\n"))
}

fn listing_text(entries: &[FileEntry]) -> String {
    use wasibox::files::FileEntryKind as File;
    let mut out = String::new();
    for e in entries {
        let end = match (e.kind, &e.target) {
            (File::Directory, _) => "/".to_owned(),
            (_, Some(target)) => format!(" -> {target}"),
            _ => String::new(),
        };
        let _ = writeln!(out, "{:>10} {}{end}", e.size, e.path);
    }
    out
}

fn grep_text(m: &GrepAnswer, request: &Request) -> String {
    let output = match request {
        Request::Grep(g) => g.output,
        _ => GrepOutput::Content,
    };
    let mut out = String::new();
    for hit in &m.files {
        let _ = match output {
            GrepOutput::Content => writeln!(out, "{}", hit.path),
            GrepOutput::Files => writeln!(out, "{}", hit.path),
            GrepOutput::Count => writeln!(out, "{}: {}", hit.path, hit.count),
        };
        for line in &hit.lines {
            let mark = if line.matches { ':' } else { '-' };
            let _ = writeln!(out, "{}{mark}{}", line.number, line.text);
        }
    }
    if m.files.is_empty() {
        let _ = writeln!(out, "[no match in {} files]", m.searched);
    }
    for failed in m.failed.iter().take(5) {
        let _ = writeln!(out, "[{failed}]");
    }
    if let Some(note) = &m.note {
        let _ = writeln!(out, "[{note}]");
    }
    out + &continue_note(m.next_offset)
}

fn search_text(f: &SearchAnswer) -> String {
    let mut out = String::new();
    for place in &f.places {
        let once = if place.unique { "" } else { " (not unique)" };
        let _ = writeln!(
            out,
            "{} lines {}-{}{once}\n{}",
            place.path, place.first, place.last, place.text
        );
    }
    if f.places.is_empty() {
        out.push_str("[nothing found]\n");
    }
    if let Some(note) = &f.note {
        let _ = writeln!(out, "[{note}]");
    }
    out + &continue_note(f.next_offset)
}
