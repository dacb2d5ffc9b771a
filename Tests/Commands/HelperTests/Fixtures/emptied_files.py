"""Imports random files of each source with --empty-source and looks for what was lost.

usage: emptied_files.py LATCHKEY FOLDER SEED COUNT [SOURCE]

It knows what it wrote and nothing of the program. Each secret of a file is in the store or in the file afterwards; what
isn't a secret is in the file, or is a name of the store's; a file that wasn't emptied is the same to the byte; a file of
which the program says that it has no secret has none. The last line counts the files, the emptied and the refused ones.
"""

import base64
import json
import os
import random
import re
import shutil
import subprocess
import sys

LATCHKEY, FOLDER, SEED, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
ONLY = sys.argv[5:]
KEPT = {"gh": "hosts.yml", "python-keyring": "keyring_pass.cfg", "libsecret-file": "default.keyring"}


class File:
    """What a generator writes, with all that must not be lost."""

    def __init__(self, rng, number):
        self.rng, self.number, self.count = rng, number, 0
        self.secrets, self.names, self.rest = [], [], []

    def word(self, kind):
        self.count += 1
        return f"{kind}{self.number}x{self.count}q" + "".join(self.rng.choices("abcdefgh0123456789", k=8))

    def secret(self, form=lambda text: text, kind="pw"):
        """Returns a secret as it is written."""
        text = self.word(kind)
        self.secrets.append((form(text).encode(), text.encode()))
        return form(text)

    def name(self, kind="user"):
        text = self.word(kind)
        self.names.append(text.encode())
        return text

    def remark(self):
        text = self.word("remark")
        self.rest.append(text.encode())
        return text

    def host(self):
        return f"h{self.number}.{self.rng.randrange(3)}.example"

    def maybe(self, chance):
        return self.rng.random() < chance

    def pick(self, *choices):
        return self.rng.choice(choices)


def git(file):
    lines = []
    for _ in range(file.rng.randint(1, 4)):
        host = file.host()
        line = file.pick(
            lambda: f"https://{file.name()}:{file.secret()}@{host}",
            lambda: f"https://{file.name()}:{file.secret()}@{host}",
            lambda: f"https://{file.name()}:{file.secret()}@{host}/{file.remark()}" if file.maybe(0.3)
            else f"http://{file.name()}:{file.secret()}@{host}%3a8080",
            lambda: f"# https://{file.name()}:{file.secret()}@{host}" if file.maybe(0.3) else f"# {file.remark()}",
            lambda: f" https://{file.name()}:{file.secret()}@{host}" if file.maybe(0.3) else f"https://{host}",
            lambda: f"https://{file.name()}:{file.secret()}@ss@{host}" if file.maybe(0.3) else "",
            lambda: f"https://{file.name()}:{file.secret()}/x@{host}" if file.maybe(0.3) else "",
            lambda: f"https://{file.name()}@{host}" if file.maybe(0.3) else "",
        )()
        lines.append(line)
    text = file.pick("\n", "\n", "\r\n").join(lines) + file.pick("", "\n")
    # Where a line is imported, its path is the name of a place.
    file.names += file.rest if "://" in text else []
    file.rest = [word for word in file.rest if word not in file.names]
    return ("\ufeff" if file.maybe(0.1) else "") + text


def netrc(file):
    end = file.pick("\n", "\n", "\r\n")
    parts = []
    for _ in range(file.rng.randint(1, 3)):
        machine = file.pick("machine", "machine", "machine", "default")
        parts.append(machine if machine == "default" else f"machine {file.host()}")
        words = [f"login {file.name()}", f"password {file.secret()}"]
        if file.maybe(0.1):
            words.append(f"login {file.name()}")
        if file.maybe(0.1):
            words.append(f"password {file.secret()}")
        if file.maybe(0.1):
            words.append(f"account {file.secret()}")
        if file.maybe(0.2):
            words[1] = f'password "{file.secret()}"'
        if file.maybe(0.1):
            words.pop(0)
        file.rng.shuffle(words)
        for word in words:
            parts.append(word)
            if file.maybe(0.15):
                parts.append(f"# {file.remark()}" + end.rstrip("\n") + "\n")
            if file.maybe(0.05):
                parts.append(f"# login {file.name()} password {file.secret()}\n")
            if file.maybe(0.1):
                inner = f"user x{end}password {file.secret()}" if file.maybe(0.3) else f"cd /{file.remark()}"
                parts.append(f"macdef m{file.remark()}{end}{inner}{end}{end}")
    text = ""
    for part in parts:
        text += part + ("" if part.endswith("\n") else file.pick(" ", end, end + "\t", " "))
    return text


