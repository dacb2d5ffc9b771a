"""Stands where libsecret's tests start their stand-in service: becomes ours, with the collections they want."""

import os
import re

mode = re.fullmatch(r"mock-service-(.*)\.py", os.path.basename(__file__)).group(1)
fixture = os.environ["KEYRING_FIXTURE"]
os.execv(fixture, [fixture, mode])
