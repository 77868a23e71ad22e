"""The image's part of every start with `site`; one of yours that comes earlier on the path
stands in for it."""

import sys

import _wasibox_missing

# A prepared interpreter that has another path looks for a sitecustomize again.
if _wasibox_missing.Finder not in sys.meta_path:
    sys.meta_path.append(_wasibox_missing.Finder)
