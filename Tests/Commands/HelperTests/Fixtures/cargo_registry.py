"""A registry of cargo's that wants a token for everything: `cargo_registry.py TOKEN`. Prints its port, and each
request with what its Authorization field was worth."""

import hmac, http.server, json, sys

token = sys.argv[1]


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        field = self.headers.get("Authorization")
        worth = "none" if field is None else "good" if hmac.compare_digest(field, token) else "bad"
        print(worth, self.path, flush=True)
        status, content = 200, {"users": [{"id": 1, "login": "ada", "name": "Ada"}]}
        if worth != "good":
            status, content = 401, {"errors": [{"detail": "a token is needed"}]}
        elif self.path == "/config.json":
            address = f"http://127.0.0.1:{self.server.server_port}"
            content = {"dl": f"{address}/dl", "api": address, "auth-required": True}
        body = json.dumps(content).encode()
        self.send_response(status)
        if status == 401:
            self.send_header("WWW-Authenticate", 'Cargo login_url="https://registry.example/me"')
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
