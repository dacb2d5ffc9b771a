"""Asks for a credential as systemd does for a unit: `unit_credential.py ADDRESS USER COMMAND…`. The command is started
with a connection as its standard input and output, whose other end has the address, as that user. Prints what came."""

import os, socket, subprocess, sys, tempfile

address, user, *command = sys.argv[1:]
with tempfile.TemporaryDirectory(dir="/tmp") as folder:
    os.chmod(folder, 0o755)
    listener = socket.socket(socket.AF_UNIX)
    listener.bind(folder + "/socket")
    os.chmod(folder + "/socket", 0o666)
    listener.listen()
    listener.settimeout(60)
    child = os.fork()
    if child == 0:
        if os.getuid() == 0:
            os.setuid(int(user))
        client = socket.socket(socket.AF_UNIX)
        if address:
            # systemd has another number each time.
            client.bind("\0" + address.replace("RANDOM", os.urandom(8).hex()))
        client.connect(folder + "/socket")
        received = b""
        while data := client.recv(4096):
            received += data
        sys.stdout.buffer.write(received)
        sys.stdout.flush()
        os._exit(0)
    connection, _ = listener.accept()
    status = subprocess.run(command, stdin=connection, stdout=connection).returncode
    connection.shutdown(socket.SHUT_RDWR)
    os.waitpid(child, 0)
    sys.exit(status)
