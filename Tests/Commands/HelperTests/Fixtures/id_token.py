"""Checks ID tokens by the published keys of their issuer, as a service does that trusts it (OpenID Connect Core 3.1.3.7)."""

import base64
import json
import time
import urllib.request

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils


def get(url):
    return json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url))


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def subject(token, issuer, audience):
    """Who an ID token is of. Raises for one that isn't signed by the issuer, is for somebody else, or has ended."""
    signed, _, signature = token.rpartition(".")
    header, claims = (json.loads(decoded(part)) for part in signed.split("."))
    keys = get(get(issuer + "/.well-known/oauth-authorization-server")["jwks_uri"])["keys"]
    key = next(key for key in keys if key.get("kid") == header.get("kid"))
    x, y = (int.from_bytes(decoded(key[name]), "big") for name in "xy")
    r, s = (int.from_bytes(decoded(signature)[at:at + 32], "big") for at in (0, 32))
    ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key().verify(
        utils.encode_dss_signature(r, s), signed.encode(), ec.ECDSA(hashes.SHA256()))
    if claims["iss"] != issuer or claims["aud"] != audience or claims["exp"] < time.time():
        raise ValueError("its claims")
    return claims["sub"]
