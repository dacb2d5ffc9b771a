"""Gives each browser a cookie for a year, and shows the one that it brings. Prints its port."""

import http.server


class Handler(http.server.BaseHTTPRequestHandler):
    def do_GET(self):
        self.send_response(200)
        self.send_header("Set-Cookie", "kept=yes; Max-Age=31536000; Path=/")
        self.send_header("Content-Type", "text/html")
        self.end_headers()
        self.wfile.write(f"<p>cookie: {self.headers.get('Cookie', 'none')}</p>".encode())

    def log_message(self, *arguments):
        pass


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print(server.server_port, flush=True)
server.serve_forever()
