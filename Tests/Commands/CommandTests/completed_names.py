"""Types the beginnings of names at a shell's prompt, lets it complete them, and runs what came of it.

usage: completed_names.py SHELL SETUP SEED COUNT

The store is the environment's, the folder is the current one, and SETUP has the shell read its completions. The names
have every punctuation of ASCII, and commands that would leave a file; each is typed bare and behind both quotes. What
`latchkey get` writes then has to be the secret of that name, and no command of a name may have run.
"""

import os
import pty
import random
import select
import subprocess
import sys
import time

SHELL, SETUP, SEED, COUNT = sys.argv[1], sys.argv[2], int(sys.argv[3]), int(sys.argv[4])
OPTIONS = {"bash": ["--norc", "--noprofile", "-i"], "zsh": ["-f", "-i"], "fish": ["--no-config", "-i"]}
PUNCTUATION = "!\"#$%&'()*+,-./:;<=>?@[\\]^_`{|}~ "
COMMANDS = ["$(touch ran{})", "`touch ran{}`", ";touch ran{};", "|touch ran{}|", "&touch ran{}&", "$'\\n'touch ran{}",
            "\";touch ran{};\"", "';touch ran{};'", "\\\";touch ran{};\\\"", "(touch ran{})", "{{touch,ran{}}}", "!!", "!touch",
            "%jobs", "~root", "*", "$HOME", "a${{HOME}}", "<ran{}", ">ran{}", "é\u2019 ü"]


def names(rng):
    """Pairs of a service with a beginning of its own and an account that may begin with anything."""
    marks = list(PUNCTUATION)
    rng.shuffle(marks)
    commands = [text.format(number) for number, text in enumerate(COMMANDS)]
    rng.shuffle(commands)
    # Each mark is in a name before there are commands, or at random.
    tails = ["".join(marks[start:start + 6]) for start in range(0, len(marks), 6)] + commands
    while len(tails) < COUNT:
        tails.append("".join(rng.choices(PUNCTUATION + "abz", k=rng.randint(1, 9))))
    for number, tail in enumerate(tails[:COUNT]):
        # fish appends no space to what ends as a path or a host does, and doesn't offer what begins as a hidden file.
        service = f"p{number:03}{tail}z{rng.choice(['', ' q', tail + 'z'])}"
        account = tail.strip()
        yield service, ("a" if account[:1] in ("", "-", ".") else "") + account + "y"


def typed(text, quote):
    """A beginning of a name as a person writes it behind a quote, or behind none."""
    result = ""
    for mark in text:
        if quote == "'":
            result += {"'": "\\'" if SHELL == "fish" else "'\\''"}.get(mark, mark)
            if SHELL == "fish" and mark == "\\":
                result += "\\"
        elif quote == '"':
            if mark == "!" and SHELL != "fish":
                result += '"\\!"'
            else:
                result += "\\" + mark if mark in '$"\\' or mark == "`" and SHELL != "fish" else mark
        else:
            result += mark if mark.isalnum() or mark in "_./" or not mark.isascii() else "\\" + mark
    return result


class Terminal:
    def __init__(self):
        environment = dict(os.environ, PS1="ready> ", TERM="dumb" if SHELL != "fish" else "xterm", COLUMNS="2000")
        self.child, self.device = pty.fork()
        if self.child == 0:
            os.execvpe(SHELL, [SHELL, *OPTIONS[SHELL]], environment)
        self.shown = b""

    def type(self, text):
        data = text.encode()
        while data:
            data = data[os.write(self.device, data[:200]):]
            self.read(0.01)

    def read(self, seconds):
        while select.select([self.device], [], [], seconds)[0]:
            try:
                self.shown += os.read(self.device, 65536)
            except OSError:
                return

    def wait(self, reached):
        end = time.monotonic() + 60
        while not reached():
            if time.monotonic() > end:
                return False
            self.read(0.05)
        return True


def main():
    rng = random.Random(SEED)
    pairs = list(names(rng))
    secrets = {}
    for number, (service, account) in enumerate(pairs):
        secrets[service] = f"secret {number} of {SEED}"
        subprocess.run(["latchkey", "set", "--", service, account], input=secrets[service].encode(), check=True)
    terminal = Terminal()
    terminal.read(1)
    terminal.type(SETUP + "; touch set-up\n")
    if not terminal.wait(lambda: os.path.exists("set-up")):
        sys.exit(f"no prompt of {SHELL}: {terminal.shown!r}")
    failures = []
    for number, (service, account) in enumerate(pairs):
        for quote in ["", '"', "'"]:
            file = f"out{number}-{ord(quote or 'n')}"
            shown = len(terminal.shown)
            # As little as tells it from the others, or more. fish looks for files behind a typed = or *, and zsh takes
            # a quote that was closed for the end of a word.
            end = 4 if SHELL == "fish" or rng.random() < 0.5 else rng.randint(4, len(service) - 1)
            if SHELL == "zsh":
                end = min(end, (service + quote).index(quote) if quote else end)
            keys = f"latchkey get -- {quote}{typed(service[:end], quote)}\t{quote}\t"
            terminal.type(f"{keys} > {file}.new; mv {file}.new {file}\n")
            found = terminal.wait(lambda: os.path.exists(file))
            text = open(file).read() if found else None
            if text != secrets[service]:
                terminal.read(1)
                failures.append((service, account, keys, text, terminal.shown[shown:]))
                terminal.type("\x03")
                terminal.read(1)
            ran = [name for name in os.listdir(".") if name.startswith("ran") or name == "f"]
            if ran:
                sys.exit(f"{service!r} ran a command: {ran}, {terminal.shown[shown:]!r}")
    os.close(terminal.device)
    os.waitpid(terminal.child, 0)
    for service, account, keys, text, shown in failures:
        print(f"{service!r} {account!r}: {keys!r} wrote {text!r}\n    {shown!r}")
    print(f"{SHELL}: {len(pairs)} names, {3 * len(pairs)} lines, {len(failures)} failed")
    sys.exit(1 if failures else 0)


main()
