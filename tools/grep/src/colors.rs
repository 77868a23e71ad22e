//! Colours by `GREP_COLORS` (GNU grep manual, "Environment Variables").

/// The parts of an SGR sequence for each kind of text.
#[derive(Clone, Debug)]
pub struct GrepColors {
    /// `ms`, `mc`: matches in selected and in context lines.
    pub matched: Vec<u8>,
    pub context_match: Vec<u8>,
    /// `sl`, `cx`: selected and context lines as a whole.
    pub selected: Vec<u8>,
    pub context: Vec<u8>,
    pub filename: Vec<u8>,
    pub line_number: Vec<u8>,
    pub byte_offset: Vec<u8>,
    pub separator: Vec<u8>,
    /// `rv`: whether `-v` swaps `sl` and `cx`.
    pub reverse: bool,
    /// `ne`: whether the sequence "erase to the end of line" is left out.
    pub no_erase: bool,
}

impl GrepColors {
    /// Creates the default colours, changed by the values of `GREP_COLOR` (deprecated) and
    /// `GREP_COLORS`.
    pub fn new(color: Option<&[u8]>, colors: Option<&[u8]>) -> GrepColors {
        let mut c = GrepColors {
            matched: b"01;31".to_vec(),
            context_match: b"01;31".to_vec(),
            selected: Vec::new(),
            context: Vec::new(),
            filename: b"35".to_vec(),
            line_number: b"32".to_vec(),
            byte_offset: b"32".to_vec(),
            separator: b"36".to_vec(),
            reverse: false,
            no_erase: false,
        };
        if let Some(color) = color.filter(|c| !c.is_empty() && c.iter().all(is_sgr)) {
            c.matched = color.to_vec();
            c.context_match = color.to_vec();
        }
        for item in colors.unwrap_or_default().split(|&b| b == b':') {
            let (name, value) = match item.iter().position(|&b| b == b'=') {
                Some(i) => (&item[..i], Some(&item[i + 1..])),
                None => (item, None),
            };
            if value.is_some_and(|v| !v.iter().all(is_sgr)) {
                break;
            }
            c.set(name, value);
        }
        c
    }

    fn set(&mut self, name: &[u8], value: Option<&[u8]>) {
        let target = match (name, value) {
            (b"rv", None) => return self.reverse = true,
            (b"ne", None) => return self.no_erase = true,
            (b"mt", Some(v)) => {
                self.matched = v.to_vec();
                &mut self.context_match
            }
            (b"ms", _) => &mut self.matched,
            (b"mc", _) => &mut self.context_match,
            (b"sl", _) => &mut self.selected,
            (b"cx", _) => &mut self.context,
            (b"fn", _) => &mut self.filename,
            (b"ln", _) => &mut self.line_number,
            (b"bn", _) => &mut self.byte_offset,
            (b"se", _) => &mut self.separator,
            _ => return,
        };
        if let Some(value) = value {
            *target = value.to_vec();
        }
    }

    /// Writes `text` in a colour, or plain if the colour is empty.
    pub fn paint(&self, out: &mut Vec<u8>, color: &[u8], text: &[u8]) {
        if color.is_empty() || text.is_empty() {
            out.extend_from_slice(text);
            return;
        }
        self.start(out, color);
        out.extend_from_slice(text);
        self.end(out);
    }

    /// Begins a colour.
    pub fn start(&self, out: &mut Vec<u8>, color: &[u8]) {
        out.extend_from_slice(b"\x1b[");
        out.extend_from_slice(color);
        out.extend_from_slice(if self.no_erase { b"m" } else { b"m\x1b[K" });
    }

    /// Ends a colour.
    pub fn end(&self, out: &mut Vec<u8>) {
        out.extend_from_slice(if self.no_erase { b"\x1b[m" } else { b"\x1b[m\x1b[K" });
    }
}

fn is_sgr(b: &u8) -> bool {
    b.is_ascii_digit() || *b == b';'
}
