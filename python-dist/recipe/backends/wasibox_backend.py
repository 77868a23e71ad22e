"""Stands in for every build backend while pip downloads a source archive.

pip asks a source archive's backend for its metadata even if it is only to
download it, and would fetch and run that backend, unpinned. This one answers
from PKG-INFO, which every source archive of the index has, and builds nothing.

The functions are methods of one object, as setuptools' are: archives with a
backend of their own derive from its class.
"""

import os
import re


class Backend:
    def prepare_metadata_for_build_wheel(self, folder, config_settings=None):
        with open("PKG-INFO", encoding="utf-8") as file:
            text = file.read()
        name, version = (
            re.search(rf"^{field}: *(.*?) *$", text, re.MULTILINE)[1]
            for field in ("Name", "Version")
        )
        made = f"{re.sub('[-_.]+', '_', name)}-{version}.dist-info"
        os.makedirs(os.path.join(folder, made))
        with open(os.path.join(folder, made, "METADATA"), "w", encoding="utf-8") as file:
            file.write(text)
        return made

    def get_requires_for_build_wheel(self, config_settings=None):
        return []

    def build_wheel(self, *arguments, **options):
        raise NotImplementedError("sources are only downloaded here")

    prepare_metadata_for_build_editable = prepare_metadata_for_build_wheel
    get_requires_for_build_sdist = get_requires_for_build_wheel
    get_requires_for_build_editable = get_requires_for_build_wheel
    build_sdist = build_wheel
    build_editable = build_wheel


_backend = Backend()
__all__ = [name for name in dir(Backend) if not name.startswith("_")]
globals().update((name, getattr(_backend, name)) for name in __all__)
