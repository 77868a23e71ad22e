//! HTML as Markdown, by the algorithm of Mozilla's Readability: the article if a page has one,
//! otherwise all of its text.
//!
//! A page is a stranger's, so its size and the number of its elements are bounded, and it is
//! converted on a thread of its own whose stack is large enough for elements within elements.

use crate::error::ProviderError;
use crate::text::{clean_lines, clean_text};
use dom_query::Document;
use dom_smoothie::{Config, Readability, TextMode};

/// The maximum number of elements of a page.
const ELEMENTS: usize = 30_000;
/// The maximum number of elements within each other, because the time of a parser grows with its
/// square. Browsers stop at 512.
const DEPTH: usize = 4000;
/// The same for the search for an article, whose time grows with its cube. A page beyond this is
/// given whole.
const ARTICLE_DEPTH: usize = 150;
/// Elements that end where another one begins, or that have no end.
const ENDLESS: &[&str] = &[
    "area", "base", "br", "col", "dd", "dt", "embed", "hr", "img", "input", "li", "link", "meta",
    "option", "p", "source", "tbody", "td", "th", "tr", "track", "wbr",
];
/// The stack of the thread that converts.
const STACK: usize = 64 << 20;
/// The maximum numbers of characters of what a page says about itself.
const TITLE: usize = 300;
const BYLINE: usize = 200;
const DATE: usize = 40;
/// The share of a page's text that an article has. A smaller one is a teaser or a menu.
const SHARE: usize = 10;

/// The text of a page.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PageText {
    pub title: String,
    pub byline: Option<String>,
    pub published_date: Option<String>,
    pub markdown: String,
}

/// Returns a page as Markdown.
///
/// # Errors
/// Returns an error if it has too many elements, or too many within each other.
pub(super) fn convert_page(html: String, url: String) -> Result<PageText, ProviderError> {
    let name = url.clone();
    let work = move || convert(&html, &url);
    let thread = std::thread::Builder::new().name("page".into()).stack_size(STACK).spawn(work)?;
    let converted = thread.join().unwrap_or_else(|_| Err("it cannot be read".into()));
    converted.map_err(|text| ProviderError::Answer { provider: name, text })
}

fn convert(html: &str, url: &str) -> Result<PageText, String> {
    // Each element begins with one, so this bounds them before anything is built.
    let count = html.bytes().filter(|b| *b == b'<').count() / 2;
    if count > ELEMENTS {
        return Err(format!("it has about {count} elements, and {ELEMENTS} are the most"));
    }
    let depth = depth_of(html);
    if depth > DEPTH {
        return Err(format!("it has more than {DEPTH} elements within each other"));
    }
    let document = Document::from(html);
    for unseen in ["script", "style", "noscript", "template", "iframe", "svg", "object"] {
        document.select(unseen).remove();
    }
    let body = document.select("body");
    let length = body.text().chars().filter(|c| !c.is_whitespace()).count();
    let config = Config {
        max_elements_to_parse: ELEMENTS,
        disable_json_ld: false,
        text_mode: TextMode::Markdown,
        ..Config::default()
    };
    let read = || Readability::new(html, Some(url), Some(config))?.parse();
    let article = if depth > ARTICLE_DEPTH { None } else { read().ok() };
    let mut text = PageText::default();
    if let Some(article) = article {
        text.title = clean_text(&article.title, TITLE);
        text.byline = cleaned(article.byline, BYLINE);
        text.published_date = cleaned(article.published_time, DATE);
        text.markdown = clean_lines(&article.text_content);
    }
    if text.title.is_empty() {
        text.title = clean_text(&document.select("title").text(), TITLE);
    }
    let kept = text.markdown.chars().filter(|c| !c.is_whitespace()).count();
    if kept * SHARE < length {
        text.markdown = clean_lines(&document.md(None));
    }
    text.markdown = text.markdown.trim().to_owned();
    Ok(text)
}

/// Returns about how many elements of a page are within each other, at most.
fn depth_of(html: &str) -> usize {
    let (mut depth, mut most) = (0_usize, 0);
    for tag in html.split('<').skip(1) {
        let (name, is_end) = tag.strip_prefix('/').map_or((tag, false), |name| (name, true));
        let length = name.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(name.len());
        let name = name[..length].to_ascii_lowercase();
        let is_element = name.starts_with(|c: char| c.is_ascii_alphabetic());
        match is_end {
            _ if !is_element || ENDLESS.contains(&name.as_str()) => {}
            true => depth = depth.saturating_sub(1),
            false => depth += 1,
        }
        most = most.max(depth);
    }
    most
}

fn cleaned(text: Option<String>, most: usize) -> Option<String> {
    text.map(|text| clean_text(&text, most)).filter(|text| !text.is_empty())
}

#[cfg(test)]
mod tests {
    use super::*;

    fn convert_text(html: &str) -> PageText {
        convert_page(html.into(), "https://a.example/news/".into()).unwrap()
    }

    #[test]
    fn an_article_is_without_menus_and_scripts() {
        let words = "The river rose in the night, and the town went up the hill. ".repeat(12);
        let page = format!(
            "<html><head><title>Flood in the valley</title>\
             <meta property='article:published_time' content='2026-03-01T10:00:00Z'></head><body>\
             <nav><a href='/'>Home</a> <a href='/buy'>Subscribe now</a></nav>\
             <article><h1>Flood in the valley</h1><p>{words}</p>\
             <p>See <a href='/map'>the map</a>, <strong>today</strong>.</p>\
             <pre><code>a = 1</code></pre><p>{words}</p></article>\
             <script>alert('x')</script><footer>Imprint</footer></body></html>"
        );
        let text = convert_text(&page);
        assert_eq!(text.title, "Flood in the valley");
        assert_eq!(text.published_date.as_deref(), Some("2026-03-01T10:00:00Z"));
        assert!(text.markdown.contains("[the map](https://a.example/map)"), "{}", text.markdown);
        assert!(text.markdown.contains("**today**"), "{}", text.markdown);
        for gone in ["Subscribe", "alert", "<p>", "Imprint"] {
            assert!(!text.markdown.contains(gone), "{gone}: {}", text.markdown);
        }
    }

    #[test]
    fn a_page_without_an_article_is_whole() {
        let page = "<title>List</title><ul><li><a href='/a'>A</a><li><a href='/b'>B</a></ul>\
                    <script>x()</script>";
        let text = convert_text(page);
        assert_eq!(text.title, "List");
        assert!(text.markdown.contains('A') && text.markdown.contains('B'), "{}", text.markdown);
        assert!(!text.markdown.contains("x()"), "{}", text.markdown);
        assert_eq!(convert_text("").markdown, "");
    }

    /// A page must not end the program or take all of its time.
    #[test]
    fn hostile_pages_are_bounded() {
        let begun = std::time::Instant::now();
        let deep = |count| "<div>".repeat(count) + "deep";
        assert!(convert_text(&deep(DEPTH)).markdown.contains("deep"));
        assert!(convert_page(deep(40_000), "https://a.example/".into()).is_err());
        let many = |count| "<b>x</b> ".repeat(count);
        assert!(convert_text(&many(20_000)).markdown.contains("x"));
        assert!(convert_page(many(40_000), "https://a.example/".into()).is_err());
        assert!(begun.elapsed().as_secs() < 60, "{:?}", begun.elapsed());
    }
}
