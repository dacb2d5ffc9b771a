"""A database server that lies. It stands between a client and a real server, or answers by itself, and knows the
protocol alone (PostgreSQL, chapter 55): hostile_database.py PORT MODE [UPSTREAM-SOCKET [ARGUMENT]]

It prints `ready` once it listens, and what it learned, a line each.
"""

import os
import random
import socket
import struct
import sys
import threading
import time

port, mode = int(sys.argv[1]), sys.argv[2]
upstream = sys.argv[3] if len(sys.argv) > 3 else None
argument = sys.argv[4] if len(sys.argv) > 4 else ""

ESCAPES = b"\x1b]0;owned\x07\x1b[31mred\x1b[2J"


def message(kind, body=b""):
    return kind + struct.pack("!i", len(body) + 4) + body


def notice(kind, text):
    return message(kind, b"SERROR\0VERROR\0C28P01\0M" + text + b"\0D" + text + b"\0H" + text + b"\0\0")


READY = message(b"Z", b"I")
GREETING = (message(b"R", struct.pack("!i", 0)) + message(b"S", b"server_version\x0015.0\0")
            + message(b"S", b"in_hot_standby\0off\0") + message(b"S", b"default_transaction_read_only\0off\0")
            + message(b"K", struct.pack("!ii", 7, 7)) + READY)


def exactly(connection, count):
    data = b""
    while len(data) < count:
        part = connection.recv(count - len(data))
        if not part:
            raise EOFError
        data += part
    return data


def startup(client):
    """Refuses TLS and GSSAPI, and returns the startup message."""
    while True:
        length, code = struct.unpack("!ii", exactly(client, 8))
        rest = exactly(client, length - 8)
        if code in (80877103, 80877104):
            client.sendall(b"N")
        else:
            return struct.pack("!ii", length, code) + rest


