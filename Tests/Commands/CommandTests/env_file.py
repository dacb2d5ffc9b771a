"""Files of variables, read by `sh` and by a command.

usage: env_file.py ROUNDS SEED COMMAND…    COMMAND… FILE env -0 writes the variables of FILE

The files hold values that the page on `latchkey run` says both read the same, and nothing else; what both make of them is
compared. Prints how many values were compared, and each that differs. It knows nothing of the command but what it writes.
"""

import os
import random
import subprocess
import sys
import tempfile

ROUNDS, SEED, COMMAND = int(sys.argv[1]), int(sys.argv[2]), sys.argv[3:]
choice = random.Random(SEED)
PLAIN = "abcXYZ0189%+,-./:=@_"
ANY = PLAIN + " \t#;&|<>()*?[]{}~!^$`'\"\\ü€😀\n"


def text(letters, longest=12):
    return "".join(choice.choice(letters) for _ in range(choice.randrange(longest)))


def value():
    kind = choice.randrange(3)
    if kind == 0:
        return text(PLAIN)
    if kind == 1:
        return "'" + text(ANY).replace("'", "") + "'"
    inner = text(ANY).replace("`", "")
    return '"' + inner.replace("\\", "\\\\").replace('"', '\\"').replace("$", "\\$") + '"'


def line(name):
    start = choice.choice(["", "", " ", "\t"]) + choice.choice(["", "", "export ", "export\t"])
    end = choice.choice(["", "", " # comment 'with\" $marks`", "\t#", " "])
    return choice.choice(["", "", "\n", "# A=b\n"]) + start + name + "=" + value() + end + "\n"


def variables(output, names):
    pairs = dict(item.split(b"=", 1) for item in output.split(b"\0") if b"=" in item)
    return {name: pairs.get(name.encode()) for name in names}


compared = 0
with tempfile.TemporaryDirectory() as folder:
    path = os.path.join(folder, "file")
    for _ in range(ROUNDS):
        names = [f"V{number}" for number in range(200)]
        content = "".join(line(name) for name in names)
        with open(path, "w", encoding="utf-8", newline="") as file:
            file.write(content)
        shell = subprocess.run(["sh", "-c", 'set -a; . "$1"; exec env -0', "sh", path], capture_output=True)
        ours = subprocess.run(COMMAND + [path, "--", "env", "-0"], capture_output=True)
        if shell.stderr or ours.returncode:
            print("sh:", shell.stderr.decode(), "command:", ours.stderr.decode())
        theirs, own = variables(shell.stdout, names), variables(ours.stdout, names)
        for name in names:
            compared += 1
            if theirs[name] != own[name] or own[name] is None:
                print(f"{name}: sh has {theirs[name]}, the command {own[name]}")
print(compared)
