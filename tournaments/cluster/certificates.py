"""The certificates of a cluster, which every connection must show."""

from pathlib import Path

from distributed import Security


def read_certificates(folder: Path) -> Security:
    """Return the certificates of a folder."""
    ca, cert, key = (str(folder / name) for name in ("ca.pem", "cert.pem", "key.pem"))
    return Security(  # type: ignore[no-untyped-call]
        tls_ca_file=ca,
        tls_client_cert=cert,
        tls_client_key=key,
        tls_worker_cert=cert,
        tls_worker_key=key,
        require_encryption=True,
    )
