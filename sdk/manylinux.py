"""Prints the platform tag for programs and libraries: the oldest Linux that all of them run on.

``python manylinux.py FILE...`` prints the tag for a wheel with these files, and
``python manylinux.py WHEEL`` that of a finished wheel.

auditwheel derives the tag from the requirements of the files: versions of symbols of the C library,
other libraries, and the processor. It accepts only wheels, so the files are put into a wheel.
"""

from __future__ import annotations

import json
import subprocess
import sys
import sysconfig
import tempfile
import zipfile
from pathlib import Path


def audited(wheel: Path) -> str:
    """Returns the tag of a wheel.

    This is a tag such as ``manylinux_2_34_x86_64``, or ``linux_x86_64`` if the wheel needs
    something that not every distribution has.
    """
    command = [sys.executable, "-m", "auditwheel", "show", "--json", str(wheel)]
    shown = subprocess.run(command, check=False, capture_output=True, text=True)
    if shown.returncode:
        sys.exit(f"{wheel.name}: {shown.stderr}")
    return str(json.loads(shown.stdout)["overall_tag"])


def tag(files: list[Path]) -> str:
    """Returns the tag of a wheel with these files."""
    plain = sysconfig.get_platform().replace("-", "_").replace(".", "_")
    with tempfile.TemporaryDirectory() as folder:
        wheel = Path(folder) / f"probe-0-py3-none-{plain}.whl"
        with zipfile.ZipFile(wheel, "w") as archive:
            names = [f"probe/{number}/{file.name}" for number, file in enumerate(files)]
            for file, name in zip(files, names, strict=True):
                archive.write(file, name)
            archive.writestr(
                "probe-0.dist-info/WHEEL",
                f"Wheel-Version: 1.0\nRoot-Is-Purelib: false\nTag: py3-none-{plain}\n",
            )
            archive.writestr("probe-0.dist-info/METADATA", "Metadata-Version: 2.1\nName: probe\nVersion: 0\n")
            archive.writestr("probe-0.dist-info/RECORD", "".join(f"{name},,\n" for name in names))
        return audited(wheel)


if __name__ == "__main__":
    given = [Path(name) for name in sys.argv[1:]]
    print(audited(given[0]) if given[0].suffix == ".whl" else tag(given))
