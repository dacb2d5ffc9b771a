"""Files of libsecret's file backend with one item, most of them damaged inside what the passphrase seals:
libsecret_files.py FOLDER COUNT SEED. The passphrase is "a". The first file is sound."""

import pathlib
import random
import sys

from cryptography.hazmat.primitives import hashes, hmac, padding
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.kdf.pbkdf2 import PBKDF2HMAC
from gi.repository import GLib

folder, count, chance = pathlib.Path(sys.argv[1]), int(sys.argv[2]), random.Random(sys.argv[3])
salt = b"salt" * 8
key = PBKDF2HMAC(hashes.SHA256(), 16, salt, 1).derive(b"a")


def octets(variant):
    return bytes(variant.get_data_as_bytes().get_data())


def array(data):
    """As "ay": PyGObject would make a value of each byte."""
    return GLib.Variant.new_from_bytes(GLib.VariantType("ay"), GLib.Bytes.new(data), True)


def row(types, *values):
    """A tuple; its last value is an array of bytes."""
    return GLib.Variant.new_tuple(*map(GLib.Variant, types, values[:-1]), array(values[-1]))


def item():
    return item_of({"service": "example.org", "username": "ada"}, 2, b"s3cret" * chance.choice([1, 2000]))


def item_of(attributes, modified, secret):
    for number in range(chance.choice([0, 0, 1, 30])):
        attributes[f"more{number}"] = "x" * chance.choice([0, 3, 300])
    return octets(row(["a{ss}", "s", "t", "t"], attributes, "a label", 1, modified, secret))


def damaged(data):
    data = bytearray(data)
    for _ in range(chance.choice([1, 1, 3])):
        # The offsets of GVariant are at the ends.
        spot = chance.choice([chance.randrange(len(data)), len(data) - 1 - chance.randrange(min(6, len(data)))])
        change = chance.randrange(4)
        if change == 0:
            data[spot] = chance.choice([0, 1, len(data) & 255, 255, chance.randrange(256)])
        elif change == 1:
            del data[spot:spot + chance.randrange(1, 9)]
        elif change == 2:
            data[spot:spot] = chance.randbytes(chance.randrange(1, 9))
        else:
            del data[:spot]
        if not data:
            break
    return bytes(data)


def sealed(data):
    pad = padding.PKCS7(128).padder()
    vector = chance.randbytes(16)
    cipher = Cipher(algorithms.AES(key), modes.CBC(vector)).encryptor()
    text = cipher.update(pad.update(data) + pad.finalize()) + cipher.finalize() + vector
    tag = hmac.HMAC(key, hashes.SHA256())
    tag.update(text)
    return text + tag.finalize()


for number in range(count):
    data = item()
    # Every third is damaged outside, where nothing is sealed.
    blob = sealed(data if number % 3 == 0 else damaged(data))
    hashed = {"service": b"h" * 32}
    items = [(hashed, blob)]
    if number == 0:
        # Before it an older one, and one as Git Credential Manager has them.
        items.insert(0, (hashed, sealed(item_of({"service": "example.org", "username": "ada"}, 1, b"older"))))
        items.insert(0, (hashed, sealed(item_of({"service": "git:https://example.org", "account": "bob"}, 1, b"gcm"))))
    rows = GLib.Variant.new_array(None, [row(["a{say}"], hashed, blob) for hashed, blob in items])
    head = [GLib.Variant("u", len(salt)), array(salt), *map(GLib.Variant, "utu", (1, 0, 1))]
    file = octets(GLib.Variant.new_tuple(*head, rows))
    if number and number % 3 == 0:
        file = damaged(file)
    (folder / str(number)).write_bytes(b"GnomeKeyring\n\r\0\n\x01\0" + file)
