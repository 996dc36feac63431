"""The command line, tried as a user would: commands, JSON lines, exit codes, clear messages."""

import json
import subprocess
import sys
from pathlib import Path

import pymupdf
import pytest
from click.testing import CliRunner

from kb_qa.cli import main
from kb_qa.command_line import output_names
from kb_qa.ledger import Ledger
from kb_qa.marks import MarkedDocument
from tests.sample_kb import ROOT, SAMPLES, Run, run
from tests.scripted_service import ANSWER, DOCUMENT, OTHER, citation, events


def test_ingest_reports_every_file_and_a_summary(sample_ingest: tuple[Path, Run]) -> None:
    """Each sample is ready with its pages and chunks; the last line sums them up."""
    _, done = sample_ingest
    *files, last = done.lines
    assert done.code == 0, done.err
    assert sorted(line["path"] for line in files) == sorted(path.name for path in SAMPLES.iterdir())
    for line in files:
        assert line["state"] == "ready", line
        assert line["chunks"] > 0
        assert line["elements"] > 0
        assert len(line["document_id"]) == 64
    assert last["summary"]["ready"] == len(files)
    assert next(line["pages"] for line in files if line["path"] == "briefing.pdf") == 5


def test_a_second_ingest_changes_nothing(sample_kb: Path) -> None:
    """The same bytes are not parsed or embedded again, also under another folder's name."""
    done = run("ingest", SAMPLES, "--kb", sample_kb, "--json")
    assert done.code == 0, done.err
    assert {line["reason"] for line in done.lines[:-1]} == {"unchanged"}
    assert done.lines[-1]["summary"]["unchanged"] == len(done.lines) - 1


def test_bad_files_are_told_and_the_others_go_in(tmp_path: Path) -> None:
    """Empty, truncated, misnamed, encrypted and unknown files each have a reason; the good one is in; exit code 1."""
    folder = tmp_path / "in"
    folder.mkdir()
    (folder / "good.txt").write_text("The warranty lasts 31 months.", encoding="utf-8")
    (folder / "empty.pdf").write_bytes(b"")
    (folder / "cut.pdf").write_bytes((SAMPLES / "briefing.pdf").read_bytes()[:600])
    (folder / "page.pdf").write_text("<html><body>hi 42</body></html>", encoding="utf-8")
    (folder / "program.exe").write_bytes(b"MZ\x00\x00" * 50)
    locked = pymupdf.open()
    locked.new_page().insert_text((72, 72), "secret")
    locked.save(folder / "locked.pdf", encryption=pymupdf.PDF_ENCRYPT_AES_256, user_pw="x", owner_pw="y")
    done = run("ingest", folder, "--kb", tmp_path / "kb", "--json")
    states = {line["path"]: (line["state"], line["reason"]) for line in done.lines[:-1]}
    assert done.code == 1
    assert states.pop("good.txt") == ("ready", "")
    assert set(states) == {"empty.pdf", "cut.pdf", "page.pdf", "program.exe", "locked.pdf"}
    for state, reason in states.values():
        assert state in {"quarantined", "skipped"}
        assert reason
    assert "password" in states["locked.pdf"][1]
    assert "Traceback" not in done.err


