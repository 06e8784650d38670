"""The little of it that is used."""

import ssl
from typing import Any

class Security:
    """TLS of all roles."""

    def __init__(
        self,
        require_encryption: bool,
        *,
        tls_ca_file: str,
        tls_min_version: ssl.TLSVersion,
        **kwargs: str,
    ) -> None: ...
    def get_connection_args(self, role: str) -> dict[str, Any]: ...
