"""Which parts of an MCP server's entry are secrets, what stands for them, and what is never hidden."""

import json

import pytest

from app.core.servers import (
    McpServer,
    has_key,
    has_user,
    hidden_address,
    parted,
    resolved,
    secret_fields,
    to_hide,
)

KEY = "sk-canary-7Qx0ZlV9pT3mKw8RbN2d"

SECRETS = [
    ({"env": {"TOKEN": KEY}}, {"env.TOKEN": KEY}),
    ({"env": {"X": "opensesame"}}, {"env.X": "opensesame"}),
    ({"env": {"DB_PASS": "1234"}}, {"env.DB_PASS": "1234"}),
    ({"env": {"PEM": "-----BEGIN\nabc\n"}}, {"env.PEM": "-----BEGIN\nabc\n"}),
    ({"env": {"DB": "postgres://me:pw@h/db"}}, {"env.DB": "postgres://me:pw@h/db"}),
    ({"env": {"HEADERS": '{"Authorization": "Bearer x", "Path": "/a"}'}}, {
        "env.HEADERS": '{"Authorization": "Bearer x", "Path": "/a"}',
    }),
    ({"env": {"OPTS": f"--token {KEY} --to /x"}}, {"env.OPTS": f"--token {KEY} --to /x"}),
    ({"env": {"OPTS": "--password opensesame"}}, {"env.OPTS": "--password opensesame"}),
    ({"env": {"WORDS": "apple river stone cloud"}}, {"env.WORDS": "apple river stone cloud"}),
    ({"env": {"X": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY"}}, {
        "env.X": "wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
    }),
    ({"env": {"HOOK": f"https://h/{KEY}?x=1"}}, {"env.HOOK": f"https://h/{KEY}?x=1"}),
    ({"headers": {"Authorization": f"Bearer {KEY}"}}, {"headers.Authorization": f"Bearer {KEY}"}),
    ({"url": f"https://h/mcp?api_key={KEY}&x=1"}, {"url.api_key": KEY}),
    ({"url": f"https://h/mcp?profile={KEY}"}, {"url.profile": KEY}),
    ({"url": "https://h/s/0a9b8c7d6e5f4a3b2c1d0e9f/mcp"}, {"url.path": "0a9b8c7d6e5f4a3b2c1d0e9f"}),
    ({"args": ("--api-key", KEY)}, {"args.api-key": KEY}),
    ({"args": (f"--token={KEY}",)}, {"args.token": KEY}),
    ({"args": ("-e", f"GITHUB_TOKEN={KEY}")}, {"args.GITHUB_TOKEN": KEY}),
    ({"args": ("--header", f"Authorization: Bearer {KEY}")}, {"args.Authorization": f"Bearer {KEY}"}),
    ({"args": ("postgresql://me:pass-word@h/db",)}, {"args.password": "pass-word"}),
    ({"args": (f"https://h/mcp?token={KEY}",)}, {"args.token": KEY}),
    ({"args": (KEY,)}, {"args.key": KEY}),
    ({"args": (f"Bearer {KEY}", "--token", "a", "--token", "b")}, {
        "args.key": KEY, "args.token": "a", "args.token.2": "b",
    }),
]  # fmt: skip


@pytest.mark.threat("T13")
@pytest.mark.parametrize(("fields", "found"), SECRETS, ids=lambda one: json.dumps(one)[:60])
def test_a_secret_is_taken_out_and_put_back_to_the_letter(fields, found) -> None:
    server = McpServer(name="x", command="run", **fields)
    kept, secrets = parted(server)
    assert secrets == found
    assert set(secret_fields(kept)) == set(found)
    assert not any(value in repr(kept) for value in found.values() if len(value) > 1)
    assert resolved(kept, secrets.get) == server
    assert parted(kept) == (kept, {})
    left, rest = parted(server, leave=found)
    assert (left, rest) == (server, {})


PLAIN = [
    {"env": {"MODE": "production", "DEBUG": "true", "PORT": "8080", "LANG": "ko_KR.UTF-8", "TOKEN": ""}},
    {"env": {"HOME": "/home/me", "BASE": "https://api.example.org/v1", "LD_PRELOAD": "/x.so"}},
    {"env": {"NODE_OPTIONS": "--require /x.js", "PYTHONPATH": "/a:/b", "PATH": "/x"}},
    {"env": {"TOKEN": "${secret:mine}"}, "headers": {"Accept": "text/plain, */*"}},
    {"args": ("-y", "@modelcontextprotocol/server-filesystem@2025.11.25", "/home/me", "--port", "9")},
    {"args": ("--auth", "none", "--key-file=/tmp/evil.sh", "--key", "./evil.sh", "--token", "--verbose")},
    # No name of a package can pass for a key and so be hidden from who is asked to allow it.
    {"args": ("sk-evil-package-1234567890abc", "evil-1234567890-abcdefghij1234")},
    # Nothing that may be what runs is hidden either.
    {"args": ("--auth-command=evil", "--session-hook", "curl", "--token", "curl x | sh", "X-Auth-Cmd: evil")},
    {"args": ("https://evil.example.org/package-1234567890abcdef.tgz?ref=1234567890abcdef12345678",)},
    {"url": "https://mcp.example.org/mcp?project=notes&limit=20#top"},
    {"url": "https://h/mcp?api_key=${secret:url.api_key}"},
]


@pytest.mark.parametrize("fields", PLAIN, ids=lambda one: json.dumps(one)[:60])
def test_what_is_plainly_harmless_stays_where_it_can_be_seen(fields) -> None:
    server = McpServer(name="x", command="run", **fields)
    assert parted(server) == (server, {})


def test_what_nobody_has_a_value_for_stays_a_reference() -> None:
    server = McpServer(name="x", url="https://h/${secret:a}", headers={"Authorization": "Bearer ${secret:b}"})
    filled = resolved(server, {"b": "t${secret:a}"}.get)
    assert filled.url == "https://h/${secret:a}"
    assert filled.headers == {"Authorization": "Bearer t${secret:a}"}


@pytest.mark.threat("T1")
@pytest.mark.parametrize(
    ("address", "shown"),
    [
        ("https://u:pw-1@h/v1", "https://•••@h/v1"),
        ("https://h/v1?api_key=k-1&x=y#z", "https://h/v1?api_key=•••&x=•••#z"),
        ("ftp://u:pw-1@[h/v1?key=k-1", "ftp://•••@[h/v1?key=•••"),
        ("https://h/v1", "https://h/v1"),
    ],
)
def test_an_address_is_shown_without_its_user_and_values(address: str, shown: str) -> None:
    assert hidden_address(address) == shown
    assert has_user(address) == ("u:" in address)
    assert has_key(address) == ("key=" in address)


def test_ordinary_words_are_not_taken_out_of_every_text() -> None:
    for name, value in (("AWS_REGION", "us-east-1"), ("OWNER", "jimin"), ("MODEL", "gpt-4o"), ("KEY", "abc")):
        assert to_hide(f"env.{name}", value) == ()
    assert to_hide("headers.Authorization", f"Bearer {KEY}") == (f"Bearer {KEY}", KEY)
    assert to_hide("env.DB", "postgres://me:pass-word@host/db")[-1] == "pass-word"
    assert to_hide("url.api_key", "a%2Fb%2Fc") == ("a%2Fb%2Fc", "a/b/c")
    assert to_hide("env.PASSWORD", "hunter2") == ("hunter2",)
