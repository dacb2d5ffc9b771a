"""A client that does what none should: hostile.py CASE, on the bus of the environment. Prints what came of it."""

import concurrent.futures
import hashlib
import hmac
import os
import random
import select
import sys
import time

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from jeepney import DBusAddress, HeaderFields, MessageType, Properties, new_method_call
from jeepney.io.blocking import open_dbus_connection

NAME = os.environ.get("KEYRING_NAME", "org.freedesktop.secrets")
ROOT = "/org/freedesktop/secrets"
LOGIN = ROOT + "/collection/login"
DH = "dh-ietf1024-sha256-aes128-cbc-pkcs7"
PRIME = int(
    "FFFFFFFFFFFFFFFFC90FDAA22168C234C4C6628B80DC1CD129024E088A67CC74020BBEA63B139B22514A08798E3404DD"
    "EF9519B3CD3A431B302B0A6DF25F14374FE1356D6D51C245E485B576625E7EC6F44C42E9A637ED6B0BFF5CB6F406B7ED"
    "EE386BFB5A899FA5AE9F24117C4B1FE649286651ECE65381FFFFFFFFFFFFFFFF", 16)


class Client:
    def __init__(self):
        self.bus = open_dbus_connection("SESSION")

    def message(self, path, interface, member, signature=None, body=()):
        address = DBusAddress(path, NAME, "org.freedesktop." + interface)
        return new_method_call(address, member, signature, body)

    def call(self, *arguments):
        """The reply's values, or the name of the error. None hangs."""
        reply = self.bus.send_and_get_reply(self.message(*arguments), timeout=60)
        if reply.header.message_type == MessageType.error:
            return reply.header.fields[HeaderFields.error_name].rsplit(".", 1)[1]
        return reply.body

    def plain(self):
        return self.call(ROOT, "Secret.Service", "OpenSession", "sv", ("plain", ("s", "")))[1]

    def create(self, session, attributes, value=b"secret", parameters=b"", label="label", kind="text/plain",
               collection=LOGIN, replace=False):
        properties = {
            "org.freedesktop.Secret.Item.Label": ("s", label),
            "org.freedesktop.Secret.Item.Attributes": ("a{ss}", attributes),
        }
        body = (properties, (session, parameters, value, kind), replace)
        return self.call(collection, "Secret.Collection", "CreateItem", "a{sv}(oayays)b", body)

    def search(self, attributes):
        return self.call(ROOT, "Secret.Service", "SearchItems", "a{ss}", (attributes,))[0]

    def secret(self, item, session):
        return self.call(item, "Secret.Item", "GetSecret", "o", (session,))


def derive(shared):
    extracted = hmac.new(bytes(32), shared.to_bytes(128, "big"), hashlib.sha256).digest()
    return hmac.new(extracted, b"\1", hashlib.sha256).digest()[:16]


def foreign():
    """A session is its connection's, and no other's."""
    mine, other = Client(), Client()
    session, theirs = mine.plain(), other.plain()
    item = mine.create(session, {"a": "1"})[0]
    print(other.secret(item, session))
    print(other.call(ROOT, "Secret.Service", "GetSecrets", "aoo", ([item], session)))
    print(other.create(session, {"a": "2"}))
    print(other.call(item, "Secret.Item", "SetSecret", "(oayays)", ((session, b"", b"x", "text/plain"),)))
    print(other.call(session, "Secret.Session", "Close"))
    print(bytes(other.secret(item, theirs)[0][2]))


def closed():
    """A session that was closed, or whose connection is gone, is none."""
    client = Client()
    session, second = client.plain(), client.plain()
    item = client.create(session, {"a": "1"})[0]
    print(client.call(session, "Secret.Session", "Close"))
    print(client.secret(item, session))
    print(client.call(session, "Secret.Session", "Close"))
    client.bus.close()
    print(Client().secret(item, second))
    print(Client().secret(item, "/"), Client().secret(item, ROOT + "/session/none"))


