"""git over HTTP with Basic: `git_server.py FOLDER USER PASSWORD-FILE`. Prints its port, and each request's login."""

import base64, hmac, http.server, os, subprocess, sys

folder, user, password_file = sys.argv[1:]


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def handle_request(self):
        field = self.headers.get("Authorization", "")
        wanted = f"{user}:{open(password_file).read()}".encode()
        given = base64.b64decode(field[6:]) if field.startswith("Basic ") else b""
        if not hmac.compare_digest(given, wanted):
            print("refused" if field else "asked", flush=True)
            self.send_response(401)
            self.send_header("WWW-Authenticate", 'Basic realm="test"')
            self.send_header("Content-Length", "0")
            self.end_headers()
            return
        print("let in", flush=True)
        path, _, query = self.path.partition("?")
        body = self.rfile.read(int(self.headers.get("Content-Length") or 0))
        environment = dict(
            os.environ, GIT_PROJECT_ROOT=folder, GIT_HTTP_EXPORT_ALL="1", PATH_INFO=path, QUERY_STRING=query,
            REQUEST_METHOD=self.command, CONTENT_TYPE=self.headers.get("Content-Type", ""), REMOTE_USER=user,
            CONTENT_LENGTH=str(len(body)), HTTP_CONTENT_ENCODING=self.headers.get("Content-Encoding", ""))
        answer = subprocess.run(["git", "http-backend"], input=body, capture_output=True, env=environment).stdout
        header, _, content = answer.partition(b"\r\n\r\n")
        fields = [line.split(": ", 1) for line in header.decode().split("\r\n")]
        status = next((int(value.split()[0]) for name, value in fields if name == "Status"), 200)
        self.send_response(status)
        for name, value in fields:
            if name != "Status":
                self.send_header(name, value)
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    do_GET = do_POST = handle_request


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
print("port", server.server_port, flush=True)
server.serve_forever()
