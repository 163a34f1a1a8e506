"""Certificates of our own making, as companies and people with a server at home have them."""

import datetime as dt
import ipaddress
import ssl
from dataclasses import dataclass
from pathlib import Path

from cryptography import x509
from cryptography.hazmat.primitives import hashes, serialization
from cryptography.hazmat.primitives.asymmetric import ec
from cryptography.x509.oid import NameOID


@dataclass(frozen=True, slots=True)
class OwnCertificates:
    """`authority` is a PEM file with the certificate that signed the one of 127.0.0.1 and models.example, which `server` presents."""

    authority: Path
    server: ssl.SSLContext


def own_certificates(folder: Path) -> OwnCertificates:
    """Make an authority, and a certificate of it for 127.0.0.1 and models.example."""
    signing, serving = ec.generate_private_key(ec.SECP256R1()), ec.generate_private_key(ec.SECP256R1())
    issuer = _name("Example company")
    authority = (
        _built(issuer, issuer, signing.public_key())
        .add_extension(x509.BasicConstraints(ca=True, path_length=None), critical=True)
        .sign(signing, hashes.SHA256())
    )
    here = x509.SubjectAlternativeName(
        [x509.IPAddress(ipaddress.ip_address("127.0.0.1")), x509.DNSName("models.example")]
    )
    certificate = (
        _built(_name("127.0.0.1"), issuer, serving.public_key())
        .add_extension(here, critical=False)
        .sign(signing, hashes.SHA256())
    )
    pem = serialization.Encoding.PEM
    (folder / "company.pem").write_bytes(authority.public_bytes(pem))
    key = serving.private_bytes(pem, serialization.PrivateFormat.PKCS8, serialization.NoEncryption())
    (folder / "server.pem").write_bytes(key + certificate.public_bytes(pem))
    context = ssl.create_default_context(ssl.Purpose.CLIENT_AUTH)
    context.load_cert_chain(folder / "server.pem")
    return OwnCertificates(folder / "company.pem", context)


def _name(text: str) -> x509.Name:
    return x509.Name([x509.NameAttribute(NameOID.COMMON_NAME, text)])


def _built(subject: x509.Name, issuer: x509.Name, key: ec.EllipticCurvePublicKey) -> x509.CertificateBuilder:
    now = dt.datetime.now(dt.UTC)
    return (
        x509.CertificateBuilder()
        .subject_name(subject)
        .issuer_name(issuer)
        .public_key(key)
        .serial_number(x509.random_serial_number())
        .not_valid_before(now - dt.timedelta(days=1))
        .not_valid_after(now + dt.timedelta(days=30))
    )
