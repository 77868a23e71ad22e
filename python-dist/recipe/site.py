"""Finishes a package's folder for site-packages.

    site.py FOLDER MASK...

Run by the native CPython of the same version. Each MASK is a build-machine path
that must not get into the image: packages that record how they were built
(numpy.show_config) name `/build` instead. The bytecode is of the unchecked-hash
kind, like the library's, for the same reasons (see stdlib.py).
"""

import os
import py_compile
import re
import sys


def main(top, *masks):
    version = "{}.{}".format(*sys.version_info)
    guest = f"/usr/lib/python{version}/site-packages"
    for folder, inner, names in os.walk(top):
        inner.sort()
        for name in sorted(names):
            path = os.path.join(folder, name)
            with open(path, "rb") as file:
                data = file.read()
            clean = data
            for mask in sorted(masks, key=len, reverse=True):
                clean = clean.replace(mask.encode(), b"/build")
            # Folders of build steps are named by hashes, which must not get in either.
            clean = re.sub(rb"/build/steps/([a-z0-9-]+)-[0-9a-f]{16}", rb"/build/\1", clean)
            if clean != data:
                if not name.endswith(".py"):
                    sys.exit(f"site.py: {path} names the build machine's folders")
                with open(path, "wb") as file:
                    file.write(clean)
            if name.endswith(".py"):
                py_compile.compile(
                    path,
                    dfile=guest + path[len(top):],
                    doraise=True,
                    invalidation_mode=py_compile.PycInvalidationMode.UNCHECKED_HASH,
                )


if __name__ == "__main__":
    main(*sys.argv[1:])