def docker(file):
    logins = {}
    for _ in range(file.rng.randint(1, 3)):
        login = {}
        encoded = lambda text: base64.b64encode(f"{user}:{text}".encode()).decode()
        user = file.word("user")
        if file.maybe(0.7):
            login["auth"] = file.secret(encoded)
        if file.maybe(0.15):
            login["password"] = file.secret()
        if file.maybe(0.15):
            login["username"] = file.name()
        if file.maybe(0.15):
            login["identitytoken"] = file.secret()
        if file.maybe(0.05):
            login["registrytoken"] = file.secret()
        if file.maybe(0.05):
            login[file.pick("Auth", "PASSWORD", "identityToken", "pa\u017f\u017fword")] = file.secret(encoded)
        if file.maybe(0.2):
            login["email"] = file.remark()
        items = list(login.items())
        file.rng.shuffle(items)
        logins[file.host()] = dict(items)
    document = {file.pick("auths", "auths", "auths", "auths", "Auths"): logins}
    if file.maybe(0.3):
        document["detachKeys"] = file.remark()
    # What stands twice under one host was overwritten here.
    text = json.dumps(document, indent=file.pick(None, "\t", 2), ensure_ascii=file.maybe(0.5))
    return text + file.pick("", "\n")


def cargo(file):
    def token():
        form = file.pick(lambda t: f'"{t}"', lambda t: f"'{t}'", lambda t: f'"""\n{t}"""', lambda t: f"'''{t}'''")
        # Its quotation marks aren't the secret's.
        return form(file.secret())

    def comment():
        return f" # {file.remark()}" if file.maybe(0.2) else ""

    text = ""
    for _ in range(file.rng.randint(1, 3)):
        name = f"r{file.number}n{file.rng.randrange(3)}"
        text += file.pick(
            lambda: f"[registry]\ntoken = {token()}{comment()}\n",
            lambda: f"[registries.{name}]\ntoken = {token()}{comment()}\n",
            lambda: f"[registries.{name}]\ntoken = {token()}{comment()}\n",
            lambda: f"[registries]\n{name} = {{ token = {token()} }}{comment()}\n",
            lambda: f"[registries]\n{name}.token = {token()}{comment()}\n",
            lambda: f"[registries.{name}]\nsecret-key = {token()}\n",
            lambda: f"[registries.{name}]\ntoken = [{token()}]\n",
            lambda: f"# token = {token()}\n",
            lambda: f"# {file.remark()}\n",
            lambda: f"[other]\nx = \"{file.remark()}\"\n",
        )()
    return text.replace("\n", file.pick("\n", "\n", "\r\n"))


def pypirc(file):
    text = "" if file.maybe(0.7) else f"# {file.remark()}\n"
    for name in file.rng.sample(["pypi", "testpypi", "own", "other"], file.rng.randint(1, 3)):
        text += f"[{name}]\n"
        lines = [f"username = {file.name()}", f"password{file.pick(' = ', '=', ': ')}{file.secret()}"]
        if name == "own" or file.maybe(0.2):
            lines.append(f"repository = https://{file.host()}/")
        if file.maybe(0.05):
            lines.append(f"password = {file.secret()}")
        if file.maybe(0.05):
            lines.append(f"username = {file.name()}")
        if file.maybe(0.1):
            lines.append(file.pick("#", ";", "# ") + f"password = {file.secret()}")
        if file.maybe(0.2):
            lines.append(f"; {file.remark()}")
        file.rng.shuffle(lines)
        if file.maybe(0.05):
            lines.append(f"  {file.remark()}")
        text += "\n".join(lines) + "\n"
    return text.replace("\n", file.pick("\n", "\n", "\r\n"))


def gcm(file):
    lines = [file.secret(), f"service=https://{file.host()}", f"account={file.name()}"]
    if file.maybe(0.1):
        lines.append(file.pick(f"account={file.name()}", f"oauth={file.secret()}", file.secret()))
    return ("\ufeff" if file.maybe(0.05) else "") + "\n".join(lines) + "\n"


