from wasibox_backend import *
from wasibox_backend import __all__ as __all__

# What is asked where an archive names no backend.
from wasibox_backend import _backend as __legacy__
