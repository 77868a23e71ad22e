"""The options of sessions and calls, converted to JSON with the terms of policy files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from ._record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal

    from ._types import Command, Limits, Mounts, StrPath


class Mount(Record):
    """A host file or folder that guests see."""

    #: The path of the file or folder on the host.
    host: StrPath
    #: Whether guests may write to it.
    writable: bool = False
    #: The maximum number of bytes that guests may add: a number, or a text such as ``"100M"``.
    quota: int | str | None = None


class Network(Record):
    """The HTTP requests that guests may make.

    Rules are texts such as ``"GET,POST https://*.example.com/api/"``.
    """

    #: The rules for requests that are allowed.
    allow: Sequence[str] = ()
    #: The rules for requests that are refused even if ``allow`` has them.
    deny: Sequence[str] = ()
    #: Headers that are added to requests and that guests do not see: ``"HOST: NAME=VALUE"``. The
    #: value may contain ``${env:KEY}`` and ``${file:PATH}``.
    secrets: Sequence[str] = ()


class Workspace(Record):
    """The folder that a session works in: that of a zip, or a host folder under an overlay."""

    #: The path of the zip or the folder on the host.
    path: StrPath
    #: ``overlay``: the path is a folder, which stays as it is until changes are applied. ``zip``:
    #: the path is a zip, which is replaced after each call that has changed files. By default an
    #: existing folder is an ``overlay``, and everything else a ``zip``.
    kind: Literal["overlay", "zip"] | None = None
    #: The path that guests see.
    guest: str = "/work"


def _mount(guest: str, mount: StrPath | Mount) -> dict[str, Any]:
    given = mount if isinstance(mount, Mount) else Mount(mount)
    return {
        "guest": guest,
        "host": os.path.abspath(given.host),
        "writable": given.writable,
        "quota": given.quota,
    }


def _workspace(workspace: StrPath | Workspace) -> dict[str, Any]:
    given = workspace if isinstance(workspace, Workspace) else Workspace(workspace)
    path = os.path.abspath(given.path)
    kind = given.kind or ("overlay" if os.path.isdir(path) else "zip")
    return {kind: path, "guest": given.guest}


def _network(network: str | Sequence[str] | Network) -> dict[str, Any]:
    if isinstance(network, str):
        network = [network]
    given = network if isinstance(network, Network) else Network(allow=list(network))
    return {name: list(getattr(given, name)) for name in ("allow", "deny", "secrets")}


def opener(
    *,
    store: StrPath | None,
    name: str | None,
    open: Literal["any", "create", "open"],
    policy: StrPath | Mapping[str, Any] | None,
    limits: Limits | None,
    mounts: Mounts | None,
    workspace: StrPath | Workspace | None,
    network: str | Sequence[str] | Network | None,
) -> str:
    """Returns the options of a session as JSON, for the native module."""
    said: dict[str, Any] = dict(policy) if isinstance(policy, Mapping) else {}
    if isinstance(limits, str):
        said["preset"] = limits
    elif limits is not None:
        changed = {name.replace("_", "-"): value for name, value in limits.items()}
        preset = changed.pop("preset", None)
        if preset is not None:
            said["preset"] = preset
        said["limits"] = {**said.get("limits", {}), **changed}
    if mounts:
        added = [_mount(guest, mount) for guest, mount in mounts.items()]
        said["mount"] = [*said.get("mount", []), *added]
    if workspace is not None:
        said["workspace"] = _workspace(workspace)
    if network is not None:
        said["network"] = _network(network)
    is_file = policy is not None and not isinstance(policy, Mapping)
    return json.dumps(
        {
            "store": None if store is None else os.path.abspath(store),
            "name": name,
            "open": open,
            "policy_file": os.path.abspath(policy) if is_file else None,  # type: ignore[arg-type]
            "policy": said,
        }
    )


def call(
    what: str,
    value: Any,
    *,
    env: Mapping[str, str] | None = None,
    cwd: str | None = None,
    timeout: float | None = None,
    max_output: int | None = None,
    list_files: bool = True,
    keep_background: bool = False,
) -> str:
    """Returns a call as JSON, for the native module."""
    options: dict[str, Any] = {what: value}
    if env:
        options["env"] = dict(env)
    if cwd is not None:
        options["cwd"] = cwd
    if timeout is not None:
        options["timeout"] = timeout
    if max_output is not None:
        options["max_output"] = max_output
    if not list_files:
        options["list_files"] = False
    if keep_background:
        options["keep_background"] = True
    return json.dumps(options)


def command(given: Command, **options: Any) -> str:
    """Returns a call of a script for the session's shell, or of a list of arguments, as JSON."""
    if isinstance(given, str):
        return call("script", given, **options)
    return call("argv", list(given), **options)
