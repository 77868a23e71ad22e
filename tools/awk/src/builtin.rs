//! The built-in functions: names and argument counts. Their bodies are in `vm/`.

/// A built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum AwkBuiltin {
    And,
    Asort,
    Asorti,
    Atan2,
    Bindtextdomain,
    Close,
    Compl,
    Cos,
    Dcgettext,
    Dcngettext,
    Exp,
    Fflush,
    Gensub,
    Gsub,
    Index,
    Int,
    Isarray,
    Length,
    Log,
    Lshift,
    Match,
    Mkbool,
    Mktime,
    Or,
    Patsplit,
    Rand,
    Rshift,
    Sin,
    Split,
    Sprintf,
    Sqrt,
    Srand,
    Strftime,
    Strtonum,
    Sub,
    Substr,
    System,
    Systime,
    Tolower,
    Toupper,
    Typeof,
    Xor,
}

use AwkBuiltin as B;

/// A row of the table: name, function, minimum and maximum number of arguments, and whether POSIX
/// has it.
type Row = (&'static str, AwkBuiltin, usize, usize, bool);

/// All of them, sorted by name.
pub const TABLE: &[Row] = &[
    ("and", B::And, 2, usize::MAX, false),
    ("asort", B::Asort, 1, 3, false),
    ("asorti", B::Asorti, 1, 3, false),
    ("atan2", B::Atan2, 2, 2, true),
    ("bindtextdomain", B::Bindtextdomain, 1, 2, false),
    ("close", B::Close, 1, 2, true),
    ("compl", B::Compl, 1, 1, false),
    ("cos", B::Cos, 1, 1, true),
    ("dcgettext", B::Dcgettext, 1, 3, false),
    ("dcngettext", B::Dcngettext, 1, 5, false),
    ("exp", B::Exp, 1, 1, true),
    ("fflush", B::Fflush, 0, 1, true),
    ("gensub", B::Gensub, 3, 4, false),
    ("gsub", B::Gsub, 2, 3, true),
    ("index", B::Index, 2, 2, true),
    ("int", B::Int, 1, 1, true),
    ("isarray", B::Isarray, 1, 1, false),
    ("length", B::Length, 0, 1, true),
    ("log", B::Log, 1, 1, true),
    ("lshift", B::Lshift, 2, 2, false),
    ("match", B::Match, 2, 3, true),
    ("mkbool", B::Mkbool, 1, 1, false),
    ("mktime", B::Mktime, 1, 2, false),
    ("or", B::Or, 2, usize::MAX, false),
    ("patsplit", B::Patsplit, 2, 4, false),
    ("rand", B::Rand, 0, 0, true),
    ("rshift", B::Rshift, 2, 2, false),
    ("sin", B::Sin, 1, 1, true),
    ("split", B::Split, 2, 4, true),
    ("sprintf", B::Sprintf, 1, usize::MAX, true),
    ("sqrt", B::Sqrt, 1, 1, true),
    ("srand", B::Srand, 0, 1, true),
    ("strftime", B::Strftime, 0, 3, false),
    ("strtonum", B::Strtonum, 1, 1, false),
    ("sub", B::Sub, 2, 3, true),
    ("substr", B::Substr, 2, 3, true),
    ("system", B::System, 1, 1, true),
    ("systime", B::Systime, 0, 0, false),
    ("tolower", B::Tolower, 1, 1, true),
    ("toupper", B::Toupper, 1, 1, true),
    ("typeof", B::Typeof, 1, 2, false),
    ("xor", B::Xor, 2, usize::MAX, false),
];

impl AwkBuiltin {
    /// Returns the function of this name.
    pub fn by_name(name: &[u8]) -> Option<AwkBuiltin> {
        let at = TABLE.binary_search_by(|row| row.0.as_bytes().cmp(name)).ok()?;
        TABLE.get(at).map(|row| row.1)
    }

    /// Returns whether POSIX has the function. A namespace may reuse the names of gawk's own
    /// functions.
    pub fn standard(self) -> bool {
        self.row().is_some_and(|r| r.4)
    }

    fn row(self) -> Option<&'static Row> {
        TABLE.iter().find(|row| row.1 == self)
    }

    /// Returns the name that programs use.
    pub fn name(self) -> &'static str {
        self.row().map_or("", |r| r.0)
    }

    /// Returns the minimum and the maximum number of arguments.
    pub fn arity(self) -> (usize, usize) {
        self.row().map_or((0, 0), |r| (r.2, r.3))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn table_is_sorted() {
        assert!(TABLE.windows(2).all(|w| w[0].0 < w[1].0));
        assert_eq!(AwkBuiltin::by_name(b"substr"), Some(AwkBuiltin::Substr));
        assert_eq!(AwkBuiltin::by_name(b"substring"), None);
    }
}
