"""An authorization server of the idpyoidc library, for one client that proves itself by a key (private_key_jwt).

usage: idpyoidc_server.py

It prints its issuer. Each line of standard input is a public key of the client "me", as a JWK; "changed" answers. It prints
each request for tokens: "issued tokens", or why not.
"""

import http.server
import json
import sys
import threading
import urllib.parse

from idpyoidc.server import Server
from idpyoidc.server.configure import ASConfiguration


class Handler(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def respond(self, status, document):
        body = json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.respond(200, {
            "issuer": issuer, "authorization_endpoint": issuer + "/authorize", "token_endpoint": issuer + "/token",
            "response_types_supported": ["code"], "token_endpoint_auth_methods_supported": ["private_key_jwt"],
        })

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        endpoint = library.get_endpoint("token")
        fields = {name.lower(): value for name, value in self.headers.items()}
        try:
            request = endpoint.parse_request(
                dict(urllib.parse.parse_qsl(body)),
                http_info={"headers": fields, "method": "POST", "url": issuer + "/token"})
            answer = endpoint.process_request(request)["response_args"]
        except Exception as problem:
            print("refused:", type(problem).__name__, flush=True)
            return self.respond(400, {"error": "invalid_client"})
        print("issued tokens", flush=True)
        # The library has a list there, and its own class of tokens in place of their type (RFC 6749 section 5.1).
        self.respond(200, answer | {"token_type": "Bearer", "scope": " ".join(answer["scope"])})


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Handler)
issuer = f"http://127.0.0.1:{server.server_port}"
symmetric = [{"type": "OCT", "use": ["enc"], "kid": name} for name in ("password", "salt")]
library = Server(ASConfiguration({
    "issuer": issuer,
    "key_conf": {"key_defs": [{"type": "EC", "crv": "P-256", "use": ["sig"]}]},
    "endpoint": {
        "token": {
            "path": "token", "class": "idpyoidc.server.oauth2.token.Token",
            "kwargs": {
                "client_authn_method": ["private_key_jwt"],
                "grant_types_helpers": {
                    "client_credentials": {
                        "class": "idpyoidc.server.oauth2.token_helper.client_credentials.ClientCredentials"},
                },
            },
        },
    },
    "authz": {
        "class": "idpyoidc.server.authz.AuthzHandling",
        "kwargs": {"grant_config": {"usage_rules": {"access_token": {"expires_in": 3600}}, "expires_in": 43200}},
    },
    "token_handler_args": {
        "token": {"class": "idpyoidc.server.token.jwt_token.JWTToken", "kwargs": {"lifetime": 3600, "aud": ["api"]}},
        "key_conf": {"key_defs": [{"type": "oct", "bytes": 24, "use": ["enc"], "kid": "code"}]},
    },
    "session_params": {"encrypter": {"kwargs": {"keys": {"key_defs": symmetric}, "iterations": 1}}},
}, base_path="."), cwd=".")
library.context.cdb["me"] = {
    "client_id": "me", "client_salt": "salt", "token_endpoint_auth_method": "private_key_jwt",
    "allowed_scopes": ["read"], "grant_types_supported": ["client_credentials"],
}
threading.Thread(target=server.serve_forever, daemon=True).start()
print(issuer, flush=True)
for line in sys.stdin:
    library.keyjar.import_jwks({"keys": [json.loads(line)]}, "me")
    print("changed", flush=True)
