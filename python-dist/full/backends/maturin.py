from wasibox_backend import *
