"""Authorization servers that insist on what the RFCs require, and on nothing else.

usage: strict_server.py [SETTINGS]

With SETTINGS it is one server, as below with standard input and output in place of the files. Otherwise, each line of
standard input starts a server, a process of its own: a folder, and as JSON how the server differs from the
defaults below. In the folder, each line of the pipe "input" changes more, and its end ends the server. The first line of
the file "output" is the issuer. Each later line is something that a client did; a line that begins with "missing" or
"twice" names a parameter that the RFC of a request requires once. It knows nothing of the client but what it sends.
"""

import base64
import functools
import hashlib
import http.server
import json
import os
import sys
import threading
import time
import urllib.parse

from cryptography.exceptions import InvalidSignature
from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, ed448, ed25519, padding, rsa, utils
from cryptography.hazmat.primitives.serialization import Encoding, PublicFormat


@functools.cache
def rsa_key():
    """One key for all servers: making a key takes longer than all else that a server does."""
    return rsa.generate_private_key(public_exponent=65537, key_size=2048)


def started():
    """What a server differs in, in its process. The one that starts them never returns."""
    if len(sys.argv) > 1:
        return json.loads(sys.argv[1])
    rsa_key()
    for line in sys.stdin:
        folder, differences = line.split(" ", 1)
        if os.fork() == 0:
            os.dup2(os.open(folder + "/output", os.O_WRONLY | os.O_CREAT | os.O_APPEND, 0o600), 1)
            sys.stdin = open(folder + "/input")
            return json.loads(differences)
        try:
            while os.waitpid(-1, os.WNOHANG)[0]:
                pass
        except ChildProcessError:
            pass
    os._exit(0)


settings = {
    "methods": ["none"],  # token_endpoint_auth_methods_supported
    "secret": None,  # of the client "me"
    "jwk": None,  # the public key of the client "me"
    "audience": "",  # the path at which its assertions are for this server
    "clock": 0,  # seconds that its clock is ahead
    "par": False,  # whether requests must be pushed
    "redirects": None,  # of the client "me"; None: any loopback address
    "openid": True,  # whether there are ID tokens and user information
    "offline": False,  # whether a refresh token needs offline_access and prompt=consent
    "algorithm": "ES256",  # of ID tokens
    "announced": None,  # None: the one that signs
    "named": True,  # whether the key set says what the key is for
    "times": {},  # of ID tokens, in seconds from now
    "lifetime": 3600,  # of access tokens
    "delay": 0,  # of responses with tokens, in seconds
    "machine": [],  # what a machine's request for tokens must have besides
    "userinfo": {"sub": "1", "preferred_username": "ada"},  # None: the endpoint refuses
    "resource": None,  # the path of a resource (RFC 9728), which each request for tokens must name (RFC 8707)
    "metadata": {},  # of the resource: what is another than it should be; "at": where its challenge points
} | started()

