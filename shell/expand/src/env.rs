//! The interface between expansion and the shell around it. All effects pass through this trait:
//! expansion itself opens no file, runs no command and reads no global.

use std::borrow::Cow;
use std::rc::Rc;

use sh_syntax::ast::{CommandSub, ProcessSub};

use crate::error::ExpandError;
use crate::positional::PositionalList;
use crate::value::{Attributes, Str, VarValue};

/// Shell options that change expansion; names as in `set -o` and `shopt`.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct ExpandOptions {
    pub nounset: bool,
    pub noglob: bool,
    pub braceexpand: bool,
    pub posix: bool,
    pub extglob: bool,
    pub globstar: bool,
    pub dotglob: bool,
    pub nullglob: bool,
    pub failglob: bool,
    pub nocaseglob: bool,
    pub nocasematch: bool,
    pub globskipdots: bool,
    pub patsub_replacement: bool,
    /// `LC_ALL`/`LC_CTYPE`/`LANG` select a single-byte locale (`C`, `POSIX`): characters are bytes.
    /// The default, false, is UTF-8.
    pub c_locale: bool,
}

/// Key of an array element.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ElementKey<'a> {
    /// The key in an indexed array; a negative one counts from its end.
    Index(i64),
    /// The key in an associative array.
    Name(&'a [u8]),
}

/// One directory entry for pathname expansion.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct PathnameEntry {
    /// The name without its directory.
    pub name: Vec<u8>,
    /// Whether the entry is a directory; `None` for symbolic links, into which `globstar` does not
    /// descend. [`ExpandEnv::is_dir`] returns whether a link leads to a directory.
    pub is_dir: Option<bool>,
}

/// The result of one look-up of a name in the variable table.
#[derive(Clone, Debug, PartialEq)]
pub enum VarLookup {
    Unset,
    Value(VarValue),
    /// A nameref, whose target [`ExpandEnv::resolve`] returns.
    Nameref,
}

