"""BLAS and LAPACK in C, from the reference implementation in Fortran 77.

    python3 translate.py NETLIB LIBFLAME LIBF2C F2C OUT

NETLIB has `SRC` and `BLAS/SRC`. f2c translates what is Fortran 77. For the few routines that use
more of Fortran 90, LIBFLAME has translations by hand and script of the release before. LIBF2C is
the runtime of translated programs; what is needed of it is copied, too.

Two things of f2c's convention are changed, because SciPy calls these routines as C functions:
lengths of strings are no arguments (a function that needs one asks `strlen`), and subroutines
return nothing. WebAssembly checks both at each call.
"""

import os
import re
import shutil
import subprocess
import sys

# What f2c cannot translate and nobody here needs; the link leaves out what calls it.
ABSENT = {"cgejsv", "dbdsvdx", "sbdsvdx", "zgejsv"}
ABSENT |= {"chetrd_hb2st", "dsytrd_sb2st", "ssytrd_sb2st", "zhetrd_hb2st"}

# Written in C beside this script.
OWN = {"chla_transtype", "xerbla", "xerbla_array"}

# Functions of the runtime keep the lengths of strings.
RUNTIME = {"s_cat", "s_copy", "s_cmp", "i_len", "i_indx"}

RUNTIME_FILES = """c_abs c_div c_exp c_log c_sqrt cabs d_abs d_cnjg d_imag d_int d_lg10 d_mod d_nint
d_sign i_dnnt i_indx i_len i_mod i_nint pow_ci pow_dd pow_di pow_ii pow_ri pow_zi pow_zz r_abs
r_cnjg r_imag r_int r_lg10 r_mod r_nint r_sign s_cat s_cmp s_copy z_abs z_div z_exp z_log
z_sqrt""".split()

LENGTH = re.compile(r"\s*(\(\s*ftnlen\s*\)\s*\d+|ftnlen(\s+\w+_len)?|\w+_len)\s*\Z")
IDENTIFIER = re.compile(r"[A-Za-z_]\w*\Z")
SUBROUTINE = re.compile(r"/\*\s*Subroutine\s*\*/\s*int\b")
DEFINITION = re.compile(r"^[^\s#/].*?\b(\w+_)\(([^()]*)\)\s*\{", re.MULTILINE | re.DOTALL)


