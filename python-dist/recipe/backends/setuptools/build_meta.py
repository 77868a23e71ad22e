from wasibox_backend import *
from wasibox_backend import __all__ as __all__
