"""Translation catalogues without gettext's tools: what the sources say, what is missing, compilation.

A message id is English. The Chinese catalogue must hold every one; the English one only what differs.
"""

from __future__ import annotations

import ast
import re
import sys
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import polib

ROOT = Path(__file__).resolve().parents[2]
#: Folders whose Python and templates speak to people.
SOURCES = ("platform", "submissions", "governance", "leaderboard", "templates")
#: Catalogues in which every message must be translated.
COMPLETE = ("zh_Hans",)
LANGUAGES = ("zh_Hans", "en")
#: Where each call has its context, message and plural, by position.
CALLS = {
    **dict.fromkeys(("_", "gettext", "gettext_lazy", "gettext_noop"), (None, 0, None)),
    **dict.fromkeys(("ngettext", "ngettext_lazy"), (None, 0, 1)),
    **dict.fromkeys(("pgettext", "pgettext_lazy"), (0, 1, None)),
    **dict.fromkeys(("npgettext", "npgettext_lazy"), (0, 1, 2)),
}
PLACEHOLDER = re.compile(r"%\((\w+)\)[sdf]|\{(\w+)\}|%[sd]")
CHINESE = re.compile(r"[\u4e00-\u9fff]")


@dataclass(frozen=True, order=True)
class Message:
    """One translatable text; `context` and `plural` are empty where there is none."""

    text: str
    context: str = ""
    plural: str = ""


def catalogue(language: str, root: Path = ROOT) -> Path:
    """The file of a language."""
    return root / "locale" / language / "LC_MESSAGES" / "django.po"


def messages(root: Path = ROOT) -> dict[Message, list[str]]:
    """Every message of the sources with the files it stands in."""
    found: dict[Message, list[str]] = {}
    for path in _files(root):
        text = path.read_text(encoding="utf-8")
        spoken = _of_python(text) if path.suffix == ".py" else _of_template(text)
        for message in spoken:
            places = found.setdefault(message, [])
            if str(path.relative_to(root)) not in places:
                places.append(str(path.relative_to(root)))
    return dict(sorted(found.items()))


def _files(root: Path) -> Iterator[Path]:
    for folder in SOURCES:
        for path in sorted((root / folder).rglob("*")):
            if path.suffix in {".py", ".html", ".txt"} and "migrations" not in path.parts and path.is_file():
                yield path


def _of_python(text: str) -> Iterator[Message]:
    for node in ast.walk(ast.parse(text)):
        if not isinstance(node, ast.Call):
            continue
        name = node.func.id if isinstance(node.func, ast.Name) else getattr(node.func, "attr", "")
        if name in CALLS:
            yield from _message(node, *CALLS[name])


def _message(node: ast.Call, context: int | None, text: int, plural: int | None) -> Iterator[Message]:
    def literal(position: int | None) -> str:
        if position is None or position >= len(node.args):
            return ""
        value = node.args[position]
        return value.value if isinstance(value, ast.Constant) and isinstance(value.value, str) else ""

    if literal(text):
        yield Message(literal(text), literal(context), literal(plural))


def _of_template(text: str) -> Iterator[Message]:
    from django.utils.translation.template import templatize

    # Django turns a template into pseudo-Python for xgettext; the calls in it are real expressions.
    for call in re.finditer(r"\b(_|n?p?gettext)\(", pseudo := templatize(text)):
        expression = _balanced(pseudo, call.start())
        try:
            node = ast.parse(expression, mode="eval").body
        except SyntaxError:
            continue
        if isinstance(node, ast.Call):
            yield from _message(node, *CALLS[call.group(1)])


def _balanced(text: str, start: int) -> str:
    """The call that begins at `start`, up to its closing bracket outside of strings."""
    depth, quote, position = 0, "", start
    while position < len(text):
        character = text[position]
        if quote:
            if character == "\\":
                position += 1
            elif text.startswith(quote, position):
                position += len(quote) - 1
                quote = ""
        elif character in "'\"":
            quote = character * 3 if text.startswith(character * 3, position) else character
            position += len(quote) - 1
        elif character in "()":
            depth += 1 if character == "(" else -1
            if depth == 0:
                return text[start : position + 1]
        position += 1
    return text[start:]


