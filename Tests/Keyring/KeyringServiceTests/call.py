"""One call after another on the bus of the environment: call.py WORD…, each with what came of it on a line."""

import os
import sys

from jeepney import DBusAddress, HeaderFields, MatchRule, MessageType, new_method_call
from jeepney.bus_messages import message_bus
from jeepney.io.blocking import Proxy, open_dbus_connection

ROOT = "/org/freedesktop/secrets"
LOGIN = ROOT + "/collection/login"
bus = open_dbus_connection("SESSION", enable_fds=True)


def call(path, interface, member, signature=None, body=(), name="org.freedesktop.secrets"):
    """The reply's values; of an error, its name and text."""
    message = new_method_call(DBusAddress(path, name, interface), member, signature, body)
    reply = bus.send_and_get_reply(message, timeout=60)
    if reply.header.message_type == MessageType.error:
        return (reply.header.fields[HeaderFields.error_name].rsplit(".", 1)[1], *reply.body)
    return reply.body


def service(member, signature, *body):
    return call(ROOT, "org.freedesktop.Secret.Service", member, signature, body)


def session():
    return service("OpenSession", "sv", "plain", ("s", ""))[1]


def create(collection, label, secret=b"secret"):
    properties = {
        "org.freedesktop.Secret.Item.Label": ("s", label),
        "org.freedesktop.Secret.Item.Attributes": ("a{ss}", {"label": label}),
    }
    body = (properties, (session(), b"", secret, "text/plain"), True)
    return call(collection, "org.freedesktop.Secret.Collection", "CreateItem", "a{sv}(oayays)b", body)


def prompt(path):
    """Runs a prompt and returns what it was completed with."""
    Proxy(message_bus, bus).AddMatch(MatchRule(type="signal", interface="org.freedesktop.Secret.Prompt", path=path))
    rule = MatchRule(type="signal", interface="org.freedesktop.Secret.Prompt", path=path)
    with bus.filter(rule) as signals:
        called = call(path, "org.freedesktop.Secret.Prompt", "Prompt", "s", ("",))
        if called != ():
            return called
        return bus.recv_until_filtered(signals, timeout=60).body


def get(path, interface, name):
    return call(path, "org.freedesktop.DBus.Properties", "Get", "ss", ("org.freedesktop.Secret." + interface, name))


def everything(path, interface):
    return call(path, "org.freedesktop.DBus.Properties", "GetAll", "s", ("org.freedesktop.Secret." + interface,))


def introspect(path):
    text = call(path, "org.freedesktop.DBus.Introspectable", "Introspect")[0]
    words = [line.split('"')[1] for line in text.splitlines() if "<interface" in line or "<node name" in line]
    return [word.removeprefix("org.freedesktop.") for word in words]


words = iter(sys.argv[1:])
for word in words:
    match word:
        case "create-collection":
            label = {"org.freedesktop.Secret.Collection.Label": ("s", next(words))}
            print(*service("CreateCollection", "a{sv}s", label, ""))
        case "create-collection-as":
            print(*service("CreateCollection", "a{sv}s", {}, next(words)))
        case "search":
            print(*service("SearchItems", "a{ss}", {}))
        case "waiting-searches":
            # As many searches on each of so many connections, and no waiting for their responses. Prints how many wait.
            connections, count, size = int(next(words)), int(next(words)), int(next(words))
            attributes = {"x": "x" * size}
            held = []
            for _ in range(connections):
                other = open_dbus_connection("SESSION")
                held.append(other)
                address = DBusAddress(ROOT, "org.freedesktop.secrets", "org.freedesktop.Secret.Service")
                for _ in range(count):
                    other.send(new_method_call(address, "SearchItems", "a{ss}", (attributes,)))
                serial = next(other.outgoing_serial)
                other.send(new_method_call(address, "ReadAlias", "s", ("default",)), serial=serial)
                refused = 0
                while (answer := other.receive(timeout=60)).header.fields.get(HeaderFields.reply_serial) != serial:
                    refused += answer.header.message_type == MessageType.error
                print(count - refused)
        case "open-session":
            print(session())
        case "search-in":
            print(*call(next(words), "org.freedesktop.Secret.Collection", "SearchItems", "a{ss}", ({},)))
        case "unlock":
            done, path = service("Unlock", "ao", [next(words)])
            print(done, "prompt" if path != "/" else path)
            if path != "/":
                print(*prompt(path))
        case "lock":
            print(*service("Lock", "ao", [next(words)]))
        case "alias":
            print(*service("ReadAlias", "s", next(words)))
        case "set-alias":
            print(*service("SetAlias", "so", next(words), next(words)))
        case "get":
            print(*get(next(words), next(words), next(words)))
        case "all":
            print(*everything(next(words), next(words)))
        case "create":
            print(*create(next(words), next(words)))
        case "store-plain":
            create(LOGIN, next(words), sys.stdin.buffer.read())
        case "read-plain":
            items = service("SearchItems", "a{ss}", {"label": next(words)})[0]
            secret = call(items[0], "org.freedesktop.Secret.Item", "GetSecret", "o", (session(),))[0]
            print(bytes(secret[2]).decode())
        case "secret":
            print(call(next(words), "org.freedesktop.Secret.Item", "GetSecret", "o", (session(),))[0])
        case "secrets":
            print(*service("GetSecrets", "aoo", next(words).split(","), session()))
        case "delete":
            print(*call(next(words), "org.freedesktop.Secret.Item", "Delete"))
        case "introspect":
            print(*introspect(next(words)))
        case "ask":
            # As if this were the keyring: the agent is to refuse.
            reading, writing = os.pipe()
            print(call("/org/latchkey/Agent", "org.latchkey.Agent1", "Ask", "hbs", (writing, False, "/bin/false"), next(words))[0])
        case "descriptor":
            reading, writing = os.pipe()
            print(*call(ROOT, "org.freedesktop.Secret.Service", "SearchItems", "h", (writing,)))
        case "ping":
            print(call(ROOT, "org.freedesktop.DBus.Peer", "Ping"))
