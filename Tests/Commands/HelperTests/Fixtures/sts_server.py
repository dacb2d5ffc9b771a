"""A Security Token Service, version 2011-06-15, that checks the ID token by its issuer's published keys.

usage: sts_server.py ISSUER AUDIENCE

It prints its address, then a line for each request. Each line of standard input is JSON, and changes what it answers:
"lifetime" of credentials in seconds, "held" while no answer is sent, "code" of a refusal, or "body" in place of all, each with a "status".
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

import id_token

issuer, audience = sys.argv[1:]
settings = {"lifetime": 3600, "held": False, "code": None, "body": None, "status": 200}


def say(text):
    print(text, flush=True)


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
        say(f"{id_token.subject(fields['WebIdentityToken'], issuer, audience)} as {fields['RoleSessionName']} asks for {fields['RoleArn']}")
        while settings["held"]:
            time.sleep(0.05)
        space = "https://sts.amazonaws.com/doc/2011-06-15/"
        if settings["code"]:
            refused = 403 if settings["status"] == 200 else settings["status"]
            return self.respond(refused, f"<ErrorResponse xmlns='{space}'><Error><Type>Sender</Type><Code>{settings['code']}</Code>"
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
