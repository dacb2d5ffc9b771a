"""An issuer that names an endpoint on this machine, to have a client ask what it can't reach itself.

usage: private_endpoint.py CERTIFICATE KEY ENDPOINT

ENDPOINT is the metadata's member that names the other server. The issuer is reached in two ways: as https://issuer.example
by the proxy, as from the internet, and at its loopback address. It knows nothing of the client but what it sends. Who asks
the other server is printed.
"""

import base64
import http.server
import json
import socket
import ssl
import sys
import threading
import urllib.parse

CERTIFICATE, KEY, ENDPOINT = sys.argv[1:]
addresses = {}
nonces = []
PATHS = {
    "authorization_endpoint": "/authorize", "token_endpoint": "/token", "userinfo_endpoint": "/userinfo",
    "registration_endpoint": "/register", "device_authorization_endpoint": "/device",
    "pushed_authorization_request_endpoint": "/par", "jwks_uri": "/keys",
}


def say(text):
    print(text, flush=True)


def part(document):
    return base64.urlsafe_b64encode(json.dumps(document).encode()).decode().rstrip("=")


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def respond(self, status, document=None, location=None):
        body = json.dumps(document or {}).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def do_POST(self):
        self.rfile.read(int(self.headers.get("Content-Length", 0)))
        self.serve(urllib.parse.urlsplit(self.path))

    def do_GET(self):
        self.serve(urllib.parse.urlsplit(self.path))


class Inner(Server):
    def serve(self, url):
        say("inner: was asked for " + url.path)
        self.respond(403)


class Issuer(Server):
    def serve(self, url):
        issuer = "https://" + self.headers["Host"]
        if url.path == "/.well-known/oauth-authorization-server":
            always = ["authorization_endpoint", "token_endpoint"]
            document = {name: issuer + PATHS[name] for name in always}
            document[ENDPOINT] = addresses["inner"] + PATHS[ENDPOINT]
            self.respond(200, document | {"issuer": issuer, "response_types_supported": ["code"]})
        elif url.path == "/authorize":
            query = urllib.parse.parse_qs(url.query)
            nonces[:] = query.get("nonce", [])
            response = urllib.parse.urlencode({"code": "c", "state": query["state"][0]})
            self.respond(302, location=query["redirect_uri"][0] + "?" + response)
        elif url.path == "/token":
            payload = {"iss": issuer, "sub": "1", "aud": "me", "exp": 9999999999}
            if nonces:
                payload["nonce"] = nonces[0]
            token = ".".join([part({"alg": "ES256"}), part(payload), base64.urlsafe_b64encode(b"x" * 64).decode()[:86]])
            self.respond(200, {"access_token": "t" * 20, "token_type": "Bearer", "id_token": token})
        else:
            self.respond(404)


def relay(source, target):
    try:
        while data := source.recv(65536):
            target.sendall(data)
        target.shutdown(socket.SHUT_WR)
    except OSError:
        pass


class Proxy(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_CONNECT(self):
        if self.path != "issuer.example:443":
            say("proxy: was asked for " + self.path)
            return self.send_error(403)
        upstream = socket.create_connection(("127.0.0.1", addresses["issuer port"]))
        self.send_response(200)
        self.end_headers()
        threading.Thread(target=relay, args=(upstream, self.connection), daemon=True).start()
        relay(self.connection, upstream)
        self.close_connection = True


context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(CERTIFICATE, KEY)


def start(handler, secure=True):
    server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
    if secure:
        server.socket = context.wrap_socket(server.socket, server_side=True)
    threading.Thread(target=server.serve_forever, daemon=True).start()
    return server.server_port


addresses["issuer port"] = start(Issuer)
addresses["issuer"] = f"https://127.0.0.1:{addresses['issuer port']}"
addresses["inner"] = f"https://127.0.0.1:{start(Inner)}"
addresses["proxy"] = f"http://127.0.0.1:{start(Proxy, secure=False)}"
say(json.dumps({name: addresses[name] for name in ("issuer", "inner", "proxy")}))
sys.stdin.read()
