"""Lays out CPython's standard library as the guest sees it.

    stdlib.py SOURCE SYSCONFIGDATA SITE PATCHES ZONES OUT MASK...

Run by the native CPython of the same version, so that the bytecode fits.
SOURCE is CPython's source folder, SYSCONFIGDATA the generated module that
describes the wasm build, SITE our own additions, PATCHES a folder of patches to
the library that nothing but the guest needs, ZONES the tzdata package's zone folder, OUT the root folder to fill. Each MASK is a build-machine path
that must not appear in the result.

A plain directory with sources and `__pycache__`, not a zip: everything works
that people expect (tracebacks with source lines, inspect, pdb, help(),
importlib.resources), and it starts as fast: see "Measured" in the README.

The bytecode is of the unchecked-hash kind: the library cannot change, so no
import asks for the source's date or size, and nothing depends on when it was
built. Equal inputs give equal bytes.
"""

import os
import py_compile
import re
import shutil
import subprocess
import sys

# Not in the image, and why.
LEFT_OUT = {
    "test": "CPython's own tests",
    "idlelib": "graphical",
    "tkinter": "graphical; a short module of ours says so",
    "turtledemo": "graphical",
    "turtle.py": "graphical",
    "ensurepip": "carries pip wheels; ours copies the image's pip",
    "dbm": None,  # kept: dbm.dumb and dbm.sqlite3 work
    "lib2to3": "removed upstream",
    "msilib": "Windows",
    "pydoc_data": None,  # kept: help('for') needs it
    "__phello__": "a test of the importer",
    "__hello__.py": "a test of the importer",
    "_aix_support.py": "other systems",
    "_apple_support.py": "other systems",
    "_android_support.py": "other systems",
    "_ios_support.py": "other systems",
    "_osx_support.py": "other systems",
    "_pyrepl": None,  # kept: the `code` and `pdb` modules look for it
    "site-packages": "made below",
}


def fail(message):
    sys.exit(f"stdlib.py: {message}")


def wanted(name):
    if name in ("__pycache__", "tests") or name.endswith((".pyc", ".exe", ".bat")):
        return False
    return LEFT_OUT.get(name) is None


def copy(source, out, top):
    """Copies a folder, leaving out what is listed (names count at the top only)."""
    os.makedirs(out, exist_ok=True)
    for entry in sorted(os.scandir(source), key=lambda e: e.name):
        keep = wanted(entry.name) if top else wanted(entry.name) or entry.name in LEFT_OUT
        if not keep:
            continue
        target = os.path.join(out, entry.name)
        if entry.is_dir():
            copy(entry.path, target, False)
        else:
            shutil.copyfile(entry.path, target)


def compile_all(folder, guest):
    for entry in sorted(os.scandir(folder), key=lambda e: e.name):
        name = f"{guest}/{entry.name}"
        if entry.is_dir():
            if entry.name not in ("__pycache__", "site-packages", "lib-dynload"):
                compile_all(entry.path, name)
        elif entry.name.endswith(".py"):
            try:
                py_compile.compile(
                    entry.path,
                    dfile=name,
                    doraise=True,
                    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
                )
            except py_compile.PyCompileError as error:
                fail(error)


def write(path, text):
    os.makedirs(os.path.dirname(path), exist_ok=True)
    with open(path, "w", encoding="utf-8") as f:
        f.write(text)


def main(source, sysconfigdata, site, patches, zones, out, *masks):
    version = "{}.{}".format(*sys.version_info)
    guest = f"/usr/lib/python{version}"
    lib = out + guest
    copy(os.path.join(source, "Lib"), lib, True)
    for name in sorted(os.listdir(patches)):
        subprocess.run(
            ["patch", "-p2", "--fuzz=0", "--input", os.path.join(patches, name)],
            cwd=lib, check=True)

    with open(sysconfigdata, encoding="utf-8") as f:
        text = f.read()
    for mask in sorted(masks, key=len, reverse=True):
        text = text.replace(mask, "/build")
    # Folders of build steps are named by hashes, which must not get in either.
    text = re.sub(r"(/build/steps|\.\.)/([a-z0-9-]+)-[0-9a-f]{16}", r"/build/\2", text)
    for mask in masks:
        if mask in text:
            fail(f"{mask} is still named by the build description")
    write(os.path.join(lib, os.path.basename(sysconfigdata)), text)

    for name in sorted(os.listdir(site)):
        target = os.path.join(lib, name)
        if os.path.exists(target):
            fail(f"{name} of ours would hide the library's own")
        shutil.copyfile(os.path.join(site, name), target)

    # getpath finds exec_prefix by this folder; it would warn without it.
    write(os.path.join(lib, "lib-dynload", "README"),
          "Every extension module is part of the interpreter: WASI loads no shared objects.\n")
    write(os.path.join(lib, "site-packages", "README"),
          "Third-party packages of the image. Your own: ~/.local/lib or a virtual environment.\n")
    compile_all(lib, guest)

    shutil.copytree(zones, os.path.join(out, "usr/share/zoneinfo"),
                    ignore=shutil.ignore_patterns("*.py", "__pycache__"))


if __name__ == "__main__":
    main(*sys.argv[1:])
