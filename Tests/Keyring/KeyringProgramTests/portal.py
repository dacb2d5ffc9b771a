"""Asks for an application's key as xdg-desktop-portal does, and prints it in hexadecimal."""

import os
import socket
import sys

from jeepney import DBusAddress, new_method_call
from jeepney.io.blocking import open_dbus_connection

bus = open_dbus_connection(bus="SESSION", enable_fds=True)
portal = DBusAddress(
    "/org/freedesktop/portal/desktop",
    bus_name="org.freedesktop.impl.portal.desktop.latchkey",
    interface="org.freedesktop.impl.portal.Secret",
)


def ask(application, descriptor):
    arguments = ("/org/freedesktop/portal/desktop/request/1/t", application, descriptor, {})
    return bus.send_and_get_reply(new_method_call(portal, "RetrieveSecret", "osha{sv}", arguments), timeout=20)


def key(application):
    reading, writing = os.pipe()
    reply = ask(application, writing)
    os.close(writing)
    assert reply.body == (0, {}), reply
    with os.fdopen(reading, "rb") as pipe:
        return pipe.read()


if sys.argv[1] == "full":
    # A pipe without room, a file and a terminal must not hold anybody up.
    reading, writing = os.pipe()
    os.set_blocking(writing, False)
    try:
        while True:
            os.write(writing, b"x" * 4096)
    except BlockingIOError:
        os.set_blocking(writing, True)
    print(ask("org.example.App", writing).body)
    print(ask("org.example.App", os.open("/dev/null", os.O_WRONLY)).body)
    print(ask("x" * 256, writing).header.message_type.name)
elif sys.argv[1] == "socket":
    # As Rust's ashpd and oo7 ask.
    reading, writing = socket.socketpair()
    print(ask("org.example.App", writing.fileno()).body)
    writing.close()
    print(reading.makefile("rb").read().hex())
    # One without room, and one without a reader.
    reading, writing = socket.socketpair()
    writing.setblocking(False)
    try:
        while True:
            writing.send(b"x" * 4096)
    except BlockingIOError:
        writing.setblocking(True)
    print(ask("org.example.App", writing.fileno()).body)
    reading.close()
    print(ask("org.example.App", writing.fileno()).body)
elif sys.argv[1] == "closed":
    # Nobody reads any more. Threads differ in the signals that they have blocked.
    for number in range(40):
        reading, writing = os.pipe()
        os.close(reading)
        reply = ask("org.example.App", writing)
        os.close(writing)
    print(reply.body)
else:
    print(key(sys.argv[1]).hex())