def short_keys():
    """Public values of one byte to 125: each gives the same key on both sides."""
    client = Client()
    session = client.plain()
    item = client.create(session, {"a": "1"}, b"the secret")[0]
    good = 0
    for exponent in range(1, 1001):
        value = pow(2, exponent, PRIME)
        value = value.to_bytes((value.bit_length() + 7) // 8, "big")
        output, session = client.call(ROOT, "Secret.Service", "OpenSession", "sv", (DH, ("ay", value)))
        key = derive(pow(int.from_bytes(bytes(output[1]), "big"), exponent, PRIME))
        _, vector, sealed, _ = client.secret(item, session)[0]
        opened = Cipher(algorithms.AES(key), modes.CBC(bytes(vector))).decryptor()
        good += (opened.update(bytes(sealed)) + opened.finalize())[:-6] == b"the secret"
        client.call(session, "Secret.Session", "Close")
    print(good)
    for value in [b"", b"\0", b"\1", bytes(200), (PRIME - 1).to_bytes(128, "big"), PRIME.to_bytes(128, "big"),
                  b"\1" + bytes(128), b"\xff" * 128]:
        print(client.call(ROOT, "Secret.Service", "OpenSession", "sv", (DH, ("ay", value))))
    print(client.call(ROOT, "Secret.Service", "OpenSession", "sv", (DH, ("s", "text"))))
    print(client.call(ROOT, "Secret.Service", "OpenSession", "sv", ("plain", ("ay", b""))))
    print(client.call(ROOT, "Secret.Service", "OpenSession", "sv", ("rot13", ("s", ""))))


def padding():
    """What isn't encrypted as it should be is refused, and nothing is stored."""
    client = Client()
    output, session = client.call(ROOT, "Secret.Service", "OpenSession", "sv", (DH, ("ay", b"\4")))
    key = derive(pow(int.from_bytes(bytes(output[1]), "big"), 2, PRIME))

    def sealed(text):
        encryptor = Cipher(algorithms.AES(key), modes.CBC(bytes(16))).encryptor()
        return encryptor.update(text) + encryptor.finalize()

    for value, vector in [(b"", bytes(16)), (bytes(15), bytes(16)), (bytes(17), bytes(16)), (bytes(16), bytes(15)),
                          (bytes(16), b""), (bytes(16), bytes(17)), (sealed(bytes(16)), bytes(16)),
                          (sealed(bytes(15) + b"\x11"), bytes(16)), (sealed(bytes(12) + b"\4\4\3\4"), bytes(16))]:
        print(client.create(session, {"bad": "yes"}, value, vector))
    print(len(client.create(session, {"good": "yes"}, sealed(b"good" + b"\x0c" * 12), bytes(16))))
    print(client.search({"bad": "yes"}))
    print(client.create(client.plain(), {"bad": "yes"}, b"x", b"parameters"))


def large():
    """Attributes, labels and types past their limits."""
    client = Client()
    session = client.plain()
    print(client.create(session, {"a": "x" * 65536}))
    print(client.create(session, {"x" * 65536: "a"}))
    print(client.create(session, {str(number): "x" for number in range(65)}))
    print(client.create(session, {"": "x"}))
    print(client.create(session, {"a": "1"}, label="x" * 100000))
    print(client.create(session, {"a": "1"}, kind="x" * 256))
    print(client.create(session, {"a": "1"}, bytes(10 << 20)))
    print(client.call(ROOT, "Secret.Service", "SearchItems", "a{ss}", ({"a": "x" * 65536},)))
    print(client.call(ROOT, "Secret.Service", "GetSecrets", "aoo", ([LOGIN + "/x"] * 20001, session)))
    for member in ("Unlock", "Lock"):
        print(client.call(ROOT, "Secret.Service", member, "ao", ([LOGIN + "/x"] * 20001,)))
    # The path isn't an argument.
    print(client.call(LOGIN + "/x" * (2 << 20), "Secret.Item", "GetSecret", "o", (session,)))
    print(client.search({}))
    # One item, named 20,000 times, was as many pieces of guarded memory: more than Linux permits a process.
    item = client.create(session, {"a": "large"}, bytes(5000))[0]
    print(len(client.call(ROOT, "Secret.Service", "GetSecrets", "aoo", ([item] * 20000, session))[0]))
    for _ in range(1023):
        client.plain()
    print(client.call(ROOT, "Secret.Service", "OpenSession", "sv", ("plain", ("s", ""))))


def wrong():
    """Other types, members, interfaces and paths than there are."""
    client = Client()
    for call in [
        (ROOT, "Secret.Service", "SearchItems", "as", (["a"],)),
        (ROOT, "Secret.Service", "SearchItems"),
        (ROOT, "Secret.Service", "Destroy"),
        (ROOT, "Secret.Item", "Delete"),
        (ROOT + "/collection/none", "Secret.Collection", "Delete"),
        (ROOT + "/aliases/none", "Secret.Collection", "Delete"),
        (LOGIN + "/none", "Secret.Item", "Delete"),
        (ROOT + "/session/none", "Secret.Session", "Close"),
        (ROOT + "/prompt/none", "Secret.Prompt", "Dismiss"),
        ("/elsewhere", "Secret.Service", "SearchItems", "a{ss}", ({},)),
        (ROOT, "DBus.Properties", "Get", "ss", ("org.freedesktop.Secret.Service", "None")),
        (ROOT, "DBus.Properties", "Get", "ss", ("org.freedesktop.Secret.Item", "Label")),
        (ROOT, "DBus.Properties", "Set", "ssv", ("org.freedesktop.Secret.Service", "Collections", ("ao", []))),
        (LOGIN, "DBus.Properties", "Set", "ssv", ("org.freedesktop.Secret.Collection", "Label", ("u", 1))),
        (ROOT, "Secret.Service", "SetAlias", "so", ("a-b", LOGIN)),
        (ROOT, "Secret.Service", "SetAlias", "so", ("other", ROOT + "/collection/none")),
        (ROOT, "Secret.Service", "ReadAlias", "s", ("none",)),
        (ROOT, "Secret.Service", "Unlock", "ao", ([ROOT + "/collection/none", "/"],)),
    ]:
        print(client.call(*call))


def refused():
    """Plain secrets in calls that are refused, and searches after them."""
    client = Client()
    secret, session = sys.stdin.buffer.read(), client.plain()
    item = client.create(session, {"a": "1"})[0]
    properties = {"org.freedesktop.Secret.Item.Label": ("u", 1)}
    whole = (session, b"", secret, "text/plain")
    for reply in [
        client.create(ROOT + "/session/none", {"a": "2"}, secret),
        client.create(session, {"a": "2"}, secret, collection=ROOT + "/collection/none"),
        client.create(session, {"a": "2"}, secret, label="x" * 5000),
        client.create(session, {"a": "2"}, secret, b"parameters"),
        client.call(LOGIN, "Secret.Collection", "CreateItem", "a{sv}(oayays)b", (properties, whole, False)),
        client.call(LOGIN, "Secret.Collection", "CreateItem", "a{sv}(oayays)", ({}, whole)),
        client.call(LOGIN + "/none", "Secret.Item", "SetSecret", "(oayays)", (whole,)),
        client.call(item, "Secret.Item", "SetSecret", "((oayays)b)", ((whole, True),)),
        client.call(ROOT, "Secret.Service", "SetSecret", "(oayays)", (whole,)),
        client.create(session, {"a": "2"}, secret * ((10 << 20) // len(secret))),
    ]:
        print(reply if isinstance(reply, str) else "done")
    for _ in range(20):
        client.search({})


def many():
    """Two hundred connections with a session each, of which half leave."""
    clients = [Client() for _ in range(200)]
    sessions = [client.plain() for client in clients]
    item = clients[0].create(sessions[0], {"a": "1"})[0]
    print(sum(bytes(c.secret(item, s)[0][2]) == b"secret" for c, s in zip(clients, sessions)))
    for client in clients[::2]:
        client.bus.close()
    print(sum(bytes(c.secret(item, s)[0][2]) == b"secret" for c, s in list(zip(clients, sessions))[1::2]))


def death():
    """A client that leaves with a hundred calls on their way: whole items, and a service that goes on."""
    client = Client()
    session = client.plain()
    properties = {"org.freedesktop.Secret.Item.Attributes": ("a{ss}", {"a": "dying"})}
    for _ in range(100):
        client.bus.send(client.message(
            LOGIN, "Secret.Collection", "CreateItem", "a{sv}(oayays)b",
            (properties, (session, b"", b"whole", "text/plain"), False)))
    client.bus.close()
    other = Client()
    session = other.plain()
    items = other.search({"a": "dying"})
    print({bytes(other.secret(item, session)[0][2]) for item in items} <= {b"whole"}, len(items) <= 100)


def flood():
    """Searches by the thousand, as libsecret sends them too: another client is served meanwhile."""
    flooding, other = Client(), Client()
    search = flooding.message(ROOT, "Secret.Service", "SearchItems", "a{ss}", ({},))
    numbers = [flooding.bus.send(search, serial=number + 1000) or number for number in range(5000)]
    session = other.plain()
    item = other.create(session, {"a": "1"})[0]
    print(all(bytes(other.secret(item, session)[0][2]) == b"secret" for _ in range(50)))
    kinds = {"answered": 0, "refused": 0}
    for _ in numbers:
        reply = flooding.bus.receive(timeout=60)
        while HeaderFields.reply_serial not in reply.header.fields:
            reply = flooding.bus.receive(timeout=60)
        if reply.header.message_type == MessageType.method_return:
            kinds["answered"] += 1
        elif reply.header.fields[HeaderFields.error_name] == "org.freedesktop.DBus.Error.LimitsExceeded":
            kinds["refused"] += 1
    print(kinds)


def heavy():
    """Large secrets from many connections at once, none of which reads its responses."""
    clients = [Client() for _ in range(12)]
    sessions = [client.plain() for client in clients]
    secret = bytes(7 << 20)
    for _ in range(4):
        for client, session in zip(clients, sessions):
            client.bus.send(client.message(
                LOGIN, "Secret.Collection", "CreateItem", "a{sv}(oayays)b",
                ({"org.freedesktop.Secret.Item.Attributes": ("a{ss}", {"a": "heavy"})},
                 (session, b"", secret, "x"), True)))
    print(len(Client().search({"a": "heavy"})) <= 1)


def greedy():
    """All secrets of a full keyring in one call; another client goes on meanwhile."""
    one, other = Client(), Client()
    session = one.plain()
    items = one.search({})
    serial = next(one.bus.outgoing_serial)
    message = one.message(ROOT, "Secret.Service", "GetSecrets", "aoo", (items, session))
    one.bus.send(message, serial=serial)
    # Until it is certain that the call has come.
    time.sleep(0.1)
    answered = 0
    while not select.select([one.bus.sock], [], [], 0)[0]:
        other.call(ROOT, "Secret.Service", "ReadAlias", "s", ("default",))
        answered += 1
    reply = one.bus.receive(timeout=60)
    while reply.header.fields.get(HeaderFields.reply_serial) != serial:
        reply = one.bus.receive(timeout=60)
    # Before it was divided: one, at most two.
    print(len(items), len(reply.body[0]), answered > 5)


def silent():
    """Many connections that want much, 384 MiB together, and read nothing: others are served, and once those have left get
    much, too."""
    calm = Client()
    session = calm.plain()
    items = [calm.create(session, {"silent": str(number)}, bytes(8 << 20))[0] for number in range(3)]
    small = calm.create(session, {"small": "1"})[0]
    silent = [Client() for _ in range(16)]
    for client in silent:
        client.bus.send(client.message(ROOT, "Secret.Service", "GetSecrets", "aoo", (items, client.plain())))
    # Each has its response, or the beginning of it.
    print(all(select.select([client.bus.sock], [], [], 60)[0] for client in silent))
    other = Client()
    print(bytes(calm.secret(small, session)[0][2]), bytes(other.secret(small, other.plain())[0][2]))
    print(calm.call(ROOT, "Secret.Service", "GetSecrets", "aoo", (items, session)))
    for client in silent:
        client.bus.close()
    reply = "LimitsExceeded"
    while reply == "LimitsExceeded":
        reply = calm.call(ROOT, "Secret.Service", "GetSecrets", "aoo", (items, session))
    print(len(reply[0]))
    # Those that read all they get are never refused, however much it is together.
    def refusals(client):
        body = (items, client.plain())
        return sum(
            isinstance(client.call(ROOT, "Secret.Service", "GetSecrets", "aoo", body), str) for _ in range(6))
    with concurrent.futures.ThreadPoolExecutor() as pool:
        print(*pool.map(refusals, [Client() for _ in range(3)]))


def bulk():
    """Several secrets of 8 MiB: a response of 24 MiB is sent, and larger ones are errors."""
    client = Client()
    session = client.plain()
    items = [client.create(session, {"a": str(number)}, bytes(8 << 20))[0] for number in range(8)]
    for count in (3, 4, 8):
        reply = client.call(ROOT, "Secret.Service", "GetSecrets", "aoo", (items[:count], session))
        print(reply if isinstance(reply, str) else len(reply[0][items[0]][2]))
    print(client.search({"a": "1"}) == [items[1]])


# What each interface has: members, and the signature of a right call.
MEMBERS = {
    "org.freedesktop.Secret.Service": {
        "OpenSession": "sv", "CreateCollection": "a{sv}s", "SearchItems": "a{ss}", "Unlock": "ao", "Lock": "ao",
        "GetSecrets": "aoo", "ReadAlias": "s", "SetAlias": "so"},
    "org.freedesktop.Secret.Collection": {"Delete": None, "SearchItems": "a{ss}", "CreateItem": "a{sv}(oayays)b"},
    "org.freedesktop.Secret.Item": {"Delete": None, "GetSecret": "o", "SetSecret": "(oayays)"},
    "org.freedesktop.Secret.Session": {"Close": None},
    "org.freedesktop.Secret.Prompt": {"Prompt": "s", "Dismiss": None},
    "org.freedesktop.impl.portal.Secret": {"RetrieveSecret": "osha{sv}"},
    "org.latchkey.Keyring1": {"RegisterAgent": None, "Describe": None},
    "org.freedesktop.DBus.Properties": {"Get": "ss", "GetAll": "s", "Set": "ssv"},
    "org.freedesktop.DBus.Introspectable": {"Introspect": None},
    "org.freedesktop.DBus.Peer": {"Ping": None, "GetMachineId": None},
}
PROPERTIES = {
    "org.freedesktop.Secret.Service": ["Collections"],
    "org.freedesktop.Secret.Collection": ["Items", "Label", "Locked", "Created", "Modified"],
    "org.freedesktop.Secret.Item": ["Locked", "Attributes", "Label", "Created", "Modified"],
    "org.freedesktop.impl.portal.Secret": ["version"],
}
OF_ALL = ["org.freedesktop.DBus.Properties", "org.freedesktop.DBus.Introspectable", "org.freedesktop.DBus.Peer"]


def confused():
    """Each method, property and introspection of each object with each interface of the others, none, and every type
    of arguments. Only what reads is done; nothing changes."""
    count, chance = int(sys.argv[2]), random.Random(int(sys.argv[3]))
    client, other = Client(), Client()
    session, foreign_session = client.plain(), other.plain()
    if len(sys.argv) > 4:
        item = sys.argv[4]
        collection, prompt = item.rsplit("/", 1)[0], client.call(item, "Secret.Item", "Delete")[0]
    else:
        item, collection, prompt = client.create(session, {"a": "1"})[0], LOGIN, ROOT + "/prompt/none"
    own = {
        ROOT: ["org.freedesktop.Secret.Service", "org.latchkey.Keyring1"],
        collection: ["org.freedesktop.Secret.Collection"], item: ["org.freedesktop.Secret.Item"],
        session: ["org.freedesktop.Secret.Session"], prompt: ["org.freedesktop.Secret.Prompt"],
        "/org/freedesktop/portal/desktop": ["org.freedesktop.impl.portal.Secret"],
        "/": [], "/org": [], "/org/freedesktop": [], ROOT + "/collection": [], ROOT + "/aliases": [],
        ROOT + "/session": [], ROOT + "/prompt": [], foreign_session: [], "/elsewhere": [], collection + "/none": [],
        ROOT + "/session/none": [], ROOT + "/collection/none": [], ROOT + "/aliases/none": [],
    }
    interfaces = list(MEMBERS) + [None, "org.freedesktop.Secret", "org.freedesktop.DBus"]
    members = sorted({member for some in MEMBERS.values() for member in some}) + ["Destroy", "Label", "Items"]
    names = sorted({name for some in PROPERTIES.values() for name in some}) + ["None", ""]
    values = {
        "s": lambda: chance.choice(["", "a", collection, item, session, "login", "default", "Label", "x" * 5000]),
        "o": lambda: chance.choice([ROOT, "/", collection, item, session, prompt, foreign_session, ROOT + "/none"]),
        "u": lambda: chance.randrange(1 << 32), "i": lambda: -chance.randrange(1 << 31),
        "b": lambda: chance.random() < 0.5, "y": lambda: chance.randrange(256), "t": lambda: chance.randrange(1 << 64),
        "d": chance.random, "ay": lambda: chance.randbytes(chance.randrange(40)),
        "as": lambda: ["a", "b"][:chance.randrange(3)], "ao": lambda: [item, collection, ROOT][:chance.randrange(4)],
        "a{ss}": lambda: {"a": "1"}, "a{sv}": lambda: {"a": ("s", "1")}, "v": lambda: ("u", 7),
        "aas": lambda: [["a"], []], "(oayays)": lambda: (session, b"", b"forged", "text/plain"),
        "()": None, "a{s(ov)}": lambda: {"a": (ROOT, ("u", 1))}, "av": lambda: [("v", ("v", ("s", "deep")))],
    }
    del values["()"]
    kinds = list(values)

    def state():
        """All that is there, as its own client sees it."""
        items = sorted(client.call(collection, "Secret.Collection", "SearchItems", "a{ss}", ({},))[0])
        parts = [client.call(ROOT, "DBus.Properties", "GetAll", "s", ("org.freedesktop.Secret.Service",))]
        for path in items:
            parts.append(client.call(path, "DBus.Properties", "GetAll", "s", ("org.freedesktop.Secret.Item",)))
            parts.append(client.secret(path, session))
        parts.append(client.call(ROOT, "Secret.Service", "ReadAlias", "s", ("default",)))
        parts.append(client.call(collection, "DBus.Properties", "GetAll", "s", ("org.freedesktop.Secret.Collection",)))
        return items, parts

    def is_right(path, interface, member, signature):
        """Whether it is a call that the object has: those aren't sent, but for what only reads."""
        return any((interface in (None, some)) and MEMBERS[some].get(member, "none") == signature
                   for some in own[path] + OF_ALL)

    before, path_kinds = state(), list(own)
    # Of random calls, few are answered: one call that surely is.
    outcomes = {"answered": int(client.call(ROOT, "DBus.Peer", "Ping") == ())}
    for _ in range(count):
        path, interface, member = chance.choice(path_kinds), chance.choice(interfaces), chance.choice(members)
        if chance.random() < 0.3:
            # A right signature, at the wrong object or interface.
            found = [some[member] for some in MEMBERS.values() if member in some]
            signature, body = (chance.choice(found) if found else None), ()
            parts = split(signature)
        elif chance.random() < 0.2:
            interface, member = "org.freedesktop.DBus.Properties", chance.choice(["Get", "Set", "GetAll"])
            name, about = chance.choice(names), chance.choice(interfaces) or ""
            body = {"Get": (about, name), "GetAll": (about,), "Set": (about, name, ("u", 7))}[member]
            signature, parts = {"Get": "ss", "GetAll": "s", "Set": "ssv"}[member], []
        else:
            parts = [chance.choice(kinds) for _ in range(chance.randrange(5))]
            signature, body = "".join(parts) or None, ()
        if parts:
            if any(part not in values for part in parts):
                continue
            body = tuple(values[part]() for part in parts)
        reads = member in ("Get", "GetAll", "Introspect", "Ping", "GetMachineId", "Set")
        if is_right(path, interface, member, signature) and not reads:
            continue
        message = new_method_call(DBusAddress(path, NAME, interface), member, signature, body)
        reply = client.bus.send_and_get_reply(message, timeout=60)
        if reply.header.message_type == MessageType.error:
            outcome = reply.header.fields[HeaderFields.error_name].rsplit(".", 1)[1]
        else:
            outcome = "answered"
            if not reads:
                print("answered", path, interface, member, signature)
        outcomes[outcome] = outcomes.get(outcome, 0) + 1
    after = state()
    print(after == before, sum(outcomes.values()) > count // 2, outcomes["answered"] > 0)
    print(sorted(outcomes.items()), file=sys.stderr)
    if after != before:
        print(before, after, sep="\n", file=sys.stderr)


def split(signature):
    """The complete types of a signature."""
    parts, depth, text = [], 0, ""
    for letter in signature or "":
        text += letter
        depth += (letter in "({") - (letter in ")}")
        if depth == 0 and letter != "a":
            parts.append(text)
            text = ""
    return parts


def methods():
    """Each method of the Secret Service with values of the right types, most of which are wrong: as many calls of each as
    the second argument says. A client that does nothing wrong finds its secret afterwards."""
    count, chance = int(sys.argv[2]), random.Random(int(sys.argv[3]))
    calm, client = Client(), Client()
    kept = calm.create(calm.plain(), {"kept": "1"})[0]
    names = ["", "a", "default", "login", "é" * 90, "x" * 5000, "\x01", "org.freedesktop.Secret.Item.Label",
             "org.freedesktop.Secret.Item.Attributes", "xdg:schema", "plain", DH]
    known = []

    def text():
        return chance.choice(names + known)

    def path():
        return chance.choice(known + [ROOT, "/", LOGIN, ROOT + "/none", ROOT + "/collection/login/999", "/" + "a" * 300])

    def octets():
        return chance.randbytes(chance.choice([0, 1, 15, 16, 17, 32, 128, 129, 3000]))

    def value(type, depth=0):
        if type[0] == "a" and type[1] == "{":
            key, of = type[2], type[3:-1]
            return {value(key): value(of, depth) for _ in range(chance.choice([0, 1, 2, 40]))}
        if type == "ay":
            return octets()
        if type[0] == "a":
            return [value(type[1:], depth) for _ in range(chance.choice([0, 1, 2, 40]))]
        if type[0] == "(":
            return tuple(value(part, depth) for part in split(type[1:-1]))
        if type == "v":
            inner = chance.choice(["s", "o", "b", "u", "t", "d", "ay", "as", "a{ss}", "(oayays)"] + ["v", "av"] * (depth < 4))
            return inner, value(inner, depth + 1)
        return {"s": text, "o": path, "b": lambda: chance.random() < 0.5, "u": lambda: chance.randrange(1 << 32),
                "t": lambda: chance.randrange(1 << 64), "d": chance.random}[type]()

    outcomes = {}
    for interface in ("Service", "Collection", "Item", "Session", "Prompt"):
        for member, signature in MEMBERS["org.freedesktop.Secret." + interface].items():
            waiting, done = set(), {"answered": 0, "refused": 0}

            def receive(limit):
                while len(waiting) > limit:
                    reply = client.bus.receive(timeout=60)
                    about = reply.header.fields.get(HeaderFields.reply_serial)
                    if about in waiting:
                        waiting.remove(about)
                        done["refused" if reply.header.message_type == MessageType.error else "answered"] += 1

            for number in range(count):
                if number % 500 == 0:
                    receive(0)
                    session = client.plain()
                    item = client.create(session, {"a": "1"}, replace=True)
                    known = [session, LOGIN] + ([item[0]] if isinstance(item, tuple) else [])
                target = {"Service": ROOT, "Collection": LOGIN, "Item": known[-1], "Session": session,
                          "Prompt": ROOT + "/prompt/p1"}[interface]
                target = target if chance.random() < 0.7 else path()
                if target == kept or (interface, member, target) == ("Collection", "Delete", LOGIN):
                    continue
                body = tuple(value(part) for part in split(signature))
                if member == "Lock":
                    # A locked keyring refuses what comes next.
                    body = ([path for path in body[0] if not path.startswith(LOGIN)],)
                serial = next(client.bus.outgoing_serial)
                client.bus.send(client.message(target, "Secret." + interface, member, signature, body), serial=serial)
                waiting.add(serial)
                receive(40)
            receive(0)
            outcomes[interface + "." + member] = done
    print(bytes(calm.secret(kept, calm.plain())[0][2]), all(sum(done.values()) > 0 for done in outcomes.values()))
    print(outcomes, file=sys.stderr)


def deaf():
    """A client that searches without end and never reads; another one is served, and the service's memory is bounded."""
    flooding, other = Client(), Client()
    flooding.bus.sock.setblocking(False)
    search = flooding.message(ROOT, "Secret.Service", "SearchItems", "a{ss}", ({},))
    session, sent, pending, longest = other.plain(), 0, b"", 0
    begin = time.monotonic()
    other.search({})
    alone = time.monotonic() - begin
    begin = time.monotonic()
    answered = 0
    # On a busy machine its thousand messages take longer than others' one call.
    while time.monotonic() < begin + float(sys.argv[2]) or sent <= 1000 and time.monotonic() < begin + 60:
        while sent < 40000:
            pending = pending or search.serialise(serial=1000 + sent)
            try:
                pending = pending[flooding.bus.sock.send(pending):]
            except BlockingIOError:
                break
            sent += not pending
        called = time.monotonic()
        other.call(ROOT, "Secret.Service", "ReadAlias", "s", ("default",))
        longest = max(longest, time.monotonic() - called)
        answered += 1
    print(sent > 1000, answered > 0)
    flooding.bus.close()
    print(Client().call(ROOT, "Secret.Service", "ReadAlias", "s", ("default",)) == (LOGIN,))
    print(f"sent {sent}, answered {answered}, longest wait {longest:.3f} s, a search alone {alone:.3f} s", file=sys.stderr)


globals()[sys.argv[1]]()
