//! The syntax tree of the shell language (POSIX XCU 2, bash manual section 3).
//!
//! # Invariants
//! - Words are trees, not strings: every expansion in them, `$(...)` bodies
//!   included, was parsed once by the parser. Evaluation never re-lexes a word
//!   (arithmetic with expansions that change its structure is the one exception,
//!   as in bash).
//! - Text is bytes. The parts contain neither quote characters nor escaping backslashes;
//!   [`Word::raw`] keeps the source spelling for messages and for printing functions.
//! - Bodies that outlive a statement (functions, substitutions) are behind `Rc`,
//!   so that a copied shell state shares them.
//! - The tree holds no I/O, no state and no cached results. It is data: to run a part of the tree
//!   in another process, a shell sends it there (`serde`).

use std::cell::OnceCell;
use std::rc::Rc;

use serde::{Deserialize, Serialize};

/// A byte string in the tree.
pub type Text = Box<[u8]>;

/// Literal text of a word. A word without expansions becomes a field that shares this text.
pub type Literal = Rc<Vec<u8>>;

/// A sequence of and-or lists, each ended by `;`, `&` or a newline.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct CommandList {
    pub items: Vec<ListItem>,
}

/// One and-or list with its terminator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ListItem {
    pub and_or: AndOr,
    /// Whether it ends with `&`, so that it runs as a background job.
    pub background: bool,
    /// Whether it ends with a newline, which is kept when a substitution is printed.
    pub newline: bool,
}

/// Pipelines joined by `&&` and `||`, evaluated left to right with equal precedence.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct AndOr {
    pub first: Pipeline,
    pub rest: Vec<(Connector, Pipeline)>,
}

/// The operator that joins two pipelines.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum Connector {
    /// `&&`
    And,
    /// `||`
    Or,
}

/// One or more commands joined by `|` or `|&`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Pipeline {
    /// The `time` reserved word; `Posix` is `time -p`.
    pub timed: Option<TimeFormat>,
    /// Whether an odd number of `!` precedes it.
    pub negated: bool,
    /// The commands; none after a lone `time` or `!`.
    pub stages: Vec<PipelineStage>,
}

/// The format in which `time` reports.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum TimeFormat {
    Bash,
    Posix,
}

/// A command of a pipeline.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct PipelineStage {
    pub command: Command,
    /// Whether `|&` joins it to the next stage, so that stderr goes to the pipe, too.
    pub pipe_stderr: bool,
}

/// A command with its redirections, in source order.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Command {
    pub kind: CommandKind,
    pub redirects: Vec<Redirect>,
    /// Line of the first token, counted from 1 (`LINENO`).
    pub line: u32,
}

/// The kind of a command.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CommandKind {
    Simple(SimpleCommand),
    /// `{ list; }`
    Brace(CommandList),
    /// `( list )`
    Subshell(Rc<CommandList>),
    If(If),
    /// `while` and `until`
    While(While),
    For(For),
    /// `for ((init; cond; step))`
    ArithFor(ArithFor),
    Select(For),
    Case(CaseCommand),
    /// `(( expr ))`
    Arith(ArithText),
    /// `[[ expr ]]`
    Cond(Cond),
    Function(Rc<FunctionCommand>),
    Coproc(Coproc),
}

/// Assignments and words; at least one of them, or a redirection, is present.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct SimpleCommand {
    pub assignments: Vec<Assignment>,
    pub words: Vec<CommandWord>,
}

/// A word of a simple command, the command name included.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum CommandWord {
    Word(Word),
    /// An operand of a declaration builtin (`declare typeset local export readonly`) that has the
    /// form of an assignment: its value undergoes neither word splitting nor pathname expansion.
    Assignment(Assignment),
}

/// `name=value`, `name+=value`, `name[sub]=value`, `name=(...)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Assignment {
    pub name: Text,
    pub subscript: Option<Subscript>,
    /// `+=`
    pub append: bool,
    pub value: AssignValue,
    /// Source spelling of the whole assignment.
    pub raw: Text,
    pub line: u32,
}

/// The value after `=`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum AssignValue {
    Scalar(Word),
    Array(Vec<ArrayElement>),
}

/// An element of a compound array assignment: `value`, `[key]=value`, `[key]+=value`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArrayElement {
    pub key: Option<Subscript>,
    pub append: bool,
    pub value: Word,
}

/// The subscript between `[` and `]` after a name.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Subscript {
    /// `[@]`
    At,
    /// `[*]`
    Star,
    /// Arithmetic for an indexed array, a key for an associative one: known at run time only.
    Expr(ArithText),
}

