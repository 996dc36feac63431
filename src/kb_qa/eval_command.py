"""`kb-qa eval`: how well this knowledge base answers a user's own questions, and whether a setting makes it better."""

from __future__ import annotations

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, replace
from datetime import datetime
from pathlib import Path

import click
from rich.console import Console
from rich.progress import Progress

from kb_qa.command_line import json_option, kb_option, settings_of, terminal_language, write_output
from kb_qa.errors import EnvironmentProblemError, InputError
from kb_qa.eval_crops import crops_of
from kb_qa.eval_tables import print_run
from kb_qa.evaluation.cases import Case, read_cases
from kb_qa.evaluation.context_set import context_cases
from kb_qa.evaluation.labels import word
from kb_qa.evaluation.page_search import PageSearch
from kb_qa.evaluation.report import html_report
from kb_qa.evaluation.runs import Run, question_line, summary_line
from kb_qa.ledger import Ledger
from kb_qa.observe import Asker, HereAsker, RemoteAsker, named_documents, observe, stored_pages, unaskable
from kb_qa.scratch import Scratch
from kb_qa.settings import PREFIX, Settings
from kb_qa.wiring import open_knowledge_base, open_ledger, service_address

COMPARE_HELP = (
    "A setting such as KB_QA_TOP_K=12 or KB_QA_KB=other: the same questions are asked a second time with it, and the "
    "differences shown. Repeatable; a FILE of such lines is as good."
)

_SHOWN_FAULTS = 5
_LISTED = "kb-qa documents lists the documents with their pages; pages count from 1, as a viewer counts them"


@dataclass(frozen=True, slots=True)
class _Options:
    within: bool
    searches_only: bool
    as_json: bool


@dataclass(frozen=True, slots=True)
class _Given:
    """A configuration before it is asked."""

    name: str
    settings: Settings
    asker: Asker
    about: Mapping[str, str]


@click.command("eval")
@click.argument("questions", type=click.Path(exists=True, path_type=Path))
@click.option("-o", "--output", type=click.Path(path_type=Path), help="An HTML report to write, or - for stdout.")
@click.option("--compare", "compared", multiple=True, metavar="NAME=VALUE", help=COMPARE_HELP)
@click.option("--within", is_flag=True, help="Ask of the document that a question names alone.")
@click.option("--search-only", is_flag=True, help="Only whether pages are found: no answers.")
@click.option("--limit", type=click.IntRange(min=1), help="Only the first so many questions.")
@kb_option
@json_option
def evaluate(  # noqa: PLR0913  (an argument an option)
    questions: Path,
    output: Path | None,
    compared: tuple[str, ...],
    within: bool,
    search_only: bool,
    limit: int | None,
    kb: Path | None,
    as_json: bool,
) -> None:
    """Ask QUESTIONS, a JSON object a line, and say how many are answered as they should be.

    A line is {question, document?, pages?, region?: {page, bbox}, answer? | answers?, not_in_documents?: true, kind?};
    what a line does not say is not scored. A folder of a benchmark is read too. Exit code 1 where a question failed.
    """
    if as_json and str(output) == "-":
        raise click.UsageError("give --json or -o -, not both")
    cases = cases_in(questions)[:limit]
    settings = settings_of(kb)
    chosen = [("A", settings), *([("B", other_settings(settings, compared))] if compared else [])]
    options = _Options(within, search_only, as_json)
    require_expected(cases, chosen)
    try_output(output)
    runs = []
    for name, each in chosen:
        about = {"settings": " ".join(compared)} if name == "B" else {}
        is_changed = name == "B" and replace(each, kb=settings.kb) != settings
        with _asker(each, is_changed=is_changed) as (asker, where, model):
            asked = f"{word('within' if within else 'everywhere', terminal_language())}, {where}"
            about |= {"asked": asked, "model": model}
            run = _Given(name if compared else "kb-qa", each, asker, about)
            runs.append(_observed(run, cases, options))
    if output is not None:
        write_output(output, _report(runs, settings).encode("utf-8"))
    if as_json:
        click.echo(json.dumps(summary_line(runs), ensure_ascii=False))
    elif str(output) != "-":
        print_run(Console(), runs, terminal_language())
        if output is not None:
            click.echo(f"wrote {output}")
    if any(each.answered is not None and each.answered.error for run in runs for each in run.observed):
        raise SystemExit(1)


def cases_in(path: Path) -> tuple[Case, ...]:
    """The questions of a file of lines; or of a folder with a benchmark's `questions.jsonl` or `contexts.json`."""
    lines, contexts = path / "questions.jsonl", path / "contexts.json"
    try:
        if not path.is_dir():
            return read_cases(path.read_bytes().splitlines(), path.name)
        if lines.is_file():
            return read_cases(lines.read_bytes().splitlines(), lines.name)
        if contexts.is_file():
            return tuple(context_cases(json.loads(contexts.read_bytes())))
    except OSError as error:
        raise InputError(f"{str(path)!r} cannot be read: {error.strerror}") from error
    except (ValueError, KeyError, TypeError, AttributeError) as error:
        raise InputError(f"{str(contexts)!r} is no set of contexts with questions: {error!r:.200}") from error
    raise InputError(f"the folder {str(path)!r} has neither questions.jsonl nor contexts.json")


