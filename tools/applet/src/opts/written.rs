//! The options and operands as written on a command line.

/// The options in the order in which they were written, and the operands.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ParsedOptions<I = ()> {
    /// Each option with its argument, if it has one.
    pub options: Vec<(I, Option<Vec<u8>>)>,
    /// The words that are not options, in order.
    pub operands: Vec<Vec<u8>>,
}

impl<I> Default for ParsedOptions<I> {
    fn default() -> ParsedOptions<I> {
        ParsedOptions { options: Vec::new(), operands: Vec::new() }
    }
}

impl<I: Copy + PartialEq> ParsedOptions<I> {
    /// Returns whether the option was given.
    pub fn has_option(&self, id: I) -> bool {
        self.options.iter().any(|(i, _)| *i == id)
    }

    /// Returns the number of times that the option was given.
    pub fn count_of(&self, id: I) -> usize {
        self.options.iter().filter(|(i, _)| *i == id).count()
    }

    /// Returns the argument of the option's last use.
    pub fn last_value(&self, id: I) -> Option<&[u8]> {
        let found = self.options.iter().rev().find(|(i, _)| *i == id)?;
        found.1.as_deref()
    }

    /// Returns all arguments of the option, in order.
    pub fn all_values(&self, id: I) -> impl Iterator<Item = &[u8]> {
        self.options.iter().filter(move |(i, _)| *i == id).filter_map(|(_, v)| v.as_deref())
    }

    /// Returns the option among `ids` that was given last.
    pub fn last_of(&self, ids: &[I]) -> Option<I> {
        self.options.iter().rev().map(|(i, _)| *i).find(|i| ids.contains(i))
    }

    /// Returns the meaning of the option given last. `choices` lists options and their meanings.
    pub fn last_choice<T: Copy>(&self, choices: &[(I, T)]) -> Option<T> {
        let meaning = |id: I| choices.iter().find(|(i, _)| *i == id).map(|(_, meaning)| *meaning);
        self.options.iter().rev().find_map(|(i, _)| meaning(*i))
    }
}
