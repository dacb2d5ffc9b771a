"""Stores numbers under one name while the service dies and comes back: writer.py NAME FILE.
It ends when the file is there.

A number whose store was acknowledged is there, or a later one, whenever it is looked at. Prints what was wrong, if
anything, and how often it had to begin anew.
"""

import os
import sys

from jeepney import DBusAddress, HeaderFields, MessageType, new_method_call
from jeepney.io.blocking import open_dbus_connection

ROOT = "/org/freedesktop/secrets"
name, file = sys.argv[1:]
bus = open_dbus_connection("SESSION")


class Refused(Exception):
    pass


def call(path, interface, member, signature, body):
    # By the well-known name: the bus starts the service again.
    address = DBusAddress(path, "org.freedesktop.secrets", "org.freedesktop.Secret." + interface)
    reply = bus.send_and_get_reply(new_method_call(address, member, signature, body), timeout=120)
    if reply.header.message_type == MessageType.error:
        raise Refused(reply.header.fields[HeaderFields.error_name], *reply.body)
    return reply.body


def begin():
    return call(ROOT, "Service", "OpenSession", "sv", ("plain", ("s", "")))[1]


def store(session, number):
    properties = {
        "org.freedesktop.Secret.Item.Label": ("s", name),
        "org.freedesktop.Secret.Item.Attributes": ("a{ss}", {"writer": name}),
    }
    secret = (session, b"", str(number).encode(), "text/plain")
    call(ROOT + "/aliases/default", "Collection", "CreateItem", "a{sv}(oayays)b", (properties, secret, True))


def look(session):
    """The numbers that are there."""
    items = call(ROOT, "Service", "SearchItems", "a{ss}", ({"writer": name},))[0]
    secrets = call(ROOT, "Service", "GetSecrets", "aoo", (items, session))[0]
    return [int(bytes(secret[2])) for secret in secrets.values()]


session, acknowledged, beginnings, wrong = None, None, 0, []
number = 0
while acknowledged is None or not os.path.exists(file):
    try:
        if session is None:
            beginnings += 1
            session = begin()
            there = look(session)
            known = {acknowledged, number} if acknowledged is not None else {number}
            if not (set(there) <= known and len(there) == 1 or (acknowledged is None and not there)):
                wrong.append(f"{there} after {acknowledged}, before {number}")
        store(session, number)
        acknowledged = number
        number += 1
    except Refused as refusal:
        # NoReply: it died in mid-call; NoSession and UnknownObject: it is another one now.
        session = None
        beginnings < 100_000 or sys.exit(f"{refusal}")
# The bus may not know yet that it has died once more.
there = None
while there is None:
    try:
        there = look(begin())
    except Refused as refusal:
        beginnings += 1
        beginnings < 100_000 or sys.exit(f"{refusal}")
if there not in ([acknowledged], [number]):
    wrong.append(f"{there} after {acknowledged}, at the end")
print("right" if not wrong else wrong, beginnings)
