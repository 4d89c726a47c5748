"""The translation gate, on a small tree of its own."""

import gettext

import polib
import pytest

from config import catalogues
from config.catalogues import Message

PYTHON = """
from django.utils.translation import gettext as _, ngettext, pgettext
print(_("Submit"), _("%(n)d left") % {"n": 1}, ngettext("%(n)d day", "%(n)d days", 2), pgettext("verb", "Run"))
print(_(variable), other("Not a message"))
"""
TEMPLATE = """{% load i18n %}{% translate "Harness (new)" %}
{% blocktranslate with n=total %}{{ n }} of 3{% endblocktranslate %}
{% blocktranslate count n=days %}{{ n }} hour{% plural %}{{ n }} hours{% endblocktranslate %}
{{ _("It's \\"so\\"") }}"""


@pytest.fixture
def tree(tmp_path):
    (tmp_path / "submissions").mkdir()
    (tmp_path / "submissions/views.py").write_text(PYTHON)
    (tmp_path / "templates").mkdir()
    (tmp_path / "templates/page.html").write_text(TEMPLATE)
    return tmp_path


def translate(tree, language, texts):
    path = catalogues.catalogue(language, tree)
    found = polib.pofile(str(path))
    for entry in found:
        if entry.msgid_plural:
            entry.msgstr_plural = dict.fromkeys(entry.msgstr_plural, texts(entry.msgid_plural))
        else:
            entry.msgstr = texts(entry.msgid)
    found.save()


def test_messages_of_python_and_templates_are_found(tree):
    assert set(catalogues.messages(tree)) == {
        Message("Submit"),
        Message("%(n)d left"),
        Message("%(n)d day", plural="%(n)d days"),
        Message("Run", context="verb"),
        Message("Harness (new)"),
        Message("%(n)s of 3"),
        Message("%(n)s hour", plural="%(n)s hours"),
        Message('It\'s "so"'),
    }


def test_gate_asks_for_both_catalogues_and_for_every_chinese_text(tree):
    assert [line.partition(":")[0] for line in catalogues.problems(tree)] == ["zh_Hans", "en"]
    catalogues.update(tree)
    assert {line.split()[1] for line in catalogues.problems(tree)} == {"untranslated"}
    assert {line.split(":")[0] for line in catalogues.problems(tree)} == {"zh_Hans"}
    translate(tree, "zh_Hans", lambda text: f"译 {text}")
    assert catalogues.problems(tree) == []


def test_gate_sees_lost_placeholders_fuzzy_and_unsaid_messages_and_chinese_ids(tree):
    catalogues.update(tree)
    translate(tree, "zh_Hans", lambda text: "译")
    assert len([line for line in catalogues.problems(tree) if "placeholders" in line]) == 4
    translate(tree, "zh_Hans", lambda text: f"译 {text}")
    (tree / "submissions/views.py").write_text('print(_("提交"))')
    found = "\n".join(catalogues.problems(tree))
    assert "not English: '提交'" in found
    assert "zh_Hans: nobody says 'Submit'" in found
    assert "zh_Hans: missing '提交'" in found


def test_update_keeps_translations_and_compilation_needs_no_tools(tree):
    catalogues.update(tree)
    translate(tree, "zh_Hans", lambda text: f"译 {text}")
    (tree / "submissions/more.py").write_text('print(_("More"))')
    catalogues.update(tree)
    catalogues.compile_all(tree)
    with catalogues.catalogue("zh_Hans", tree).with_suffix(".mo").open("rb") as file:
        compiled = gettext.GNUTranslations(file)
    assert compiled.gettext("Submit") == "译 Submit"
    assert compiled.pgettext("verb", "Run") == "译 Run"
    assert compiled.gettext("More") == "More"
