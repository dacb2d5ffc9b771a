"""Two hosts that respond as Mastodon's do: an honest one, and one that plays a mix-up (RFC 9700 section 4.4).

usage: mix_up.py CERTIFICATE KEY PLAY

The hostile one gives clients the id that the honest one gave, and sends their browsers on to the honest one, with the
client's redirect URI and state and a challenge of its own. PLAY says how:

  forward  the redirect URI is the one that the client named to the hostile host
  rewrite  the redirect URI is the one that the honest host knows, at the port where the client listens
  named    as forward; the honest host takes any path of a loopback address, and names itself (RFC 9207)

It knows nothing of the client but what it sends. What happens is printed, one line each.
"""

import base64
import hashlib
import http.server
import json
import os
import ssl
import sys
import threading
import urllib.parse

CERTIFICATE, KEY, PLAY = sys.argv[1:]
clients = {}
codes = {}
origins = {}


def say(text):
    print(text, flush=True)


class Host(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def respond(self, status, body=b"", location=None):
        self.send_response(status)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Content-Type", "application/json")
        self.send_header("Connection", "close")
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def give(self, document):
        self.respond(200, json.dumps(document).encode())

    def fields(self, text):
        return {name: values[0] for name, values in urllib.parse.parse_qs(text).items()}

    def do_GET(self):
        url = urllib.parse.urlsplit(self.path)
        if url.path == "/oauth/authorize":
            self.authorize(self.fields(url.query))
        elif url.path == "/api/v1/accounts/verify_credentials":
            self.give({"id": "1", "acct": "ada"})
        else:
            self.respond(404)

    def do_POST(self):
        form = self.fields(self.rfile.read(int(self.headers["Content-Length"])).decode())
        if self.path == "/api/v1/apps":
            self.register(form)
        elif self.path == "/oauth/token":
            self.exchange(form)
        else:
            self.respond(404)


class Honest(Host):
    def register(self, form):
        identifier = f"client-{len(clients) + 1}"
        clients[identifier] = form["redirect_uris"].split("\n")
        self.give({"client_id": identifier, "client_secret": "known to the client alone"})

    def authorize(self, query):
        asked = urllib.parse.urlsplit(query["redirect_uri"])
        known = [urllib.parse.urlsplit(uri) for uri in clients.get(query["client_id"], [])]
        fits = any((one.hostname, one.path) == (asked.hostname, asked.path) for one in known)
        if not fits and PLAY != "named":
            say("honest: refused a redirect URI that nobody registered")
            return self.respond(400)
        code = "honest-" + base64.urlsafe_b64encode(os.urandom(16)).decode()
        codes[code] = query["code_challenge"]
        response = {"code": code, "state": query["state"]}
        if PLAY == "named":
            response["iss"] = origins["honest"] + "/"
        say("honest: gave a code")
        self.respond(302, location=query["redirect_uri"] + "?" + urllib.parse.urlencode(response))

    def exchange(self, form):
        digest = hashlib.sha256(form["code_verifier"].encode()).digest()
        challenge = base64.urlsafe_b64encode(digest).decode().rstrip("=")
        if codes.pop(form["code"], None) != challenge:
            return self.respond(400, b'{"error":"invalid_grant"}')
        say("honest: gave a token")
        self.give({"access_token": "token-of-the-honest-host", "token_type": "Bearer", "scope": "read"})


class Hostile(Host):
    def register(self, form):
        self.give({"client_id": "client-1", "client_secret": "made up"})

    def authorize(self, query):
        uri = query["redirect_uri"]
        if PLAY == "rewrite":
            port = urllib.parse.urlsplit(uri).port
            known = urllib.parse.urlsplit(clients["client-1"][0])
            uri = known._replace(netloc=f"{known.hostname}:{port}").geturl()
        request = {
            "response_type": "code", "client_id": "client-1", "redirect_uri": uri, "state": query["state"],
            "code_challenge": "A" * 43, "code_challenge_method": "S256",
        }
        say("hostile: sent the browser on")
        self.respond(302, location=origins["honest"] + "/oauth/authorize?" + urllib.parse.urlencode(request))

    def exchange(self, form):
        say("hostile: was given " + form.get("code", "no code"))
        self.give({"access_token": "token-of-the-hostile-host", "token_type": "Bearer", "scope": "read"})


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)
for name, handler in (("honest", Honest), ("hostile", Hostile)):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    server.socket = context.wrap_socket(server.socket, server_side=True)
    origins[name] = f"https://127.0.0.1:{server.server_port}"
    threading.Thread(target=server.serve_forever, daemon=True).start()
say(json.dumps(origins))
sys.stdin.read()