def kept(file):
    return f"{file.host()}:\n    user: {file.name()}\n    oauth_token: {file.secret()}\n"


GENERATORS = {"git": git, "netrc": netrc, "docker": docker, "cargo": cargo, "pypirc": pypirc, "gcm": gcm}


def mutated(rng, data):
    for _ in range(rng.randint(1, 3)):
        start = rng.randrange(len(data) + 1)
        end = min(len(data), start + rng.randint(0, 12))
        piece = rng.choice([b"", data[start:end] * 2, b"\n", b" ", b"#", b'"', b"\r\n", b"\t", b"=", b":", b"@"])
        data = data[:start] + piece + data[end:]
    return data


def run(*arguments):
    return subprocess.run([LATCHKEY, *arguments], stdin=subprocess.DEVNULL, capture_output=True, check=False)


def trial(source, rng, number):
    file = File(rng, number)
    data = GENERATORS.get(source, kept)(file).encode()
    is_mutated = rng.random() < 0.25
    if is_mutated:
        data = mutated(rng, data)
    folder = os.path.join(FOLDER, source)
    shutil.rmtree(folder, ignore_errors=True)
    os.makedirs(folder)
    path = os.path.join(folder, "one.credential" if source == "gcm" else KEPT.get(source, "file"))
    with open(path, "wb") as output:
        output.write(data)
    if source == "cargo":
        with open(os.path.join(folder, "config.toml"), "w") as output:
            for place in range(3):
                output.write(f"[registries.r{number}n{place}]\nindex = \"sparse+https://i{number}.{place}.example/\"\n")
    name = "Login" if source == "gnome-keyring-collection" else folder if source == "gcm" else path
    # crates.io and PyPI are the same place in each file.
    replacing = ["--replace"] if source in ("cargo", "pypirc") else []
    made = run("import", "--from", source, name, "--empty-source", "--json", *replacing)
    rest = b""
    if os.path.exists(path):
        with open(path, "rb") as content:
            rest = content.read()
    try:
        rows = json.loads(made.stdout or b"[]")
    except ValueError:
        rows = []
    stored = [run("get", row["service"], row["account"]).stdout for row in rows]
    names = " ".join(f"{row['service']} {row['account']}" for row in rows).encode()

    def fail(what):
        sys.exit(f"{what}\n{source} {number}, status {made.returncode}\n{data!r}\n{rest!r}\n{made.stderr.decode()}\n{rows}")

    if source not in GENERATORS and (made.returncode != 64 or rest != data):
        fail("a file that tools still need was emptied")
    if made.returncode not in (0, 1, 64, 65, 73, 77):
        fail("a status that no file should have")
    if made.returncode != 0 and rest != data:
        fail("the import failed and the file is another one")
    for form, secret in file.secrets:
        # A mutation may join lines, so that a secret is part of an account's name.
        held = [*stored, names] if is_mutated else stored
        if form in data and form not in rest and not any(secret in value for value in held):
            fail(f"{secret!r} is neither in the store nor in the file")
        # A mutation may leave words that no program would take for a secret.
        if b"no longer contains a secret" in made.stderr and form in rest and not is_mutated:
            fail(f"{secret!r} is in a file of which it is said that it has none")
    for word in file.names:
        if word in data and word not in rest and word not in names:
            fail(f"{word!r} is lost")
    for word in file.rest:
        if word in data and word not in rest:
            fail(f"{word!r}, which isn't a secret, is lost")
    for row in rows:
        if source in ("git", "netrc") and not re.match(r"git:[a-z][\w+.-]*://[\w.:\[\]-]+(/.*)?$", row["service"], re.I):
            fail(f"{row['service']!r} is a name that git never asks for")
    if rest == data:
        return "refused" if made.returncode else "without"
    return "emptied"


def main():
    for source in ONLY or [*GENERATORS, *KEPT, "gnome-keyring-collection"]:
        rng = random.Random(f"{SEED} {source}")
        counts = {"emptied": 0, "refused": 0, "without": 0}
        for number in range(COUNT if source in GENERATORS else max(1, COUNT // 10)):
            counts[trial(source, rng, f"{SEED}n{number}")] += 1
        print(source, *(f"{count} {what}" for what, count in counts.items()), flush=True)


main()
