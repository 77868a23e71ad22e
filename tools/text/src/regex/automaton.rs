//! Finding matches without groups: `regex-automata` finds the leftmost start. If priority order may
//! not give the longest match, a second automaton reports all ends.

use std::cell::{OnceCell, RefCell};

use regex_automata::hybrid::dfa::{Cache as LazyCache, DFA};
use regex_automata::nfa::thompson::pikevm::{Cache as PikeCache, PikeVM};
use regex_automata::nfa::thompson::{Compiler, Config as NfaConfig, NFA, WhichCaptures};
use regex_automata::util::look::LookMatcher;
use regex_automata::{Anchored, Input, MatchKind, meta};
use regex_syntax::hir::Hir;

use super::ast::RegexNode;
use super::error::RegexError;
use super::options::RegexOptions;
use super::required::RequiredTexts;
use super::{hir, shape};

/// The maximum number of bytes of an automaton's states; beyond it, the pattern is "too big".
const SIZE_LIMIT: usize = 32 << 20;

/// The maximum length of texts that are checked in advance: for ASCII, a smaller automaton
/// suffices. Longer texts are not checked, because one text may be searched many times from
/// different starts.
const LOOK_MAX: usize = 2048;

/// The automata of a pattern.
#[derive(Clone, Debug)]
pub(super) struct Automata {
    /// The automaton for ASCII texts, if that is much smaller.
    ascii: Option<Automaton>,
    /// The automaton for all texts; if there is also one for ASCII, it is built on first use.
    full: OnceCell<Option<Automaton>>,
    node: RegexNode,
    options: RegexOptions,
    first_is_longest: bool,
    /// Texts without which no line matches, used only for searches by lines.
    required: Option<RequiredTexts>,
}

impl Automata {
    pub(super) fn new(
        node: &RegexNode,
        options: &RegexOptions,
        first_is_longest: bool,
    ) -> Result<Automata, RegexError> {
        let mut automata = Automata {
            ascii: None,
            full: OnceCell::new(),
            node: node.clone(),
            options: *options,
            first_is_longest,
            required: None,
        };
        if options.lines.is_some() {
            // A single text is searched for by `regex-automata` itself.
            let required = RequiredTexts::from_hir(&hir::translate_node(node, options, true));
            automata.required = required.filter(RequiredTexts::has_several);
        }
        if options.utf8 && shape::is_heavy(node) {
            automata.ascii = Some(automata.build(true)?);
        } else {
            automata.full = OnceCell::from(Some(automata.build(false)?));
        }
        Ok(automata)
    }

    /// Returns the texts of which every line with a match has at least one.
    pub(super) fn required(&self) -> Option<&RequiredTexts> {
        self.required.as_ref()
    }

    fn build(&self, ascii: bool) -> Result<Automaton, RegexError> {
        let hir = hir::translate_node(&self.node, &self.options, ascii);
        Automaton::new(hir, &self.options, self.first_is_longest)
    }

    /// Returns the automaton for a text. `None` if it would be too big.
    pub(super) fn pick(&self, hay: &[u8], start: usize) -> Option<&Automaton> {
        if let Some(ascii) = &self.ascii {
            // Only conditions depend on the text before the start, and only on its last character.
            let from = start.saturating_sub(4);
            if hay.len() - from <= LOOK_MAX && hay.get(from..)?.is_ascii() {
                return Some(ascii);
            }
        }
        self.full.get_or_init(|| self.build(false).ok()).as_ref()
    }
}

#[derive(Clone, Debug)]
pub(super) struct Automaton {
    meta: meta::Regex,
    cache: RefCell<meta::Cache>,
    /// The second automaton, for patterns whose first match in priority order may not be the
    /// longest.
    longest: Option<Longest>,
    /// Whether the pattern can match the empty text under a condition, which a search for only an
    /// end does not check.
    conditional: bool,
}

/// An automaton that finds the last end of a match whose start is known. It is built on first use.
#[derive(Clone, Debug)]
struct Longest {
    hir: Hir,
    terminator: u8,
    engines: OnceCell<Option<Engines>>,
}

#[derive(Clone, Debug)]
struct Engines {
    nfa: NFA,
    dfa: Option<(DFA, RefCell<LazyCache>)>,
    /// The machine for texts that the lazy automaton refuses (word conditions next to non-ASCII
    /// letters).
    pike: OnceCell<Option<(PikeVM, RefCell<PikeCache>)>>,
}

