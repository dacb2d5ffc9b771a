"""Saves items one after the other, whatever happens to the keyring, and prints the number of each that was acknowledged."""

import sys
import time

from jeepney import DBusAddress, MessageType, new_method_call
from jeepney.io.blocking import open_dbus_connection

writer, count = sys.argv[1], int(sys.argv[2])
bus = open_dbus_connection(bus="SESSION")
root = "/org/freedesktop/secrets"


def call(path, interface, member, signature, body):
    address = DBusAddress(path, bus_name="org.freedesktop.secrets", interface=f"org.freedesktop.Secret.{interface}")
    reply = bus.send_and_get_reply(new_method_call(address, member, signature, body), timeout=60)
    if reply.header.message_type is MessageType.error:
        raise ConnectionError(reply.body)
    return reply.body


def save(number, session):
    properties = {
        "org.freedesktop.Secret.Item.Label": ("s", f"{writer} {number}"),
        "org.freedesktop.Secret.Item.Attributes": (
            "a{ss}",
            {"writer": writer, "number": str(number), "kind": "killed"},
        ),
    }
    secret = (session, b"", f"secret {writer} {number}".encode(), "text/plain")
    call(f"{root}/aliases/default", "Collection", "CreateItem", "a{sv}(oayays)b", (properties, secret, True))


session = None
refusals = 0
for number in range(count):
    while True:
        try:
            if session is None:
                session = call(root, "Service", "OpenSession", "sv", ("plain", ("s", "")))[1]
            save(number, session)
            break
        except ConnectionError:
            # It was killed: the bus starts it again.
            session = None
            refusals += 1
            if refusals > 1000:
                raise
            time.sleep(0.01)
    print(number, flush=True)
print(f"done after {refusals} refusals", file=sys.stderr)
