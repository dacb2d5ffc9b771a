#!/usr/bin/python3
"""Runs the store's contract on a real KWallet: a private bus, a private home, no screen.

    swift build --product keyring-probe
    apt-get install --no-install-recommends dbus libkf5wallet-bin libqca-qt5-2-plugins
    python3 Tests/Stores/KWallet/keep_contract.py .build/debug/keyring-probe [ROUNDS]

Every statement gets a KWallet of its own, because one that waits for a dialog that nobody sees answers nothing any more.
Exit status: how many statements were not kept, 100 at most.
"""
import hashlib
import os
import shutil
import signal
import socket
import subprocess
import sys
import tempfile
import time

SETTINGS = """[Wallet]
Enabled=true
First Use=false
Default Wallet=kdewallet
Use One Wallet=true
Close When Idle=false
Leave Open=true
Launch Manager=false
Prompt on Open=false

[org.freedesktop.secrets]
apiEnabled=true
"""
PATIENCE = 60


class Desktop:
    """A bus and a KWallet on it, whose wallet is made and opened as pam_kwallet does at login."""

    def __init__(self, home):
        self.home, self.running = home, []
        self.environment = {"PATH": "/usr/bin:/bin", "HOME": home, "QT_QPA_PLATFORM": "offscreen", "LC_ALL": "C.UTF-8"}
        for name, folder in (("DATA_HOME", "data"), ("CONFIG_HOME", "config"), ("CACHE_HOME", "cache"),
                             ("RUNTIME_DIR", "run")):
            os.makedirs(f"{home}/{folder}", 0o700, exist_ok=True)
            self.environment["XDG_" + name] = f"{home}/{folder}"
        with open(f"{home}/config/kwalletrc", "w") as file:
            file.write(SETTINGS)
        address = f"unix:path={home}/run/bus"
        self.environment["DBUS_SESSION_BUS_ADDRESS"] = address
        with open(f"{home}/bus.conf", "w") as file:
            file.write(f"<busconfig><type>session</type><listen>{address}</listen><auth>EXTERNAL</auth>"
                       '<policy context="default"><allow send_destination="*"/><allow receive_sender="*"/>'
                       '<allow own="*"/></policy></busconfig>')
        # The service shows the wallets that were there when it started, so a first run makes one.
        for needs_collection in (False, True):
            self.start(["dbus-daemon", f"--config-file={home}/bus.conf", "--nofork", "--nopidfile"])
            self.wait(lambda: self.ask("org.freedesktop.DBus", "/", "org.freedesktop.DBus.GetId"))
            self.log_in()
            wallet = f"{home}/data/kwalletd/kdewallet.kwl"
            self.wait(lambda: os.path.exists(wallet) and os.path.getsize(wallet) > 0)
            if needs_collection:
                self.wait(lambda: b"/collection/" in self.ask(
                    "org.freedesktop.secrets", "/org/freedesktop/secrets",
                    "org.freedesktop.Secret.Service.ReadAlias", "string:default"))
            else:
                self.stop()

    def log_in(self):
        """56 bytes of a key on a pipe, then a connection that says nothing, where the environment would come."""
        path = self.environment["XDG_RUNTIME_DIR"] + "/kwallet5.socket"
        if os.path.exists(path):
            os.unlink(path)
        reading, writing = os.pipe()
        os.write(writing, hashlib.pbkdf2_hmac("sha512", b"password", b"a salt of this script", 1000, 56))
        os.close(writing)
        listening = socket.socket(socket.AF_UNIX)
        listening.bind(path)
        listening.listen(1)
        with socket.socket(socket.AF_UNIX) as empty:
            empty.connect(path)
        passed = (reading, listening.fileno())
        self.start(["kwalletd5", "--pam-login", *map(str, passed)], passed, PAM_KWALLET5_LOGIN=path)
        os.close(reading)
        listening.close()

    def start(self, command, passed=(), **more):
        self.running.append(subprocess.Popen(
            command, env=self.environment | more, pass_fds=passed, stdin=subprocess.DEVNULL,
            stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL))

    def ask(self, *words):
        sent = subprocess.run(
            ["dbus-send", "--session", "--print-reply=literal", f"--dest={words[0]}", *words[1:]],
            env=self.environment, capture_output=True)
        return sent.stdout if sent.returncode == 0 else b""

    def wait(self, condition):
        end = time.monotonic() + PATIENCE
        while not condition():
            if time.monotonic() > end:
                raise TimeoutError("KWallet did not start")
            time.sleep(0.05)

    def stop(self):
        for process in reversed(self.running):
            process.send_signal(signal.SIGTERM)
            try:
                process.wait(5)
            except subprocess.TimeoutExpired:
                process.kill()
                process.wait()
        self.running = []


def ask(probe, line, environment):
    """What the probe answers to one command, or why it doesn't."""
    try:
        run = subprocess.run([probe], input=line + "\n", env=environment, capture_output=True, text=True, timeout=300)
    except subprocess.TimeoutExpired:
        return "no answer in 300 s"
    return run.stdout.strip() or f"ended with status {run.returncode}"


def keeps(probe, statement):
    home = tempfile.mkdtemp(prefix="lkw-", dir="/tmp")
    try:
        desktop = Desktop(home)
        try:
            return ask(probe, "contract\t" + statement, desktop.environment)
        finally:
            desktop.stop()
    except TimeoutError as failure:
        return str(failure)
    finally:
        shutil.rmtree(home, ignore_errors=True)


def main():
    probe, rounds = os.path.abspath(sys.argv[1]), int(sys.argv[2]) if len(sys.argv) > 2 else 1
    statements = ask(probe, "statements", {"PATH": "/usr/bin:/bin"}).split("\t")
    failures = 0
    for _ in range(rounds):
        for statement in statements:
            answer = keeps(probe, statement)
            if answer != "kept":
                failures += 1
                print(f"NOT KEPT  {statement}: {answer}", flush=True)
    print(f"{len(statements) * rounds - failures} of {len(statements) * rounds} kept")
    sys.exit(min(failures, 100))


if __name__ == "__main__":
    main()