impl Subscript {
    /// Returns the text as it was written, without its brackets.
    pub fn text(&self) -> &[u8] {
        match self {
            Subscript::At => b"@",
            Subscript::Star => b"*",
            Subscript::Expr(expr) => &expr.word.raw,
        }
    }
}

/// A redirection.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Redirect {
    pub fd: RedirectFd,
    pub op: RedirectOp,
    pub target: RedirectTarget,
    pub line: u32,
}

/// The descriptor that a redirection changes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RedirectFd {
    /// 0 for input operators, 1 for output operators.
    Default,
    Number(u32),
    /// `{name}>`: the shell picks a descriptor of 10 or above and assigns it.
    Var {
        name: Text,
        subscript: Option<Subscript>,
    },
}

/// The operator of a redirection.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum RedirectOp {
    /// `<`
    Read,
    /// `>`
    Write,
    /// `>|`
    Clobber,
    /// `>>`
    Append,
    /// `<>`
    ReadWrite,
    /// `<&` with a word: number, number followed by `-`, or `-`
    DupRead,
    /// `>&`; without a descriptor and with a word that is not a number it is `&>`
    DupWrite,
    /// `&>`
    WriteBoth,
    /// `&>>`
    AppendBoth,
    /// `<<` and `<<-`
    HereDoc,
    /// `<<<`
    HereString,
}

/// The operand after the operator.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum RedirectTarget {
    Word(Word),
    HereDoc(Rc<HereDoc>),
}

/// A here-document.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct HereDoc {
    /// The delimiter after quote removal.
    pub delimiter: Text,
    /// Whether the operator is `<<-`; leading tabs are already removed.
    pub strip_tabs: bool,
    /// Whether the delimiter was quoted; the body is then one quoted literal.
    pub quoted: bool,
    pub body: DocBody,
}

/// The body of a here-document, parsed as if within double quotes, except that `"` is ordinary. It
/// is read after the line with the operator, and is unset until then.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
#[serde(from = "Word", into = "Word")]
pub struct DocBody(OnceCell<Word>);

impl DocBody {
    /// Stores the body that was read, unless there already is one.
    pub(crate) fn fill(&self, body: Word) {
        self.0.set(body).unwrap_or_default();
    }
}

impl std::ops::Deref for DocBody {
    type Target = Word;
    fn deref(&self) -> &Word {
        self.0.get_or_init(Word::default)
    }
}

impl From<Word> for DocBody {
    fn from(body: Word) -> DocBody {
        DocBody(OnceCell::from(body))
    }
}

impl From<DocBody> for Word {
    fn from(body: DocBody) -> Word {
        body.0.into_inner().unwrap_or_default()
    }
}

/// `if`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct If {
    /// `if`/`elif` conditions with their bodies.
    pub branches: Vec<(CommandList, CommandList)>,
    pub otherwise: Option<CommandList>,
}

/// `while` and `until`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct While {
    /// `until` instead of `while`.
    pub until: bool,
    pub condition: CommandList,
    pub body: CommandList,
}

/// `for name [in words]` and `select name [in words]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct For {
    pub name: Text,
    /// `None`: the positional parameters.
    pub words: Option<Vec<Word>>,
    pub body: CommandList,
}

/// `for ((...))`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArithFor {
    pub init: Option<ArithText>,
    pub condition: Option<ArithText>,
    pub step: Option<ArithText>,
    pub body: CommandList,
}

/// `case`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseCommand {
    pub subject: Word,
    pub arms: Vec<CaseArm>,
}

/// One arm of `case`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CaseArm {
    pub patterns: Vec<Word>,
    pub body: CommandList,
    pub end: CaseEnd,
}

/// The end of an arm.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CaseEnd {
    /// `;;` or the end of the last arm
    Break,
    /// `;&`: run the next body without a test
    FallThrough,
    /// `;;&`: test the following patterns, too
    Continue,
}

/// A definition of a function.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct FunctionCommand {
    pub name: Text,
    /// A compound command, with the redirections of the definition.
    pub body: Command,
    /// Defined with the `function` reserved word.
    pub keyword: bool,
}

/// `coproc`
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Coproc {
    /// `None`: `COPROC`.
    pub name: Option<Text>,
    pub body: Rc<Command>,
}

