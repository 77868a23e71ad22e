//! The text of `help NAME` beyond synopsis and summary: options, operands, status. One entry for
//! each builtin, sorted by name.

/// Name and text; lines are indented by `help`.
pub const TEXTS: &[(&str, &str)] = &[
    (".", SOURCE),
    (":", "Does nothing; its words are expanded and its redirections made.\n\nStatus: 0."),
    ("[", "As `test', with `]' as the last argument."),
    (
        "alias",
        "NAME=VALUE defines an alias, NAME shows one, no operand shows all.\n\n  -p    show all aliases in a form that can be read again\n\nAliases act where the option `expand_aliases' is on.\nStatus: 1 if a NAME has no alias.",
    ),
    (
        "bg",
        "Continues stopped jobs in the background, the current one without an operand.\n\nStatus: 1 without job control (`set -m') or for an unknown job.",
    ),
    ("bind", "Accepted without effect: the keys of the line editor are fixed."),
    (
        "break",
        "Leaves N enclosing loops (1 by default; more than there are means all).\n\nStatus: 0, or 1 if N is no positive number.",
    ),
    (
        "builtin",
        "Runs SHELL-BUILTIN with the arguments, even if a function has its name.\n\nStatus: the builtin's, or 1 if it is none.",
    ),
    (
        "caller",
        "Shows line and file of the call; with EXPR, a number of frames up, line, function\nand file.\n\nStatus: 1 outside of functions or for a frame that does not exist.",
    ),
    (
        "cd",
        "Goes to DIR, to $HOME without one, to $OLDPWD for `-'. A relative DIR is looked up\nin the directories of CDPATH, too.\n\n  -L    follow `..' by name (default)\n  -P    use the path without symbolic links\n  -e    with -P, fail if the directory cannot be found out\n  -@    accepted: there are no extended attributes\n\nStatus: 0, or 1 if the directory cannot be entered.",
    ),
    (
        "command",
        "Runs COMMAND as a builtin or program, passing over functions.\n\n  -p    search the standard directories instead of PATH\n  -v    show what would run: a path, a name, an alias\n  -V    the same in words\n\nStatus: COMMAND's; with -v and -V 1 if there is none of that name.",
    ),
    (
        "compgen",
        "Shows the possible completions of WORD that the options make.\n\n  -a -b -c -d -e -f -g -j -k -s -u -v    aliases, builtins, commands, directories,\n        exported variables, files, groups, jobs, keywords, services, users, variables\n  -A ACTION   such as function, shopt, signal or one of the above in words\n  -W LIST     the words of LIST        -G GLOB     file names that match\n  -F NAME     what a function makes    -C COMMAND  the output of a command\n  -X PATTERN  leaves matches out       -P, -S TEXT put before and after each\n\nStatus: 0 if there is any.",
    ),
    (
        "complete",
        "Remembers how the arguments of NAME are to be completed; `complete -p' shows it and\n`compgen' uses it. There is no line editing that would.\n\n  -p    show what is set        -r    forget it\n  -D -E -I    for commands without a setting, an empty line, the command word\nThe other options are those of `compgen'.\n\nStatus: 1 if NAME has no setting to show or remove.",
    ),
    (
        "compopt",
        "Changes completion options of NAME, `-o' on and `+o' off; without options shows them.\n\nStatus: 1 if NAME has no setting or no completion is running.",
    ),
    (
        "continue",
        "Goes on with the next round of the Nth enclosing loop.\n\nStatus: 0, or 1 if N is no positive number.",
    ),
    ("declare", DECLARE),
    (
        "dirs",
        "Shows the directories kept by `pushd', the current one first.\n\n  -c    forget all        -l    do not shorten the home directory to `~'\n  -p    one in a line     -v    one in a line, numbered\n  +N -N    only the Nth, from the left or from the right\n\nStatus: 1 for an index that does not exist.",
    ),
    (
        "disown",
        "Takes jobs off the list; the current one without an operand.\n\n  -a    all jobs    -r    running jobs    -h    keep it, but send it no HUP\n\nStatus: 1 for an unknown job.",
    ),
    (
        "echo",
        "Writes its arguments, separated by spaces, and a newline.\n\n  -n    no newline\n  -e    understand \\a \\b \\c \\e \\f \\n \\r \\t \\v \\\\ \\0NNN \\xHH \\uHHHH \\UHHHHHHHH\n  -E    do not (default, unless `xpg_echo' is on)\n\nStatus: 0, or 1 after a write error.",
    ),
    (
        "enable",
        "Switches builtins on and, with -n, off: a program of that name runs then.\n\n  -a    show all, with their state    -n    switch off, or show those that are off\n  -p    show                          -s    only special builtins of POSIX\n  -f, -d    refused: nothing can be loaded\n\nStatus: 1 if a NAME is no builtin.",
    ),
    (
        "eval",
        "Joins its arguments by spaces and runs the result as commands.\n\nStatus: that of the last command, 0 if there is none.",
    ),
    (
        "exec",
        "Goes on as COMMAND, without coming back. Without COMMAND its redirections stay in\nforce.\n\n  -a NAME    pass NAME as argument zero\n  -c         with an empty environment\n  -l         as a login shell: a dash before argument zero\n\nStatus: 127 or 126 if COMMAND cannot run; that ends a shell that is not interactive,\nunless `execfail' is on.",
    ),
    ("exit", "Ends the shell with status N, or with that of the last command. The EXIT trap runs."),
    (
        "export",
        "Passes variables on to programs, from now on.\n\n  -f    the names are functions'\n  -n    no longer\n  -p    show all exported names\n\nStatus: 1 for a wrong name.",
    ),
    ("false", "Status: 1."),
    (
        "fc",
        "Lists history, or runs parts of it again.\n\n  -l    list          -n    without numbers        -r    newest first\n  -s [PAT=REP]    run a command again, with PAT replaced by REP\n  -e NAME         edit with NAME first: refused, there is no editor here\n\nThe history of a script is what `history -s' put there.\nStatus: 1 if there is no such command.",
    ),
    (
        "fg",
        "Brings a job into the foreground, continues it if it is stopped, and waits for it.\n\nStatus: the job's, or 1 without job control or for an unknown job.",
    ),
    (
        "getopts",
        "Puts the next option of the positional parameters (or of ARGs) into NAME and its value\ninto OPTARG; OPTIND is the next word to look at. A letter in OPTSTRING followed by a\ncolon takes a value. With a colon first, OPTSTRING asks for no messages: NAME becomes `?'\nfor an unknown letter and `:' for a lacking value, OPTARG the letter.\n\nStatus: 0 while there are options.",
    ),
    (
        "hash",
        "Remembers where commands are. Without operands shows what is known.\n\n  -r    forget all             -d    forget the names\n  -p PATH    NAME is at PATH   -t    show where\n  -l    in a form that can be read again\n\nStatus: 1 if a name is not found.",
    ),
    (
        "help",
        "Describes builtins whose names match a pattern; without one, lists builtins and\ncommands.\n\n  -d    one line each    -s    synopsis only    -m    as a manual page\n\nStatus: 1 if nothing matches.",
    ),
    (
        "history",
        "Shows the history with numbers; N shows the last N entries.\n\n  -c    forget all        -d OFFSET    forget one\n  -s    keep the arguments as one entry\n  -p    show the arguments with `!' expanded, do not keep them\n  -a    append new entries to the file    -w    write all    -r -n    read it\n\nThe file is the argument or $HISTFILE.\nStatus: 1 for a wrong position or file.",
    ),
    (
        "jobs",
        "Shows background jobs and forgets those that ended.\n\n  -l    with process numbers    -p    these only\n  -n    what changed            -r    running ones        -s    stopped ones\n  -x COMMAND    run COMMAND, jobs in its arguments replaced by process numbers\n\nStatus: 1 for an unknown job.",
    ),
    (
        "kill",
        "Sends TERM, or the signal given, to processes and jobs.\n\n  -s NAME, -n NUMBER, -NAME, -NUMBER    which signal; 0 only asks whether it exists\n  -l [SIGNAL]    list signals, or translate between name and number (-L: the same)\n\nA trap of another shell runs at its next command. Status: 1 if nothing could be sent.",
    ),
    (
        "let",
        "Computes each argument as an arithmetic expression.\n\nStatus: 1 if the last result is 0.",
    ),
    (
        "local",
        "Makes variables of a function, seen there and in what it calls. Options are those of\n`declare'; `local -' restores the shell's options at the end of the function.\n\nStatus: 1 outside of a function or for a wrong name.",
    ),
    ("logout", "Ends a login shell with status N.\n\nStatus: 1 in any other shell."),
    ("mapfile", MAPFILE),
    (
        "popd",
        "Removes the top of the directory stack and goes to the new top.\n\n  +N -N    remove the Nth from the left or from the right\n  -n       stay where you are\n\nStatus: 1 if there is no such entry.",
    ),
    (
        "printf",
        "Writes ARGUMENTS as FORMAT says, and again until they are used up.\n\n  -v VAR    put the result into VAR\n\nFORMAT has the conversions of printf(3) and %b (with backslash escapes), %q (quoted for\nthe shell), %Q (quoted, after the precision) and %(FMT)T (a time by strftime(3); -1 is\nnow, -2 the start of the shell).\n\nStatus: 1 after a wrong number or a write error.",
    ),
    (
        "pushd",
        "Goes to DIR and puts it on top of the directory stack; without an operand swaps the top\ntwo.\n\n  +N -N    turn the stack so that the Nth is on top\n  -n       change the stack only\n\nStatus: 1 if there is no such directory or entry.",
    ),
    (
        "pwd",
        "Shows the current directory.\n\n  -L    $PWD, if it names the directory (default)    -P    without symbolic links\n\nStatus: 0, unless the directory cannot be read.",
    ),
    (
        "read",
        "Reads a line, splits it at IFS and puts the fields into the NAMEs, what is left into the\nlast; without a NAME the line goes to REPLY. A backslash quotes the next character.\n\n  -r    backslashes are ordinary      -a ARRAY    fields go to the elements of ARRAY\n  -d DELIM    end at DELIM            -n N    end after N characters\n  -N N  exactly N characters          -p TEXT a prompt, on a terminal\n  -t SECONDS  give up after that time; 0 only asks whether there is input\n  -u FD read from that descriptor     -s    do not show what is typed\n  -e, -i TEXT    accepted\n\nStatus: 1 at the end of input, 142 after the time.",
    ),
    ("readarray", MAPFILE),
    (
        "readonly",
        "Forbids changes of variables.\n\n  -a, -A    of arrays      -f    of functions      -p    show all\n\nStatus: 1 for a wrong name.",
    ),
    (
        "return",
        "Ends a function or a sourced file with status N, or with that of the last command.\n\nStatus: N; 1 outside of both.",
    ),
    (
        "set",
        "Sets options (- on, + off) and the positional parameters. Without operands shows all\nvariables.\n\n  -a allexport    -b notify      -e errexit     -f noglob     -h hashall\n  -k keyword      -m monitor     -n noexec      -p privileged -t onecmd\n  -u nounset      -v verbose     -x xtrace      -B braceexpand  -C noclobber\n  -E errtrace     -H histexpand  -P physical    -T functrace\n  -o NAME    by name, also pipefail, posix and others; alone shows all\n  --         the rest are parameters, even if there are none\n  -          the same, with -x and -v off\n\nStatus: 2 for an unknown option.",
    ),
    (
        "shift",
        "Drops the first N positional parameters (1 by default).\n\nStatus: 1 if there are fewer.",
    ),
    (
        "shopt",
        "Shows or sets options that `set' does not have.\n\n  -s    on       -u    off       -q    say nothing, the status tells\n  -p    in a form that can be read again     -o    the options of `set -o'\n\nStatus: 1 if one that was asked for is off or does not exist.",
    ),
    ("source", SOURCE),
    (
        "suspend",
        "Stops the shell until another shell continues it; refused if there is none.\n\nStatus: 1 if it is refused.",
    ),
    (
        "test",
        "Tells by its status whether an expression holds.\n\nFiles:  -e there, -f regular, -d directory, -h -L link, -p pipe, -S socket, -b -c devices,\n  -r -w -x may be used, -s not empty, -u -g -k bits, -O -G -N owner, group, read since,\n  A -nt B newer, A -ot B older, A -ef B the same\nText:   -z empty, -n not empty, A = B, A == B, A != B, A < B, A > B\nNumbers: A -eq B, -ne, -lt, -le, -gt, -ge\nShell:  -v NAME set, -R NAME a reference, -o OPTION on, -t FD a terminal\nJoined: ! EXPR, EXPR -a EXPR, EXPR -o EXPR, ( EXPR )\n\nStatus: 0 if it holds, 1 if not, 2 if it is none.",
    ),
    ("times", "Shows user and system time of the shell, then of its children.\n\nStatus: 0."),
    (
        "trap",
        "Runs ARG when the shell gets a signal; an empty ARG ignores it, `-' or none gives it back its\ndefault. EXIT runs at the end, DEBUG before each command, ERR after one that failed,\nRETURN after a function or sourced file.\n\n  -l    list signals    -p    show what is set, for the signals named or for all\n\nStatus: 1 for an unknown signal.",
    ),
    ("true", "Status: 0."),
    (
        "type",
        "Tells what each NAME would run.\n\n  -a    all of them      -f    functions left out\n  -t    one word: alias, keyword, function, builtin or file\n  -p    the path of the file, if it is one    -P    search PATH in any case\n\nStatus: 1 if a NAME is nothing.",
    ),
    ("typeset", DECLARE),
    (
        "ulimit",
        "Shows or sets limits of the shell and what it starts. They are remembered here, not\nenforced: the session's own limits are set by who runs it.\n\n  -S -H    the soft or the hard limit    -a    all\n  -R -c -d -e -f -i -l -m -n -p -q -r -s -t -u -v -x    one resource; -f by default\n\nLIMIT is a number, soft, hard or unlimited.\nStatus: 1 for a wrong value, 2 for an unknown option.",
    ),
    (
        "umask",
        "Shows or sets which permission bits new files lack. MODE is octal, or symbolic and then\ntells what is allowed.\n\n  -S    show in symbols    -p    in a form that can be read again\n\nStatus: 1 for a wrong MODE.",
    ),
    ("unalias", "Forgets aliases.\n\n  -a    all\n\nStatus: 1 if a NAME has none."),
    (
        "unset",
        "Forgets variables, or functions where there is no variable of the name.\n\n  -v    variables only    -f    functions only    -n    the reference, not its target\n\nStatus: 1 if one is read-only.",
    ),
    (
        "wait",
        "Waits for processes and jobs, for all without an operand.\n\n  -n    for the first of them that ends\n  -p VAR    puts its process number into VAR\n  -f    accepted\n\nStatus: that of the last one waited for, 127 if it is unknown, above 128 if a signal with a\ntrap came first.",
    ),
];

