//! Texts of others, made fit for a model: without markup, control characters and characters that
//! cannot be seen.

/// HTML elements whose tags are removed from texts. Other text in angle brackets, such as `Vec<T>`,
/// stays.
const ELEMENTS: &[&str] = &[
    "a",
    "abbr",
    "article",
    "b",
    "big",
    "blockquote",
    "body",
    "br",
    "button",
    "cite",
    "code",
    "dd",
    "del",
    "div",
    "dl",
    "dt",
    "em",
    "font",
    "footer",
    "form",
    "h1",
    "h2",
    "h3",
    "h4",
    "h5",
    "h6",
    "head",
    "header",
    "hr",
    "html",
    "i",
    "iframe",
    "img",
    "input",
    "ins",
    "li",
    "link",
    "main",
    "mark",
    "meta",
    "nav",
    "object",
    "ol",
    "p",
    "pre",
    "q",
    "s",
    "script",
    "section",
    "small",
    "span",
    "strong",
    "style",
    "sub",
    "sup",
    "svg",
    "table",
    "tbody",
    "td",
    "th",
    "thead",
    "time",
    "title",
    "tr",
    "u",
    "ul",
    "video",
];
/// Elements whose contents are not text either.
const UNSEEN: &[&str] = &["script", "style", "iframe", "object", "svg"];

/// Returns a text in one line without tags, entities and invisible characters, cut to `most`
/// characters.
///
/// ```
/// let text = wasibox_providers::clean_text("<b>Tom &amp; Jerry</b>\n\u{202e}in Vec<T>", 100);
/// assert_eq!(text, "Tom & Jerry in Vec<T>");
/// ```
pub fn clean_text(text: &str, most: usize) -> String {
    let plain = without_tags(text);
    let plain = html_escape::decode_html_entities(&plain);
    let visible: String = plain.chars().filter_map(visible_char).collect();
    let line = visible.split_whitespace().collect::<Vec<_>>().join(" ");
    shorten(&line, most)
}

/// Returns a text of several lines without control characters and invisible characters.
pub(crate) fn clean_lines(text: &str) -> String {
    let keep = |c: char| if matches!(c, '\n' | '\t') { Some(c) } else { visible_char(c) };
    text.replace("\r\n", "\n").chars().filter_map(keep).collect()
}

/// Cuts a text to `most` characters, the last of which is then an ellipsis.
fn shorten(text: &str, most: usize) -> String {
    match text.char_indices().nth(most) {
        None => text.to_owned(),
        Some(_) => {
            let kept: String = text.chars().take(most.saturating_sub(1)).collect();
            kept.trim_end().to_owned() + "…"
        }
    }
}

/// Returns the character, a space for one that separates, or nothing for one that is not shown:
/// controls, characters that change the direction, and tag characters, which can hide text from
/// people but not from models.
fn visible_char(c: char) -> Option<char> {
    match c {
        _ if c.is_whitespace() => Some(' '),
        _ if c.is_control() => None,
        '\u{ad}'
        | '\u{180e}'
        | '\u{200b}'..='\u{200f}'
        | '\u{202a}'..='\u{202e}'
        | '\u{2060}'..='\u{206f}'
        | '\u{feff}'
        | '\u{fff9}'..='\u{fffb}'
        | '\u{e0000}'..='\u{e007f}'
        | '\u{e000}'..='\u{f8ff}' => None,
        _ => Some(c),
    }
}

fn without_tags(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    while let Some(at) = rest.find('<') {
        out.push_str(&rest[..at]);
        rest = &rest[at..];
        if let Some(after) = rest.strip_prefix("<!--") {
            rest = after.find("-->").map_or("", |end| &after[end + 3..]);
            continue;
        }
        match tag(rest) {
            None => {
                out.push('<');
                rest = &rest[1..];
            }
            Some((name, is_end, length)) => {
                rest = &rest[length..];
                if !is_end && UNSEEN.contains(&name.as_str()) {
                    let end = format!("</{name}");
                    rest = rest.to_ascii_lowercase().find(&end).map_or("", |at| &rest[at..]);
                }
                if matches!(
                    name.as_str(),
                    "br" | "p" | "div" | "li" | "td" | "tr" | "h1" | "h2" | "h3"
                ) {
                    out.push(' ');
                }
            }
        }
    }
    out + rest
}

/// Returns the name of the tag with which a text begins, whether it ends its element, and its length.
fn tag(text: &str) -> Option<(String, bool, usize)> {
    let inner = text.strip_prefix('<')?;
    let (inner, is_end) = inner.strip_prefix('/').map_or((inner, false), |inner| (inner, true));
    let length = inner.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(inner.len());
    let name = inner[..length].to_ascii_lowercase();
    let is_tag = ELEMENTS.contains(&name.as_str())
        && inner[length..].starts_with([' ', '\t', '\n', '\r', '/', '>']);
    let end = text.find('>')?;
    is_tag.then_some((name, is_end, end + 1))
}

/// Returns an address if it is one of http or https that may be shown.
pub(crate) fn clean_url(text: &str) -> Option<String> {
    let url = url::Url::parse(text.trim()).ok()?;
    let is_fine = matches!(url.scheme(), "http" | "https") && url.username().is_empty();
    (is_fine && url.as_str().len() <= 2048).then(|| url.into())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn markup_goes_and_text_stays() {
        for (text, clean) in [
            ("<strong>Rust</strong> &#39;lang&quot;", "Rust 'lang\""),
            ("a<script>alert(1)</script>b", "ab"),
            ("a<SCRIPT src='x'>alert(1)", "a"),
            ("x <!-- y --> z", "x z"),
            ("Vec<T> and a < b > c", "Vec<T> and a < b > c"),
            ("one<br/>two<p class=x>three", "one two three"),
            ("&lt;b&gt;", "<b>"),
            ("\u{1b}[31mred\u{7}", "[31mred"),
            ("in\u{200b}vis\u{e0041}ible\u{202e}", "invisible"),
            ("  many \n\t lines\u{a0}", "many lines"),
            ("<b", "<b"),
        ] {
            assert_eq!(clean_text(text, 100), clean, "{text}");
        }
        assert_eq!(clean_text("äöü äöü", 5), "äöü…");
        assert_eq!(clean_lines("a\r\n\tb\u{0}\u{202e}"), "a\n\tb");
    }

    #[test]
    fn addresses_are_of_the_web() {
        assert_eq!(clean_url(" https://a.example/ä ").as_deref(), Some("https://a.example/%C3%A4"));
        for wrong in [
            "javascript:alert(1)",
            "data:text/html,x",
            "file:///etc/passwd",
            "x",
            "https://bank@evil.example/",
        ] {
            assert_eq!(clean_url(wrong), None, "{wrong}");
        }
    }
}
