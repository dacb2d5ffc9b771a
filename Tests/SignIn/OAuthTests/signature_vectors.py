"""Signed tokens, good and bad, of each algorithm of RFC 7518 section 3 and RFC 8037 section 3.1.

usage: signature_vectors.py ROUNDS SEED

Prints a line of JSON for each token: what it shows, the key set's key, the token, and whether the key has signed the token
by the algorithm that its header names. It knows nothing of who verifies them.
"""

import base64
import json
import random
import sys

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, padding, rsa, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat

ROUNDS, SEED = int(sys.argv[1]), int(sys.argv[2])
choice = random.Random(SEED)
HASHES = {"256": hashes.SHA256, "384": hashes.SHA384, "512": hashes.SHA512}
CURVES = {"P-256": (ec.SECP256R1(), 32, "256"), "P-384": (ec.SECP384R1(), 48, "384"), "P-521": (ec.SECP521R1(), 66, "512")}
ORDERS = {
    "P-256": 0xFFFFFFFF00000000FFFFFFFFFFFFFFFFBCE6FAADA7179E84F3B9CAC2FC632551,
    "Ed25519": 2**252 + 27742317777372353535851937790883648493,
}


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def number(value, count=None):
    return encoded(value.to_bytes(count or (value.bit_length() + 7) // 8, "big"))


def show(name, jwk, algorithm, sign, good, more=None, spoil=lambda text: text):
    header = encoded(json.dumps({"alg": algorithm} | (more or {})).encode())
    signed = header + "." + encoded(json.dumps({"sub": "alice", "n": choice.random()}).encode())
    token = spoil(signed) + "." + encoded(sign(signed.encode()))
    print(json.dumps({"name": f"{algorithm}: {name}", "jwk": jwk, "token": token, "good": good}))


def flipped(signature):
    place = choice.randrange(len(signature) * 8)
    return bytes(byte ^ (1 << place % 8 if index == place // 8 else 0) for index, byte in enumerate(signature))


def spoiled(text):
    head, payload = text.split(".")
    place = choice.randrange(len(payload) - 1)
    return head + "." + payload[:place] + ("A" if payload[place] != "A" else "B") + payload[place + 1:]


def common(jwk, algorithm, sign):
    """What holds of every algorithm."""
    show("good", jwk, algorithm, sign, True)
    show("a key for this algorithm", jwk | {"alg": algorithm, "use": "sig"}, algorithm, sign, True)
    show("another payload", jwk, algorithm, sign, False, spoil=spoiled)
    show("one bit of the signature", jwk, algorithm, lambda data: flipped(sign(data)), False)
    show("a byte less", jwk, algorithm, lambda data: sign(data)[:-1], False)
    show("a byte more", jwk, algorithm, lambda data: sign(data) + b"\0", False)
    show("no signature", jwk, algorithm, lambda data: b"", False)
    show("zeros", jwk, algorithm, lambda data: bytes(len(sign(data))), False)
    show("a key for encryption", jwk | {"use": "enc"}, algorithm, sign, False)
    show("a private key", jwk | {"d": "AAAA"}, algorithm, sign, False)
    show("a critical header", jwk, algorithm, sign, False, more={"crit": ["b64"], "b64": True})
    other = choice.choice([name for name in ALGORITHMS if name != algorithm])
    show("a key for " + other, jwk | {"alg": other}, algorithm, sign, False)
    show("signed by " + algorithm, jwk, other, sign, False)
    show("signed by " + algorithm, jwk, choice.choice(["none", "HS256", "ES256K", algorithm.lower()]), sign, False)


def rsa_vectors(size, exponent):
    key = rsa.generate_private_key(public_exponent=exponent, key_size=size)
    public = key.public_key().public_numbers()
    jwk = {"kty": "RSA", "n": number(public.n), "e": number(public.e)}
    for bits, kind in HASHES.items():
        hash = kind()

        def pkcs(data, hash=hash):
            return key.sign(data, padding.PKCS1v15(), hash)

        def pss(data, hash=hash, salt=hash.digest_size, mask=None):
            return key.sign(data, padding.PSS(padding.MGF1(mask or hash), salt), hash)

        if size < 2048:
            show("a short key", jwk, "RS" + bits, pkcs, False)
            show("a short key", jwk, "PS" + bits, pss, False)
            continue
        common(jwk, "RS" + bits, pkcs)
        common(jwk, "PS" + bits, pss)
        other = HASHES[choice.choice([name for name in HASHES if name != bits])]()
        show("another hash", jwk, "RS" + bits, lambda data: pkcs(data, other), False)
        show("another hash", jwk, "PS" + bits, lambda data: pss(data, other), False)
        show("the other padding", jwk, "RS" + bits, pss, False)
        show("the other padding", jwk, "PS" + bits, pkcs, False)
        for salt in (0, hash.digest_size - 1, hash.digest_size + 1, padding.PSS.MAX_LENGTH):
            show(f"a salt of {salt}", jwk, "PS" + bits, lambda data: pss(data, salt=salt), False)
        show("another mask", jwk, "PS" + bits, lambda data: pss(data, mask=other), False)
        show("a zero before the modulus", jwk | {"n": encoded(b"\0" + public.n.to_bytes(size // 8, "big"))}, "RS" + bits, pkcs, True)
        show("an even exponent", jwk | {"e": number(public.e + 1)}, "RS" + bits, pkcs, False)


def curve_vectors(name):
    curve, size, bits = CURVES[name]
    key = ec.generate_private_key(curve)
    public = key.public_key().public_numbers()
    jwk = {"kty": "EC", "crv": name, "x": number(public.x, size), "y": number(public.y, size)}

    def raw(data, hash=None, count=size, change=lambda r, s: (r, s)):
        r, s = change(*utils.decode_dss_signature(key.sign(data, ec.ECDSA(hash or HASHES[bits]()))))
        return r.to_bytes(count, "big") + s.to_bytes(count, "big")

    algorithm = "ES" + bits
    common(jwk, algorithm, raw)
    other = HASHES[choice.choice([name for name in HASHES if name != bits])]()
    show("another hash", jwk, algorithm, lambda data: raw(data, other), False)
    show("DER", jwk, algorithm, lambda data: key.sign(data, ec.ECDSA(HASHES[bits]())), False)
    show("longer numbers", jwk, algorithm, lambda data: raw(data, count=size + 1), False)
    show("R is 0", jwk, algorithm, lambda data: raw(data, change=lambda r, s: (0, s)), False)
    show("S is 0", jwk, algorithm, lambda data: raw(data, change=lambda r, s: (r, 0)), False)
    show("R and S the other way round", jwk, algorithm, lambda data: raw(data, change=lambda r, s: (s, r)), False)
    show("a point off the curve", jwk | {"y": number(public.y ^ 1, size)}, algorithm, raw, False)
    show("a short point", jwk | {"x": number(public.x >> 8)}, algorithm, raw, False)
    wrong = choice.choice([one for one in CURVES if one != name] + ["Ed25519", "secp256k1"])
    show("a key of " + wrong, jwk | {"crv": wrong}, algorithm, raw, False)
    if name == "P-256":
        order = ORDERS[name]
        show("R is the order", jwk, algorithm, lambda data: raw(data, change=lambda r, s: (order, s)), False)


def edwards_vectors(name):
    key = {"Ed25519": ed25519.Ed25519PrivateKey, "Ed448": ed448.Ed448PrivateKey}[name].generate()
    raw = key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
    jwk = {"kty": "OKP", "crv": name, "x": encoded(raw)}
    common(jwk, "EdDSA", key.sign)
    wrong = choice.choice(["X25519", "X448", "P-256", "Ed448" if name == "Ed25519" else "Ed25519"])
    show("a key of " + wrong, jwk | {"crv": wrong}, "EdDSA", key.sign, False)
    show("a short key", jwk | {"x": encoded(raw[:-1])}, "EdDSA", key.sign, False)
    if name == "Ed25519":

        def greater(data):
            signature = key.sign(data)
            value = int.from_bytes(signature[32:], "little") + ORDERS[name]
            return signature[:32] + value.to_bytes(32, "little")

        show("S and the order (RFC 8032 section 5.1.7)", jwk, "EdDSA", greater, False)


ALGORITHMS = [kind + bits for kind in ("ES", "RS", "PS") for bits in HASHES] + ["EdDSA"]
for round in range(ROUNDS):
    rsa_vectors(choice.choice([2048, 3072]), choice.choice([3, 65537]))
    rsa_vectors(1536, 65537)
    for name in CURVES:
        curve_vectors(name)
    for name in ("Ed25519", "Ed448"):
        edwards_vectors(name)
