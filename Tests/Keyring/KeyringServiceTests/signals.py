"""Prints each signal of the service at the name of the environment, a line each, until standard input ends."""

import os
import sys
import threading

from jeepney import MatchRule, MessageType, HeaderFields
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import Proxy, open_dbus_connection

bus = open_dbus_connection("SESSION")
dbus = Proxy(message_bus, bus)
dbus.AddMatch(MatchRule(type="signal", sender="org.freedesktop.secrets"))
(owner,) = dbus.GetNameOwner("org.freedesktop.secrets")
threading.Thread(target=lambda: (sys.stdin.read(), os._exit(0)), daemon=True).start()
print("ready", flush=True)
while True:
    message = bus.receive()
    fields = message.header.fields
    if message.header.message_type != MessageType.signal or fields.get(HeaderFields.sender) != owner:
        continue
    path = fields[HeaderFields.path].removeprefix("/org/freedesktop/secrets")
    body = message.body
    if fields[HeaderFields.member] == "PropertiesChanged":
        values = {name: value[1] for name, value in body[1].items() if name != "Modified"}
        words = [body[0].rsplit(".", 1)[1], values]
    else:
        words = [text.removeprefix("/org/freedesktop/secrets") for text in body]
    print(fields[HeaderFields.member], path or "/", *words, flush=True)