/// The shell as seen by expansion. Names passed to it are base names after nameref resolution,
/// unless stated otherwise.
pub trait ExpandEnv {
    /// Follows namerefs. Returns the base name, and a subscript's text if the reference has one
    /// (`ref=a[2]`). A cycle is an error. Returns the name itself if it is not a nameref.
    fn resolve<'a>(&self, name: &'a [u8]) -> Result<(Cow<'a, [u8]>, Option<Str>), ExpandError>;
    /// Returns the raw value of `name` itself if it has the nameref attribute and a target
    /// (`${!ref}`).
    fn nameref(&self, name: &[u8]) -> Option<Str>;
    /// Looks up a variable: the fast path of [`ExpandEnv::resolve`] and [`ExpandEnv::get`]
    /// together. It is worth overriding, because every expansion of a variable calls it first.
    fn lookup(&mut self, name: &[u8]) -> VarLookup {
        if self.nameref(name).is_some() {
            return VarLookup::Nameref;
        }
        match self.get(name) {
            Some(value) => VarLookup::Value(value),
            None => VarLookup::Unset,
        }
    }
    /// Returns the number in a scalar that is not a nameref and holds a plain decimal integer: the
    /// fast path of arithmetic. `None` means "take the slow path", never "unset".
    fn get_int(&mut self, name: &[u8]) -> Option<i64> {
        match self.lookup(name) {
            VarLookup::Value(VarValue::Scalar(text)) => crate::arith::plain_integer(&text),
            _ => None,
        }
    }
    /// Assigns a number to a plain scalar (no nameref, not an array): the fast path of arithmetic
    /// assignment. An override may keep the number unformatted until its text is needed;
    /// `Ok(false)` means "not done, take the slow path" (resolve + [`ExpandEnv::set`] with the
    /// decimal text).
    fn set_int(&mut self, name: &[u8], value: i64) -> Result<bool, ExpandError> {
        let (_, _) = (name, value);
        Ok(false)
    }
    /// Returns a variable's value; `None` if unset. Dynamic variables (RANDOM, SECONDS, LINENO,
    /// ...) are computed here.
    fn get(&mut self, name: &[u8]) -> Option<VarValue>;
    /// Returns the attributes of a variable, even if it is declared but unset.
    fn attributes(&self, name: &[u8]) -> Attributes;
    /// Returns whether there is such a variable, even without a value (`declare x`).
    fn is_declared(&self, name: &[u8]) -> bool {
        self.attributes(name) != Attributes::default()
    }
    /// Returns whether the native stack is nearly used up.
    fn stack_low(&mut self) -> bool {
        false
    }
    /// Assigns to a scalar (or to element 0 of an array) and applies the readonly, integer and case
    /// attributes.
    fn set(&mut self, name: &[u8], value: Str) -> Result<(), ExpandError>;
    /// Assigns to an array element and creates an indexed array if there is none.
    fn set_element(
        &mut self,
        name: &[u8],
        key: ElementKey<'_>,
        value: Str,
    ) -> Result<(), ExpandError>;
    /// Returns the names of all set variables that begin with `prefix`, sorted.
    fn names_with_prefix(&self, prefix: &[u8]) -> Vec<Vec<u8>>;
    /// Returns `$1`, `$2`, ... without `$0`.
    fn positional(&self) -> PositionalList;
    /// Returns one of `# ? - $ ! 0` (not `@`, `*`); `None` if unset (`$!`).
    fn special(&mut self, name: u8) -> Option<Str>;
    fn options(&self) -> &ExpandOptions;

    /// Runs a command substitution and returns the output without trailing newlines and NULs.
    fn command_sub(&mut self, sub: &Rc<CommandSub>) -> Result<Vec<u8>, ExpandError>;
    /// Starts a process substitution and returns the path to use.
    fn process_sub(&mut self, sub: &Rc<ProcessSub>) -> Result<Vec<u8>, ExpandError>;
    /// Performs prompt expansion for `${x@P}`.
    fn prompt(&mut self, text: &[u8]) -> Result<Vec<u8>, ExpandError>;

    /// Returns entry `n` of the directory stack for `~n`/`~+n` (from the left, 0 is the current
    /// directory) and `~-n` (`from_end`).
    fn dir_stack(&self, n: usize, from_end: bool) -> Option<Vec<u8>> {
        let (_, _) = (n, from_end);
        None
    }
    /// Returns the home directory of the named user, or `$HOME`'s fallback for `None`.
    fn home_dir(&self, user: Option<&[u8]>) -> Option<Vec<u8>>;
    /// Returns the entries of a directory without `.` and `..`, in any order; `None` if it is
    /// unreadable. The path is relative to the shell's cwd.
    fn read_dir(&self, path: &[u8]) -> Option<Vec<PathnameEntry>>;
    /// Returns whether the path exists (`lstat`), and whether it is a directory (`stat`).
    fn path_exists(&self, path: &[u8]) -> bool;
    fn is_dir(&self, path: &[u8]) -> bool;

    /// Prints a message on the shell's stderr with its usual prefix (`bash: line 3: `). With `set
    /// -e` such a message ends the shell, like bash's `report_error`.
    fn warn(&mut self, message: &[u8]) -> Result<(), ExpandError>;
    /// Prints a message with the name of the command that evaluates an expression: `((`, `let`,
    /// `[[`. The shell continues after it even with `set -e`.
    fn warn_by_name(&mut self, message: &[u8]) -> Result<(), ExpandError> {
        self.warn(message)
    }
    /// Returns the line of the command, for words that are parsed again.
    fn line(&self) -> u32 {
        1
    }
    /// Sets `$?` to 1, because the message of a failed expansion, which is still to be expanded,
    /// may contain `$?`.
    fn fails(&mut self) {}
    /// Charges the expansion budget for bytes produced; an error ends the script.
    fn charge(&mut self, bytes: usize) -> Result<(), ExpandError>;
}