/// The expression of `[[ ]]`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum Cond {
    Not(Box<Cond>),
    /// `( expr )`
    Group(Box<Cond>),
    And(Box<Cond>, Box<Cond>),
    Or(Box<Cond>, Box<Cond>),
    /// A lone word, which is true if it is not empty.
    Word(Word),
    /// A unary test by the operator's letter, for example `-f word`.
    Unary(u8, Word),
    Binary(CondOp, Word, Word),
}

/// A binary operator of `[[`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CondOp {
    /// `==`: pattern match
    Match,
    /// `=`: the same, spelled as POSIX `test` does
    MatchPosix,
    /// `!=`
    NotMatch,
    /// `=~`: extended regular expression; quoted parts match literally
    Regex,
    /// `<`
    Before,
    /// `>`
    After,
    /// `-eq -ne -lt -le -gt -ge`: arithmetic on both sides
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// `-nt -ot -ef`
    NewerThan,
    OlderThan,
    SameFile,
}

impl CondOp {
    /// Returns the spelling in source code.
    pub fn spelling(self) -> &'static [u8] {
        match self {
            CondOp::Match => b"==",
            CondOp::MatchPosix => b"=",
            CondOp::NotMatch => b"!=",
            CondOp::Regex => b"=~",
            CondOp::Before => b"<",
            CondOp::After => b">",
            CondOp::Eq => b"-eq",
            CondOp::Ne => b"-ne",
            CondOp::Lt => b"-lt",
            CondOp::Le => b"-le",
            CondOp::Gt => b"-gt",
            CondOp::Ge => b"-ge",
            CondOp::NewerThan => b"-nt",
            CondOp::OlderThan => b"-ot",
            CondOp::SameFile => b"-ef",
        }
    }
}

/// A word: the unit that expansions turn into zero or more fields.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize)]
pub struct Word {
    pub parts: Vec<WordPart>,
    /// Source spelling, quotes included.
    pub raw: Text,
}

impl Word {
    /// Returns the word's text if it is one unquoted literal without any expansion. Brace, tilde
    /// and glob characters may still be in it.
    pub fn as_literal(&self) -> Option<&[u8]> {
        match self.parts.as_slice() {
            [] => Some(b""),
            [WordPart::Literal(t)] => Some(t),
            _ => None,
        }
    }
}

/// A part of a word.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum WordPart {
    /// Unquoted text: tilde, brace, pathname and extglob characters are active.
    /// An extglob such as `@(a|b)` is text here, its parentheses and bars included.
    Literal(Literal),
    /// Text from `'...'`, `$'...'` (decoded) or `\c`, and all plain text within double quotes.
    Quoted(Literal),
    /// `"..."` and `$"..."`; holds `Quoted`, `Param`, `CommandSub` and `ArithText` only.
    /// An empty one still makes a field.
    DoubleQuoted(Vec<WordPart>),
    /// `$name`, `${...}`
    Param(Box<Param>),
    /// `$(...)` and backquotes
    CommandSub(Rc<CommandSub>),
    /// `$((...))` and `$[...]`
    Arith(Rc<ArithText>),
    /// `<(...)` and `>(...)`
    ProcessSub(Rc<ProcessSub>),
}

/// `$(...)` or backquotes.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct CommandSub {
    pub body: CommandList,
    /// Whether it is written with backquotes. Its aliases are then looked up when it runs, even in
    /// POSIX mode.
    pub backquoted: bool,
    /// `$(< file)`: the file's content, read without running a command.
    pub is_file_read: bool,
    /// The syntax error of a substitution in a here-document, which is reported when the body is
    /// expanded.
    pub error: Option<Box<crate::error::SyntaxError>>,
    /// Text that does not parse as a whole. It is run command by command, so that the commands
    /// before the error take effect.
    pub source: Option<Text>,
    pub line: u32,
}

/// `<(...)` or `>(...)`.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ProcessSub {
    /// `<(...)`: the command's output is read from the path.
    pub read: bool,
    pub body: CommandList,
}

/// A parameter expansion.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct Param {
    pub name: ParamName,
    pub subscript: Option<Subscript>,
    /// `${!name...}`: the value is the name of the parameter to expand.
    pub indirect: bool,
    pub op: ParamOp,
    /// Source spelling, for messages ("bad substitution").
    pub raw: Text,
}

/// The parameter of an expansion.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ParamName {
    Variable(Text),
    /// `$1`, `${10}`; `$0` is `Special(b'0')`.
    Positional(u32),
    /// One of `@ * # ? - $ ! 0`
    Special(u8),
}

