//! A cache of texts that were parsed as expressions recently: `let i=i+1` and a value `x='y+1'` in
//! a loop are parsed once.

use std::cell::RefCell;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::rc::Rc;

use sh_syntax::arith;
use sh_syntax::ast::ArithExpr;

use crate::error::{ExpandCause, ExpandError};

/// The number of places in the cache. The hash of a text selects its place.
const PLACES: usize = 64;
/// The maximum length in bytes of a cached text.
const LONGEST: usize = 128;

type Place = Option<(Box<[u8]>, Rc<ArithExpr>)>;

thread_local! {
    static PARSED: RefCell<[Place; PLACES]> = const { RefCell::new([const { None }; PLACES]) };
}

/// Returns the tree of a text, or `None` if the text is blank.
///
/// # Errors
/// Returns the errors of the syntax.
pub(super) fn parse_cached(text: &[u8]) -> Result<Option<Rc<ArithExpr>>, ExpandError> {
    let mut hasher = DefaultHasher::new();
    text.hash(&mut hasher);
    let at = hasher.finish() as usize % PLACES;
    let known = PARSED.with_borrow(|places| match places.get(at) {
        Some(Some((known, expr))) if **known == *text => Some(expr.clone()),
        _ => None,
    });
    if known.is_some() {
        return Ok(known);
    }
    let parsed = arith::parse(text).map_err(|e| ExpandCause::Arithmetic {
        expression: e.expression.into_vec(),
        reason: e.message.to_string(),
        token: e.token.into_vec(),
    })?;
    let expr = parsed.map(Rc::new);
    if let Some(expr) = expr.as_ref().filter(|_| text.len() <= LONGEST) {
        PARSED.with_borrow_mut(|places| places[at] = Some((text.into(), expr.clone())));
    }
    Ok(expr)
}
