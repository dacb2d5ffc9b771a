"""HTTPS that answers each request with its Authorization field: `tls_server.py CHAIN KEY [WANTED]`. With WANTED another
field is refused with 401. Prints its port, and each request."""

import http.server, ssl, sys

chain, key = sys.argv[1:3]
wanted = sys.argv[3] if len(sys.argv) > 3 else None


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        field = self.headers.get("Authorization", "")
        isLetIn = wanted is None or field == wanted
        print("let in" if isLetIn else "refused", self.path, flush=True)
        body = field.encode()
        if isLetIn:
            # What a proxy of Go's modules knows of one.
            modules = {"list": b"v1.0.0\n", "info": b'{"Version":"v1.0.0"}', "mod": b"module example.org/private\n"}
            body = modules.get(self.path.replace("/", ".").rsplit(".", 1)[1], body)
        self.send_response(200 if isLetIn else 401)
        if not isLetIn:
            self.send_header("WWW-Authenticate", "Basic")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(chain, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print("port", server.server_port, flush=True)
server.serve_forever()
