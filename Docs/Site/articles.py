#!/usr/bin/env python3
"""Writes the articles of the documentation site into a DocC catalogue: the pages below Docs, the manual's two that are
about all commands, and a page for each command with what its --help says.

The pages stay as they are where they are. Only links differ: DocC names an article, GitHub and others a file.
"""
import pathlib
import re
import subprocess
import sys
import textwrap

ROOT = pathlib.Path(__file__).resolve().parents[2]
DOCS = ROOT / "Docs"
# A folder with an article of its own, which lists the folder's pages.
FOLDERS = {DOCS / "man": "Manual"}
# Folders whose pages are for readers of the checkout: the site doesn't have them.
OUTSIDE = [DOCS / "Site", DOCS / "Examples", DOCS / "Decisions"]
# The list that gets a folder's page if no list names the page; the others go to Contribute.
LISTS = {"Tutorials": "AsALibrary", "HowTo": "AtATerminal", "Explanation": "AtATerminal", "Reference": "Reference"}


def article(page: pathlib.Path) -> str:
    """The name that links use: HowTo-run for Docs/HowTo/run.md."""
    if page.parent == ROOT:
        return page.stem.capitalize()
    return "-".join(page.relative_to(DOCS).with_suffix("").parts)


def pages() -> list[pathlib.Path]:
    return [ROOT / "SECURITY.md", ROOT / "CONTRIBUTING.md"] + [
        page for page in sorted(DOCS.rglob("*.md")) if not any(page.is_relative_to(folder) for folder in OUTSIDE)
    ]


def heading(page: pathlib.Path, anchor: str) -> str:
    """A heading's fragment in DocC, by the one that GitHub makes of it."""
    for line in page.read_text().splitlines():
        title = line.lstrip("#").strip()
        if line.startswith("#"):
            plain = re.sub(r"[^\w -]", "", title.lower()).replace(" ", "-")
            if plain == anchor:
                return "#" + re.sub(r"\s+", "-", re.sub(r"[`'\"“”‘’]", "", title))
    sys.exit(f"{page} has no heading #{anchor}")


def link(page: pathlib.Path, label: str, target: str) -> str:
    if "://" in target:
        return f"[{label}]({target})"
    path, _, anchor = target.partition("#")
    file = (page.parent / path).resolve() if path else page
    if file in FOLDERS:
        return f"[{label}](doc:{FOLDERS[file]})"
    if file not in PAGES:
        return label  # A file of the checkout, which the site doesn't have.
    return f"[{label}](doc:{article(file)}{heading(file, anchor) if anchor else ''})"


def rewritten(page: pathlib.Path) -> str:
    lines, is_code = [], False
    for line in page.read_text().splitlines():
        if line.startswith("```"):
            is_code = not is_code
        elif not is_code:
            # Comments are for the tests that run a page's commands.
            line = re.sub(r"<!--.*?-->", "", line)
            # The script puts the pictures of Docs/Site beside the articles.
            line = re.sub(r"(!\[[^\]]*\])\([^)\s]*/([^/)\s]+\.svg)\)", r"\1(\2)", line)
            line = re.sub(r"(?<!!)\[((?:[^\[\]]|\[[^\]]*\])+)\]\(([^)\s]+)\)", lambda m: link(page, m[1], m[2]), line)
        lines.append(line)
    return "\n".join(lines) + "\n"


def collection(title: str, abstract: str, groups: list[tuple[str, list[str]]]) -> str:
    topics = "".join(f"\n### {name}\n\n" + "".join(f"- <doc:{item}>\n" for item in items) for name, items in groups)
    return f"# {title}\n\n{abstract}\n\n## Topics\n{topics}"


def manual(page: pathlib.Path) -> str:
    """As man shows it, but for the sections' names, which are headings here."""
    command = ["mandoc", "-T", "utf8", "-O", "width=78,indent=0", page]
    shown = subprocess.run(command, check=True, capture_output=True, text=True).stdout
    # Bold is a letter over itself, an underlined one a line below it.
    text = re.sub(r".\x08", "", shown)
    text = text.split("\n", 1)[1].rstrip().rsplit("\n", 1)[0]
    sections = re.findall(r"(?m)^(\S.*)\n((?:(?: .*)?\n)+)", text + "\n")
    summary = " ".join(sections[0][1].split(" – ", 1)[1].split())
    body = "".join(
        f"\n## {title.capitalize()}\n\n```\n{textwrap.dedent(lines).strip(chr(10))}\n```\n" for title, lines in sections[1:])
    return f"# {page.stem}({page.suffix[1:]})\n\n{summary[:1].upper()}{summary[1:]}.\n{body}"