def other_settings(settings: Settings, given: Sequence[str]) -> Settings:
    """The settings of the second configuration. Raises InputError for a name or value that is none."""
    changed: dict[str, str] = {}
    for line in [each for text in given for each in _assignments(text)]:
        name, equals, value = line.partition("=")
        if not equals or not name.startswith(PREFIX):
            raise InputError(f"{line!r:.120} is no setting: write {PREFIX}NAME=VALUE, or name a file of such lines")
        changed[name.strip()] = value.strip()
    environment = {name: value for name, value in os.environ.items() if name.startswith(PREFIX)} | changed
    other = Settings.from_environment({"XDG_CACHE_HOME": os.environ.get("XDG_CACHE_HOME", ""), **environment})
    return other if f"{PREFIX}KB" in changed else replace(other, kb=settings.kb)


def _assignments(text: str) -> list[str]:
    """The text itself, or the lines of the file that it names, without comments."""
    if "=" in text or not Path(text).is_file():
        return [text]
    lines = (line.strip().removeprefix("export ") for line in Path(text).read_text(encoding="utf-8").splitlines())
    return [line for line in lines if line and not line.startswith("#")]


def _observed(given: _Given, cases: Sequence[Case], options: _Options) -> Run:
    with open_ledger(given.settings) as ledger:
        documents = named_documents(cases, ledger)
        seen = observe(
            cases,
            given.asker,
            documents,
            {"bm25": PageSearch(stored_pages(ledger))},
            within=options.within,
            answers=not options.searches_only,
        )
        observed = []
        with Progress(console=Console(stderr=True), disable=options.as_json, transient=True) as progress:
            for each in progress.track(seen, total=len(cases), description=given.name):
                observed.append(each)
                if options.as_json:
                    click.echo(json.dumps(question_line(given.name, each), ensure_ascii=False))
        ready = sum(record.state == "ready" for record in ledger.documents())
        about = {"knowledge base": shown_name(ledger), "documents": str(ready)}
    return Run(given.name, tuple(observed), {**about, **given.about})


def shown_name(ledger: Ledger) -> str:
    """What the knowledge base is called, and its directory where that is called otherwise: two may share a name."""
    name, directory = ledger.name(), ledger.kb_dir.absolute().name
    return name if name == directory else f"{name} ({directory})"


@contextmanager
def _asker(settings: Settings, *, is_changed: bool) -> Iterator[tuple[Asker, str, str]]:
    """Who is asked (the service that owns the index, where one runs), that in words, and the model's id if known."""
    language = terminal_language()
    address = service_address(settings)
    if not address:
        with open_knowledge_base(settings) as knowledge_base:
            asker = HereAsker(knowledge_base)
            asker.warm_up()
            yield asker, word("here", language), knowledge_base.model.id
        return
    if is_changed:
        raise EnvironmentProblemError(
            f"the service at {address} owns the index and answers with its own settings; "
            "stop it to compare settings, or compare with another KB_QA_KB alone"
        )
    yield RemoteAsker(address, settings.key), word("service", language, address=address), ""


def try_output(output: Path | None) -> None:
    """Before everything is asked: a report that cannot be written is told at once. What stands there stays."""
    if output is None or str(output) == "-":
        return
    stood = output.exists()
    try:
        output.open("ab").close()
        if not stood:
            output.unlink()  # an empty file is no report
    except OSError as error:
        raise InputError(f"{str(output)!r} cannot be written: {error.strerror}") from error


def require_expected(cases: Sequence[Case], chosen: Iterable[tuple[str, Settings]]) -> None:
    """Before anything is asked, of each knowledge base. Raises InputError that names the questions and the faults."""
    for kb, settings in {settings.kb: settings for _, settings in chosen}.items():
        with open_ledger(settings) as ledger:
            faults = [*unaskable(cases, named_documents(cases, ledger), ledger)]
        if faults:
            left = len(faults) - _SHOWN_FAULTS
            more = [f"… and {left} more questions"] if left > 0 else []
            told = "\n".join([*faults[:_SHOWN_FAULTS], *more])
            raise InputError(f"{str(kb)!r} does not hold what these questions expect:\n{told}\n{_LISTED}")


def _report(runs: Sequence[Run], settings: Settings) -> str:
    language = terminal_language()
    with open_ledger(settings) as ledger, Scratch() as cache:
        crops = crops_of(runs[0].observed, ledger, cache, language)
    made = datetime.now().astimezone().strftime("%Y-%m-%d %H:%M")
    return html_report(runs, crops, language=language, made=made)