@pytest.mark.parametrize(
    ("arguments", "code", "message"),
    [
        pytest.param(["ask", "x", "--kb", "KB"], 3, "ingest", id="nothing ingested"),
        pytest.param(["documents", "--kb", "KB"], 3, "ingest", id="no documents"),
        pytest.param(["ingest", "KB/nowhere", "--kb", "KB"], 2, "nowhere", id="no such path"),
        pytest.param(["elements", "KB/nowhere.pdf"], 2, "nowhere", id="no such file"),
        pytest.param(
            ["crop", "BRIEFING", "--page", "99", "--bbox", "1,1,9,9", "-o", "KB.png"], 2, "99", id="no such page"
        ),
        pytest.param(["crop", "BRIEFING", "--page", "1", "--bbox", "9,9,1", "-o", "KB.png"], 2, "bbox", id="no box"),
        pytest.param(
            ["crop", "BRIEFING", "--page", "1", "--bbox", "1,1,9,9", "-o", "KB/no/x.png"], 2, "written", id="no folder"
        ),
        pytest.param(["highlight", "a" * 32, "-o", "KB.pdf", "--kb", "KB"], 3, "ingest", id="no answers"),
        pytest.param(["frobnicate"], 2, "frobnicate", id="no such command"),
        pytest.param(["search"], 2, "QUESTION", id="no question"),
        pytest.param(["search", " ", "--kb", "KB"], 2, "1 to 4000 characters", id="blank question"),
        pytest.param(["ask", "x" * 4001, "--kb", "KB"], 2, "1 to 4000 characters", id="endless question"),
    ],
)
def test_wrong_use_is_one_clear_message(tmp_path: Path, arguments: list[str], code: int, message: str) -> None:
    """Wrong use is exit code 2, a missing index 3; the message names what is wrong."""
    names = {"KB": tmp_path / "kb", "BRIEFING": SAMPLES / "briefing.pdf"}
    filled = [str(names.get(part, part)).replace("KB", str(tmp_path / "kb")) for part in arguments]
    done = run(*filled)
    assert done.code == code, done.err
    assert message in done.err
    assert "Traceback" not in done.err


def test_a_folder_without_documents_is_told(tmp_path: Path) -> None:
    """There is nothing to ingest in an empty folder."""
    (tmp_path / "empty").mkdir()
    done = run("ingest", tmp_path / "empty", "--kb", tmp_path / "kb")
    assert done.code == 2
    assert "empty" in done.err


def test_ask_prints_the_answer_and_its_references(sample_kb: Path) -> None:
    """A reader at a terminal sees the figure and where it stands."""
    done = run("ask", "P5 的基本工资是多少？", "--kb", sample_kb)
    assert done.code == 0, done.err
    assert "22000" in done.out
    assert "briefing.pdf · P4·表格" in done.out


def test_a_refusal_is_exit_code_one(sample_kb: Path) -> None:
    """The refusal is in the question's language."""
    done = run("ask", "P9 的基本工资是多少？", "--kb", sample_kb)
    assert done.code == 1
    assert "材料中未找到相关信息" in done.out


def test_ask_json_prints_the_events(sample_kb: Path) -> None:
    """One event a line, the same as over HTTP, the end last."""
    done = run("ask", "P5 的基本工资是多少？", "--kb", sample_kb, "--json", "--document", "briefing.pdf")
    names = [line["event"] for line in done.lines]
    assert names[:2] == ["start", "sources"]
    assert names[-1] == "end"
    assert [line["id"] for line in done.lines] == list(range(1, len(names) + 1))
    assert {source["document"] for source in done.lines[1]["data"]["sources"]} == {"briefing.pdf"}


def test_questions_of_a_session_are_understood_together(sample_kb: Path) -> None:
    """A second question of the same name says only what is new; what it was taken for is told, and JSON has it, too."""
    first = run("ask", "P5 的基本工资是多少？", "--session", "pay.2025", "--kb", sample_kb)
    then = run("ask", "P6呢？", "--session", "pay.2025", "--kb", sample_kb)
    assert (first.code, then.code) == (0, 0), then.err
    assert "understood as: P6 的基本工资是多少？" in then.err
    assert "P6" in then.out
    assert "22000" not in then.out
    start = run("ask", "那绩效系数呢？", "--session", "pay.2025", "--kb", sample_kb, "--json").lines[0]["data"]
    assert (start["question"], start["session_id"]) == ("那绩效系数呢？", "pay.2025")
    assert start["standalone"] == "P6 的绩效系数是多少？"
    alone = run("ask", "P6呢？", "--kb", sample_kb)
    assert "understood as" not in alone.err


def test_a_wrong_session_name_is_wrong_use(sample_kb: Path) -> None:
    """It is told before anything is opened."""
    done = run("ask", "q", "--session", "a b", "--kb", sample_kb)
    assert done.code == 2
    assert "letters, digits" in done.err


