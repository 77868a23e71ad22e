"""The command line of `yq`: yaqpy under the name of the program whose language it has."""

import sys

# The version of mikefarah's yq that yaqpy 0.8.0 follows.
FOLLOWED = "v4.53.6"

HELP = """Usage: yq [eval|eval-all] [OPTION]... EXPRESSION [FILE]...

Query and change YAML, JSON, XML, CSV, TSV, TOML and properties with the expressions of mikefarah's
yq 4. Comments, order and the way that values are written are kept. eval-all (ea) reads all files
before it evaluates; without FILE, yq reads standard input.

  -i, --inplace              Change the first FILE
  -n, --null-input           Read nothing
  -o, --output-format FMT    yaml, json, xml, csv, tsv, toml or props
  -p, --input-format FMT     The same for input, which otherwise follows from the name
  -P, --prettyPrint          Print in the usual style, not as the input is written
  -r, --unwrapScalar[=BOOL]  Print strings without quotes (the default for YAML)
  -I, --indent N             Indent by N; with -o json -I 0 on one line
  -N, --no-doc               Print no lines between documents
  -0, --nul-output           Separate results by NUL
  -e, --exit-status          Fail if there is no match, or it is null or false
  -s, --split-exp EXPR       Write each result to the file that EXPR names
  -f, --front-matter MODE    Work on a file's front matter: extract or process
      --from-file FILE       Read the expression from FILE
  -V, --version              Print the version

Absent: the operators load, eval, envsubst and system, and the formats of programming languages.

Examples:
  yq '.a.b' f.yaml                         Print a value
  yq -i '.a.b = 3' f.yaml                  Change a value in the file
  yq -o json '.' f.yaml                    Convert to JSON
  yq ea '. as $f ireduce ({}; . * $f)' *.yaml   Merge files
"""

# Options of yaqpy for windows and a server, which are not part of the image.
LEFT_OUT = ("--gui", "--web")


def main(words):
    """Runs the command line; returns the exit status."""
    if words in (["-h"], ["--help"], ["help"]):
        sys.stdout.write(HELP)
        return 0
    if words in (["-V"], ["--version"]):
        from yaqpy import __version__

        print(f"yq (https://github.com/mikefarah/yq/) version {FOLLOWED}")
        print(f"Wasibox: this is yaqpy {__version__}, which follows that version.")
        return 0
    for word in words:
        if word in LEFT_OUT:
            print(f"Error: unknown flag: {word}", file=sys.stderr)
            return 1
    from yaqpy.cli.main import main as run
    from yaqpy.formats.registry import FormatRegistry

    # yq decides by a file's name, and takes everything else for YAML; yaqpy looks into it.
    FormatRegistry.guess = lambda self, name, text: self.guess_from_filename(name) or self.get("yaml")
    return run(words if any(word.startswith("--lint") for word in words) else ["--lint=off", *words])
