"""The HarnessCard as a form, generated from the published JSON Schema, so that a new layer or field needs no code.

A field is named by its path in the card (`layers.tools.summary`). Lists take one entry a line; lists of objects one
object a line with its parts separated by bars, in the order of the schema. What is valid decides the schema alone.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from django import forms
from django.utils.translation import get_language, gettext_lazy
from django.utils.translation import gettext as _

from submissions import cards

BAR = "|"
PARTS = {"name": gettext_lazy("name"), "purpose": gettext_lazy("purpose")}
"""Words for parts of a list entry that the schema gives no title."""
LONG_TEXT = 400  # characters; longer texts get several lines


@dataclass(frozen=True)
class Section:
    """One fieldset: the schema's title and description, and the names of its fields."""

    title: str
    description: str
    names: tuple[str, ...]
    is_one_field: bool
    """Whether the section is its only field, whose label says the same as the section's title."""


def words(node: Mapping[str, Any], key: str) -> str:
    """The schema's `title` or `description` in the active language."""
    if (get_language() or "").startswith("zh"):
        return str(node.get("x-zh", {}).get(key) or node.get(key, ""))
    return str(node.get(key, ""))


def leaves(node: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Mapping[str, Any], bool]]:
    """(path, schema, required) of everything that gets a field of its own."""
    for name, child in node.get("properties", {}).items():
        if "const" in child:
            continue
        here = f"{path}.{name}" if path else name
        if child.get("type") == "object":
            yield from leaves(child, here)
        else:
            yield here, child, name in node.get("required", ())


def sections(schema: Mapping[str, Any]) -> list[Section]:
    """Model and inference first, then tuning, then the layers in their order, then what is left."""
    properties = schema["properties"]
    order = [name for name in ("models", "inference", "tuning") if name in properties]
    rest = [name for name in properties if name not in (*order, "layers", "schema")]
    found = [_section(properties[name], name) for name in order]
    found += [
        _section(properties["layers"]["properties"][layer], f"layers.{layer}") for layer in schema["x-layers"]
    ]
    return found + [_section(properties[name], name) for name in rest]


def _section(node: Mapping[str, Any], path: str) -> Section:
    is_one_field = node.get("type") != "object"
    names = (path,) if is_one_field else tuple(name for name, _node, _required in leaves(node, path))
    return Section(words(node, "title"), words(node, "description"), names, is_one_field)


class CardForm(forms.Form):
    """Fields of the current schema. After validation `card` is the card as entered, not yet checked."""

    def __init__(self, data: Any = None, *, card: Mapping[str, Any] | None = None) -> None:
        self.schema = cards.schema("harness-card", cards.CARD_SCHEMA)
        super().__init__(data, initial=dict(flatten(card or {}, self.schema)))
        for name, node, required in leaves(self.schema):
            self.fields[name] = _field(node, required=required)

    def grouped(self) -> list[tuple[Section, list[forms.BoundField]]]:
        return [(section, [self[name] for name in section.names]) for section in sections(self.schema)]

    @property
    def card(self) -> dict[str, Any]:
        """The nested card, without what was left empty; raises nothing, the check comes after."""
        found: dict[str, Any] = {"schema": self.schema["properties"]["schema"]["const"]}
        for path, _node in objects(self.schema):
            _place(found, path, {})
        for name, node, required in leaves(self.schema):
            value = _entered(self.cleaned_data.get(name), node)
            if value not in (None, "", []) or (required and node.get("type") == "array"):
                _place(found, name, value)
        return found

    def blame(self, errors: list[tuple[str, str]]) -> None:
        """Put each (JSON path, message) at its field, or above the form where it has none."""
        for path, message in errors:
            name = path.removeprefix("$").lstrip(".")
            home = next(
                (field for field in self.fields if name == field or name.startswith(f"{field}[")), None
            )
            self.add_error(home, f"{path}: {message}")


def objects(node: Mapping[str, Any], path: str = "") -> Iterator[tuple[str, Mapping[str, Any]]]:
    """(path, schema) of every object below `node`, outermost first."""
    for name, child in node.get("properties", {}).items():
        here = f"{path}.{name}" if path else name
        if child.get("type") == "object":
            yield here, child
            yield from objects(child, here)


