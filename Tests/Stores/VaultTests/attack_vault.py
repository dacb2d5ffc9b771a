"""Plays someone who can write a Latchkey vault but has no key of it: by Docs/Reference/vault-format.md and sqlite3 alone.

    attack_vault.py VAULT delete|double|move|misdirect [PLACE]   changes the row in a place, or the first
    attack_vault.py VAULT replay|reinsert OLD                    puts rows of an older copy in the place of newer ones, or
                                                                 back where they were deleted
    attack_vault.py VAULT swaprows|swapsecrets                   lets two rows exchange all that is sealed, or their secrets
    attack_vault.py VAULT damage                                 changes a byte of the first row's secret
    attack_vault.py VAULT touch                                  writes what is there, so that SQLite reads all again
    attack_vault.py VAULT negative                               moves the first row before all places
    attack_vault.py VAULT longmetadata|longname|longrecord|longrecords
                                                                 a row or records longer than any that a vault has
    attack_vault.py VAULT unlink|relink|swaplinks|doublelink|emptyindex|misdirectindex [OLD]
                                                                 changes the rows of the index: takes one away, puts
                                                                 older ones back, lets two change places, copies one to
                                                                 another's place, takes all away; or its inner pages
    attack_vault.py VAULT forge                                  makes a vault of its own for the holder of the first slot
    attack_vault.py VAULT forge-knowing KEYFILE OLD KEYFILE      the same as someone who could open OLD with the second key
                                                                 file; the first is the holder's, and only named to say
                                                                 which slot is meant ("-": the first)
    attack_vault.py VAULT forge-holding KEYFILE                  the same with the holder's own key file: a control

All page checksums fit afterwards."""
import os, sqlite3, struct, sys
import nacl.bindings as sodium
sys.dont_write_bytecode = True
from read_vault import PAGE, blake, bucket, box_key, open_box, subkey, unseal, xxh64

def seal(key, data, text):
    nonce = os.urandom(24)
    return nonce + sodium.crypto_aead_xchacha20poly1305_ietf_encrypt(text, data, nonce, key)

