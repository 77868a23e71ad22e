//! The variables with a special meaning, which are the first globals, in this order.

macro_rules! specials { ($($variant:ident $name:literal),* $(,)?) => {
    /// A variable with a special meaning; its number is that of the global.
    #[derive(Clone, Copy, Debug, PartialEq, Eq)]
    #[repr(u32)]
    pub enum Special { $($variant),* }

    /// Names in order.
    pub const NAMES: &[&str] = &[$($name),*];

    impl Special {
        const ALL: &'static [Special] = &[$(Special::$variant),*];
    }
}; }

specials! {
    Nf "NF", Nr "NR", Fnr "FNR", Fs "FS", Ofs "OFS", Ors "ORS", Rs "RS", Rt "RT",
    Subsep "SUBSEP", Convfmt "CONVFMT", Ofmt "OFMT", Rstart "RSTART", Rlength "RLENGTH",
    Filename "FILENAME", Ignorecase "IGNORECASE", Fieldwidths "FIELDWIDTHS", Fpat "FPAT",
    Errno "ERRNO", Argind "ARGIND", Argc "ARGC", Argv "ARGV", Environ "ENVIRON",
    Procinfo "PROCINFO", Binmode "BINMODE", Lint "LINT", Textdomain "TEXTDOMAIN",
    Functab "FUNCTAB", Symtab "SYMTAB",
}

impl Special {
    /// Returns the special variable with this global number.
    #[inline]
    pub fn from_index(n: u32) -> Option<Special> {
        Special::ALL.get(n as usize).copied()
    }

    /// Returns whether the machine computes its value when it is read; the others are plain
    /// globals.
    #[inline]
    pub fn is_computed(self) -> bool {
        matches!(self, Special::Nf | Special::Nr | Special::Fnr | Special::Rt)
    }

    /// Returns whether the machine must be notified when the variable is written.
    pub fn is_watched(self) -> bool {
        use Special as S;
        self.is_computed()
            || matches!(
                self,
                S::Fs
                    | S::Ofs
                    | S::Ors
                    | S::Rs
                    | S::Subsep
                    | S::Convfmt
                    | S::Ofmt
                    | S::Ignorecase
                    | S::Fieldwidths
                    | S::Fpat
            )
    }
}