def flatten(card: Mapping[str, Any], schema: Mapping[str, Any]) -> Iterator[tuple[str, Any]]:
    """(field name, initial value) of a card."""
    for name, node, _required in leaves(schema):
        value: Any = card
        for part in name.split("."):
            value = value.get(part) if isinstance(value, Mapping) else None
        if value is not None:
            yield name, _shown(value, node)


def _place(card: dict[str, Any], path: str, value: Any) -> None:
    *outer, last = path.split(".")
    for part in outer:
        card = card.setdefault(part, {})
    card[last] = value


def _parts(node: Mapping[str, Any]) -> list[str]:
    return list(node["items"]["properties"])


def _is_table(node: Mapping[str, Any]) -> bool:
    return node.get("type") == "array" and node["items"].get("type") == "object"


def _field(node: Mapping[str, Any], *, required: bool) -> forms.Field:
    kind = node.get("type")
    common: dict[str, Any] = {
        "label": words(node, "title"),
        "help_text": words(node, "description"),
        "required": required,
    }
    if kind == "boolean":
        choices = [("yes", _("yes")), ("no", _("no"))]
        return forms.ChoiceField(choices=choices, widget=forms.RadioSelect, **common)
    if kind in ("integer", "number"):
        number = forms.IntegerField if kind == "integer" else forms.FloatField
        bounds: dict[str, Any] = {"min_value": node.get("minimum"), "max_value": node.get("maximum")}
        return number(**bounds, **common)
    if kind == "array":
        hint = _("One entry a line.")
        if _is_table(node):
            titles = {part: words(inner, "title") for part, inner in node["items"]["properties"].items()}
            named = [title or str(PARTS.get(part, part)) for part, title in titles.items()]
            hint = _("One a line: %(parts)s") % {"parts": f" {BAR} ".join(named)}
        common |= {"help_text": f"{common['help_text']} {hint}".strip(), "required": False}
        return forms.CharField(widget=forms.Textarea(attrs={"rows": 3}), **common)
    rows = 4 if node.get("maxLength", 0) > 2 * LONG_TEXT else 2
    long_text = node.get("maxLength", 0) > LONG_TEXT
    widget = forms.Textarea(attrs={"rows": rows}) if long_text else forms.TextInput()
    return forms.CharField(max_length=node.get("maxLength"), widget=widget, **common)


def _entered(value: Any, node: Mapping[str, Any]) -> Any:
    kind = node.get("type")
    if kind == "boolean":
        return {"yes": True, "no": False}.get(value)
    if kind != "array":
        return value
    lines = [line.strip() for line in str(value or "").splitlines() if line.strip()]
    if not _is_table(node):
        return lines
    names = _parts(node)
    rows = [[cell.strip() for cell in line.split(BAR, len(names) - 1)] for line in lines]
    return [{name: cell for name, cell in zip(names, row, strict=False) if cell} for row in rows]


def _shown(value: Any, node: Mapping[str, Any]) -> Any:
    kind = node.get("type")
    if kind == "boolean":
        return "yes" if value else "no"
    if kind != "array" or not isinstance(value, list):
        return value
    if not _is_table(node):
        return "\n".join(str(item) for item in value)
    rows = [[str(item.get(part, "")) for part in _parts(node)] for item in value if isinstance(item, dict)]
    return "\n".join(f" {BAR} ".join(row).rstrip(f" {BAR}") for row in rows)


def described(card: Mapping[str, Any], version: int) -> list[tuple[Section, list[tuple[str, Any]]]]:
    """A stored card for reading: sections with (label, shown value) pairs, under the schema it was filed by."""
    schema = cards.schema("harness-card", version)
    nodes = {name: node for name, node, _required in leaves(schema)}
    values = dict(flatten(card, schema))
    return [
        (
            section,
            [
                (words(nodes[name], "title"), _readable(values[name]))
                for name in section.names
                if name in values
            ],
        )
        for section in sections(schema)
    ]


def _readable(value: Any) -> Any:
    return {"yes": _("yes"), "no": _("no")}.get(value, value) if isinstance(value, str) else value
