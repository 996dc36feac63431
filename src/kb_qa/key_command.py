"""`kb-qa key`: makes, lists and ends the keys that the service asks for."""

from __future__ import annotations

import json
import time
from collections.abc import Iterator
from contextlib import closing, contextmanager
from datetime import UTC, datetime
from pathlib import Path

import click

from kb_qa.access_keys import KEY_SCOPES, AccessKey, AccessKeys, KeyScope
from kb_qa.command_line import json_option, kb_option, settings_of
from kb_qa.database import Database

_DAY_SECONDS = 86400


@click.group()
def key() -> None:
    """Keys to the service. Once there is one, every request needs one; without one only this machine may ask."""


@key.command("create")
@click.argument("name")
@click.option(
    "--scope",
    "scopes",
    type=click.Choice(KEY_SCOPES),
    multiple=True,
    default=("read",),
    show_default=True,
    help="What it allows; repeatable. admin is all of them.",
)
@click.option("--for", "knowledge_base", default="", metavar="KB", help="Only a knowledge base in a folder named so.")
@click.option("--days", type=click.IntRange(1, 36500), help="How long it works [default: until it is revoked].")
@kb_option
@json_option
def create_key(
    name: str, scopes: tuple[KeyScope, ...], knowledge_base: str, days: int | None, kb: Path | None, as_json: bool
) -> None:
    """Make the key NAME and show it, once: only its digest is kept."""
    expires = None if days is None else time.time() + days * _DAY_SECONDS
    with _keys(kb) as keys:
        made, secret = keys.create(name, scopes, knowledge_base=knowledge_base, expires=expires)
    click.echo(json.dumps(_line(made) | {"key": secret}) if as_json else secret)
    if not as_json:
        click.echo("kb-qa: this is shown once; send it as `Authorization: Bearer KEY`, or sign in with it", err=True)


@key.command("list")
@kb_option
@json_option
def list_keys(kb: Path | None, as_json: bool) -> None:
    """List the keys with what they allow. The keys themselves cannot be shown."""
    with _keys(kb) as keys:
        lines = [_line(each) for each in keys.all()]
    for line in lines:
        click.echo(json.dumps(line) if as_json else _text(line))


@key.command("revoke")
@click.argument("name")
@click.option("--forget", is_flag=True, help="Take it off the list, too. Without any, this machine may ask again.")
@kb_option
@json_option
def revoke_key(name: str, forget: bool, kb: Path | None, as_json: bool) -> None:
    """End the key NAME (or id). A running service takes it no more after about a second."""
    with _keys(kb) as keys:
        ended = keys.revoke(name, forget=forget)
    line = {"id": ended.id, "name": ended.name, "state": "forgotten" if forget else "revoked"}
    click.echo(json.dumps(line) if as_json else f"{line['state']} {ended.name}")


@contextmanager
def _keys(kb: Path | None) -> Iterator[AccessKeys]:
    """A place without a ledger gets one: keys may be made before the first document is there."""
    with closing(Database.open(settings_of(kb).kb, create=True)) as database:
        yield AccessKeys(database)


def _line(made: AccessKey) -> dict[str, object]:
    return {
        "id": made.id,
        "name": made.name,
        "scopes": list(made.scopes),
        "knowledge_base": made.knowledge_base or None,
        "created": _moment(made.created),
        "expires": _moment(made.expires),
        "revoked": _moment(made.revoked),
        "state": made.state(time.time()),
    }


def _moment(seconds: float | None) -> str | None:
    return None if seconds is None else datetime.fromtimestamp(seconds, UTC).isoformat(timespec="seconds")


def _text(line: dict[str, object]) -> str:
    scopes = line["scopes"]
    assert isinstance(scopes, list)
    only = f"  only {line['knowledge_base']}" if line["knowledge_base"] else ""
    until = f"  until {line['expires']}" if line["expires"] else ""
    return f"{line['state']!s:<8} {line['id']}  {line['name']}  {','.join(scopes)}{only}{until}"
