//! `runner session diff`.

use crate::CliFailure;
use crate::args::session::SessionNameArgs;
use crate::args::stored::ImageArg;
use crate::message::{self, escape_text};
use std::io::{BufWriter, IsTerminal, Write};
use std::sync::Arc;
use wasibox::diff::{ImageFiles, PathDifference, find_differences, text};
use wasibox::store::snapshot::Digest;
use wasibox::{Error, Image, terminal};

/// Shows the differences between two commits.
pub fn diff_commits(
    named: &SessionNameArgs,
    image: &ImageArg,
    names: bool,
    old: u64,
    new: Option<u64>,
) -> Result<u8, CliFailure> {
    let store = named.store.open()?;
    let info = store.session_info(&named.name)?;
    let files = |n| Ok::<_, CliFailure>(store.commit(&named.name, n)?.state.files);
    let (old, new) = (files(old)?, files(new.unwrap_or(info.head))?);
    let image = files_of(image, info.image)?;
    let out = std::io::stdout().lock();
    let mut out = BufWriter::new(DiffOutput {
        is_terminal: out.is_terminal(),
        out,
        filter: Default::default(),
    });
    let done = find_differences(&store, &old, &new, image.as_ref(), &mut |d| {
        if names { Ok(writeln!(out, "{}", name(&d))?) } else { text::write_unified(&d, &mut out) }
    });
    match done.and_then(|()| Ok(out.flush()?)) {
        // The reader has closed the pipe, because it has seen enough.
        Err(Error::Streams(e)) if e.kind() == std::io::ErrorKind::BrokenPipe => Ok(0),
        done => Ok(done.map(|()| 0)?),
    }
}

/// Returns a path with a letter for its change: `A`, `D` or `M`.
fn name(d: &PathDifference<'_>) -> String {
    let what = match (&d.old, &d.new) {
        (None, _) => 'A',
        (_, None) => 'D',
        _ => 'M',
    };
    format!("{what}  {}", escape_text(&String::from_utf8_lossy(&d.path)))
}

/// Returns the image's files, if it is available and is the image that the session began with.
pub fn files_of(image: &ImageArg, begun: Option<Digest>) -> Result<Option<ImageFiles>, CliFailure> {
    let Some(path) = image.find()? else {
        message::say_message("there is no image at hand: what it has is not shown");
        return Ok(None);
    };
    let image = Image::open(&path).map_err(|e| CliFailure::new(125, e))?;
    if begun.is_some_and(|begun| begun.0 != image.identity()) {
        message::say_message("the image is not the session's: what it has is not shown");
        return Ok(None);
    }
    Ok(Some(ImageFiles::new(Arc::new(image))?))
}

/// Standard output. Files come from guests, so a terminal gets text and colours only.
struct DiffOutput<W> {
    out: W,
    is_terminal: bool,
    filter: terminal::Filter,
}

impl<W: Write> Write for DiffOutput<W> {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        if !self.is_terminal {
            return self.out.write(bytes);
        }
        self.out.write_all(&self.filter.filter_bytes(bytes))?;
        Ok(bytes.len())
    }

    fn flush(&mut self) -> std::io::Result<()> {
        self.out.flush()
    }
}
