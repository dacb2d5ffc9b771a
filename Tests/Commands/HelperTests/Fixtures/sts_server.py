"""A Security Token Service, version 2011-06-15, that checks the ID token by its issuer's published keys.

usage: sts_server.py ISSUER AUDIENCE

It prints its address, then a line for each request. Each line of standard input is JSON, and changes what it answers:
"lifetime" of credentials in seconds, "held" while no answer is sent, "code" of a refusal, or "body" in place of all.
"""

import base64
import datetime
import http.server
import json
import os
import re
import sys
import threading
import time
import urllib.parse
import urllib.request

from cryptography.hazmat.primitives import hashes
from cryptography.hazmat.primitives.asymmetric import ec, utils

issuer, audience = sys.argv[1:]
settings = {"lifetime": 3600, "held": False, "code": None, "body": None, "status": 200}


def say(text):
    print(text, flush=True)


def get(url):
    return json.load(urllib.request.build_opener(urllib.request.ProxyHandler({})).open(url))


def decoded(text):
    return base64.urlsafe_b64decode(text + "=" * (-len(text) % 4))


def check(token):
    signed, _, signature = token.rpartition(".")
    header, claims = (json.loads(decoded(part)) for part in signed.split("."))
    keys = get(get(issuer + "/.well-known/oauth-authorization-server")["jwks_uri"])["keys"]
    key = next(key for key in keys if key.get("kid") == header.get("kid"))
    x, y = (int.from_bytes(decoded(key[name]), "big") for name in "xy")
    r, s = (int.from_bytes(decoded(signature)[at:at + 32], "big") for at in (0, 32))
    ec.EllipticCurvePublicNumbers(x, y, ec.SECP256R1()).public_key().verify(
        utils.encode_dss_signature(r, s), signed.encode(), ec.ECDSA(hashes.SHA256()))
    if claims["iss"] != issuer or claims["aud"] != audience or claims["exp"] < time.time():
        raise ValueError("its claims")
    return claims["sub"]


class Service(http.server.BaseHTTPRequestHandler):
    def log_message(self, *_):
        pass

    def do_POST(self):
        body = self.rfile.read(int(self.headers["Content-Length"])).decode()
        fields = urllib.parse.parse_qs(body, keep_blank_values=True, strict_parsing=True)
        assert all(len(values) == 1 for values in fields.values())
        fields = {name: values[0] for name, values in fields.items()}
        assert set(fields) == {"Action", "Version", "RoleArn", "RoleSessionName", "WebIdentityToken"}
        assert fields["Action"] == "AssumeRoleWithWebIdentity" and fields["Version"] == "2011-06-15"
        assert re.fullmatch(r"[\w+=,.@-]{2,64}", fields["RoleSessionName"], re.ASCII)
        say(f"{check(fields['WebIdentityToken'])} as {fields['RoleSessionName']} asks for {fields['RoleArn']}")
        while settings["held"]:
            time.sleep(0.05)
        space = "https://sts.amazonaws.com/doc/2011-06-15/"
        if settings["code"]:
            return self.respond(403, f"<ErrorResponse xmlns='{space}'><Error><Type>Sender</Type><Code>{settings['code']}</Code>"
                                "<Message>Not for you: \x1b[31m</Message></Error></ErrorResponse>")
        if settings["body"] is not None:
            return self.respond(settings["status"], settings["body"])
        end = datetime.datetime.now(datetime.timezone.utc) + datetime.timedelta(seconds=settings["lifetime"])
        self.respond(200, f"""<AssumeRoleWithWebIdentityResponse xmlns="{space}">
  <AssumeRoleWithWebIdentityResult>
    <SubjectFromWebIdentityToken>octocat</SubjectFromWebIdentityToken>
    <Credentials>
      <SessionToken>{base64.b64encode(os.urandom(600)).decode()}</SessionToken>
      <SecretAccessKey>{base64.b64encode(os.urandom(30)).decode()}</SecretAccessKey>
      <Expiration>{end:%Y-%m-%dT%H:%M:%SZ}</Expiration>
      <AccessKeyId>ASIA{os.urandom(8).hex().upper()}</AccessKeyId>
    </Credentials>
  </AssumeRoleWithWebIdentityResult>
</AssumeRoleWithWebIdentityResponse>""")

    def respond(self, status, text):
        body = text.encode()
        self.send_response(status)
        self.send_header("Content-Type", "text/xml")
        self.send_header("Content-Length", str(len(body)))
        if 300 <= status < 400:
            self.send_header("Location", "/")
        self.end_headers()
        self.wfile.write(body)


server = http.server.ThreadingHTTPServer(("127.0.0.1", 0), Service)
say(f"http://127.0.0.1:{server.server_address[1]}")
threading.Thread(target=server.serve_forever, daemon=True).start()
for line in sys.stdin:
    settings |= json.loads(line)
    say("changed")