impl Automaton {
    fn new(
        hir: Hir,
        options: &RegexOptions,
        first_is_longest: bool,
    ) -> Result<Automaton, RegexError> {
        let terminator = options.lines.unwrap_or(b'\n');
        let config = meta::Config::new()
            .utf8_empty(options.utf8)
            .which_captures(WhichCaptures::Implicit)
            .nfa_size_limit(Some(SIZE_LIMIT))
            .line_terminator(terminator);
        let meta = meta::Builder::new()
            .configure(config)
            .build_from_hir(&hir)
            .map_err(|_| RegexError::TooBig)?;
        let cache = RefCell::new(meta.create_cache());
        let conditional =
            hir.properties().minimum_len() == Some(0) && !hir.properties().look_set().is_empty();
        let longest =
            (!first_is_longest).then(|| Longest { hir, terminator, engines: OnceCell::new() });
        Ok(Automaton { meta, cache, longest, conditional })
    }

    /// Returns the leftmost start of a match from `start` on, with some end.
    pub(super) fn leftmost(&self, hay: &[u8], start: usize) -> Option<(usize, usize)> {
        let input = Input::new(hay).range(start..);
        let found = self.meta.search_with(&mut self.cache.borrow_mut(), &input)?;
        Some((found.start(), found.end()))
    }

    /// Returns the leftmost longest match.
    pub(super) fn find(&self, hay: &[u8], start: usize) -> Option<(usize, usize)> {
        let (start, end) = self.leftmost(hay, start)?;
        match &self.longest {
            Some(longest) if end < hay.len() => {
                Some((start, longest.end(hay, start).unwrap_or(end).max(end)))
            }
            _ => Some((start, end)),
        }
    }

    /// Returns the first position at which a match is complete.
    pub(super) fn earliest_end(&self, hay: &[u8], start: usize) -> Option<usize> {
        let input = Input::new(hay).range(start..);
        if self.conditional {
            return self.meta.search_with(&mut self.cache.borrow_mut(), &input).map(|m| m.end());
        }
        let input = input.earliest(true);
        let found = self.meta.search_half_with(&mut self.cache.borrow_mut(), &input)?;
        Some(found.offset())
    }
}

impl Longest {
    fn end(&self, hay: &[u8], start: usize) -> Option<usize> {
        let engines = self.engines.get_or_init(|| Engines::new(&self.hir, self.terminator));
        let engines = engines.as_ref()?;
        let input = Input::new(hay).range(start..).anchored(Anchored::Yes);
        if let Some((dfa, cache)) = &engines.dfa
            && let Ok(found) = dfa.try_search_fwd(&mut cache.borrow_mut(), &input)
        {
            return found.map(|m| m.offset());
        }
        let pike = engines.pike.get_or_init(|| engines.pike());
        let (vm, cache) = pike.as_ref()?;
        let mut slots = [None; 2];
        vm.search_slots(&mut cache.borrow_mut(), &input, &mut slots)?;
        slots[1].map(|end| end.get())
    }
}

impl Engines {
    fn new(hir: &Hir, terminator: u8) -> Option<Engines> {
        let mut look = LookMatcher::new();
        look.set_line_terminator(terminator);
        let config = NfaConfig::new()
            .utf8(false)
            .which_captures(WhichCaptures::Implicit)
            .look_matcher(look)
            .nfa_size_limit(Some(SIZE_LIMIT));
        let nfa = Compiler::new().configure(config).build_from_hir(hir).ok()?;
        let config = DFA::config().match_kind(MatchKind::All).unicode_word_boundary(true);
        let dfa = DFA::builder().configure(config).build_from_nfa(nfa.clone()).ok().map(|dfa| {
            let cache = RefCell::new(dfa.create_cache());
            (dfa, cache)
        });
        Some(Engines { nfa, dfa, pike: OnceCell::new() })
    }

    fn pike(&self) -> Option<(PikeVM, RefCell<PikeCache>)> {
        let config = PikeVM::config().match_kind(MatchKind::All);
        let vm = PikeVM::builder().configure(config).build_from_nfa(self.nfa.clone()).ok()?;
        let cache = RefCell::new(vm.create_cache());
        Some((vm, cache))
    }
}
