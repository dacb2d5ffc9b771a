"""Puts so many items of no helper's into the keyring's collection of this session: `fill_keyring.py COUNT`."""

import sys, secretstorage

connection = secretstorage.dbus_init()
collection = secretstorage.Collection(connection, "/org/freedesktop/secrets/collection/session")
for number in range(int(sys.argv[1])):
    collection.create_item(f"Item {number}", {"service": "example.org", "username": str(number)}, b"secret")