/// The operation of an expansion on its parameter.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ParamOp {
    /// `$x`, `${x}`
    Plain,
    /// `${#x}`
    Length,
    /// `${x-w}`, and with `colon` `${x:-w}`
    Default { colon: bool, word: Word },
    /// `${x=w}`
    Assign { colon: bool, word: Word },
    /// `${x?w}`
    Error { colon: bool, word: Word },
    /// `${x+w}`
    Alternate { colon: bool, word: Word },
    /// `${x#p}`, `${x##p}`
    RemovePrefix { longest: bool, pattern: Word },
    /// `${x%p}`, `${x%%p}`
    RemoveSuffix { longest: bool, pattern: Word },
    /// `${x/p/r}` and its variants
    Replace { kind: ReplaceKind, pattern: Word, replacement: Option<Word> },
    /// `${x:offset}`, `${x:offset:length}`
    Substring { offset: ArithText, length: Option<ArithText> },
    /// `${x^p}`, `${x^^p}`, `${x,p}`, `${x,,p}`, `${x~p}`, `${x~~p}`
    Case { kind: CaseKind, all: bool, pattern: Option<Word> },
    /// `${x@Q}` and the other operators `U u L Q E P A K a k`
    Transform(u8),
    /// `${x@o}` with any other operator: an error if the parameter is set.
    UnknownTransform,
    /// `${!prefix*}`, `${!prefix@}`
    NamesWithPrefix { at: bool },
    /// `${!x[@]}`, `${!x[*]}`
    Keys { at: bool },
    /// Not a valid expansion: reported when it is reached, as `${}: bad substitution`.
    Bad,
}

/// The matches that `${x/pattern/text}` replaces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ReplaceKind {
    /// `/`
    First,
    /// `//`
    All,
    /// `/#`
    Prefix,
    /// `/%`
    Suffix,
}

/// The effect of `^`, `,` and `~` on letters.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum CaseKind {
    Upper,
    Lower,
    Toggle,
}

/// An arithmetic expression as written in the source.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArithText {
    /// The text with its expansions, parsed as if within double quotes after each `"` in it was
    /// removed.
    pub word: Word,
    /// The expression, in which every expansion of the text is an operand. If it is `None`, `word`
    /// is expanded first and the result parsed.
    pub expr: Option<Box<ArithExpr>>,
}

/// A parsed arithmetic expression (bash manual 6.5).
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub enum ArithExpr {
    Number(i64),
    /// A variable, whose value is evaluated as an expression, too (`x=y; y=3; ((x))`).
    Variable(ArithPlace),
    /// An expansion, identified by its number among those of the word. If its result is not a plain
    /// integer, the expression must be parsed again from the expanded text.
    Operand(usize),
    Unary(ArithUnary, Box<ArithExpr>),
    /// Messages about this operation quote the text from the offset that the number gives.
    Binary(ArithBinary, Box<ArithExpr>, Box<ArithExpr>, u32),
    /// `&&` and `||` evaluate the right side only when needed.
    LogicalAnd(Box<ArithExpr>, Box<ArithExpr>),
    LogicalOr(Box<ArithExpr>, Box<ArithExpr>),
    Ternary(Box<ArithExpr>, Box<ArithExpr>, Box<ArithExpr>),
    /// `=` (no operator) and `op=`, with a number as in `Binary`.
    Assign(Option<(ArithBinary, u32)>, ArithPlace, Box<ArithExpr>),
    /// `++x`, `--x`, `x++`, `x--`.
    Step {
        increment: bool,
        prefix: bool,
        target: ArithPlace,
    },
    Comma(Box<ArithExpr>, Box<ArithExpr>),
}

/// `name` or `name[subscript]` in an expression.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArithPlace {
    pub name: Text,
    pub index: Option<Box<ArithIndex>>,
}

/// A subscript in an expression, as text and as an expression, because the array's kind is known
/// only at run time.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize)]
pub struct ArithIndex {
    /// The text, which is the key of an associative array; [`crate::arith::MARKER`] stands for each
    /// expansion.
    pub raw: Text,
    /// The number of the first expansion in it.
    pub operands: usize,
    /// The expression, if the text parses as one.
    pub expr: Option<ArithExpr>,
}

/// A unary operator of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArithUnary {
    Plus,
    Minus,
    /// `!`
    Not,
    /// `~`
    Complement,
}

/// A binary operator of an expression.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub enum ArithBinary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Pow,
    ShiftLeft,
    ShiftRight,
    Less,
    LessEq,
    Greater,
    GreaterEq,
    Equal,
    NotEqual,
    BitAnd,
    BitXor,
    BitOr,
}
