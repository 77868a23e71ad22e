//! Lines of the index: for readers, for roff and for TeX.

use std::io::{self, Write};

use super::fields::{FieldWidths, LineField, LineFields, define_fields};
use super::text::{Contexts, Occurrence, PtxText, is_white, skip_black};
use super::{IndexFormat, PtxOptions, ReferenceKind};

/// Writes the lines of an index.
pub(super) struct LineWriter<'t> {
    options: &'t PtxOptions,
    contexts: &'t Contexts,
    text: &'t PtxText,
    widths: FieldWidths,
}

impl<'t> LineWriter<'t> {
    pub(super) fn new(
        options: &'t PtxOptions,
        contexts: &'t Contexts,
        text: &'t PtxText,
    ) -> LineWriter<'t> {
        LineWriter { options, contexts, text, widths: FieldWidths::new(options, text) }
    }

    /// Writes the line of a keyword.
    pub(super) fn write_line(
        &mut self,
        out: &mut dyn Write,
        occurrence: &Occurrence,
    ) -> io::Result<()> {
        let data = &self.text.files[occurrence.file].data;
        let longest = self.text.longest_word;
        let fields = define_fields(data, longest, occurrence, self.contexts, &self.widths);
        let reference = self.reference_of(occurrence);
        match self.options.format {
            IndexFormat::Plain => self.write_plain(out, data, &fields, &reference),
            IndexFormat::Roff => self.write_roff(out, data, &fields, &reference),
            IndexFormat::Tex => self.write_tex(out, data, &fields, &reference),
        }
    }

    /// Returns the text of a line's reference; empty if there are none.
    fn reference_of(&self, occurrence: &Occurrence) -> Vec<u8> {
        let file = &self.text.files[occurrence.file];
        let place = occurrence.reference;
        match self.options.references {
            ReferenceKind::None => Vec::new(),
            ReferenceKind::Automatic => {
                let earlier = occurrence.file.checked_sub(1);
                let before = earlier.map_or(0, |i| self.text.files[i].lines);
                [&file.name, format!(":{}", place + 1 - before).as_bytes()].concat()
            }
            ReferenceKind::FirstWord => {
                file.data[place..skip_black(&file.data, place, occurrence.right)].to_vec()
            }
        }
    }

    /// Writes a text with the characters that the format needs to be written otherwise.
    fn write_text(&self, out: &mut dyn Write, text: &[u8]) -> io::Result<()> {
        for &c in text {
            match (self.options.format, c) {
                (_, c) if is_white(c) => out.write_all(b" ")?,
                (IndexFormat::Roff, b'"') => out.write_all(b"\"\"")?,
                (IndexFormat::Tex, b'$' | b'%' | b'&' | b'#' | b'_') => {
                    out.write_all(&[b'\\', c])?
                }
                (IndexFormat::Tex, b'{' | b'}') => out.write_all(&[b'$', b'\\', c, b'$'])?,
                (IndexFormat::Tex, b'\\') => out.write_all(b"\\backslash{}")?,
                _ => out.write_all(&[c])?,
            }
        }
        Ok(())
    }

    fn write_field(&self, out: &mut dyn Write, data: &[u8], field: &LineField) -> io::Result<()> {
        let text = if field.end > field.start { &data[field.start..field.end] } else { b"" };
        self.write_text(out, text)
    }

    /// Writes the mark of a cut, if text is missing.
    fn write_mark(&self, out: &mut dyn Write, field: &LineField) -> io::Result<()> {
        if field.is_cut { out.write_all(&self.options.truncation) } else { Ok(()) }
    }

    /// Returns the columns of a field with its mark.
    fn columns(&self, field: &LineField) -> isize {
        let mark = if field.is_cut { self.options.truncation.len() } else { 0 };
        field.length() + mark.cast_signed()
    }

    fn write_plain(
        &self,
        out: &mut dyn Write,
        data: &[u8],
        fields: &LineFields,
        reference: &[u8],
    ) -> io::Result<()> {
        let FieldWidths { half_line, gap, .. } = self.widths;
        let kind = self.options.references;
        let is_right = self.options.references_on_right;
        if !is_right {
            self.write_text(out, reference)?;
            let mut length = reference.len();
            // A colon follows, as in the messages of compilers.
            if kind == ReferenceKind::Automatic {
                out.write_all(b":")?;
                length += 1;
            }
            let room = self.widths.reference.cast_signed() + gap;
            write_blanks(out, room - length.cast_signed())?;
        }
        let mut room = half_line - gap - self.columns(&fields.before);
        if fields.tail.length() > 0 {
            self.write_field(out, data, &fields.tail)?;
            self.write_mark(out, &fields.tail)?;
            room -= self.columns(&fields.tail);
        }
        write_blanks(out, room)?;
        self.write_mark(out, &fields.before)?;
        self.write_field(out, data, &fields.before)?;
        write_blanks(out, gap)?;
        self.write_field(out, data, &fields.keyword)?;
        self.write_mark(out, &fields.keyword)?;
        let room = half_line - self.columns(&fields.keyword);
        let has_right = kind != ReferenceKind::None && is_right;
        if fields.head.length() > 0 {
            write_blanks(out, room - self.columns(&fields.head))?;
            self.write_mark(out, &fields.head)?;
            self.write_field(out, data, &fields.head)?;
        } else if has_right {
            write_blanks(out, room)?;
        }
        if has_right {
            write_blanks(out, gap)?;
            self.write_text(out, reference)?;
        }
        out.write_all(b"\n")
    }

    fn write_roff(
        &self,
        out: &mut dyn Write,
        data: &[u8],
        fields: &LineFields,
        reference: &[u8],
    ) -> io::Result<()> {
        out.write_all(&[b".", &self.options.macro_name[..], b" \""].concat())?;
        self.write_field(out, data, &fields.tail)?;
        self.write_mark(out, &fields.tail)?;
        out.write_all(b"\" \"")?;
        self.write_mark(out, &fields.before)?;
        self.write_field(out, data, &fields.before)?;
        out.write_all(b"\" \"")?;
        self.write_field(out, data, &fields.keyword)?;
        self.write_mark(out, &fields.keyword)?;
        out.write_all(b"\" \"")?;
        self.write_mark(out, &fields.head)?;
        self.write_field(out, data, &fields.head)?;
        if self.options.references != ReferenceKind::None {
            out.write_all(b"\" \"")?;
            self.write_text(out, reference)?;
        }
        out.write_all(b"\"\n")
    }

    fn write_tex(
        &self,
        out: &mut dyn Write,
        data: &[u8],
        fields: &LineFields,
        reference: &[u8],
    ) -> io::Result<()> {
        let LineField { start, end, .. } = fields.keyword;
        let key_end =
            if start < end { self.contexts.skip_something(data, start, end) } else { end };
        let key = LineField { start, end: key_end, is_cut: false };
        let after = LineField { start: key_end, end, is_cut: false };
        out.write_all(&[b"\\", &self.options.macro_name[..], b" "].concat())?;
        for field in [&fields.tail, &fields.before, &key, &after, &fields.head] {
            out.write_all(b"{")?;
            self.write_field(out, data, field)?;
            out.write_all(b"}")?;
        }
        if self.options.references != ReferenceKind::None {
            out.write_all(b"{")?;
            self.write_text(out, reference)?;
            out.write_all(b"}")?;
        }
        out.write_all(b"\n")
    }
}

fn write_blanks(out: &mut dyn Write, columns: isize) -> io::Result<()> {
    let columns = usize::try_from(columns).unwrap_or(0);
    write!(out, "{:columns$}", "")
}
