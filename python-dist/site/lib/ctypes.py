"""ctypes loads shared libraries, which WASI does not have."""

raise ModuleNotFoundError(
    "No module named 'ctypes': WebAssembly guests cannot load shared libraries", name="ctypes"
)
