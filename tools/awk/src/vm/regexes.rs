//! Compiled patterns: static ones by number, dynamic ones by text.

use std::collections::HashMap;
use std::rc::Rc;

use box_text::regex::{Regex, RegexOptions, RegexSyntax};

use crate::error::AwkRunError;

/// The maximum number of dynamic patterns that are kept; beyond it, all are dropped.
const MAX_KEPT: usize = 500;

/// The patterns of a run.
pub struct Regexes {
    texts: Vec<Vec<u8>>,
    fixed: Vec<Option<Rc<Regex>>>,
    dynamic: HashMap<Vec<u8>, Rc<Regex>>,
    /// The dynamic pattern that was used last, because it is usually the next one, too.
    last: Option<(Vec<u8>, Rc<Regex>)>,
    icase: bool,
    utf8: bool,
}

impl Regexes {
    /// Stores the static patterns of a program, by number; each is compiled when it is first used.
    pub fn new(texts: Vec<Vec<u8>>, utf8: bool) -> Regexes {
        let fixed = vec![None; texts.len()];
        Regexes { texts, fixed, dynamic: HashMap::new(), last: None, icase: false, utf8 }
    }

    /// Sets IGNORECASE.
    pub fn set_icase(&mut self, icase: bool) {
        if icase != self.icase {
            self.icase = icase;
            self.fixed.iter_mut().for_each(|r| *r = None);
            self.dynamic.clear();
            self.last = None;
        }
    }

    /// Returns whether IGNORECASE is set.
    pub fn ignores_case(&self) -> bool {
        self.icase
    }

    /// Returns a static pattern.
    #[inline]
    pub fn static_regex(&mut self, n: u32) -> Result<Rc<Regex>, AwkRunError> {
        if let Some(Some(re)) = self.fixed.get(n as usize) {
            return Ok(re.clone());
        }
        let text = self.texts.get(n as usize).cloned().unwrap_or_default();
        let re = self.compile_cached(&text)?;
        if let Some(slot) = self.fixed.get_mut(n as usize) {
            *slot = Some(re.clone());
        }
        Ok(re)
    }

    /// Returns a pattern given as text.
    pub fn dynamic_regex(&mut self, text: &[u8]) -> Result<Rc<Regex>, AwkRunError> {
        if let Some((t, re)) = &self.last
            && t == text
        {
            return Ok(re.clone());
        }
        let re = match self.dynamic.get(text) {
            Some(re) => re.clone(),
            None => {
                if self.dynamic.len() >= MAX_KEPT {
                    self.dynamic.clear();
                }
                let re = self.compile_cached(text)?;
                self.dynamic.insert(text.to_vec(), re.clone());
                re
            }
        };
        self.last = Some((text.to_vec(), re.clone()));
        Ok(re)
    }

    fn compile_cached(&self, text: &[u8]) -> Result<Rc<Regex>, AwkRunError> {
        compile_regex(text, self.icase, self.utf8)
    }
}

/// Checks that a static pattern is valid; it is compiled at its first use.
pub fn check_pattern(text: &[u8], utf8: bool) -> Result<(), AwkRunError> {
    // A pattern without operators is always valid.
    if text.iter().all(|c| c.is_ascii_alphanumeric() || b" _-,;:/\"'<>=!~@#%&".contains(c)) {
        return Ok(());
    }
    compile_regex(text, false, utf8).map(|_| ())
}

/// Compiles a pattern in awk's dialect.
pub fn compile_regex(text: &[u8], icase: bool, utf8: bool) -> Result<Rc<Regex>, AwkRunError> {
    let options = RegexOptions::new(RegexSyntax::Awk).icase(icase).utf8(utf8);
    Regex::new(text, &options).map(Rc::new).map_err(|e| {
        let shown = String::from_utf8_lossy(text);
        AwkRunError::fatal(format!("invalid regexp: {e}: /{shown}/"))
    })
}