def test_asking_a_document_that_is_not_there_is_an_error(sample_kb: Path) -> None:
    """A misspelt name is told, not answered from other documents."""
    done = run("ask", "P5？", "--kb", sample_kb, "--document", "brief.pdf")
    assert done.code == 2
    assert "brief.pdf" in done.err


def test_search_lists_hits_with_their_places(sample_kb: Path) -> None:
    """Hits come best first with page, regions and score."""
    done = run("search", "P5 基本工资", "--kb", sample_kb, "-k", "3", "--json")
    assert [line["rank"] for line in done.lines] == [1, 2, 3]
    first = done.lines[0]
    assert (first["document"], first["page"], first["element_type"]) == ("briefing.pdf", 4, "table")
    assert first["regions"][0]["bbox"][0] < first["regions"][0]["bbox"][2]


def test_a_search_is_limited_by_every_option(sample_kb: Path) -> None:
    """Page, type and date together leave the one table; a span without documents is told, and wrong use."""
    limits = ("--page", "3-4", "--type", "table", "--since", "2020", "--document", "briefing.pdf")
    done = run("search", "基本工资", "--kb", sample_kb, "--json", *limits)
    assert {(line["document"], line["page"], line["element_type"]) for line in done.lines} == {
        ("briefing.pdf", 4, "table")
    }
    nothing = run("search", "基本工资", "--kb", sample_kb, "--since", "2090")
    assert (nothing.code, "dates since 2090-01-01" in nothing.err) == (2, True)


def test_documents_lists_names_and_states(sample_kb: Path) -> None:
    """Every sample is listed as ready, with the fields that the JSON form promises."""
    done = run("documents", "--kb", sample_kb, "--json")
    assert {line["state"] for line in done.lines} == {"ready"}
    fields = {"document_id", "names", "state", "pages", "chunks", "parser", "flags", "reason", "code"}
    assert set(done.lines[0]) == fields | {"dated", "dated_by", "grades", "page_reasons"}
    listed = run("documents", "--kb", sample_kb).out.splitlines()
    assert all(
        line["dated"] in text and line["names"][0] in text for line, text in zip(done.lines, listed, strict=True)
    )


def test_elements_prints_what_the_parser_sees(sample_kb: Path) -> None:
    """The table's cells come with their text, boxes and header paths."""
    done = run("elements", SAMPLES / "briefing.pdf", "--kb", sample_kb, "--json")
    table = next(line for line in done.lines if line["element_type"] == "table" and line["regions"][0]["page"] == 4)
    cell = next(cell for cell in table["table"]["cells"] if cell["text"] == "22000")
    assert cell["column_headers"] == ["基本工资"]
    assert cell["row_headers"][0] == "P5"
    assert cell["bbox"][0] < cell["bbox"][2]


def test_locate_finds_quotes_and_says_when_not(sample_kb: Path, tmp_path: Path) -> None:
    """Found quotes come with rectangles; one that is nowhere is `found: false` and exit code 1."""
    quotes = tmp_path / "quotes.jsonl"
    lines = [{"id": "a", "quote": "22000", "page": 4}, {"id": "b", "quote": "99999"}]
    quotes.write_text("\n".join(map(json.dumps, lines)), encoding="utf-8")
    done = run("locate", SAMPLES / "briefing.pdf", "--quotes", quotes, "--kb", sample_kb, "--json")
    found, missing = done.lines
    assert (found["id"], found["found"], found["regions"][0]["page"]) == ("a", True, 4)
    assert len(found["regions"][0]["rects"]) == 1
    assert (missing["id"], missing["found"], missing["regions"]) == ("b", False, [])
    assert done.code == 1


def test_locate_takes_the_name_of_a_document(sample_kb: Path) -> None:
    """A document of the knowledge base is searched without its file; a name of nothing is wrong use."""
    done = run("locate", "briefing.pdf", "22000", "--kb", sample_kb, "--json")
    assert (done.code, done.lines[0]["regions"][0]["page"]) == (0, 4), done.err
    missing = run("locate", "nothing.pdf", "22000", "--kb", sample_kb)
    assert missing.code == 2
    assert "'nothing.pdf'" in missing.err


