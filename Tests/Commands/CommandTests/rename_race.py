"""Processes that rename and save the same names at the same moment: rename_race.py PROGRAM FOLDER ROUNDS.

It knows the command line alone. A value may be lost to a later one, and never be there twice; a sound store is never called
damaged. Prints the counts of rounds and of exit statuses, and what is wrong.
"""

import os
import subprocess
import sys

program, folder, rounds = sys.argv[1], sys.argv[2], int(sys.argv[3])
environment = {"PATH": os.environ["PATH"], "HOME": folder, "LATCHKEY_STORE": "vault",
               "LATCHKEY_VAULT": folder + "/vault", "LATCHKEY_KEY_FILE": folder + "/key"}


def start(*arguments):
    return subprocess.Popen([program, *arguments], env=environment, text=True, stdin=subprocess.PIPE,
                            stdout=subprocess.PIPE, stderr=subprocess.PIPE)


def run(*arguments, text=""):
    process = start(*arguments)
    output, errors = process.communicate(text)
    return process.returncode, output, errors


def value(account, vault="vault"):
    status, output, _ = run("get", "example.org", account, "--vault", f"{folder}/{vault}")
    return output if status == 0 else None


for vault in ("vault", "other"):
    run("vault", "init", "--vault", f"{folder}/{vault}", "--key-file", folder + "/key")
statuses, problems = {}, []
for number in range(rounds):
    mine, theirs = f"mine {number}", f"theirs {number}"
    for account in ("a", "b", "c"):
        run("delete", "example.org", account)
        run("delete", "example.org", account, "--vault", folder + "/other")
    run("set", "example.org", "a", text=mine)
    if number % 2:
        run("set", "example.org", "b", text="old")
    racing = [
        [["rename", "example.org", "a", "--to", "b", "--force"], ["rename", "example.org", "a", "--to", "c"]],
        [["rename", "example.org", "a", "--to", "b", "--force"], ["set", "example.org", "a", "--force"]],
        [["rename", "example.org", "a", "--to", "b", "--force"], ["set", "example.org", "b", "--force"]],
        [["rename", "example.org", "a", "--to", "b", "--force"], ["rename", "example.org", "a", "--to", "b", "--force"],
         ["delete", "example.org", "b"]],
    ][number // 2 % 4]
    processes = [(arguments, start(*arguments)) for arguments in racing]
    for arguments, process in processes:
        _, errors = process.communicate(theirs if arguments[0] == "set" else "")
        status = process.returncode
        statuses[status] = statuses.get(status, 0) + 1
        if status not in (0, 1, 73):
            problems.append(f"{arguments}: {status} {errors.strip()}")
    found = [value(account) for account in ("a", "b", "c")]
    if found.count(mine) > 1:
        problems.append(f"twice: {racing} {found}")
    if racing[1][0] == "rename" and len(racing) == 2 and found.count(mine) != 1:
        problems.append(f"lost: {racing} {found}")
    if run("vault", "verify")[0] != 0:
        problems.append("damaged")
print(rounds, len(problems))
print(sorted(statuses.items()), *problems[:10], sep="\n", file=sys.stderr)
