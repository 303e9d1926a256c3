"""Certificates for servers of tests, made by the program openssl."""

from __future__ import annotations

import shutil
import ssl
import subprocess
from pathlib import Path

NO_OPENSSL = shutil.which("openssl") is None


def certificate(directory: Path, name: str) -> Path:
    """Make a certificate for a host name or address that vouches for itself; return the file, with its key."""
    path = directory / f"{name}.pem"
    kind = "IP" if name[0].isdigit() else "DNS"
    key = directory / f"{name}.key"
    command = ["openssl", "req", "-x509", "-nodes", "-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1"]
    command += ["-subj", f"/CN={name}", "-addext", f"subjectAltName={kind}:{name}", "-days", "2"]
    subprocess.run([*command, "-keyout", str(key), "-out", str(path)], check=True, capture_output=True)
    path.write_text(path.read_text() + key.read_text())
    return path


def server_context(path: Path) -> ssl.SSLContext:
    """Return what a server needs that shows this certificate."""
    context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
    context.load_cert_chain(path)
    return context
