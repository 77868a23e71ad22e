"""The command line ``wasibox kernel``."""

from __future__ import annotations

import argparse
import json
import os
import sys
import tempfile

_MISSING = "wasibox: the kernel needs ipykernel: pip install 'wasibox[jupyter]'"


def _parser() -> argparse.ArgumentParser:
    parser = argparse.ArgumentParser(
        prog="wasibox kernel", description="A kernel for Jupyter whose cells run in a session."
    )
    commands = parser.add_subparsers(dest="command", required=True)
    install = commands.add_parser("install", help="make the kernel known to Jupyter")
    place = install.add_mutually_exclusive_group()
    place.add_argument("--user", action="store_true", help="for this user")
    place.add_argument("--prefix", help="below this folder, such as that of a virtual environment")
    place.add_argument(
        "--sys-prefix", action="store_true", help="in the environment of this Python; this is the default"
    )
    install.add_argument("--name", default="wasibox", help="the kernel's name (default: %(default)s)")
    install.add_argument(
        "--display-name", default="Python 3 (Wasibox)", help="its name in menus (default: %(default)s)"
    )
    install.add_argument("--policy", help="the policy file of its sessions; without one they are granted nothing")
    run = commands.add_parser("run", help="run the kernel, as Jupyter does")
    run.add_argument("-f", dest="connection", required=True, help="the connection file")
    run.add_argument("--policy", help="the policy file of the session")
    return parser


def main(arguments: list[str]) -> None:
    """Runs ``wasibox kernel`` with arguments."""
    given = _parser().parse_args(arguments)
    try:
        import ipykernel  # noqa: F401
    except ModuleNotFoundError:
        sys.exit(_MISSING)
    if given.command == "install":
        _install(given)
    else:
        _run(given)


def _install(given: argparse.Namespace) -> None:
    from jupyter_client.kernelspec import KernelSpecManager

    argv = [sys.executable, "-m", "wasibox", "kernel", "run", "-f", "{connection_file}"]
    if given.policy is not None:
        if not os.path.isfile(given.policy):
            sys.exit(f"wasibox: no policy file {given.policy}")
        argv += ["--policy", os.path.abspath(given.policy)]
    spec = {
        "argv": argv,
        "display_name": given.display_name,
        "language": "python",
        "interrupt_mode": "signal",
        "metadata": {"debugger": False},
    }
    prefix = None if given.user else given.prefix or sys.prefix
    with tempfile.TemporaryDirectory() as folder:
        with open(os.path.join(folder, "kernel.json"), "w") as file:
            json.dump(spec, file, indent=1)
        place = KernelSpecManager().install_kernel_spec(
            folder, kernel_name=given.name, user=given.user, prefix=prefix
        )
    print(f"the kernel {given.name} is in {place}")


def _run(given: argparse.Namespace) -> None:
    from ipykernel.kernelapp import IPKernelApp

    from ._kernel import WasiboxKernel

    WasiboxKernel.policy = given.policy
    IPKernelApp.launch_instance(argv=["-f", given.connection], kernel_class=WasiboxKernel)