def without_comments(text):
    """Comments would be two thirds of what the compiler reads; f2c's marks of subroutines stay."""
    out, at = [], 0
    for match in re.finditer(r'/\*.*?\*/|"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'', text, re.DOTALL):
        out.append(text[at : match.start()])
        token = match[0]
        keep = not token.startswith("/*") or re.fullmatch(r"/\*\s*Subroutine\s*\*/", token)
        out.append(token if keep else " ")
        at = match.end()
    return re.sub(r"\n\s*\n+", "\n", "".join(out) + text[at:])


def without_lengths(text):
    """Removes the lengths of strings from calls, declarations and definitions."""
    out = []
    # Of each open parenthesis: the function's name, and where its arguments begin in `out`.
    calls = []
    for match in re.finditer(r'"(?:\\.|[^"\\])*"|\'(?:\\.|[^\'\\])*\'|\w+|.', text, re.DOTALL):
        token = match[0]
        if token == "(":
            before = "".join(out[-3:]).rstrip()
            name = re.search(r"\w*\Z", before)[0]
            out.append(token)
            calls.append((name, [len(out)]))
        elif token == "," and calls:
            out.append(token)
            calls[-1][1].append(len(out))
        elif token == ")" and calls:
            name, starts = calls.pop()
            if IDENTIFIER.match(name) and name not in RUNTIME and len(starts) > 1:
                ends = [start - 1 for start in starts[1:]] + [len(out)]
                arguments = ["".join(out[a:b]) for a, b in zip(starts, ends)]
                kept = [argument for argument in arguments if not LENGTH.match(argument)]
                if len(kept) < len(arguments):
                    out[starts[0] :] = [",".join(kept)]
            out.append(token)
        else:
            out.append(token)
    return "".join(out)


def with_asked_lengths(text):
    """Where a function uses the length of an argument, it asks for it."""

    def define(match):
        body = text[match.end() :]
        asked = []
        for name in re.findall(r"char \*(\w+)", match[2]):
            length = re.sub(r"__\Z", "", name) + "_len"
            if re.search(rf"\b{length}\b", body):
                asked.append(f"\n    ftnlen {length} = (ftnlen) __builtin_strlen({name});")
        return match[0] + "".join(asked)

    return DEFINITION.sub(define, text)


def c_subroutines(text):
    return re.sub(r"/\*\s*Subroutine\s*\*/", "", SUBROUTINE.sub("void", text))


def fortran77(name, text):
    """What f2c need not know: that a routine calls itself, and a generic name's other types."""
    text = re.sub(r"(?mi)^ {6} *RECURSIVE +", " " * 6, text)
    return re.sub(r"(?i)\bAIMAG\b", "DIMAG", text) if name.startswith("z") else text


def without_openmp(text):
    return re.sub(r"(?ms)^#if defined\(_OPENMP\).*?^#endif[^\n]*\n", "", text)


def main(netlib, libflame, libf2c, f2c, out):
    room = os.path.join(out, "fortran")
    shutil.rmtree(out, ignore_errors=True)
    os.makedirs(room)
    names = set()
    for folder in ("SRC", "BLAS/SRC"):
        folder = os.path.join(netlib, folder)
        for file in sorted(os.listdir(folder)):
            name, kind = os.path.splitext(file)
            if kind not in (".f", ".F") or name in OWN | ABSENT:
                continue
            with open(os.path.join(folder, file), encoding="latin-1") as source:
                text = fortran77(name, without_openmp(source.read()))
            with open(os.path.join(room, f"{name}.f"), "w", encoding="latin-1") as source:
                source.write(text)
            names.add(name)
    hand = []
    flame = os.path.join(libflame, "src/map/lapack2flamec/f2c")
    # What its translations have instead of Fortran 90's MAXLOC.
    names.add("maxloc")
    for name in sorted(names):
        # -R: REAL functions return float; -a: variables are automatic; -A: prototypes.
        done = subprocess.run(
            [f2c, "-w", "-A", "-R", "-a", f"{name}.f"], cwd=room, capture_output=True, check=False
        )
        if done.returncode == 0:
            path = os.path.join(room, f"{name}.c")
        else:
            hand.append(name)
            paths = [os.path.join(flame, part, f"{name}.c") for part in ("c", "flamec/front", "install/static")]
            path = next(path for path in paths if os.path.exists(path))
        with open(path, encoding="latin-1") as source:
            text = without_comments(source.read())
        text = text.replace("FLA_f2c.h", "f2c.h")
        text = with_asked_lengths(without_lengths(text))
        with open(os.path.join(out, f"{name}.c"), "w", encoding="latin-1") as target:
            target.write(c_subroutines(text))
    for name in RUNTIME_FILES:
        with open(os.path.join(libf2c, f"{name}.c"), encoding="latin-1") as source:
            text = source.read()
        with open(os.path.join(out, f"{name}.c"), "w", encoding="latin-1") as target:
            target.write(text)
    with open(os.path.join(libf2c, "f2c.h0"), encoding="latin-1") as source:
        text = source.read()
    # Of 32 bits, as the target's are and as SciPy's `int` is.
    text = text.replace("typedef long int integer;", "typedef int integer;")
    text = text.replace("typedef long int logical;", "typedef int logical;")
    # A division by zero gives what it gives in Fortran, not the end of the program.
    text += "#define IEEE_COMPLEX_DIVIDE\n"
    # libflame's names for f2c.h's own.
    names = ("abs", "min", "max", "dabs", "dmin", "dmax")
    text += "".join(f"#define f2c_{name} {name}\n" for name in names)
    with open(os.path.join(out, "f2c.h"), "w", encoding="latin-1") as target:
        target.write(text)
    shutil.rmtree(room)
    print(f"{len(names)} routines, {len(hand)} of them from libflame: {' '.join(hand)}")


main(*sys.argv[1:])
