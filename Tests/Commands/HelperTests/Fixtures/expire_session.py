"""Makes the access tokens of the sessions in the keyring ones that ended long ago, as the clock would."""

import json, secretstorage, sys

connection = secretstorage.dbus_init()
for item in secretstorage.search_items(connection, {"service": "latchkey:" + sys.argv[1], "latchkey:kind": "session"}):
    session = json.loads(item.get_secret())
    session["expires_at"] = 1_000_000_000
    item.set_secret(json.dumps(session).encode(), "text/plain")
    print("expired")
