"""The files of deployment name settings that exist, run as nobody in particular, and check health as it is told."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from dataclasses import fields
from pathlib import Path

import pytest
import yaml

from kb_qa.settings import Settings
from tests.scripted_service import ScriptedKnowledgeBase, served

ROOT = Path(__file__).resolve().parent.parent
DOCKERFILE = (ROOT / "Dockerfile").read_text(encoding="utf-8")
UNIT = (ROOT / "deploy" / "kb-qa.service").read_text(encoding="utf-8")
COMPOSE = yaml.safe_load((ROOT / "compose.yaml").read_text(encoding="utf-8"))
KNOWN = {f"KB_QA_{field.name.upper()}" for field in fields(Settings)}


@pytest.mark.parametrize("name", ["Dockerfile", "compose.yaml", "deploy/kb-qa.service", "docs/operations.md"])
def test_settings_that_are_named_exist(name: str) -> None:
    """A misspelt one would end the service at its start."""
    named = set(re.findall(r"KB_QA_[A-Z_]+", (ROOT / name).read_text(encoding="utf-8")))
    assert named
    assert named <= KNOWN


def test_what_the_image_copies_is_there_and_nothing_else_is_sent() -> None:
    """Every source of COPY exists and passes `.dockerignore`, which shuts out all that is not named."""
    ignored = (ROOT / ".dockerignore").read_text(encoding="utf-8").splitlines()
    copied = [
        source
        for line in re.findall(r"^COPY (?!--from)(.+)$", DOCKERFILE, re.MULTILINE)
        for source in line.split()[:-1]
    ]
    assert ignored[0] == "*"
    assert copied
    assert all((ROOT / source).exists() and f"!{source}" in ignored for source in copied)


def test_the_image_is_nobodys_and_pinned() -> None:
    """A user by number as the last, a base by version, exact packages, the command as a list."""
    assert re.findall(r"^USER (.+)$", DOCKERFILE, re.MULTILINE)[-1] == "10001:10001"
    assert re.search(r"^ARG PYTHON=3\.\d+$", DOCKERFILE, re.MULTILINE)
    assert "latest" not in DOCKERFILE
    assert "-r requirements.lock" in DOCKERFILE
    assert json.loads(re.findall(r"^CMD (.+)$", DOCKERFILE, re.MULTILINE)[-1]) == ["serve"]


def test_the_container_can_write_to_its_volume_only() -> None:
    """Read-only root, no capabilities, loopback of the host."""
    (service,) = COMPOSE["services"].values()
    assert (service["read_only"], service["cap_drop"], service["user"]) == (True, ["ALL"], "10001:10001")
    assert "no-new-privileges:true" in service["security_opt"]
    assert all(port.startswith("127.0.0.1:") for port in service["ports"])
    assert [volume for volume in service["volumes"] if not volume.endswith(":ro")] == ["data:/data"]
    assert "KB_QA_KB=/data/kb" in DOCKERFILE


def test_the_health_check_tells_dead_from_alive() -> None:
    """The image's own command, against a service and against none."""
    match = re.search(r"^    CMD (\[.+\])$", DOCKERFILE, re.MULTILINE)
    assert match is not None
    _, *arguments = json.loads(match[1])
    codes = []
    with served(ScriptedKnowledgeBase()) as base:
        for port in (base.rsplit(":", 1)[1], "9"):
            environment = os.environ | {"KB_QA_PORT": port}
            done = subprocess.run([sys.executable, *arguments], env=environment, capture_output=True, timeout=30)
            codes.append(done.returncode)
    assert codes == [0, 1]


def test_the_unit_is_hardened() -> None:
    """No privileges to gain, nothing to write but its own state; namespaces only as the parser children need them."""
    for line in (
        "NoNewPrivileges=yes",
        "CapabilityBoundingSet=",
        "ProtectSystem=strict",
        "StateDirectory=kb-qa",
        "RestrictNamespaces=user net",
        "User=kb-qa",
    ):
        assert line in UNIT.splitlines()