def test_ask_prints_a_markdown_document(sample_kb: Path) -> None:
    """The answer with its numbered quotations, to keep."""
    done = run("ask", "P5的基本工资是多少？", "--markdown", "--kb", sample_kb)
    assert done.code == 0, done.err
    assert done.out.startswith("# P5的基本工资是多少？\n\n")
    assert "<sup>[1]</sup>" in done.out
    assert 'found in "briefing.pdf · P4·表格"' in done.out
    assert run("ask", "q", "--markdown", "--json").code == 2


def test_locate_find_all_lists_every_occurrence(sample_kb: Path) -> None:
    """Each occurrence has its page."""
    done = run("locate", SAMPLES / "briefing.pdf", "--find-all", "职级", "--kb", sample_kb, "--json")
    assert done.code == 0
    assert len(done.lines[0]["matches"]) > 3
    assert all(match["rects"] for match in done.lines[0]["matches"])


def test_crop_writes_the_region(tmp_path: Path) -> None:
    """The picture has the size of the box at the resolution asked for."""
    target = tmp_path / "crop.png"
    done = run(
        *(
            "crop",
            SAMPLES / "briefing.pdf",
            "--page",
            "4",
            "--bbox",
            "60,274,535,304",
            "-o",
            target,
            "--dpi",
            "144",
            "--json",
        )
    )
    picture = pymupdf.Pixmap(str(target))
    assert done.code == 0, done.err
    assert abs(picture.width - 950) <= 2
    assert abs(picture.height - 60) <= 2
    assert done.lines[0]["page"] == 4


def test_a_crop_of_no_region_is_the_page_and_says_why(tmp_path: Path) -> None:
    """The whole page is written; the reason is told, in the JSON line, too, and the exit code is 1."""
    target = tmp_path / "crop.png"
    arguments = ("--page", "1", "--bbox", "nan,0,1,1", "--dpi", "36", "-o", target, "--json")
    done = run("crop", SAMPLES / "briefing.pdf", *arguments)
    picture = pymupdf.Pixmap(str(target))
    assert (done.code, (picture.width, picture.height)) == (1, (298, 421))
    assert "not finite" in done.err
    assert "not finite" in done.lines[0]["reason"]


def test_crop_reads_standard_input_and_writes_standard_output(tmp_path: Path) -> None:
    """`-` on both sides: a picture through a pipe, with nothing but the picture in it. A shell starts the first so."""
    program = "from kb_qa.cli import main; main()"
    arguments = ("crop", "-", "--page", "4", "--bbox", "60,274,535,304", "--marks", "60,274,100,304", "-o", "-")
    command = [sys.executable, "-c", program, *arguments]
    data = (SAMPLES / "briefing.pdf").read_bytes()
    done = subprocess.run(command, input=data, capture_output=True, cwd=ROOT, timeout=100, check=True)
    assert pymupdf.Pixmap(done.stdout).width == 990
    broken = run(*arguments, given=b"hello")
    assert (broken.code, broken.out) == (1, "")
    assert "standard input" in broken.err


def a_cited_answer(kb: Path, **documents: Path | None) -> str:
    """A stored answer that cites `4,812` on page 1 of each of the documents; None is one without pages."""
    cited = []
    with Ledger.open(kb, create=True) as ledger:
        for n, (name, path) in enumerate(documents.items(), 1):
            rects = [[50, 86, 150, 104]]
            regions = [] if path is None else [{"page": 1, "bbox": rects[0], "box": None, "rects": rects}]
            document_id = OTHER if path is None else ledger.store_blob(path)
            document = f"a/{name}.pdf"
            cited.append(citation(n, start=0, end=6, regions=regions, document_id=document_id, document=document))
        ledger.save_answer(ANSWER, "q", events(("start", {}), ("delta", {"text": "Claim."}), *cited))
    return ANSWER