def fix_checksums(path):
    data = bytearray(open(path, "rb").read())
    for n in range(1, len(data) // PAGE + 1):
        page = bytes(data[(n - 1) * PAGE:n * PAGE - 8])
        data[n * PAGE - 8:n * PAGE] = struct.pack("<Q", xxh64(page, n))
    with open(path, "r+b") as file: file.write(data)

def misdirect(path):
    """Makes an inner page of the items lead to the wrong leaf: a walk still comes to all rows, and a look-up doesn't."""
    data = bytearray(open(path, "rb").read())
    for start in range(0, len(data), PAGE):
        if data[start] != 5: continue
        # The largest place that the first leaf is said to hold becomes the smallest one there is.
        pointer = struct.unpack(">H", data[start + 12:start + 14])[0]
        cell = start + pointer + 4
        length = next(i for i in range(9) if i == 8 or data[cell + i] < 0x80) + 1
        data[cell:cell + length] = b"\x80" * (length - 1) + b"\x01"
        data[24:28] = struct.pack(">I", struct.unpack(">I", data[24:28])[0] + 1)
        with open(path, "r+b") as file: file.write(data)
        return
    sys.exit("attack_vault: all items are in one page")

def misdirect_index(path):
    """Lets two leaves of the index change places below an inner page."""
    data = bytearray(open(path, "rb").read())
    for start in range(0, len(data), PAGE):
        if data[start] != 2: continue
        one, other = (start + n for n in struct.unpack(">HH", data[start + 12:start + 16]))
        data[one:one + 4], data[other:other + 4] = data[other:other + 4], data[one:one + 4]
        data[24:28] = struct.pack(">I", struct.unpack(">I", data[24:28])[0] + 1)
        with open(path, "r+b") as file: file.write(data)
        return
    sys.exit("attack_vault: the index is in one page")

def slot_of(records, vault, key_file):
    for name, slot in sorted(records.items()):
        if not name.startswith("slot/") or slot[1] != 2: continue
        secret = blake(key_file, b"latchkey vault v1 key file" + vault + slot[30:46]) if key_file else None
        # The public key shows whose slot it is.
        private = subkey(secret, b"slot private key", vault) if secret else None
        if not secret or sodium.crypto_scalarmult_base(private) == slot[46:78]: return name, slot, secret
    sys.exit("attack_vault: there is no such slot")

def forge(database, target_key, old, known_key):
    records = dict(database.execute("SELECT name, content FROM records"))
    vault, root = records["vault"][1:17], os.urandom(32)
    name, slot, secret = slot_of(records, vault, target_key)
    head, pre_shared, former = slot[:78], os.urandom(32), b""
    if known_key:
        # Who had the root key once has the pre-shared keys of all slots of then.
        before = dict(sqlite3.connect(old).execute("SELECT name, content FROM records"))
        _, own, own_secret = slot_of(before, vault, known_key)
        old_root = open_box(own_secret, vault, own[:78], own[78:])
        sealed = before[name][78 + 104:78 + 176]
        pre_shared = unseal(subkey(old_root, b"slot pre-shared key", vault), b"slot pre-shared key" + vault + head, sealed)
        former = subkey(old_root, b"rollback record", vault)
    elif secret:
        pre_shared = subkey(secret, b"slot pre-shared key", vault)
    private = os.urandom(32)
    public = sodium.crypto_scalarmult_base(private)
    box = seal(box_key(pre_shared, private, head[46:78], public, vault, head), b"slot box" + vault + head, root)
    note = (struct.pack("<qB", 0, 6) + b"forged").ljust(80, b"\0")
    collections = (b"\1\1" + b"\5login" + struct.pack("<H", 8) + b"Latchkey" + struct.pack("<qqB", 1, 1, 1)
        + b"\7default").ljust(256, b"\0")
    forged = {"vault": records["vault"],
        "collections": seal(subkey(root, b"collections", vault), b"collections" + vault, collections),
        "former": seal(subkey(root, b"former keys", vault), b"former" + vault,
            (bytes([1, len(former) // 32]) + former).ljust(514, b"\0")),
        name: head + public + box
            + seal(subkey(root, b"slot pre-shared key", vault), b"slot pre-shared key" + vault + head, pre_shared)
            + seal(subkey(root, b"slot note", vault), b"slot note" + vault + head, note)}
    parts = [b"password", b"example.org", b"ada"]
    lookup = blake(subkey(root, b"look-up", vault),
        bytes([8]) + parts[0] + b"".join(struct.pack("<H", len(part)) + part for part in parts[1:]))
    version = os.urandom(16)
    clear = (b"\1" + version + struct.pack("<qqI", 1, 1, 6) + bytes([8]) + parts[0] + bytes([10]) + b"text/plain"
        + b"".join(struct.pack("<H", len(part)) + part for part in [b"label"] + parts[1:]))
    metadata = seal(subkey(root, b"metadata", vault), b"m" + vault + lookup, clear.ljust(bucket(len(clear)), b"\0"))
    body = seal(subkey(root, b"secret", vault), b"s" + vault + lookup + version, b"forged".ljust(256, b"\0"))
    place = min(max(int.from_bytes(lookup[:8], "little") >> 1, 1), (1 << 63) - 8)
    listed = b"".join(struct.pack("<H", len(n)) + n.encode() + struct.pack("<I", len(c)) + c
        for n, c in sorted(forged.items()))
    manifest = (struct.pack("<BQQ", 1, 1 << 40, 1) + blake(subkey(root, b"item hash", vault), lookup + metadata)
        + blake(subkey(root, b"record hash", vault), listed) + bytes(40))
    forged["manifest"] = seal(subkey(root, b"manifest", vault), b"manifest" + vault, manifest)
    database.execute("DELETE FROM items")
    database.execute("DELETE FROM links")
    database.execute("DELETE FROM records")
    database.executemany("INSERT INTO records VALUES(?, ?)", forged.items())
    database.execute("INSERT INTO items VALUES(?, ?, ?, ?)", (place, lookup, metadata, body))

def attack(path, kind, arguments):
    read = lambda name: open(name, "rb").read() if name != "-" else None
    database = sqlite3.connect(path)
    first = int(arguments[0]) if arguments and kind in ("delete", "double", "move") else (
        database.execute("SELECT min(place) FROM items").fetchone()[0])
    if kind == "delete":
        database.execute("DELETE FROM items WHERE place = ?", (first,))
    elif kind == "double":
        database.execute(
            "INSERT INTO items SELECT place + 3, lookup, metadata, secret FROM items WHERE place = ?", (first,))
    elif kind == "move":
        database.execute("UPDATE items SET place = place + 8 WHERE place = ?", (first,))
    elif kind == "touch":
        database.execute("UPDATE items SET place = place WHERE place = ?", (first,))
    elif kind == "negative":
        database.execute("UPDATE items SET place = -100 WHERE place = ?", (first,))
    elif kind == "longmetadata":
        database.execute("UPDATE items SET metadata = zeroblob(65537) WHERE place = ?", (first,))
    elif kind == "longname":
        database.execute("INSERT INTO records VALUES(?, 'x')", ("z" * 70000,))
    elif kind == "longrecord":
        database.execute("INSERT INTO records VALUES('z', zeroblob(5 << 20))")
    elif kind == "longrecords":
        database.executemany("INSERT INTO records VALUES(?, zeroblob(4 << 20))", [("z%d" % n,) for n in range(5)])
    elif kind == "damage":
        database.execute("UPDATE items SET secret = zeroblob(length(secret)) WHERE place = ?", (first,))
    elif kind in ("swaprows", "swapsecrets"):
        (one, *first), (other, *second) = database.execute("SELECT place, metadata, secret FROM items LIMIT 2").fetchall()
        if kind == "swapsecrets": first[0], second[0] = second[0], first[0]
        for place, sealed in ((one, second), (other, first)):
            database.execute("UPDATE items SET metadata = ?, secret = ? WHERE place = ?", (*sealed, place))
    elif kind in ("replay", "reinsert"):
        old = sqlite3.connect(arguments[0]).execute("SELECT * FROM items").fetchall()
        here = dict(database.execute("SELECT lookup, metadata FROM items"))
        old = [row for row in old if (row[1] in here and here[row[1]] != row[2] if kind == "replay" else row[1] not in here)]
        if not old: sys.exit("attack_vault: nothing differs")
        database.executemany("REPLACE INTO items VALUES(?, ?, ?, ?)", old)
    elif kind == "unlink":
        database.execute("DELETE FROM links WHERE token = (SELECT min(token) FROM links)")
    elif kind == "emptyindex":
        database.execute("DELETE FROM links")
    elif kind == "relink":
        database.execute("DELETE FROM links")
        database.executemany("INSERT INTO links VALUES(?, ?)",
            sqlite3.connect(arguments[0]).execute("SELECT * FROM links").fetchall())
    elif kind in ("swaplinks", "doublelink"):
        (one, link), (other, second) = database.execute("SELECT * FROM links ORDER BY token LIMIT 2").fetchall()
        database.execute("REPLACE INTO links VALUES(?, ?)", (other, link))
        if kind == "swaplinks": database.execute("REPLACE INTO links VALUES(?, ?)", (one, second))
    elif kind == "forge":
        forge(database, None, None, None)
    elif kind == "forge-knowing":
        forge(database, read(arguments[0]), arguments[1], read(arguments[2]))
    elif kind == "forge-holding":
        forge(database, read(arguments[0]), None, None)
    elif kind not in ("misdirect", "misdirectindex"):
        sys.exit(__doc__)
    database.commit()
    database.close()
    if kind == "misdirect": misdirect(path)
    if kind == "misdirectindex": misdirect_index(path)
    fix_checksums(path)

if __name__ == "__main__":
    attack(sys.argv[1], sys.argv[2], sys.argv[3:])
