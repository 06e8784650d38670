"""Endpoints: the operations of the contract.

Each module has a tuple `ENDPOINTS`. Modules do not import each other, except `mix`, which consists
of others.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from plimsoll.campaign.endpoints import (
    args,
    auth,
    compress,
    db,
    empty,
    fibonacci,
    fixed_body,
    form_args,
    fortunes,
    items,
    json_echo,
    json_in,
    mix,
    multipart_args,
    plaintext,
    query_args,
    route,
    static,
    stream,
    updates,
    upload,
    upstream,
    ws,
)

if TYPE_CHECKING:
    from plimsoll.campaign.requests import Endpoint

MODULES = (
    empty,
    fixed_body,
    query_args,
    form_args,
    multipart_args,
    args,
    json_echo,
    plaintext,
    fibonacci,
    ws,
    mix,
    db,
    fortunes,
    updates,
    route,
    items,
    upload,
    static,
    compress,
    auth,
    json_in,
    upstream,
    stream,
)
"""Every module of endpoints, in the order of the contract."""

ENDPOINTS: tuple[Endpoint, ...] = tuple(
    endpoint for module in MODULES for endpoint in module.ENDPOINTS
)
"""Every endpoint of the contract."""

_BY_NAME = {endpoint.name: endpoint for endpoint in ENDPOINTS}


def by_name(name: str) -> Endpoint:
    """The endpoint of a name.

    Args:
        name: Its name in campaigns: `getArgs2048`.

    Returns:
        The endpoint.

    Raises:
        KeyError: The contract has no endpoint of this name.
    """
    return _BY_NAME[name]