def plain(text: str) -> str:
    """A text of --help: what isn't between backquotes means itself, and an option's hyphens stay two."""
    parts = re.split(r"(`[^`]+`)", re.sub(r"`[^`]+`|(?<!\S)--[a-z][a-z-]*", lambda m: f"`{m[0].strip('`')}`", text))
    return "".join(part if part.startswith("`") else re.sub(r"([\\*_<>|\[\]])", r"\\\1", part) for part in parts)


def table(rows: list[tuple[str, str]], heading: str) -> str:
    lines = [f"| {heading} | Meaning |", "|---|---|"]
    lines += ["| `{}` | {} |".format(name.replace("|", "\\|"), plain(meaning)) for name, meaning in rows]
    return "\n".join(lines)


def prose(usage: str) -> str:
    """What a command's --help says after its summary: paragraphs as prose, lists as tables."""
    written = []
    for block in usage.strip("\n").split("\n\n"):
        lines = block.splitlines()
        title = lines.pop(0)[:-1] if re.fullmatch(r"[a-z ]+:", lines[0]) else ""
        rows = [re.fullmatch(r"  (\S.*?)(?:  +(.*))?", line) for line in lines]
        if title:
            written.append(f"## {title.capitalize()}")
        if block.startswith("usage: "):
            written.append("```\n" + re.sub(r"(?m)^(usage:)? +", "", block) + "\n```")
        elif title == "examples" or not all(rows) and lines[0].startswith("  "):
            written.append("```\n" + textwrap.dedent("\n".join(lines)) + "\n```")
        elif all(rows):
            heading = "Option" if title else "Argument" if len(written) == 1 else ""
            written.append(table([(row[1], row[2] or "") for row in rows], heading))
        else:
            written.append(plain(" ".join(lines)))
    return "\n\n".join(written)


def commands(program: str) -> dict[str, str]:
    """A page for each command, and one that lists them all."""
    def say(*words: str) -> str:
        environment = {"HOME": "/", "COLUMNS": "10000"}
        return subprocess.run([program, *words], check=True, capture_output=True, text=True, env=environment).stdout

    written, groups = {}, []
    for title, listed in re.findall(r"(?m)^([a-z][^:\n]*):\n((?:  [a-z].*\n)+)", say("help", "commands")):
        names = []
        for name, sentence in re.findall(r"(?m)^  ([a-z].*?)  +(.*)$", listed):
            names.append("Command-" + name.replace(" ", "-"))
            usage = say(*name.split(), "--help").split("\n\n", 1)[1]
            written[names[-1]] = f"# latchkey {name}\n\n{sentence[:1].upper()}{sentence[1:]}.\n\n{prose(usage)}\n"
        groups.append((title.capitalize(), names))
    everywhere = f"What `latchkey COMMAND --help` says.\n\n{prose(say('help', 'options'))}"
    written["Commands"] = collection("Commands", everywhere, groups)
    return written


def place(written: dict[str, str], catalogue: pathlib.Path) -> None:
    """Puts a page that no list of the catalogue has at the end of its folder's."""
    lists = {page: page.read_text() for page in catalogue.glob("*.md")}
    everything = "".join([*lists.values(), *written.values()])
    others: dict[str, list[str]] = {}
    for name in written:
        if f"<doc:{name}>" not in everything:
            others.setdefault(LISTS.get(name.split("-")[0], "Contribute"), []).append(name)
    for folder, names in others.items():
        page = catalogue / f"{folder}.md"
        page.write_text(lists[page] + "\n### More\n\n" + "".join(f"- <doc:{name}>\n" for name in names))


def main(program: str, catalogue: str) -> None:
    written = {article(page): rewritten(page) for page in PAGES}
    written |= commands(program)
    # The other pages say what the commands' articles do.
    manuals = [DOCS / "man/latchkey.1", DOCS / "man/latchkey.5"]
    written |= {f"Manual-{page.stem}-{page.suffix[1:]}": manual(page) for page in manuals}
    written["Manual"] = collection(
        "Manual", "The pages of `man latchkey`. What those of its commands say is in <doc:Commands>.",
        [("Pages", [name for name in written if name.startswith("Manual-")])])
    place(written, pathlib.Path(catalogue))
    for name, text in written.items():
        (pathlib.Path(catalogue) / f"{name}.md").write_text(text)


PAGES = pages()
if __name__ == "__main__":
    main(*sys.argv[1:])
