"""Reads a Latchkey vault by nothing but Docs/Reference/vault-format.md: PyNaCl, hashlib and sqlite3.

    read_vault.py VAULT key-file|passphrase-file|systemd-credential|kept-key PATH [ATTRIBUTES...]

Prints the generation, the collections and the items as JSON, secrets in hexadecimal; and the ids of the items that
have some attributes, each time given as a JSON object. Exits with 1 and a line on anything wrong."""
import contextlib, hashlib, json, sqlite3, struct, sys
import nacl.bindings as sodium
import nacl.exceptions
import nacl.pwhash.argon2id

PAGE = 4096
USES = {(2, "key-file"): b"key file", (3, "systemd-credential"): b"systemd credential", (4, "kept-key"): b"kept key"}

class Damaged(Exception): pass

def check(condition, what):
    if not condition: raise Damaged(what)

def blake(key, message, size=32):
    return hashlib.blake2b(message, key=key, digest_size=size).digest()

def subkey(key, use, vault):
    return blake(key, b"latchkey vault v1 " + use + vault)

def unseal(key, data, sealed):
    check(len(sealed) >= 40, "sealed bytes are too short")
    try:
        return sodium.crypto_aead_xchacha20poly1305_ietf_decrypt(sealed[24:], data, sealed[:24], key)
    except nacl.exceptions.CryptoError:
        raise Damaged("sealed bytes don't open")

def bucket(n):
    if n <= 16384:
        return max(256, 1 << (n - 1).bit_length()) if n else 256
    e = n.bit_length() - 1
    unit = 1 << (e - e.bit_length())
    return (n + unit - 1) // unit * unit

class Fields:
    def __init__(self, data):
        self.data, self.at = data, 0
    def take(self, count):
        check(self.at + count <= len(self.data), "a field is cut off")
        self.at += count
        return self.data[self.at - count:self.at]
    def number(self, form):
        return struct.unpack("<" + form, self.take(struct.calcsize("<" + form)))[0]
    def text(self, form):
        return self.take(self.number(form)).decode()

P1, P2, P3 = 0x9E3779B185EBCA87, 0xC2B2AE3D27D4EB4F, 0x165667B19E3779F9
P4, M = 0x85EBCA77C2B2AE63, (1 << 64) - 1
rotate = lambda x, n: (x << n | x >> 64 - n) & M
lane = lambda state, word: rotate(state + word * P2 & M, 31) * P1 & M

def xxh64(data, seed):
    words, lanes = struct.unpack("<511Q", data), [seed + P1 + P2 & M, seed + P2, seed, seed - P1 & M]
    for i in range(508):
        lanes[i % 4] = lane(lanes[i % 4], words[i])
    h = sum(map(rotate, lanes, (1, 7, 12, 18)))
    for state in lanes:
        h = ((h ^ lane(0, state)) * P1 + P4) & M
    h += len(data)
    for word in words[508:]:
        h = rotate((h ^ lane(0, word)) & M, 27) * P1 + P4 & M
    h = (h ^ h >> 33) * P2 & M
    h = (h ^ h >> 29) * P3 & M
    return h ^ h >> 32

