//! MIME types.

/// The types of images that can be shown to a model, with their first bytes.
const IMAGES: &[(&str, &[u8])] = &[
    ("image/png", b"\x89PNG\r\n\x1a\n"),
    ("image/jpeg", b"\xff\xd8\xff"),
    ("image/gif", b"GIF87a"),
    ("image/gif", b"GIF89a"),
];

const OTHERS: &[(&str, &[u8])] = &[
    ("application/pdf", b"%PDF-"),
    ("application/gzip", b"\x1f\x8b"),
    ("application/zstd", b"\x28\xb5\x2f\xfd"),
    ("application/x-xz", b"\xfd7zXZ\0"),
    ("application/wasm", b"\0asm"),
    ("application/x-sqlite3", b"SQLite format 3\0"),
    ("application/x-executable", b"\x7fELF"),
];

/// Returns the type of an image, by its first bytes, if it can be shown to a model.
pub fn image_type(head: &[u8]) -> Option<&'static str> {
    if head.starts_with(b"RIFF") && head.get(8..12) == Some(b"WEBP") {
        return Some("image/webp");
    }
    IMAGES.iter().find(|(_, magic)| head.starts_with(magic)).map(|(mime, _)| *mime)
}

/// Returns the type of a file.
pub fn mime_type(path: &str, head: &[u8], text: bool) -> String {
    if let Some(mime) = image_type(head) {
        return mime.to_owned();
    }
    if let Some((mime, _)) = OTHERS.iter().find(|(_, magic)| head.starts_with(magic)) {
        return (*mime).to_owned();
    }
    if let Some(mime) = mime_guess::from_path(path).first_raw() {
        return mime.to_owned();
    }
    if text { "text/plain" } else { "application/octet-stream" }.to_owned()
}
