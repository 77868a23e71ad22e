mkdir pkg; cat > pkg/__init__.py <<'P'
__version__ = "1.2"
P
cat > pkg/__main__.py <<'P'
import argparse, re, sys, json, pathlib, collections
from . import __version__
def main(argv=None):
    p = argparse.ArgumentParser(prog="pkg", description="Count things."); p.add_argument("files", nargs="*", type=pathlib.Path); p.add_argument("-w", "--words", action="store_true"); p.add_argument("--top", type=int, default=2); p.add_argument("--version", action="version", version=__version__)
    a = p.parse_args(argv); c = collections.Counter()
    for f in a.files or [None]:
        try: text = f.read_text() if f else sys.stdin.read()
        except OSError as e: print(f"pkg: {e.filename}: {e.strerror}", file=sys.stderr); return 1
        c.update(re.findall(r"\w+", text.lower()) if a.words else text)
    print(json.dumps(c.most_common(a.top), ensure_ascii=False)); return 0
if __name__ == "__main__": sys.exit(main())
P
printf 'the cat the dog é é é' > in.txt; python3 -m pkg -w in.txt; python3 -m pkg --top 1 < in.txt; python3 -m pkg nope; echo "status $?"; python3 -m pkg --version; python3 -m pkg --bogus 2>&1 | tail -1; echo "status ${PIPESTATUS[0]}"; python3 -c 'import pkg, sys; print(pkg.__file__.split("/")[-2:], sys.argv)' x y; cat in.txt | python3 -c 'import sys; print(len(sys.stdin.buffer.read()))'; python3 -m py_compile pkg/__main__.py && echo compiled; python3 -c 'import this' | tail -1
