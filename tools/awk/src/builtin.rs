//! The built-in functions: names and argument counts. What they do is in `vm/`.

/// A built-in function.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Builtin {
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

use Builtin as B;

/// Name, function, least and most arguments.
pub const TABLE: &[(&str, Builtin, usize, usize)] = &[
    ("and", B::And, 2, usize::MAX),
    ("asort", B::Asort, 1, 3),
    ("asorti", B::Asorti, 1, 3),
    ("atan2", B::Atan2, 2, 2),
    ("bindtextdomain", B::Bindtextdomain, 1, 2),
    ("close", B::Close, 1, 2),
    ("compl", B::Compl, 1, 1),
    ("cos", B::Cos, 1, 1),
    ("dcgettext", B::Dcgettext, 1, 3),
    ("dcngettext", B::Dcngettext, 1, 5),
    ("exp", B::Exp, 1, 1),
    ("fflush", B::Fflush, 0, 1),
    ("gensub", B::Gensub, 3, 4),
    ("gsub", B::Gsub, 2, 3),
    ("index", B::Index, 2, 2),
    ("int", B::Int, 1, 1),
    ("isarray", B::Isarray, 1, 1),
    ("length", B::Length, 0, 1),
    ("log", B::Log, 1, 1),
    ("lshift", B::Lshift, 2, 2),
    ("match", B::Match, 2, 3),
    ("mkbool", B::Mkbool, 1, 1),
    ("mktime", B::Mktime, 1, 2),
    ("or", B::Or, 2, usize::MAX),
    ("patsplit", B::Patsplit, 2, 4),
    ("rand", B::Rand, 0, 0),
    ("rshift", B::Rshift, 2, 2),
    ("sin", B::Sin, 1, 1),
    ("split", B::Split, 2, 4),
    ("sprintf", B::Sprintf, 1, usize::MAX),
    ("sqrt", B::Sqrt, 1, 1),
    ("srand", B::Srand, 0, 1),
    ("strftime", B::Strftime, 0, 3),
    ("strtonum", B::Strtonum, 1, 1),
    ("sub", B::Sub, 2, 3),
    ("substr", B::Substr, 2, 3),
    ("system", B::System, 1, 1),
    ("systime", B::Systime, 0, 0),
    ("tolower", B::Tolower, 1, 1),
    ("toupper", B::Toupper, 1, 1),
    ("typeof", B::Typeof, 1, 2),
    ("xor", B::Xor, 2, usize::MAX),
];

impl Builtin {
    /// The function of this name.
    pub fn by_name(name: &[u8]) -> Option<Builtin> {
        let at = TABLE.binary_search_by(|row| row.0.as_bytes().cmp(name)).ok()?;
        TABLE.get(at).map(|row| row.1)
    }

    /// Whether POSIX has it: gawk's own functions may share their names with a namespace's.
    pub fn standard(self) -> bool {
        use Builtin as B;
        matches!(
            self,
            B::Atan2
                | B::Close
                | B::Cos
                | B::Exp
                | B::Fflush
                | B::Gsub
                | B::Index
                | B::Int
                | B::Length
                | B::Log
                | B::Match
                | B::Rand
                | B::Sin
                | B::Split
                | B::Sprintf
                | B::Sqrt
                | B::Srand
                | B::Sub
                | B::Substr
                | B::System
                | B::Tolower
                | B::Toupper
        )
    }

    fn row(self) -> Option<&'static (&'static str, Builtin, usize, usize)> {
        TABLE.iter().find(|row| row.1 == self)
    }

    /// The name in programs.
    pub fn name(self) -> &'static str {
        self.row().map_or("", |r| r.0)
    }

    /// Least and most number of arguments.
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
        assert_eq!(Builtin::by_name(b"substr"), Some(Builtin::Substr));
        assert_eq!(Builtin::by_name(b"substring"), None);
    }
}
