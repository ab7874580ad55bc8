"""The place of a log, a file of SQLite or a database on a PostgreSQL server, without its secrets.

Rule of this file: texts; nothing is opened.

libpq has two forms for a database on a server: a URL, and keywords (host=... dbname=...).  Both may
hold secrets, plain or percent-encoded, and the environment may, too.  A place is shown with what is
known to be no secret, and nothing else.
"""

from __future__ import annotations

import os
import re
from collections.abc import Iterator
from pathlib import Path
from urllib.parse import unquote

URL = re.compile(r"\s*postgres(ql)?://")
ANY_URL = re.compile(r"((?:[^/?#@]*:)?//|(?=[^/@]*:[^@]*@))(.*)", re.DOTALL)
"""Its scheme, and the rest; also of a URL whose scheme was forgotten, if it has a password."""
KEYWORD = re.compile(
    r"\s*([A-Za-z_]\w*)\s*=\s*('(?:[^'\\]|\\.)*(?:'|\Z)|(?:[^\s\\]|\\.)*)", re.DOTALL
)
SECRET = re.compile(r"(?i)(password|secret)\s*=")
OPEN = re.compile(
    "host|hostaddr|port|dbname|user|connect_timeout|application_name|options|sslmode|service"
    "|target_session_attrs|client_encoding|keepalives|gssencmode|channel_binding"
)
"""Keywords whose values are no secret."""
OTHERS = re.compile(
    "password|passfile|ssl[a-z_]*|(keepalives|scram|oauth|gss|krb)[a-z_]*|tcp_user_timeout|replication"
    "|require[a-z_]*|fallback_application_name|load_balance_hosts|m(in|ax)_protocol_version"
)
"""The other keywords that libpq knows."""
ENVIRONMENT = ("PGPASSWORD", "PGSSLPASSWORD", "PGOAUTHCLIENTSECRET")
HIDDEN, SHORT = "***", 3
FORMS = "give a file of SQLite or postgresql://USER@HOST/DATABASE"


def is_url(place: str | Path) -> bool:
    """Is the place a database on a PostgreSQL server, as a URL or as keywords of libpq?"""
    text = str(place)
    return bool(URL.match(text)) or _has_keywords(text)


def what_is_wrong(place: str | Path) -> str:
    """Why nobody can open the place, whatever there is; empty if somebody may.

    Clients misunderstand both: SQLite opens a file without a name, which is gone when it is closed,
    and libpq a host or a database whose name ends before the NUL.
    """
    text = str(place)
    return "no name" if not text else "a NUL character" if "\0" in text else ""


def _has_keywords(text: str) -> bool:
    """Does it begin as libpq's keywords do?  The name of a file may: write ./host=1 for that."""
    first = KEYWORD.match(text)
    if first is None:
        return False
    key = first[1].lower()
    return bool(OPEN.fullmatch(key) or OTHERS.fullmatch(key) or SECRET.search(text))


def without_password(place: str | Path) -> str:
    """The place as one may print it: without its secrets, in one line."""
    text = str(place)
    if _has_keywords(text):
        pairs = [(one[1], one[2]) for one in KEYWORD.finditer(text)]
        shown = " ".join(f"{key}={_value(key, value)}" for key, value in pairs)
    elif found := ANY_URL.match(text):
        user, password, after = _login(found[2])
        shown = f"{found[1]}{user}{password and HIDDEN}{_shown_query(after)}"
    else:
        return _in_one_line(text)
    return _in_one_line(" ".join(shown.split()))


def _in_one_line(text: str) -> str:
    """The text with an escape, as in Python, for each character that cannot be printed."""
    return "".join(one if one.isprintable() else repr(one)[1:-1] for one in text)


def _login(rest: str) -> tuple[str, str, str]:
    """USER:, PASSWORD and @HOST/DATABASE; the last @ ends the password, whatever is in it."""
    before, at, after = rest.rpartition("@")
    user, colon, password = before.partition(":")
    if not at or "/" in user or "?" in user:  # the @ stands in what follows the host
        return "", "", rest
    return user + colon, password, at + after


def _shown_query(text: str) -> str:
    path, mark, query = text.partition("?")
    pairs = (one.partition("=") for one in query.split("&"))
    shown = (f"{key}{equal}{_value(unquote(key), value)}" for key, equal, value in pairs)
    return path + mark + "&".join(shown)


def _value(key: str, value: str) -> str:
    """The value of a keyword, if it is no secret; a dbname may hold a place of its own."""
    bare = unquote(value.strip("'"))
    if OPEN.fullmatch(key.lower()) and not re.search(r"://|=", bare):
        return value
    return HIDDEN if value else ""


def hidden(text: str, place: str | Path) -> str:
    """An error of a client in one line, without the secrets of the place or the environment.

    A client that misreads a place shows parts of a secret: these are hidden, too.
    """
    line = " ".join(text.split())
    for secret in sorted({*_secrets(str(place))}, key=len, reverse=True):
        found = re.escape(secret)
        if len(secret) <= SHORT:  # a letter of a password is in every word
            found = rf"(?<!\w){found}(?!\w)"
        line = re.sub(found, HIDDEN, line)
    return line


def _secrets(place: str) -> Iterator[str]:
    for whole in (*_written(place), *filter(None, map(os.environ.get, ENVIRONMENT))):
        for text in (whole, unquote(whole), whole.strip("'")):
            yield from filter(None, (text, *re.split(r"[@:/?#&=\s]+", text)))


def _written(place: str) -> Iterator[str]:
    """The values of a place that it is not shown with."""
    values: list[tuple[str, str]] = []
    if _has_keywords(place):
        values = [(one[1], one[2]) for one in KEYWORD.finditer(place)]
    elif found := ANY_URL.match(place):
        _, password, after = _login(found[2])
        yield password
        pairs = [one.partition("=") for one in after.partition("?")[2].split("&")]
        values = [(unquote(key), value) for key, _, value in pairs]
    yield from (value for key, value in values if _value(key, value) != value)