const SOURCE: &str = "Runs the commands in a file in this shell; ARGUMENTS become the positional parameters\nmeanwhile. A name without a slash is searched for in PATH.\n\nStatus: that of the last command; 1 if the file cannot be read.";

const DECLARE: &str = "Gives variables values and attributes; without names shows variables.\n\n  -a    array            -A    array with text keys    -i    integer\n  -l    lower case       -u    upper case              -c    capitalised\n  -n    reference        -r    read-only               -t    traced\n  -x    exported         -g    global, also in a function\n  -f    functions        -F    names of functions      -I    inherit from the caller\n  -p    show\n\n`+' instead of `-' takes an attribute away. In a function the variables are local.\nStatus: 1 for a wrong name or a failed assignment.";

const MAPFILE: &str = "Reads lines into the elements of ARRAY, or of MAPFILE.\n\n  -d DELIM    end lines at DELIM      -t    without their ends\n  -n COUNT    at most COUNT lines     -s COUNT    pass over the first\n  -O ORIGIN   from that index on, keeping what is there\n  -u FD       from that descriptor\n  -C CALLBACK, -c QUANTUM    run CALLBACK with index and line after each QUANTUM lines\n\nStatus: 1 for a wrong option or array.";

/// Returns the text for a builtin.
pub fn find_help(name: &str) -> Option<&'static str> {
    TEXTS.binary_search_by(|t| t.0.cmp(name)).ok().and_then(|at| TEXTS.get(at)).map(|t| t.1)
}

#[cfg(test)]
mod tests {
    use super::TEXTS;
    use crate::builtin::TABLE;

    #[test]
    fn every_builtin_has_one() {
        let names: Vec<&str> = TEXTS.iter().map(|t| t.0).collect();
        assert_eq!(names, TABLE.iter().map(|b| b.name).collect::<Vec<_>>());
    }
}