def check_pages(path):
    data = open(path, "rb").read()
    check(data and len(data) % PAGE == 0, "the file has a wrong length")
    for n in range(1, len(data) // PAGE + 1):
        page = data[(n - 1) * PAGE:n * PAGE]
        if n != (1 << 30) // PAGE + 1:
            check(struct.pack("<Q", xxh64(page[:-8], n)) == page[-8:], f"page {n} is damaged")

def box_key(pre_shared, private, public, own, vault, head):
    salted = blake(pre_shared, b"latchkey vault v1 slot box" + vault + own + head)
    return blake(salted, sodium.crypto_scalarmult(private, public))

def open_box(secret, vault, head, rest):
    private, pre_shared = (subkey(secret, b"slot " + use, vault) for use in (b"private key", b"pre-shared key"))
    key = box_key(pre_shared, private, rest[:32], rest[:32], vault, head)
    return unseal(key, b"slot box" + vault + head, rest[32:104])

def collections_of(root, vault, sealed):
    data = unseal(subkey(root, b"collections", vault), b"collections" + vault, sealed)
    f = Fields(data)
    check(f.number("B") == 1, "the collections' layout is another one")
    found = []
    for _ in range(f.number("B")):
        found.append({"name": f.text("B"), "label": f.text("H"), "created": f.number("q"), "modified": f.number("q"),
            "aliases": [f.text("B") for _ in range(f.number("B"))]})
    check(bucket(f.at) == len(data) and not any(data[f.at:]), "the collections are padded wrongly")
    return found

def list_key(root, vault, name, value):
    message = struct.pack("<H", len(name.encode())) + name.encode() + value.encode()
    return blake(subkey(root, b"attribute", vault), message)

def lists_of(attributes, collection):
    elsewhere = [("", collection)] if collection != "login" else []
    return (list(attributes.items()) or [("", "")]) + elsewhere

def walk(links, root, vault, key):
    """The items of one list: the first 16 bytes of their lookup values."""
    found, token = [], blake(key, b"", 16)
    previous = expected = bytes(16)
    while token in links:
        check(len(found) <= len(links), "a list goes round in a circle")
        link = unseal(subkey(root, b"link", vault), b"a" + vault + token, links[token])
        item, following, before = link[:16], link[16:32], link[32:48]
        check(before == previous and (not found or item == expected), "a list is broken")
        found.append(item)
        previous, expected, token = item, following, blake(key, following, 16)
        if following == bytes(16): return found
    check(not found, "a list is cut off")
    return found

def root_key(records, vault, source, given):
    for name, slot in records:
        if not name.startswith("slot/") or slot[0] != 1: continue
        kind, (passes, memory, salt) = slot[1], struct.unpack("<IQ16s", slot[18:46])
        head = slot[:79 + slot[78] if kind == 3 else 78]
        check(name == "slot/" + slot[2:18].hex(), "a slot is misnamed")
        if (kind, source) == (1, "passphrase-file"):
            check(1 <= passes <= 16 and 8192 <= memory <= 1 << 30 and memory % 1024 == 0, "hostile costs")
            secret = nacl.pwhash.argon2id.kdf(32, given, salt, opslimit=passes, memlimit=memory)
        elif (kind, source) in USES:
            secret = blake(given, b"latchkey vault v1 " + USES[kind, source] + vault + salt)
        else:
            continue
        with contextlib.suppress(Damaged):
            return open_box(secret, vault, head, slot[len(head):])
    raise Damaged("no slot opens")

def read(path, source, given, searches):
    check_pages(path)
    database = sqlite3.connect(f"file:{path}?mode=ro", uri=True)
    check(database.execute("PRAGMA application_id").fetchone()[0] == 0x4C4B5631, "this is no vault")
    records = database.execute("SELECT name, content FROM records ORDER BY name").fetchall()
    vault, content = dict(records)["vault"][1:17], dict(records)
    check(content["vault"][0] in (2, 3), "the format is another one")
    root = root_key(records, vault, source, given)

    manifest = Fields(unseal(subkey(root, b"manifest", vault), b"manifest" + vault, content["manifest"]))
    check(manifest.number("B") == 1, "the manifest's layout is another one")
    generation, count, total, digest = manifest.number("Q"), manifest.number("Q"), manifest.take(32), manifest.take(32)
    link_count, link_total = manifest.number("Q"), manifest.take(32)
    saves = [(manifest.number("I"), manifest.number("Q")) for _ in range((len(manifest.data) - manifest.at) // 12)]
    check(manifest.at == len(manifest.data) and content["vault"][0] == (3 if saves else 2)
        and [g for _, g in saves] == sorted({g for _, g in saves if g <= generation})
        and len(dict(saves)) == len(saves) <= 128, "the last saves are not sound")
    listed = b"".join(struct.pack("<H", len(name.encode())) + name.encode() + struct.pack("<I", len(data)) + data
        for name, data in records if name != "manifest")
    check(blake(subkey(root, b"record hash", vault), listed) == digest, "the records are not those of the manifest")

    former = unseal(subkey(root, b"former keys", vault), b"former" + vault, content["former"])
    check(former[0] == 1 and former[1] <= 16 and not any(former[2 + former[1] * 32:]), "the former keys are not sound")

    links = dict(database.execute("SELECT token, link FROM links"))
    hashing = subkey(root, b"link hash", vault)
    found = sum(int.from_bytes(blake(hashing, token + link), "little") for token, link in links.items())
    check(len(links) == link_count and (found % (1 << 256)).to_bytes(32, "little") == link_total,
        "the index is not the manifest's")
    collections = collections_of(root, vault, content["collections"])

    items, others, places, found, hashing = [], [], {}, 0, subkey(root, b"item hash", vault)
    for place, lookup, sealed, sealed_secret in database.execute("SELECT * FROM items ORDER BY place"):
        found += int.from_bytes(blake(hashing, lookup + sealed), "little")
        data = unseal(subkey(root, b"metadata", vault), b"m" + vault + lookup, sealed)
        f = Fields(data)
        check(f.number("B") == 1, "an item's layout is another one")
        version, created, modified, length = f.take(16), f.number("q"), f.number("q"), f.number("I")
        kind, content_type, label = f.text("B"), f.text("B"), f.text("H")
        if kind:
            check(content_type in ("text/plain", "application/octet-stream"), "a content type is no credential's")
            service, account = f.text("H"), f.text("H")
            name = b"".join([bytes([len(kind)]), kind.encode()] + [
                struct.pack("<H", len(part.encode())) + part.encode() for part in (service, account)])
            attributes, collection = {"service": service, "username": account}, "login"
        else:
            name, collection = b"\0" + f.take(16), f.text("B")
            attributes = dict((f.text("H"), f.text("H")) for _ in range(f.number("B")))
        check(bucket(f.at) == len(data) and not any(f.data[f.at:]), "an item is padded wrongly")
        first = min(max(int.from_bytes(lookup[:8], "little") >> 1, 1), (1 << 63) - 8)
        check(blake(subkey(root, b"look-up", vault), name) == lookup, "an item is in another's place")
        check(0 <= place - first < 8, "an item is in a wrong place")
        secret = unseal(subkey(root, b"secret", vault), b"s" + vault + lookup + version, sealed_secret)
        check(len(secret) == bucket(length) and not any(secret[length:]), "a secret is padded wrongly")
        common = {"label": label, "created": created, "modified": modified, "secret": secret[:length].hex()}
        if kind:
            items.append({"service": service, "account": account, "kind": kind, "text": content_type == "text/plain",
                **common})
        else:
            others.append({"id": lookup[:16].hex(), "collection": collection, "contentType": content_type,
                "attributes": attributes, **common})
        # Credentials of other kinds are in no list.
        if kind in ("", "password"):
            for each in lists_of(attributes, collection): places.setdefault(each, set()).add(lookup[:16])
    check(len(items) + len(others) == count, "the number of items is not the manifest's")
    check((found % (1 << 256)).to_bytes(32, "little") == total, "the items are not those of the manifest")
    check(sum(map(len, places.values())) == link_count, "the index has links that belong to no item")
    for (name, value), expected in places.items():
        check(set(walk(links, root, vault, list_key(root, vault, name, value))) == expected, "a list misses an item")

    def search(attributes):
        walks = [set(walk(links, root, vault, list_key(root, vault, *each))) for each in attributes.items()]
        return {"attributes": attributes, "ids": sorted(item.hex() for item in set.intersection(*walks))}
    return {"generation": generation, "items": items, "others": others, "collections": collections,
        "searches": [search(json.loads(each)) for each in searches]}

if __name__ == "__main__":
    try:
        print(json.dumps(read(sys.argv[1], sys.argv[2], open(sys.argv[3], "rb").read(), sys.argv[4:])))
    except (Damaged, KeyError, sqlite3.DatabaseError) as problem:
        sys.exit(f"read_vault: {problem}")
