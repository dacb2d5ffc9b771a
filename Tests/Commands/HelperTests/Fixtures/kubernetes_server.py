"""What kubectl needs of a Kubernetes API server that is set up for OpenID Connect.

usage: kubernetes_server.py CHAIN KEY ISSUER AUDIENCE

It prints its port, then a line for each request: who was let in, or why not.
"""

import http.server
import json
import ssl
import sys

import id_token

chain, key, issuer, audience = sys.argv[1:]


class Server(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        kind, _, token = self.headers.get("Authorization", "").partition(" ")
        try:
            if kind != "Bearer":
                raise ValueError("no bearer token")
            print("let in", id_token.subject(token, issuer, audience), flush=True)
            status, document = 200, {"kind": "PodList", "apiVersion": "v1", "metadata": {}, "items": []}
        except Exception as problem:
            print("refused", type(problem).__name__, flush=True)
            status, document = 401, {"kind": "Status", "apiVersion": "v1", "status": "Failure", "code": 401}
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain(chain, key)
server.socket = context.wrap_socket(server.socket, server_side=True)
print("port", server.server_port, flush=True)
server.serve_forever()
