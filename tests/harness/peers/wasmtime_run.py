"""Runs a WASI preview 1 module under Wasmtime with one preopened directory.

usage: wasmtime_run.py DIR MODULE ARG0 [ARG...]   (exit status is the guest's)
DIR becomes the guest's root.
"""
import sys

import wasmtime

root, module, *argv = sys.argv[1:]
config = wasmtime.Config()
config.max_wasm_stack = (2 << 20) - 65536
config.wasm_exceptions = True
engine = wasmtime.Engine(config)
linker = wasmtime.Linker(engine)
linker.define_wasi()
store = wasmtime.Store(engine)
wasi = wasmtime.WasiConfig()
wasi.argv = argv
wasi.env = [("PATH", "/bin"), ("LANG", "C.UTF-8"), ("HOME", "/")]
wasi.inherit_stdin()
wasi.inherit_stdout()
wasi.inherit_stderr()
wasi.preopen_dir(root, "/", True)
store.set_wasi(wasi)
instance = linker.instantiate(store, wasmtime.Module.from_file(engine, module))
try:
    instance.exports(store)["_start"](store)
except wasmtime.ExitTrap as end:
    sys.exit(end.code)
