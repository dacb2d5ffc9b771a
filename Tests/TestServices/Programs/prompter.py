#!/usr/bin/python3
"""prompter.py answer PASSWORD... | cancel | hang

Takes the place of the dialog in which gnome-keyring asks for a password, on the session bus of the environment.
`answer` types the passwords, one a prompt, the last one again and again; `cancel` closes each prompt; `hang` shows
prompts that nobody answers. Prints `ready`, then a line for each thing asked of it: `begin`, `prompt KIND`, `stop`.

The dialog is org.gnome.keyring.Prompter; passwords travel by gcr's secret exchange: Diffie-Hellman in the 1536-bit group
of RFC 3526 section 2, HKDF-SHA256, AES-128-CBC.
"""
import base64
import os
import sys

from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.hashes import SHA256
from cryptography.hazmat.primitives.kdf.hkdf import HKDF
from jeepney import DBusAddress, HeaderFields, MessageType, message_bus, new_error, new_method_call, new_method_return
from jeepney.io.blocking import open_dbus_connection

# 2^1536 - 2^1472 - 1 + 2^64 * ([2^1406 pi] + 741804), and pi's digits are computed rather than written down.
def pi_times_two_to(bits):
    guard = bits + 64
    def arctan_inverse(x):
        term = total = (1 << guard) // x
        n, sign = 3, -1
        while term:
            term //= x * x
            total += sign * (term // n)
            n, sign = n + 2, -sign
        return total
    return (16 * arctan_inverse(5) - 4 * arctan_inverse(239)) >> 64


PRIME = 2**1536 - 2**1472 - 1 + 2**64 * (pi_times_two_to(1406) + 741804)
CALLBACK = "org.gnome.keyring.internal.Prompter.Callback"


def octets(number):
    return number.to_bytes((number.bit_length() + 7) // 8, "big")


class Exchange:
    """One side of gcr's secret exchange, in its key-file notation."""

    def __init__(self):
        self.private = int.from_bytes(os.urandom(32), "big")
        self.key = None

    def receive(self, text):
        values = dict(line.split("=", 1) for line in text.splitlines() if "=" in line)
        peer = int.from_bytes(base64.b64decode(values["public"]), "big")
        shared = pow(peer, self.private, PRIME).to_bytes(192, "big")
        self.key = HKDF(SHA256(), 16, None, b"").derive(shared)

    def message(self, password=None):
        lines = ["[sx-aes-1]", "public=" + base64.b64encode(octets(pow(2, self.private, PRIME))).decode()]
        if password is not None:
            vector, data = os.urandom(16), password.encode()
            data += bytes([16 - len(data) % 16]) * (16 - len(data) % 16)
            cipher = Cipher(algorithms.AES(self.key), modes.CBC(vector)).encryptor()
            sealed = cipher.update(data) + cipher.finalize()
            lines += ["secret=" + base64.b64encode(sealed).decode(), "iv=" + base64.b64encode(vector).decode()]
        return "\n".join(lines) + "\n"


def main(mode, *passwords):
    passwords = list(passwords)
    connection = open_dbus_connection("SESSION")
    connection.send_and_get_reply(message_bus.RequestName("org.gnome.keyring.SystemPrompter"))
    exchanges = {}

    def say(*words):
        print(*words, flush=True)

    def tell(sender, path, reply, text):
        address = DBusAddress(path, sender, CALLBACK)
        connection.send(new_method_call(address, "PromptReady", "sa{sv}s", (reply, {}, text)))

    say("ready")
    while True:
        call = connection.receive()
        if call.header.message_type is not MessageType.method_call:
            continue
        sender, member = call.header.fields[HeaderFields.sender], call.header.fields[HeaderFields.member]
        if member == "BeginPrompting":
            connection.send(new_method_return(call))
            path = call.body[0]
            say("begin")
            exchanges[path] = Exchange()
            tell(sender, path, "", exchanges[path].message())
        elif member == "PerformPrompt":
            connection.send(new_method_return(call))
            path, kind, _, text = call.body
            say("prompt", kind)
            exchanges[path].receive(text)
            if mode == "hang":
                continue
            if mode == "cancel":
                tell(sender, path, "no", exchanges[path].message())
            elif kind == "password":
                password = passwords.pop(0) if len(passwords) > 1 else passwords[0]
                tell(sender, path, "yes", exchanges[path].message(password))
            else:
                tell(sender, path, "yes", exchanges[path].message())
        elif member == "StopPrompting":
            connection.send(new_method_return(call))
            path = call.body[0]
            say("stop")
            exchanges.pop(path, None)
            connection.send(new_method_call(DBusAddress(path, sender, CALLBACK), "PromptDone"))
        else:
            connection.send(new_error(call, "org.freedesktop.DBus.Error.UnknownMethod", "s", (member,)))


main(*sys.argv[1:])
