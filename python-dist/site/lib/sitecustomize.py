"""The image's part of every start with `site`; one of yours that comes earlier on the path
stands in for it."""

import sys

import _wasibox_missing

sys.meta_path.append(_wasibox_missing.Finder)
