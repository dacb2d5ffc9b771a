"""Hosts that use one vault while another one rekeys it over and over. Each has a home of its own, and so a rollback record
of its own:

    rekey_hosts.py PROGRAM VAULT FOLDER ROUNDS

It knows the command line alone. VAULT is a path or a URI with no vault yet; FOLDER is for homes and the key file. Prints
the counts of rekeyings and of commands, and each refusal.
"""

import os
import subprocess
import sys
import threading

program, vault, folder, rounds = sys.argv[1], sys.argv[2], sys.argv[3], int(sys.argv[4])
key_file = folder + "/key"
HOSTS = 4


def environment(host):
    home = f"{folder}/{host}"
    os.makedirs(home, exist_ok=True)
    return {"PATH": os.environ["PATH"], "HOME": home, "LATCHKEY_STORE": "vault", "LATCHKEY_VAULT": vault,
            "LATCHKEY_KEY_FILE": key_file}


def run(host, *arguments, text=""):
    return subprocess.run([program, *arguments], env=environment(host), input=text, text=True, capture_output=True)


done = [0] * HOSTS
refusals = []
is_over = threading.Event()


def use(number):
    """One command after another, until all rekeyings are done; twice more after that."""
    host, rest, turn = f"host{number}", 2, 0
    while rest:
        rest -= is_over.is_set()
        turn += 1
        commands = [
            ("get", "example.org", "ada"), ("set", "example.org", host, "--force"), ("list",),
            ("get", "example.org", "ada"), ("vault", "status"), ("vault", "slots"), ("search", "service=example.org"),
            ("get", "example.org", "ada"), ("vault", "verify"),
            ("vault", "export", f"{folder}/{host}/export{turn}", "--key-file", key_file),
        ]
        arguments = commands[(turn + number) % len(commands)]
        result = run(host, *arguments, text="new")
        if result.returncode != 0:
            refusals.append(f"{' '.join(arguments[:2])}: {result.returncode} {result.stderr.strip()}")
        elif arguments[0] == "get" and result.stdout != "hello":
            refusals.append("another secret")
        done[number] += 1


first = run("rekeying", "vault", "init", "--key-file", key_file)
if first.returncode != 0:
    sys.exit(first.stderr)
run("rekeying", "set", "example.org", "ada", text="hello").check_returncode()
threads = [threading.Thread(target=use, args=(number,)) for number in range(HOSTS)]
for thread in threads:
    thread.start()
rekeyed = 0
seen = list(done)
for number in range(rounds):
    result = run("rekeying", "vault", "rekey")
    if result.returncode != 0:
        refusals.append(f"rekey: {result.returncode} {result.stderr.strip()}")
    rekeyed += 1
    if number % 8 == 7:
        # A host that saw none of sixteen rekeyings no longer knows the vault: each sees some of eight.
        while any(now <= before for now, before in zip(done, seen)):
            is_over.wait(0.005)
        seen = list(done)
is_over.set()
for thread in threads:
    thread.join()
print(rekeyed, sum(done), len(refusals))
for refusal in sorted(set(refusals))[:10]:
    print(refusals.count(refusal), refusal)