def a_page(path: Path, text: str) -> Path:
    document = pymupdf.open()
    document.new_page(width=400, height=600).insert_text((50, 100), text, fontsize=12)
    document.save(path)
    return path


def highlight(*arguments: str | Path) -> tuple[int, str, str]:
    """Exit code, output and errors of the command, run in this process."""
    done = CliRunner().invoke(main, ["highlight", *map(str, arguments)])
    assert done.exception is None or isinstance(done.exception, SystemExit)
    return done.exit_code, done.stdout, done.stderr


def claims_in(path: Path) -> list[str]:
    with pymupdf.open(path) as document:
        return [annotation.info["content"] for page in document for annotation in page.annots()]


def test_highlight_marks_the_cited_document(tmp_path: Path) -> None:
    """The claim is the note on a copy; the JSON line says where it is."""
    answer = a_cited_answer(tmp_path / "kb", report=a_page(tmp_path / "in.pdf", "Net revenue 4,812"))
    code, out, _ = highlight(answer, "-o", tmp_path / "out.pdf", "--kb", tmp_path / "kb", "--json")
    line = json.loads(out)
    assert code == 0
    assert claims_in(tmp_path / "out.pdf") == ["Claim."]
    assert (line["path"], line["document"], line["claims"]) == (str(tmp_path / "out.pdf"), "a/report.pdf", 1)


def test_highlight_of_several_documents_writes_a_file_each(tmp_path: Path) -> None:
    """Each is named by its document; the one without pages is told, and makes the exit code 1."""
    documents = {"one": a_page(tmp_path / "1", "4,812"), "two": a_page(tmp_path / "2", "4,812 again"), "hb": None}
    answer = a_cited_answer(tmp_path / "kb", **documents)
    code, _, told = highlight(answer, "-o", tmp_path / "out.pdf", "--kb", tmp_path / "kb")
    assert code == 1
    assert "hb.pdf" in told
    assert sorted(path.name for path in tmp_path.glob("*.pdf")) == ["out-one.pdf", "out-two.pdf"]
    arguments = (answer, "-o", tmp_path / "x.pdf", "--document", "two.pdf", "--kb", tmp_path / "kb")
    assert (highlight(*arguments)[0], claims_in(tmp_path / "x.pdf")) == (0, ["Claim."])


def test_highlight_tells_what_it_cannot_do(tmp_path: Path) -> None:
    """No such answer, no such document in it, no folder to write to: exit code 2 and one clear line."""
    answer = a_cited_answer(tmp_path / "kb", report=a_page(tmp_path / "in.pdf", "4,812"))
    for arguments, told in (
        (("b" * 32, "-o", tmp_path / "out.pdf"), "no answer"),
        ((answer, "-o", tmp_path / "out.pdf", "--document", "x.pdf"), "does not cite"),
        ((answer, "-o", tmp_path / "no" / "out.pdf"), "cannot be written"),
    ):
        code, _, error = highlight(*arguments, "--kb", tmp_path / "kb")
        assert (code, told in error) == (2, True), error


def test_files_of_documents_with_one_name_do_not_overwrite_each_other() -> None:
    """Names become parts of file names, whatever is in them."""
    named = ("a/report.pdf", "b/report.pdf", "../../etc/passwd", "\\x\x00/..", "报告 (1).pdf")
    documents = [MarkedDocument(DOCUMENT, name, ()) for name in named]
    assert [path.as_posix() for path in output_names(Path("d/out.pdf"), documents)] == [
        *("d/out-report.pdf", "d/out-report-2.pdf", "d/out-passwd.pdf", "d/out-document.pdf", "d/out-报告_1.pdf")
    ]


def test_prepare_makes_the_embedding_model() -> None:
    """It says which one it is; a second time there is nothing to do and nothing to say about it."""
    assert run("prepare").code == 0
    done = run("prepare", "--json")
    assert (done.code, done.err, done.lines[0]["dimension"]) == (0, "", 384)
    assert done.lines[0]["embedder"].startswith("onnx/multilingual-e5-small-int8@")