# RFC 6749 sections 4.1.1, 4.1.3, 6; RFC 7636 sections 4.3, 4.5; RFC 7009 section 2.1; RFC 8628 sections 3.1, 3.4; RFC 9126
# sections 2.1, 4; OpenID Connect Core section 3.1.2.1. "client_id?": unless the client authenticates.
REQUIRED = {
    "/authorize": ["response_type", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method"],
    "/authorize pushed": ["client_id", "request_uri"],
    "/par": ["response_type", "client_id", "redirect_uri", "state", "code_challenge", "code_challenge_method"],
    "/token authorization_code": ["grant_type", "code", "redirect_uri", "client_id?", "code_verifier"],
    "/token refresh_token": ["grant_type", "refresh_token", "client_id?"],
    "/token urn:ietf:params:oauth:grant-type:device_code": ["grant_type", "device_code", "client_id?"],
    "/token client_credentials": ["grant_type", "client_id?"],
    "/token urn:ietf:params:oauth:grant-type:jwt-bearer": ["grant_type", "assertion", "client_id?"],
    "/token urn:ietf:params:oauth:grant-type:token-exchange": [
        "grant_type", "subject_token", "subject_token_type", "client_id?"],
    "/device": ["client_id?"],
    "/revoke": ["token", "client_id?"],
}
for request in ("client_credentials", "urn:ietf:params:oauth:grant-type:token-exchange"):
    REQUIRED["/token " + request] += settings["machine"]
if settings["resource"]:
    for request, names in REQUIRED.items():
        if request not in ("/authorize pushed", "/revoke"):
            names.append("resource")
clients = {"me": {"secret": settings["secret"], "redirects": settings["redirects"]}}
access_tokens = {}
assertions = set()
pushed, codes, refresh_tokens, devices = {}, {}, {}, {}


def say(text):
    print(text, flush=True)


def resource():
    return issuer + settings["resource"] if settings["resource"] else None


def encoded(data):
    return base64.urlsafe_b64encode(data).decode().rstrip("=")


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def number(value, count):
    return encoded(value.to_bytes(count, "big"))


class Signer:
    """A key and its signatures, by the definitions of RFC 7518 section 3 and RFC 8037 section 3.1."""

    def __init__(self, algorithm):
        self.algorithm = algorithm
        self.hash = {"256": hashes.SHA256, "384": hashes.SHA384, "512": hashes.SHA512}.get(algorithm[-3:])
        if algorithm[:2] in ("RS", "PS"):
            self.key = rsa_key()
            numbers = self.key.public_key().public_numbers()
            self.jwk = {"kty": "RSA", "n": number(numbers.n, 256), "e": number(numbers.e, 3)}
        elif algorithm[:2] == "ES":
            curve, name, self.size = {
                "ES256": (ec.SECP256R1(), "P-256", 32), "ES384": (ec.SECP384R1(), "P-384", 48),
                "ES512": (ec.SECP521R1(), "P-521", 66),
            }[algorithm]
            self.key = ec.generate_private_key(curve)
            numbers = self.key.public_key().public_numbers()
            self.jwk = {"kty": "EC", "crv": name, "x": number(numbers.x, self.size), "y": number(numbers.y, self.size)}
        else:
            curve = settings.get("curve", "Ed25519")
            kind = {"Ed25519": ed25519.Ed25519PrivateKey, "Ed448": ed448.Ed448PrivateKey}[curve]
            self.key = kind.generate()
            raw = self.key.public_key().public_bytes(Encoding.Raw, PublicFormat.Raw)
            self.jwk = {"kty": "OKP", "crv": curve, "x": encoded(raw)}
        if settings["named"]:
            self.jwk |= {"kid": "1", "use": "sig", "alg": algorithm}

    def sign(self, data):
        if self.algorithm[:2] == "RS":
            return self.key.sign(data, padding.PKCS1v15(), self.hash())
        if self.algorithm[:2] == "PS":
            salt = self.hash.digest_size
            return self.key.sign(data, padding.PSS(padding.MGF1(self.hash()), salt), self.hash())
        if self.algorithm[:2] == "ES":
            r, s = utils.decode_dss_signature(self.key.sign(data, ec.ECDSA(self.hash())))
            return r.to_bytes(self.size, "big") + s.to_bytes(self.size, "big")
        return self.key.sign(data)


signer = Signer(settings["algorithm"])


class Refusal(Exception):
    pass


class Server(http.server.BaseHTTPRequestHandler):
    protocol_version = "HTTP/1.1"

    def log_message(self, *_):
        pass

    def respond(self, status, document=None, location=None, kind="application/json"):
        body = b"" if document is None else document if kind != "application/json" else json.dumps(document).encode()
        self.send_response(status)
        self.send_header("Content-Type", kind)
        self.send_header("Content-Length", str(len(body)))
        self.send_header("Connection", "close")
        if location:
            self.send_header("Location", location)
        self.end_headers()
        self.wfile.write(body)

    def do_GET(self):
        self.serve("")

    def do_POST(self):
        self.serve(self.rfile.read(int(self.headers.get("Content-Length", 0))).decode())

    def serve(self, body):
        url = urllib.parse.urlsplit(self.path)
        self.body = body
        self.fields = {}
        for name, value in urllib.parse.parse_qsl(url.query if self.command == "GET" else body, keep_blank_values=True):
            self.fields.setdefault(name, []).append(value)
        if settings["resource"] and url.path.startswith(settings["resource"]):
            return self.resource(url.path)
        if settings["resource"] and url.path == "/.well-known/oauth-protected-resource" + settings["resource"]:
            return self.resource_metadata()
        serve = {
            "/.well-known/oauth-authorization-server": self.metadata,
            "/.well-known/openid-configuration": self.metadata, "/keys": self.keys, "/authorize": self.authorize,
            "/par": self.push, "/token": self.token, "/userinfo": self.userinfo, "/register": self.register,
            "/revoke": self.revoke, "/device": self.device,
        }.get(url.path)
        try:
            serve() if serve else self.respond(404)
        except Refusal as refusal:
            error = str(refusal)
            self.respond(401 if error == "invalid_client" else 400, {"error": error})

    def date_time_string(self, timestamp=None):
        return super().date_time_string(timestamp or time.time() + settings["clock"])

    # What a request must have

    def require(self, request):
        authenticates = "Authorization" in self.headers or {"client_secret", "client_assertion"} & self.fields.keys()
        for name in REQUIRED[request]:
            if name.endswith("?") and authenticates:
                continue
            values = self.fields.get(name.rstrip("?"), [])
            if len(values) != 1 or not values[0]:
                say(f"{'twice' if values else 'missing'}: {name.rstrip('?')} in a request to {request}")
                raise Refusal("invalid_request")
        for name, values in self.fields.items():
            if len(values) > 1:
                say(f"twice: {name} in a request to {request}")
                raise Refusal("invalid_request")
        self.fields = {name: values[0] for name, values in self.fields.items()}
        if self.fields.get("resource", resource()) != resource():
            say(f"another resource in a request to {request}")
            raise Refusal("invalid_target")

    # The resource

    def challenge(self, status, text):
        self.send_response(status)
        self.send_header("WWW-Authenticate", text)
        self.send_header("Content-Length", "0")
        self.send_header("Connection", "close")
        self.end_headers()

    def resource(self, path):
        scheme, _, token = self.headers.get("Authorization", "").partition(" ")
        if scheme != "Bearer" or token not in access_tokens:
            if settings["metadata"].get("at") == "":
                return self.challenge(401, 'Bearer realm="x"')
            place = issuer + "/.well-known/oauth-protected-resource" + settings["resource"]
            place = settings["metadata"].get("at", place)
            return self.challenge(401, f'Basic realm="x", Bearer resource_metadata="{place}", scope="tools:read"')
        if path.endswith("/admin") and "tools:admin" not in access_tokens[token]:
            return self.challenge(403, 'Bearer error="insufficient_scope", scope="tools:read tools:admin"')
        self.respond(200, {"answer": 42})

    def resource_metadata(self):
        document = {
            "resource": resource(), "authorization_servers": [issuer], "scopes_supported": ["tools:read", "tools:admin"],
        }
        document |= {name: value for name, value in settings["metadata"].items() if name != "at"}
        self.respond(200, document)

    def client(self):
        """The client of a request that has authenticated as it was registered."""
        if "Authorization" in self.headers:
            scheme, _, pair = self.headers["Authorization"].partition(" ")
            # Both are form-encoded (RFC 6749 section 2.3.1).
            name, secret = (urllib.parse.unquote_plus(part) for part in base64.b64decode(pair).decode().split(":"))
            method = "client_secret_basic"
        else:
            name, secret = self.fields.get("client_id"), self.fields.get("client_secret")
            method = "none" if secret is None else "client_secret_post"
        if "client_assertion" in self.fields and method == "none":
            method = "private_key_jwt"
            try:
                name = self.asserted()
            except (ValueError, KeyError, TypeError, InvalidSignature) as problem:
                say(f"refused an assertion: {problem or 'its signature'}")
                raise Refusal("invalid_client")
        if method not in settings["methods"] or name not in clients or (clients[name]["secret"] or "") != (secret or ""):
            say(f"refused the client {name} by {method}")
            raise Refusal("invalid_client")
        if self.fields.get("client_id", name) != name:
            raise Refusal("invalid_request")
        return name

    def asserted(self):
        """The client that an assertion proves (RFC 7523 section 3, RFC 7518 section 3.4)."""
        if self.fields["client_assertion_type"] != "urn:ietf:params:oauth:client-assertion-type:jwt-bearer":
            raise ValueError("its type")
        signed, _, signature = self.fields["client_assertion"].rpartition(".")
        header, claims = (json.loads(decoded(part)) for part in signed.split("."))
        key, now = settings["jwk"], time.time() + settings["clock"]
        if header["alg"] != "ES256" or header["kid"] != key["kid"]:
            raise ValueError("its header")
        x, y = (int.from_bytes(decoded(key[name]), "big") for name in "xy")
        r, s = (int.from_bytes(decoded(signature)[at:at + 32], "big") for at in (0, 32))
        ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key().verify(
            utils.encode_dss_signature(r, s), signed.encode(), ec.ECDSA(hashes.SHA256()))
        if claims["aud"] != issuer + settings["audience"] or claims["iss"] != claims["sub"] or claims["jti"] in assertions:
            raise ValueError("its claims")
        if not claims["iat"] - 5 <= now <= claims["exp"] <= now + 300:
            raise ValueError("its time")
        assertions.add(claims["jti"])
        return claims["sub"]

    # Endpoints

    def metadata(self):
        document = {
            "issuer": issuer, "authorization_endpoint": settings.get("authorize", issuer + "/authorize"), "token_endpoint": issuer + "/token",
            "registration_endpoint": issuer + "/register", "revocation_endpoint": issuer + "/revoke",
            "device_authorization_endpoint": issuer + "/device",
            "pushed_authorization_request_endpoint": issuer + "/par" if settings["par"] else None,
            "require_pushed_authorization_requests": settings["par"],
            "token_endpoint_auth_methods_supported": settings["methods"], "response_types_supported": ["code"],
            "grant_types_supported": ["authorization_code", "refresh_token"],
            "code_challenge_methods_supported": settings.get("pkce", ["S256"]),
            "scopes_supported": settings.get("scopes"), "authorization_response_iss_parameter_supported": True,
        }
        if settings["openid"]:
            document |= {
                "jwks_uri": issuer + "/keys", "userinfo_endpoint": issuer + "/userinfo",
                "id_token_signing_alg_values_supported": settings["announced"] or [settings["algorithm"]],
            }
        if settings["announced"] == []:
            del document["id_token_signing_alg_values_supported"]
        self.respond(200, {name: value for name, value in document.items() if value is not None})

    def keys(self):
        self.respond(200, {"keys": [signer.jwk]})

    def register(self):
        request = json.loads(self.body)
        method = request.get("token_endpoint_auth_method", "client_secret_basic")
        if not request.get("redirect_uris"):
            say("missing: redirect_uris in a request to /register")
            raise Refusal("invalid_redirect_uri")
        if method not in settings["methods"]:
            say(f"refused to register a client by {method}")
            raise Refusal("invalid_client_metadata")
        name = "registered-" + encoded(os.urandom(9))
        secret = None if method == "none" else encoded(os.urandom(24))
        clients[name] = {"secret": secret, "redirects": request["redirect_uris"]}
        if settings["resource"] and request.get("application_type") != "native":
            say("the client isn't a native one")
        request |= settings.get("registered", {})
        say(f"registered a client by {method}")
        response = request | {"client_id": name}
        self.respond(201, response | ({"client_secret": secret, "client_secret_expires_at": 0} if secret else {}))

    def check(self, request):
        """A redirect URI is compared as a simple string (RFC 6749 section 3.1.2.3), its port included."""
        known = clients[request["client_id"]]["redirects"] if request["client_id"] in clients else []
        if known is not None and request["redirect_uri"] not in known:
            say("refused the redirect URI")
            raise Refusal("invalid_request")
        if "openid" in request.get("scope", "").split() and not settings["openid"]:
            raise Refusal("invalid_scope")

    def push(self):
        self.require("/par")
        if self.client() != self.fields["client_id"]:
            raise Refusal("invalid_request")
        self.check(self.fields)
        reference = "urn:ietf:params:oauth:request_uri:" + encoded(os.urandom(16))
        pushed[reference] = self.fields
        say("took a pushed request")
        self.respond(201, {"request_uri": reference, "expires_in": 60})

    def authorize(self):
        if "request_uri" in self.fields:
            self.require("/authorize pushed")
            request = pushed.pop(self.fields["request_uri"], None)
            if request is None or request["client_id"] != self.fields["client_id"]:
                raise Refusal("invalid_request")
        else:
            self.require("/authorize")
            request = self.fields
            if settings["par"] or request["client_id"] not in clients:
                raise Refusal("invalid_request")
            try:
                self.check(request)
            except Refusal:
                # A person sees a page; nothing may be sent to an address that no client registered.
                return self.respond(400, b"<h1>This request is not valid</h1>", kind="text/html")
        code = encoded(os.urandom(16))
        codes[code] = request
        if "login_hint" in request:
            say(f"was told that {request['login_hint']} signs in")
        if "prompt" in request:
            say("asked for consent" if request["prompt"] == "consent" else "had another prompt")
        response = {"code": code, "state": request["state"], "iss": issuer}
        self.respond(302, location=request["redirect_uri"] + "?" + urllib.parse.urlencode(response))

    def token(self):
        if settings.get("tells"):
            say("was sent a token request")
        grant = self.fields.get("grant_type", [""])[0]
        if f"/token {grant}" not in REQUIRED:
            raise Refusal("unsupported_grant_type")
        self.require(f"/token {grant}")
        name = self.client()
        if grant == "authorization_code":
            request = codes.pop(self.fields["code"], None)
            if request is None or request["client_id"] != name or request["redirect_uri"] != self.fields["redirect_uri"]:
                raise Refusal("invalid_grant")
            digest = hashlib.sha256(self.fields["code_verifier"].encode()).digest()
            if encoded(digest) != request["code_challenge"]:
                raise Refusal("invalid_grant")
        elif grant == "refresh_token":
            if settings["resource"] and self.fields["resource"] != resource():
                raise Refusal("invalid_target")
            request = refresh_tokens.pop(self.fields["refresh_token"], None)
            say("refreshed")
        elif "device_code" in self.fields:
            request = devices.pop(self.fields["device_code"], None)
        elif grant == "client_credentials":
            # A client that can't prove itself is nobody (RFC 6749 section 4.4).
            if not clients[name]["secret"] and settings["jwk"] is None:
                raise Refusal("unauthorized_client")
            request = self.fields
        else:
            handed = self.fields.get("assertion", self.fields.get("subject_token"))
            request = self.fields if handed == settings.get("handed") else None
        if request is None:
            raise Refusal("invalid_grant")
        self.issue(name, request, grant)

    def issue(self, name, request, grant):
        scopes = request.get("scope", "").split()
        response = {
            "access_token": encoded(os.urandom(24)), "token_type": "Bearer", "expires_in": settings["lifetime"],
            "scope": " ".join(scopes),
        }
        access_tokens[response["access_token"]] = scopes
        # OpenID Connect Core section 11.
        if "client_id" not in request and "grant_type" in request or request.get("grant_type", "").endswith(
                ("client_credentials", "jwt-bearer", "token-exchange")):
            pass
        elif not settings["offline"] or ("offline_access" in scopes and "consent" in request.get("prompt", "").split()):
            token = encoded(os.urandom(24))
            refresh_tokens[token] = request
            response["refresh_token"] = token
        if settings["openid"] and "openid" in scopes and grant != "refresh_token":
            now = int(time.time())
            claims = {"iss": issuer, "sub": "1", "aud": name, "iat": now, "exp": now + 600}
            claims |= settings.get("claims", {})
            claims |= {name: now + seconds for name, seconds in settings["times"].items()}
            if "nonce" in request:
                claims["nonce"] = request["nonce"]
            header = {"alg": settings["algorithm"]} | ({"kid": "1"} if settings["named"] else {})
            text = ".".join(encoded(json.dumps(part).encode()) for part in (header, claims))
            response["id_token"] = text + "." + encoded(signer.sign(text.encode()))
        say("issued tokens")
        time.sleep(settings["delay"])
        self.respond(200, response)

    def userinfo(self):
        if settings.get("tells"):
            say("was asked who signed in")
        if settings["userinfo"] is None or not self.headers.get("Authorization", "").startswith("Bearer "):
            return self.respond(403, {"error": "insufficient_scope"})
        self.respond(200, settings["userinfo"])

    def revoke(self):
        self.require("/revoke")
        self.client()
        refresh_tokens.pop(self.fields["token"], None)
        say("revoked a token")
        self.respond(200)

    def device(self):
        self.require("/device")
        name = self.client()
        code = encoded(os.urandom(16))
        devices[code] = {"client_id": name, "scope": self.fields.get("scope", "")}
        self.respond(200, {
            "device_code": code, "user_code": "WDJB-MJHT", "verification_uri": issuer + "/enter", "expires_in": 600,
            "interval": 1,
        })


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Server)
issuer = f"http://127.0.0.1:{server.server_port}"
threading.Thread(target=server.serve_forever, daemon=True).start()
say(issuer)
for line in sys.stdin:
    settings |= json.loads(line)
    say("changed")
