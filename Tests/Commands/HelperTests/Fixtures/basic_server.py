"""Files over HTTP with Basic: `basic_server.py FOLDER USER PASSWORD`. Prints its port, and each request."""

import base64, functools, hmac, http.server, sys

folder, user, password = sys.argv[1:]


class Handler(http.server.SimpleHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_GET(self):
        field = self.headers.get("Authorization", "")
        given = base64.b64decode(field[6:]) if field.startswith("Basic ") else b""
        if hmac.compare_digest(given, f"{user}:{password}".encode()):
            print("let in", self.path, flush=True)
            return super().do_GET()
        print("refused" if field else "asked", self.path, flush=True)
        self.send_response(401)
        self.send_header("WWW-Authenticate", 'Basic realm="index"')
        self.send_header("Content-Length", "0")
        self.end_headers()


handler = functools.partial(Handler, directory=folder)
server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), handler)
print("port", server.server_port, flush=True)
server.serve_forever()
