"""A place is never shown with its secrets, in whatever form it has them."""

from __future__ import annotations

from pathlib import Path
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from spark_check.log_io.library import Log, LogError
from spark_check.log_io.library.sessions.places import hidden, is_url, without_password
from tests.families.log_io.library.conftest import Fresh

SECRET = "gehe1m"
FORMS = (
    "postgresql://me:{}@host/db",
    "postgresql://:{}@host/db",
    "postgres://me:x{}@y@host:1/db?sslmode=require",
    "postgresql://host/db?password={}",
    "postgresql://host/db?user=me&sslpassword={}&port=1",
    "postgresql://host/db?pass%77ord={}",
    "postgresql://host/db?unheard={}",
    "host=a password={}",
    "host=a password='x {}' dbname=d",
    "password = {}",
    "sslpassword={} host=a",
    "host=a dbname=postgresql://me:{}@h/d",
    "unheard=1 password={}",
    "jdbc:postgresql://host/db?password={}",
    "mysql://me:{}@host/db",
    "me:{}@host:5432/db",
    "//me:{}@host/db",
)


@pytest.mark.parametrize("form", FORMS)
@pytest.mark.parametrize("secret", [SECRET, f"%41{SECRET}", f"a/{SECRET}", f"a?{SECRET}#"])
def test_a_secret_is_not_shown(form: str, secret: str) -> None:
    place = form.format(secret)
    assert SECRET not in without_password(place)
    assert SECRET not in hidden(f"cannot open {place}", place)
    if not place.startswith(("//", "me:")):
        for read_only in (False, True):
            with pytest.raises(LogError) as raised:
                Log(place, read_only=read_only)
            assert SECRET not in str(raised.value)


@given(st.text("kqxzKQXZ0179", min_size=4, max_size=12))
def test_no_part_of_an_encoded_password_is_shown(secret: str) -> None:
    word = f"{secret}@:/?#& {secret}"
    for place in (
        f"postgresql://USER:{quote(word, safe='')}@HOST/DB",
        f"postgresql://HOST/DB?password={quote(word, safe='')}",
        f"host=HOST password='{word}'",
    ):
        shown = without_password(place).replace("password", "")
        assert shown in (
            "postgresql://USER:***@HOST/DB",
            "postgresql://HOST/DB?=***",
            "host=HOST =***",
        )
        assert secret not in hidden(f"the word {word} is wrong", place)


def test_a_secret_of_the_environment_is_not_shown(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PGPASSWORD", SECRET)
    assert hidden(f"it is {SECRET}", "postgresql://host/db") == "it is ***"


@pytest.mark.parametrize("fresh", ["postgresql"], indirect=True)
def test_the_keywords_of_libpq_are_a_place(fresh: Fresh) -> None:
    folder = fresh().partition("host=")[2]
    place = f"host={folder} user=postgres dbname=postgres password={SECRET}"
    assert is_url(place)
    assert not is_url("./host=a")
    with Log(place) as log:
        assert log.database.name.endswith("dbname=postgres password=***")
        assert log.fetch_new_events("b").events == []


@pytest.mark.parametrize("read_only", [False, True])
@pytest.mark.parametrize(
    ("place", "words"),
    [
        ("a\0b", r"the place of a log 'a\x00b' has a NUL character"),
        (Path("a\0b"), r"the place of a log 'a\x00b' has a NUL character"),
        (
            "postgresql://h\0x/db",
            r"the place of a log 'postgresql://h\x00x/db' has a NUL",
        ),
        ("host=h\0x password=p", r"the place of a log 'host=h\x00x password=***' has a NUL char"),
        ("", "the place of a log '' has no name"),
        ("no/a\n\udc80b.db", r"no/a\n\udc80b.db"),
    ],
)
def test_a_place_that_nobody_can_open_is_a_line(
    place: str | Path, words: str, read_only: bool, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    with pytest.raises(LogError) as raised:
        Log(place, read_only=read_only)
    assert str(raised.value).startswith(words)
    assert str(raised.value).isprintable()
    assert [*tmp_path.iterdir()] == []
