"""`kb-qa key` shows a key once, and never again."""

from __future__ import annotations

import json
from pathlib import Path

from click.testing import CliRunner, Result

from kb_qa.cli import main


def key(*arguments: str, kb: Path) -> Result:
    return CliRunner().invoke(main, ["key", *arguments, "--kb", str(kb)])


def test_create_list_revoke(tmp_path: Path) -> None:
    """A key can be made before the first document is there; the list never shows it; revoked, it is listed as such."""
    made = json.loads(key("create", "page", "--scope", "read", "--scope", "write", "--json", kb=tmp_path).stdout)
    assert (made["name"], made["scopes"], made["state"]) == ("page", ["read", "write"], "active")
    listed = key("list", "--json", kb=tmp_path).stdout
    assert made["key"] not in listed
    assert json.loads(listed) == {name: value for name, value in made.items() if name != "key"}
    assert json.loads(key("revoke", "page", "--json", kb=tmp_path).stdout)["state"] == "revoked"
    assert key("list", kb=tmp_path).stdout.startswith("revoked")
    assert key("revoke", "page", "--forget", kb=tmp_path).stdout == "forgotten page\n"
    assert key("list", kb=tmp_path).stdout == ""


def test_the_key_alone_stands_on_standard_output(tmp_path: Path) -> None:
    """So that it can be taken from there; by default it may read, for as long as it is not revoked."""
    done = key("create", "ci", "--days", "7", "--for", "kb", kb=tmp_path)
    assert done.stdout.startswith("kbqa_")
    assert len(done.stdout.splitlines()) == 1
    line = json.loads(key("list", "--json", kb=tmp_path).stdout)
    assert (line["scopes"], line["knowledge_base"]) == (["read"], "kb")
    assert line["expires"] is not None


def test_what_is_wrong_ends_with_2(tmp_path: Path) -> None:
    """A name twice, a scope that is none, a key that is none."""
    key("create", "a", kb=tmp_path)
    for arguments in (["create", "a"], ["create", "b", "--scope", "root"], ["revoke", "b"]):
        assert key(*arguments, kb=tmp_path).exit_code == 2