def problems(root: Path = ROOT) -> list[str]:
    """What is wrong with the catalogues, one line each; empty where nothing is."""
    spoken = messages(root)
    found = [
        f"not English: {message.text!r} in {spoken[message][0]}" for message in spoken if _chinese(message)
    ]
    for language in LANGUAGES:
        path = catalogue(language, root)
        if not path.exists():
            found.append(f"{language}: no catalogue at {path.relative_to(root)}")
            continue
        entries = {_key(entry): entry for entry in polib.pofile(str(path)) if not entry.obsolete}
        for message, places in spoken.items():
            entry = entries.get(message)
            if entry is None:
                found.append(f"{language}: missing {message.text!r} ({places[0]})")
            elif fault := _fault(entry, must=language in COMPLETE):
                found.append(f"{language}: {fault} {message.text!r} ({places[0]})")
        found += [f"{language}: nobody says {key.text!r}" for key in sorted(entries.keys() - spoken.keys())]
    return found


def _chinese(message: Message) -> bool:
    return CHINESE.search(message.text) is not None


def _key(entry: polib.POEntry) -> Message:
    return Message(entry.msgid, entry.msgctxt or "", entry.msgid_plural or "")


def _fault(entry: polib.POEntry, *, must: bool) -> str | None:
    if "fuzzy" in entry.flags:
        return "fuzzy"
    given = [*entry.msgstr_plural.values()] if entry.msgid_plural else [entry.msgstr]
    if not all(given):
        return "untranslated" if must else None
    wanted = {_placeholders(entry.msgid), _placeholders(entry.msgid_plural or entry.msgid)}
    if any(_placeholders(text) not in wanted for text in given):
        return "placeholders differ in"
    return None


def _placeholders(text: str) -> frozenset[str]:
    return frozenset(match.group(0) for match in PLACEHOLDER.finditer(text))


def update(root: Path = ROOT) -> None:
    """Bring the catalogues to what the sources say: new messages come in untranslated, unsaid ones go."""
    spoken = messages(root)
    for language in LANGUAGES:
        path = catalogue(language, root)
        path.parent.mkdir(parents=True, exist_ok=True)
        old = {_key(entry): entry for entry in polib.pofile(str(path))} if path.exists() else {}
        fresh = polib.POFile(wrapwidth=100)
        fresh.metadata = _metadata(language)
        for message, places in spoken.items():
            entry = old.get(message) or _blank(message, language)
            entry.occurrences = [(place, "") for place in places]
            fresh.append(entry)
        fresh.save(str(path))


def _metadata(language: str) -> dict[str, str]:
    plural = "nplurals=1; plural=0;" if language == "zh_Hans" else "nplurals=2; plural=(n != 1);"
    return {
        "Language": language,
        "MIME-Version": "1.0",
        "Content-Type": "text/plain; charset=UTF-8",
        "Content-Transfer-Encoding": "8bit",
        "Plural-Forms": plural,
    }


def _blank(message: Message, language: str) -> polib.POEntry:
    entry = polib.POEntry(msgid=message.text, msgctxt=message.context or None, msgid_plural=message.plural)
    if message.plural:
        entry.msgstr_plural = dict.fromkeys(range(1 if language == "zh_Hans" else 2), "")
    return entry


def compile_all(root: Path = ROOT) -> None:
    """Write the compiled form beside each catalogue, in one step, never older than its source."""
    for path in root.glob("locale/*/LC_MESSAGES/*.po"):
        product = path.with_suffix(".mo")
        temporary = product.with_suffix(".mo.tmp")
        polib.pofile(str(path)).save_as_mofile(str(temporary))
        temporary.replace(product)


if __name__ == "__main__":
    if sys.argv[1:] != ["compile"]:
        sys.exit("usage: python -m config.catalogues compile")
    compile_all()
