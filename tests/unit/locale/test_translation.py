"""Texts are English in data and translated where they are shown; no text is left without its translation."""

import copy
import io
import json
import pickle
import string
import subprocess
import sys

import pytest
from babel.messages.pofile import read_po

from tests.catalogue import ALL, marked, packed, untranslated, written
from thresher.errors import ConfigError, CrawlNotFound, ThresherError
from thresher.locale.translation import (
    COMMA,
    LANGUAGES,
    Translatable,
    environment_language,
    joined,
    localized,
    translated,
)
from thresher.reasons.reason import Reason, ReasonKind, describe

PAGES = ("{n:,} URL", "{n:,} URLs")
EVERY = [(texts, language) for texts in ALL for language in LANGUAGES]
each_catalogue = pytest.mark.parametrize(
    ("texts", "language"), EVERY, ids=[f"{texts.domain}-{language}" for texts, language in EVERY]
)


@pytest.mark.parametrize(("number", "english"), [(1, "1 URL"), (2, "2 URLs"), (1200, "1,200 URLs")])
def test_a_text_is_english_and_knows_its_translation(number, english):
    text = Translatable(*PAGES, n=number)
    assert text == english
    assert text.in_language("zh") == f"{number:,} 个网址"
    assert text.in_language("en") == text.in_language("tlh") == english


def test_texts_in_a_text_are_translated_too():
    hosts = Translatable("{n:,} host", "{n:,} hosts", n=3)
    text = Translatable(
        "{urls} on {hosts}: {reason}", urls="5", hosts=hosts, reason=describe(Reason(ReasonKind.TIMEOUT))
    )
    assert text == "5 on 3 hosts: timeout"
    assert text.in_language("zh") == "5（3 个主机）：超时"
    assert joined(COMMA, [hosts, "x"]).in_language("zh") == "3 个主机，x"


def test_a_text_without_a_translation_stays_english():
    assert Translatable("no such text").in_language("zh") == "no such text"
    assert Translatable("").in_language("zh") == ""
    assert translated("plain", "zh") == "plain"


def test_data_and_logs_have_the_english_text():
    text = Translatable(*PAGES, n=2)
    assert json.dumps({"words": text}) == '{"words": "2 URLs"}'
    assert f"{text}!" == "2 URLs!"
    assert hash(text) == hash("2 URLs")


@pytest.mark.parametrize(
    "again", [copy.deepcopy, lambda text: pickle.loads(pickle.dumps(text))], ids=["copy", "pickle"]
)
def test_a_copy_keeps_the_translation(again):
    assert again(Translatable(*PAGES, n=2)).in_language("zh") == "2 个网址"
    assert again(describe(Reason.of(ReasonKind.HTTP, 404))).in_language("zh") == "HTTP 404"


def test_the_message_of_an_error_is_translatable():
    error = CrawlNotFound("solar")
    assert translated(str(error), "zh").startswith("solar 中没有抓取任务")
    outer = ThresherError(Translatable("the store failed: {error}", error=error))
    assert str(outer).startswith("the store failed: solar holds no crawl")
    assert translated(str(outer), "zh").startswith("存储出错：solar 中没有抓取任务")


def test_braces_of_others_are_shown_as_they_are():
    text = Translatable("{kind} {name}: {error}", kind=Translatable("judge"), name="{x}", error=ConfigError("{0}"))
    assert text == "judge {x}: {0}"
    assert text.in_language("zh") == "判定器 {x}: {0}".replace(": ", "：")


@pytest.mark.parametrize(
    ("environment", "language"),
    [
        ({}, "en"),
        ({"LANG": "C"}, "en"),
        ({"LANG": "en_US.UTF-8"}, "en"),
        ({"LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LANG": "zh_SG"}, "zh"),
        ({"LANG": "zh_TW.UTF-8"}, "zh"),
        ({"LANG": "zh"}, "zh"),
        ({"LANG": "de_DE.UTF-8"}, "en"),
        ({"LC_ALL": "", "LANG": "zh_CN.UTF-8"}, "zh"),
        ({"LC_ALL": "C", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LC_MESSAGES": "zh_CN.UTF-8", "LANG": "en_US.UTF-8"}, "zh"),
        ({"LANGUAGE": "zh_CN:en", "LANG": "en_US.UTF-8"}, "zh"),
        ({"LANGUAGE": "de:zh", "LANG": "de_DE.UTF-8"}, "zh"),
        ({"LANGUAGE": "en:zh", "LANG": "zh_CN.UTF-8"}, "en"),
        ({"LANGUAGE": "zh", "LANG": "C"}, "en"),
        ({"LANGUAGE": "zh"}, "en"),
    ],
    ids=str,
)
def test_the_environment_chooses_the_language_as_for_gettext(environment, language):
    assert environment_language(environment) == language


def test_a_text_is_shown_in_the_language_of_the_environment(monkeypatch):
    for name in ("LANGUAGE", "LC_ALL", "LC_MESSAGES"):
        monkeypatch.delenv(name, raising=False)
    monkeypatch.setenv("LANG", "zh_CN.UTF-8")
    assert localized(Translatable(*PAGES, n=2)) == "2 个网址"
    monkeypatch.setenv("LANG", "C")
    assert localized(Translatable(*PAGES, n=2)) == "2 URLs"


def test_english_reads_no_catalogue():
    code = (
        "import sys; from thresher.locale.translation import Translatable, catalogue, localized; "
        "localized(Translatable('the disk is full')); sys.exit(catalogue.cache_info().currsize)"
    )
    environment = {"LANG": "C", "PYTHONPATH": ":".join(sys.path)}
    assert subprocess.run([sys.executable, "-c", code], env=environment, check=False).returncode == 0


def test_texts_are_found_in_code():
    code = '_("one {x}", x=1); _("{n} a " "page", "{n} pages", n=2); _(name); _(f"{name}"); other("no")'
    assert list(marked(code)) == ["one {x}", ("{n} a page", "{n} pages")]


@each_catalogue
def test_every_text_has_its_translation(texts, language):
    with texts.po_of(language).open("rb") as file:
        kept = read_po(file, locale=language)
    assert untranslated(kept) == []
    assert {message.id for message in kept} == {message.id for message in texts.gathered()}
    assert len(kept) > 150


@each_catalogue
def test_the_catalogues_are_as_the_command_makes_them(texts, language):
    po = texts.po_of(language).read_bytes()
    assert written(texts.updated(language)) == po, "run python -m tests.catalogue"
    assert packed(po, language) == texts.po_of(language).with_suffix(".mo").read_bytes()


def fields_of(template):
    """Return the fields of a template of str.format, with their conversions and formats."""
    return {tuple(field[1:]) for field in string.Formatter().parse(template) if field[1] is not None}


@each_catalogue
def test_translations_name_the_same_values(texts, language):
    catalogue = read_po(io.BytesIO(texts.po_of(language).read_bytes()), locale=language)
    wrong = {}
    for message in (message for message in catalogue if message.id):
        ids = (message.id,) if isinstance(message.id, str) else message.id
        strings = (message.string,) if isinstance(message.string, str) else message.string
        named, shown = set().union(*map(fields_of, ids)), set().union(*map(fields_of, strings))
        has_percent_fields = "%(" in ids[0]
        if has_percent_fields and list(message.check(catalogue)):
            wrong[message.id] = message.string
        if not shown <= named or (len(ids) == 1 and shown != named):
            wrong[message.id] = message.string
    assert wrong == {}
