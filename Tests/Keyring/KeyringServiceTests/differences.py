"""What Docs/HowTo/keyring.md says of two services: the same calls, and a line for what came of each."""

import os
import sys
import time

sys.argv = sys.argv[:1]
exec(open(os.path.join(os.path.dirname(__file__), "call.py")).read())
plain = session()


def items(member, path, signature=None, body=()):
    return call(path, "org.freedesktop.Secret.Item", member, signature, body)


def make(attributes, replace=True, kind="text/plain"):
    properties = {
        "org.freedesktop.Secret.Item.Label": ("s", "label"),
        "org.freedesktop.Secret.Item.Attributes": ("a{ss}", attributes),
    }
    body = (properties, (plain, b"", b"\0\xff", kind), replace)
    return call(LOGIN, "org.freedesktop.Secret.Collection", "CreateItem", "a{sv}(oayays)b", body)[0]


def public(value):
    return service("OpenSession", "sv", "dh-ietf1024-sha256-aes128-cbc-pkcs7", ("ay", value))[0]


first = make({"a": "1", "b": "2"})
print("replace with equal attributes:", "same item" if make({"a": "1", "b": "2"}) == first else "another item")
print("replace with fewer attributes:", "same item" if make({"a": "1"}) == first else "another item")
generic = {"xdg:schema": "org.freedesktop.Secret.Generic"}
first = make({"s": "1", **generic})
print("replace without gnome-keyring's schema:", "same item" if make({"s": "1"}) == first else "another item")
print("found by that schema:", service("SearchItems", "a{ss}", {"s": "1", **generic})[0] == [first])
print("found by another schema:", len(service("SearchItems", "a{ss}", {"s": "1", "xdg:schema": "org.other"})[0]))
bare = make({"type": "none"}, kind="text/plain")
properties = {"org.freedesktop.Secret.Item.Attributes": ("a{ss}", {"type": "none"})}
value = (plain, b"", b"new", "text/plain")
call(LOGIN, "org.freedesktop.Secret.Collection", "CreateItem", "a{sv}(oayays)b", (properties, value, True))
print("replaced without a label:", get(bare, "Item", "Label")[0][1])
wrong = {"org.freedesktop.Secret.Item.Attributes": ("a{sv}", {"a": ("s", "1")})}
print("attributes of another type:",
      call(LOGIN, "org.freedesktop.Secret.Collection", "CreateItem", "a{sv}(oayays)b", (wrong, value, True))[0])
for name, label, attributes in [("a label of 5,000 bytes", "x" * 5000, {"l": "1"}),
                                ("an attribute without a name", "x", {"": "1"})]:
    properties = {"org.freedesktop.Secret.Item.Label": ("s", label),
                  "org.freedesktop.Secret.Item.Attributes": ("a{ss}", attributes)}
    answer = call(LOGIN, "org.freedesktop.Secret.Collection", "CreateItem", "a{sv}(oayays)b", (properties, value, True))[0]
    print(f"{name}:", "is taken" if answer.startswith("/") else answer)
print("the first collection's label:", get(LOGIN, "Collection", "Label")[0][1])
kept = make({"type": "1"}, kind="application/octet-stream")
print("content type:", items("GetSecret", kept, "o", (plain,))[0][3])
named = make({"type": "2"}, kind="Text/Plain; charset=\"UTF-8\"")
print("another name of text/plain:", items("GetSecret", named, "o", (plain,))[0][3])
create(LOGIN, "twice")
# Times count in seconds.
time.sleep(1.1)
create(ROOT + "/collection/session", "twice")
found = service("SearchItems", "a{ss}", {"label": "twice"})[0]
print("the newer of two, in memory:", "first" if "/session/" in found[0] else "last")
label = {"org.freedesktop.Secret.Collection.Label": ("s", "Work")}
made, asked = service("CreateCollection", "a{sv}s", label, "")
print("a new collection:", "asks" if asked != "/" else "is there at once")
rule = MatchRule(type="signal", interface="org.freedesktop.Secret.Collection")
Proxy(message_bus, bus).AddMatch(rule)
with bus.filter(rule) as signals:
    make({"type": "1"}, kind="application/octet-stream")
    # What the service sends before this response has come.
    get(LOGIN, "Collection", "Label")
    print("replace emits:", *[signal.header.fields[HeaderFields.member] for signal in signals])
answer = get(kept, "Item", "Type")
print("an item's Type:", "exists" if isinstance(answer[0], tuple) else answer[0])
answer = service("SetAlias", "so", "other", LOGIN)
print("an alias of one's own:", answer[0] if answer else "is made")
answer = public(b"\0")
print("a public value of 0:", answer if isinstance(answer, str) else "taken")
print("what isn't there:", items("Delete", LOGIN + "/none")[0])
print("locked:", service("Lock", "ao", [LOGIN])[0] == [LOGIN])
print("locked, and searched:", len(service("SearchItems", "a{ss}", {"type": "1"})[1]))
print("locked, and read:", items("GetSecret", kept, "o", (plain,))[0])
done, asked = service("Unlock", "ao", [LOGIN])
print("unlocked:", "asks" if asked != "/" else "without a question")
service("Lock", "ao", [LOGIN])
for member, signature, body in [("ChangeLock", "o", (LOGIN,)), ("LockService", None, ())]:
    answer = service(member, signature, *body)
    print(f"{member}:", answer[0] if answer and not answer[0].startswith("/") else "exists")
print("locked, and deleted:", call(LOGIN, "org.freedesktop.Secret.Collection", "Delete")[0])