def endless(client, data):
    data = data * max(1, 65536 // len(data))
    while True:
        client.sendall(data)


def wait_for_sync(client):
    """Reads one pipeline, and returns the kinds of its messages."""
    kinds = b""
    while not kinds.endswith(b"S"):
        kind, length = struct.unpack("!ci", exactly(client, 5))
        exactly(client, length - 4)
        kinds += kind
    return kinds


def answers(kinds):
    """What stands before the rows of a pipeline's first statement."""
    return b"".join({b"P": message(b"1"), b"B": message(b"2")}.get(bytes([kind]), b"") for kind in kinds)


def description(count, name=b"c"):
    column = name + b"\0" + struct.pack("!ihihih", 0, 0, 17, -1, -1, 1)
    return message(b"T", struct.pack("!H", count) + column * count)


def alone(client):
    startup(client)
    if mode == "clear-text":
        client.sendall(message(b"R", struct.pack("!i", 3)))
        kind, length = struct.unpack("!ci", exactly(client, 5))
        print("password", exactly(client, length - 4).rstrip(b"\0").decode(), flush=True)
        return
    if mode == "silent":
        print("asked", flush=True)
        exactly(client, 1)
    if mode == "refusal":
        client.sendall(notice(b"E", ESCAPES + b"x" * 20_000))
        return
    if mode == "old-refusal":
        client.sendall(b"E" + ESCAPES + b"x" * 10_000_000 + b"\0")
        return
    if mode == "refusal-for-ever":
        client.sendall(b"E")
        endless(client, b"x" * 1024)
    if mode == "authentication":
        client.sendall(message(b"R", struct.pack("!i", 4711) + os.urandom(64)))
        return
    if mode == "farewell":
        client.sendall(GREETING + notice(b"N", ESCAPES) + notice(b"E", ESCAPES))
        return
    client.sendall(GREETING)
    if mode == "garbage":
        client.sendall(os.urandom(100_000))
        return
    kinds = wait_for_sync(client)
    if mode == "rows":
        client.sendall(answers(kinds) + description(1))
        endless(client, message(b"D", struct.pack("!hi", 1, 4) + struct.pack("!i", 7)))
    elif mode == "notices":
        endless(client, notice(b"N", ESCAPES))
    elif mode == "notifications":
        endless(client, message(b"A", struct.pack("!i", 1) + b"channel\0" + b"x" * 100 + b"\0"))
    elif mode == "parameters":
        number = 0
        while True:
            client.sendall(b"".join(message(b"S", b"p%d\0" % (number + i) + b"x" * 100 + b"\0") for i in range(500)))
            number += 500
    elif mode == "results":
        client.sendall(answers(kinds))
        endless(client, message(b"C", b"SELECT 1\0"))
    elif mode == "columns":
        client.sendall(answers(kinds) + description(65535, b"n" * 500) + message(b"C", b"SELECT 0\0") + READY)
        exactly(client, 1)
    elif mode == "long-row":
        client.sendall(answers(kinds) + description(1) + b"D" + struct.pack("!ihi", 0x7FFFFFF0, 1, 0x7FFFFFE0))
        endless(client, b"x" * 1024)
    elif mode == "copy":
        client.sendall(answers(kinds) + message(b"G", struct.pack("!bh", 0, 0)) + READY)
        exactly(client, 1)
    elif mode == "error":
        client.sendall(answers(kinds) + notice(b"E", ESCAPES + b"x" * 10_000_000) + READY)
        exactly(client, 1)
    elif mode == "half":
        client.sendall(message(b"1")[:3])
    elif mode == "drip":
        for byte in answers(kinds) + description(1):
            client.sendall(bytes([byte]))
            threading.Event().wait(0.2)
    elif mode == "nothing":
        client.sendall(answers(kinds) + message(b"n") + message(b"C", b"SELECT 0\0") + READY)
        exactly(client, 1)
    else:
        sys.exit(f"no such mode: {mode}")


def changed(data, chance):
    """One message of the server, as a liar would have it."""
    if chance.random() > 0.06:
        return data
    spot = chance.randrange(len(data))
    return {
        0: lambda: data[:spot] + bytes([chance.randrange(256)]) + data[spot + 1:],
        1: lambda: data[:spot] + bytes([data[spot] ^ 1 << chance.randrange(8)]) + data[spot + 1:],
        2: lambda: b"",
        3: lambda: data + data,
        4: lambda: data[:spot],
        5: lambda: message(data[:1], data[5:spot] if spot > 5 else b""),
        6: lambda: data[:1] + struct.pack("!i", chance.choice([0, 3, 4, -1, 0x7FFFFFFF, len(data) * 2])) + data[5:],
        7: lambda: bytes([chance.choice(b"123ACDEGHINRSTVWZnst")]) + data[1:],
        8: lambda: message(data[:1], os.urandom(chance.randrange(200))),
    }[chance.randrange(9)]()


def relay(client, chance):
    server = socket.socket(socket.AF_UNIX)
    server.connect(upstream)
    server.sendall(startup(client))

    # Whether the COMMIT of something written was held back, and the client waits for an answer.
    is_held = threading.Event()
    # Whether the client has written an item.
    has_written = threading.Event()

    def forward():
        is_writing = False
        try:
            while mode == "hold":
                head = exactly(client, 5)
                data = head + exactly(client, struct.unpack("!i", head[1:])[0] - 4)
                # A statement is named when it is bound: its portal's name comes first, which is empty.
                name = data[6:].split(b"\0")[0] if head[:1] == b"B" else b""
                is_writing = is_writing or name == b"put-record"
                if name == b"commit" and is_writing and os.path.exists(argument + ".armed"):
                    os.remove(argument + ".armed")
                    is_held.set()
                    print("held", flush=True)
                    while not os.path.exists(argument + ".go"):
                        time.sleep(0.01)
                    raise EOFError
                is_writing = is_writing and name != b"commit"
                server.sendall(data)
            while mode == "far":
                head = exactly(client, 5)
                data = head + exactly(client, struct.unpack("!i", head[1:])[0] - 4)
                if head[:1] == b"B":
                    print("asked", data[6:].split(b"\0")[0].decode(), flush=True)
                server.sendall(data)
            while data := client.recv(65536):
                if b"insert-item" in data:
                    has_written.set()
                server.sendall(data)
        except (OSError, EOFError):
            pass
        try:
            # The other thread still waits at it.
            server.shutdown(socket.SHUT_RDWR)
        except OSError:
            pass

    threading.Thread(target=forward, daemon=True).start()
    is_ready = False
    try:
        while True:
            head = exactly(server, 5)
            data = head + exactly(server, struct.unpack("!i", head[1:])[0] - 4)
            if mode == "undo" and data == message(b"C", b"COMMIT\0"):
                data = message(b"C", b"ROLLBACK\0")
            elif mode == "cut" and has_written.is_set() and data == message(b"C", b"COMMIT\0"):
                # Once: what comes after it is asked about on another connection.
                if not os.path.exists(argument):
                    open(argument, "w").close()
                    raise EOFError
            elif mode == "answer" and data == message(b"C", b"COMMIT\0") and os.path.exists(argument + ".armed"):
                os.remove(argument + ".armed")
                is_held.set()
                print("held", flush=True)
                raise EOFError
            elif mode == "farewell" and head[:1] == b"Z" and not os.path.exists(argument):
                # Once: an administrator ends the connection that was just let in.
                open(argument, "w").close()
                client.sendall(data + notice(b"E", b"terminating connection due to administrator command"))
                raise EOFError
            elif mode == "far" and head[:1] == b"Z":
                time.sleep(0.03)
            elif mode == "change" and is_ready:
                data = changed(data, chance)
            is_ready = is_ready or head[:1] == b"Z"
            client.sendall(data)
    except (OSError, EOFError):
        pass
    while is_held.is_set() and not os.path.exists(argument + ".go"):
        time.sleep(0.01)
    try:
        server.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass


def serve(client, chance):
    try:
        client.setsockopt(socket.IPPROTO_TCP, socket.TCP_NODELAY, 1)
        relay(client, chance) if upstream else alone(client)
    except (OSError, EOFError, struct.error):
        pass
    try:
        # The other thread still waits at it.
        client.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    client.close()


chance = random.Random(argument)
listener = socket.socket()
listener.setsockopt(socket.SOL_SOCKET, socket.SO_REUSEADDR, 1)
# Not what counts as this machine, where a password may go in clear.
listener.bind(("127.0.0.2" if mode == "clear-text" else "127.0.0.1", port))
listener.listen(50)
print("ready", flush=True)
while True:
    client, _ = listener.accept()
    threading.Thread(target=serve, args=(client, random.Random(chance.random())), daemon=True).start()
