"""A secret in the forms that the page on `run` promises to replace.

usage: mask_forms.py all                the secret in the variable A, in all forms
       mask_forms.py hunt COUNT SEED    random secrets in all forms, as JSON
       mask_forms.py list               the forms and the parts, as JSON

A form and a part are a row and a column of the page's table; a zero byte stands between the texts of two cells. Each text
comes as BEFORE AFTER <TEXT>: so many of its first and of its last characters hold more than the secret, as in base64. What
is written is what Python's libraries make of it.
"""

import base64
import binascii
import json
import os
import random
import sys
import textwrap
import urllib.parse


def encoded(data, alphabet):
    """In base64, after and before other bytes: the characters that hold bits of those alone, or of both, are counted.

    Of a long secret, one neighbour for each alignment.
    """
    afters = (b"", b"!", b"?!", b"and more")
    for number, before in enumerate((b"", b"u", b"us")):
        for after in afters if len(data) < 4096 else afters[number:number + 1]:
            text = base64.b64encode(before + data + after, alphabet).decode()
            inner = (len(before) * 8 + 5) // 6, (len(before) + len(data)) * 8 // 6
            yield text, inner[0], len(text) - inner[1]


def broken(data):
    for text, before, after in encoded(data, b"+/"):
        if before:
            continue
        for width in (64, 76, 60):
            for end in ("\n", "\r\n", "\n    "):
                yield end.join(textwrap.wrap(text, width)), before, after + (len(end) if after else 0)
    yield base64.encodebytes(data).decode(), 0, 4


def escaped(text):
    """Every character as JSON may have it (RFC 8259 section 7)."""
    units = text.encode("utf-16-be")
    return "".join("\\u%02X%02X" % (units[index], units[index + 1]) for index in range(0, len(units), 2))


def some(text, chosen, space):
    """Percent-encodes the chosen characters alone."""
    return "".join(
        space if one == " " and chosen(number, one) else urllib.parse.quote(one, safe="") if chosen(number, one) else one
        for number, one in enumerate(text))


FORMS = {
    "verbatim": lambda data: [(data.decode(), 0, 0)],
    "base64": lambda data: [*encoded(data, b"+/"), *encoded(data, b"-_")],
    "base64 with line breaks": broken,
    "hexadecimal": lambda data: [(data.hex(), 0, 0), (binascii.hexlify(data).decode().upper(), 0, 0)],
    "hexadecimal with separators": lambda data: [
        (data.hex(" "), 0, 0), (data.hex(":").upper(), 0, 0), ("\n".join(textwrap.wrap(data.hex(), 60)), 0, 0),
        (data.hex(" ", 2), 0, 0),
        # As openssl writes a key, and as a program does that ends each byte with a space.
        *((end.join(textwrap.wrap(data.hex(mark), 45)), 0, 0) for mark, end in ((":", "\n    "), (" ", " \r\n"))),
    ],
    "percent-encoding": lambda data: [
        (urllib.parse.quote(data, safe=""), 0, 0), (urllib.parse.quote(data), 0, 0),
        (urllib.parse.quote(data, safe="!'()*"), 0, 0), (urllib.parse.quote_plus(data), 0, 0),
        ("".join("%%%02x" % byte for byte in data), 0, 0),
        # Nothing but the spaces and line breaks, and every second character.
        *((some(data.decode(), lambda _, one: one in " \n", space), 0, 0) for space in ("%20", "+")),
        (some(data.decode(), lambda number, one: number % 2 or one == "\n", "%20"), 0, 0),
    ],
    "JSON": lambda data: [
        (text[1:-1], 0, 0) for value in [data.decode()] for text in (
            json.dumps(value), json.dumps(value, ensure_ascii=False), json.dumps(value).replace("/", "\\/"),
            json.dumps(value).replace("<", "\\u003c").replace(">", "\\u003E").replace("&", "\\u0026"),
            f'"{escaped(value)}"',
            # Nothing but the quotes and line breaks.
            '"' + value.replace('"', '\\"').replace("\n", "\\n") + '"',
        )
    ],
}


def lines(data):
    return [line for line in data.split(b"\n") if len(line.strip(BLANKS)) >= 4]


def bare(data):
    return data[:-2] if data.endswith(b"\r\n") else data[:-1] if data.endswith(b"\n") else data


PARTS = {"whole": lambda data: [data, bare(data)], "each line": lines}
BLANKS = b" \t\r\n"
# How many characters a form has for a blank at most, with a line break before it.
WIDTHS = {"verbatim": 1, "base64": 2, "base64 with line breaks": 7, "hexadecimal": 2, "hexadecimal with separators": 8,
          "percent-encoding": 3, "JSON": 6}


def texts(data, form, part):
    # A text of several lines is replaced line by line.
    if form == "verbatim" and part != "each line":
        return []
    for one in PARTS[part](data):
        # Blanks at the ends may stay, but for those after the whole secret.
        before, after = (WIDTHS[form] * (len(one) - len(strip(BLANKS))) for strip in (one.lstrip, one.rstrip))
        after *= one is not data
        for text, first, last in FORMS[form](one):
            yield text, first + before, last + after


def secret(choice):
    pieces = ["a", "Zz", "  ", "0", "09", "ü", "€", "😀", " ", "+", "/", "\\", '"', "%", "%41", "=", "<", "&", "\t", "~", "'", "(", "\x7f"]
    kind = choice.randrange(4)
    size = choice.choice([4, 5, 6, 7, 12, 40, 300]) if kind else choice.choice([5000, 9000])
    text = ""
    while len(text.encode()) < size:
        text += choice.choice(pieces)
        if kind > 1 and choice.random() < 0.1:
            text += choice.choice(["\n", "\r\n", "\n\n"])
    return (text + choice.choice(["", "\n", "\r\n"])).encode()


if sys.argv[1] == "list":
    print(json.dumps([list(FORMS), list(PARTS)]))
elif sys.argv[1] == "hunt":
    choice = random.Random(int(sys.argv[3]))
    for _ in range(int(sys.argv[2])):
        data = secret(choice)
        while not lines(data):
            data = secret(choice)
        for form in FORMS:
            for part in PARTS:
                samples = list(texts(data, form, part))
                for text, before, after in choice.sample(samples, min(3, len(samples))):
                    print(json.dumps({
                        "secret": base64.b64encode(data).decode(), "form": form, "part": part, "text": text,
                        "before": before, "after": after,
                    }))
else:
    sys.stdout.buffer.write(b"\0".join(
        b"".join(
            f"{before} {after} <".encode() + text.encode() + b">\n"
            for text, before, after in texts(os.environb[b"A"], form, part))
        for form in FORMS for part in PARTS))
