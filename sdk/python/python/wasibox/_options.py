"""What sessions are granted, in the words of policy files."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping

from ._record import Record

TYPE_CHECKING = False
if TYPE_CHECKING:
    from collections.abc import Sequence
    from typing import Any, Literal

    from ._types import Limits, Mounts, StrPath


class Mount(Record):
    """A host file or folder that guests see."""

    host: StrPath
    #: Guests may write to it,
    writable: bool = False
    #: and add so many bytes (a number, or a text such as ``"100M"``).
    quota: int | str | None = None


class Network(Record):
    """Requests that guests may make. Rules are texts such as ``"GET,POST https://*.example.com/api/"``."""

    allow: Sequence[str] = ()
    #: What is not allowed after all.
    deny: Sequence[str] = ()
    #: Headers that guests do not see: ``"HOST: NAME=VALUE"``, with ``${env:KEY}`` and ``${file:PATH}``.
    secrets: Sequence[str] = ()


class Workspace(Record):
    """A folder of the session that begins as a zip, or as a host's folder that stays as it is."""

    path: StrPath
    #: ``overlay``: a folder; ``zip``: a zip, replaced after each call that has changed files. By default what the path is.
    kind: Literal["overlay", "zip"] | None = None
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
    """What a session is to be, for the native module."""
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
    env: Mapping[str, str] | None,
    cwd: str | None,
    timeout: float | None,
    max_output: int | None,
    list_files: bool,
    keep_background: bool,
) -> str:
    """A call, for the native module."""
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


def cell(language: str, code: str, *, timeout: float | None, max_output: int | None) -> str:
    """A cell, for the native module."""
    return call(
        language,
        code,
        env=None,
        cwd=None,
        timeout=timeout,
        max_output=max_output,
        list_files=True,
        keep_background=False,
    )
