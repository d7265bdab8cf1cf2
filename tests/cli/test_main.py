"""How a command line is understood and how it ends: verbs, usage, exit statuses, envelopes, interrupts, pipes."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path

import pytest

from commonir.base.codes import INTERNAL_ERROR
from commonir.base.diagnostics import Diagnostic
from commonir.cli.answer import DOCUMENT_FIELDS, Answer, envelope
from commonir.cli.table import VERBS

from tests.cli.conftest import FAKED, environment
from tests.command_lines import Cir

# `fake_api.EVIL` as it may be shown.
HARMLESS = r"conv\x1b[31m\u202e[bold]"
needs_posix = pytest.mark.skipif(os.name != "posix", reason="a matter of POSIX signals and pipes")
Process = Callable[..., subprocess.CompletedProcess[bytes]]


# -- verbs


def test_no_arguments_show_the_overview_as_a_usage_error(cir: Cir) -> None:
    done = cir()
    assert done.status == 2
    assert "Usage: cir VERB [ARGUMENTS]..." in done.out


@pytest.mark.parametrize("arguments", [["ok.mil"], ["./ok.mil"], ["ok.mil", "--json"]])
def test_a_file_and_no_verb_mean_info(cir: Cir, arguments: list[str]) -> None:
    assert cir(*arguments) == cir("info", *arguments)


def test_a_missing_file_without_a_verb_is_still_a_file(cir: Cir) -> None:
    assert "no verb" not in cir("gone.onnx").err


@pytest.mark.parametrize(("name", "help"), [("inf", "did you mean 'info'?"), ("zzz", "`cir --help` lists the verbs")])
def test_unknown_verb_is_refused_with_the_nearest_one(cir: Cir, name: str, help: str) -> None:
    assert cir(name) == (2, "", f"error[E0901]: no verb and no file is named '{name}'\n   = help: {help}\n")


# -- usage


@pytest.mark.parametrize(
    ("arguments", "help"),
    [
        (["run", "ok.mil", "--input", "x=@x.npy"], "inputs stand after the model: `NAME=@file.npy`"),
        (["run", "ok.mil", "-o", "y.npz"], "`--save FILE` writes the outputs"),
        (["convert", "ok.mil", "y.onnx"], "write `-o y.onnx`"),
        (["edit", "ok.mil", "--set-dim", "batch=4"], "see `cir edit --help`"),
        (["version"], "`cir --version` shows the version"),
        (["convert", "ok.mil", "-o", "y.onnx", "--set", "n=1"], "see `cir convert --help`"),
        (["convert", "ok.mil", "-o", "ok.mil"], "choose another name, or replace it with --force"),
    ],
)
def test_common_slips_get_the_remedy(cir: Cir, arguments: list[str], help: str) -> None:
    done = cir(*arguments)
    assert done.status == 2
    assert f"   = help: {help}\n" in done.err


def test_a_number_after_check_is_its_value(cir: Cir) -> None:
    assert cir("convert", "ok.mil", "-o", "a.onnx", "--check", "2").out.replace("a.onnx", "") == cir(
        "convert", "ok.mil", "-o", "b.onnx", "--check=2"
    ).out.replace("b.onnx", "")


@pytest.mark.parametrize(
    ("arguments", "lines"),
    [
        (
            ["run", "ok.mil", "--sed", "3"],
            [
                "error[E0901]: no such option '--sed'",
                "   = usage: cir run MODEL [INPUT]... [OPTIONS]",
                "   = help: did you mean '--seed', '--set' or '--sets'?",
            ],
        ),
        (
            ["info"],
            [
                "error[E0901]: missing argument 'MODEL...'",
                "   = usage: cir info MODEL... [OPTIONS]",
                "   = help: see `cir info --help`",
            ],
        ),
        (
            ["convert", "ok.mil"],
            [
                "error[E0901]: missing option '-o' / '--output'",
                "   = usage: cir convert IN -o OUT [OPTIONS]",
                "   = help: see `cir convert --help`",
            ],
        ),
        (
            ["opt", "ok.mil", "-o", "new.mil", "--seed", "-1"],
            [
                "error[E0901]: invalid value for '--seed': -1 is not in the range x>=0",
                "   = usage: cir opt M -o OUT [OPTIONS]",
                "   = help: see `cir opt --help`",
            ],
        ),
        (
            ["show", "ok.mil", "--around", "2"],
            [
                "error[E0901]: '--around' needs '--node NAME'",
                "   = usage: cir show MODEL [OPTIONS]",
                "   = help: see `cir show --help`",
            ],
        ),
    ],
)
def test_usage_errors_say_what_is_wrong_and_where_to_look(cir: Cir, arguments: list[str], lines: list[str]) -> None:
    assert cir(*arguments) == (2, "", "".join(f"{line}\n" for line in lines))


def test_usage_error_is_an_envelope_with_json(cir: Cir) -> None:
    done = cir("run", "ok.mil", "--json", "--sed", "3")
    document = json.loads(done.out)
    assert (done.status, done.err) == (2, "")
    assert (document["schema"], document["ok"], document["result"]) == ("commonir.run/1", False, None)
    assert document["diagnostics"][0]["code"] == "E0901"


# -- endings


@pytest.mark.parametrize(
    ("mood", "status", "first_line"),
    [
        ("ok", 0, ""),
        ("unreadable", 3, "error[E0103]: the file is empty"),
        ("memory", 5, "error[E0303]: not enough memory"),
        ("crash", 70, r"error[E0999]: internal error: ValueError: unexpected " + HARMLESS),
        ("interrupt", 130, "interrupted"),
    ],
)
def test_each_ending_has_its_status(cir: Cir, mood: str, status: int, first_line: str) -> None:
    done = cir("info", f"{mood}.mil")
    assert (done.status, done.err.partition("\n")[0]) == (status, first_line)
    assert bool(done.out) is (status == 0)


def test_first_contact_error_in_full(cir: Cir) -> None:
    assert cir("info", "unreadable.mil").err == (
        "error[E0103]: the file is empty\n  --> unreadable.mil\n   = help: fetch it again\n"
    )


@pytest.mark.parametrize("how", ["option", "variable"])
def test_traceback_of_our_fault_is_shown_on_request_only(cir: Cir, monkeypatch: pytest.MonkeyPatch, how: str) -> None:
    assert "Traceback" not in cir("info", "crash.mil").err
    if how == "variable":
        monkeypatch.setenv("COMMONIR_DEBUG", "1")
    err = cir("info", "crash.mil", *(["--debug"] if how == "option" else [])).err
    assert err.startswith("Traceback (most recent call last):\n")
    assert "\x1b" not in err


@pytest.mark.parametrize("mood", ["ok", "unreadable", "crash", "memory"])
def test_envelope_is_versioned_and_holds_every_finding(cir: Cir, mood: str) -> None:
    done = cir("info", f"{mood}.mil", "--json")
    document = json.loads(done.out)
    assert done.err == ""
    assert list(document) == ["schema", "ok", "result", "diagnostics"]
    assert document["schema"] == "commonir.info/1"
    assert document["ok"] is (done.status == 0)
    assert (document["result"] is None) is (done.status != 0)
    for finding in document["diagnostics"]:
        assert list(finding) == [
            "code",
            "severity",
            "message",
            "file",
            "where",
            "line",
            "column",
            "notes",
            "help",
            "fix",
        ]
    assert len(document["diagnostics"]) == (done.status != 0)


def test_the_documented_fields_are_those_of_an_envelope_with_many_findings(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonir.cli.answer.MOST_LISTED", 2)
    findings = [Diagnostic(INTERNAL_ERROR, f"fault {n}") for n in range(5)]
    document = json.loads(envelope(Answer.refused(*findings), findings, "info"))
    assert list(document) == list(DOCUMENT_FIELDS)
    assert ([d["message"] for d in document["diagnostics"]], document["more_diagnostics"]) == (
        ["fault 0", "fault 1"],
        3,
    )


@pytest.mark.parametrize("verb", [verb for verb in VERBS if verb != "completion"])
def test_every_verb_writes_an_envelope(cir: Cir, verb: str) -> None:
    inputs = {
        "ops": [],
        "help": [],
        "explain": [],
        "doctor": [],
        "convert": ["ok.mil", "-o", "o.onnx"],
        "edit": ["ok.mil", "-o", "o.mil", "--rename", "x=y"],
        "extract": ["ok.mil", "-o", "o.mil", "--to", "y"],
        "opt": ["ok.mil", "-o", "o.mil"],
        "bundle": ["ok.mil", "-o", "o.mil"],
        "library": ["core", "-o", "o.cir"],
        "tblgen": ["ok.td"],
        "compile": ["ok.mil", "-o", "net"],
        "view": ["ok.mil", "-o", "o.svg"],
        "reduce": ["ok.mil", "--fails", "convert:onnx", "-o", "o.mil"],
        "diff": ["ok.mil", "ok.mil", "--tolerance", "1"],
    }
    arguments = inputs.get(verb, ["ok.mil"])
    done = cir(verb, *arguments, "--json")
    document = json.loads(done.out)
    assert document["diagnostics"] == [] or document["ok"], "add its arguments here, or its answer to fake_api.py"
    assert (done.status, document["schema"], document["ok"]) == (0, f"commonir.{verb}/1", True)
    assert document["result"]


def test_names_from_files_cannot_reach_the_terminal(cir: Cir) -> None:
    for arguments in (
        ["info", "ok.mil"],
        ["show", "ok.mil"],
        ["check", "wrong.mil"],
        ["info", "crash.mil"],
        ["compare", "differs.mil"],
    ):
        done = cir(*arguments)
        text = done.out + done.err
        assert "\x1b" not in text
        assert "\u202e" not in text
        assert HARMLESS in text


# -- streams


def test_standard_input_is_a_model(cir_process: Process) -> None:
    done = cir_process("info", "-", input=b"ok")
    assert done.returncode == 0
    assert done.stdout.startswith(b"-\nformat      Core ML package\n")


def test_faults_of_standard_input_do_not_name_the_file_it_was_kept_in(cir_process: Process) -> None:
    done = cir_process("info", "-", input=b"unreadable")
    assert done.stderr.decode().splitlines()[1] == "  --> <standard input>"
    assert done.returncode == 3


def test_places_in_a_text_from_standard_input_are_those_that_mlir_opt_names() -> None:
    command = [sys.executable, "-m", "commonir", "show", "-", "--locations"]
    done = subprocess.run(command, input=b"ml_program.func private @f()\n", capture_output=True, check=False)
    lines = ["module {", "  ml_program.func private @f() loc(#loc1)", "} loc(#loc)"]
    places = ['#loc = loc("<stdin>":0:0)', '#loc1 = loc("<stdin>":1:1)']
    assert done.stdout.decode().splitlines() == [*lines, *places, ""]


def test_converted_program_goes_to_standard_output_alone(cir_process: Process) -> None:
    done = cir_process("convert", "ok.mil", "--to", "onnx", "-o", "-")
    assert (done.returncode, done.stdout, done.stderr) == (0, b"ok", b"")


def test_json_and_program_cannot_share_standard_output(cir: Cir) -> None:
    done = cir("convert", "ok.mil", "--to", "onnx", "-o", "-", "--json")
    assert done.status == 2
    assert json.loads(done.out)["diagnostics"][0]["message"] == "'--json' and '-o -' both need standard output"


@needs_posix
@pytest.mark.parametrize("arguments", [["explain"], ["--help"], ["check", "wrong.mil"]], ids=" ".join)
def test_closed_pipe_is_not_a_fault(folder: Path, arguments: list[str]) -> None:
    reading, writing = os.pipe()
    os.close(reading)
    done = subprocess.run(
        [sys.executable, "-c", FAKED, *arguments],
        stdout=writing,
        stderr=subprocess.PIPE,
        env=environment(),
        check=False,
    )
    os.close(writing)
    assert b"Traceback" not in done.stderr
    assert b"Broken" not in done.stderr
    assert done.returncode == (1 if arguments[0] == "check" else 0)


@pytest.mark.skipif(not os.path.exists("/dev/full"), reason="a device of Linux")
@pytest.mark.parametrize("arguments", [["explain"], ["show", "ok.mil", "--json"]], ids=" ".join)
def test_full_standard_output_is_an_output_that_cannot_be_written(folder: Path, arguments: list[str]) -> None:
    with Path("/dev/full").open("wb") as full:
        command = [sys.executable, "-c", FAKED, *arguments]
        done = subprocess.run(command, stdout=full, stderr=subprocess.PIPE, env=environment(), check=False)
    assert done.stderr.splitlines()[:2] == [
        b"error[E0802]: no room to write the output: no space left on device",
        b"  --> <standard output>",
    ]
    assert done.returncode == 6


def test_character_the_terminal_cannot_show_is_escaped(cir_process: Process, folder: Path) -> None:
    done = cir_process("info", "größe→.onnx", PYTHONIOENCODING="ascii")
    assert done.returncode == 3
    assert b"gr\\xf6\\xdfe\\u2192.onnx" in done.stderr


@needs_posix
def test_interrupt_from_the_keyboard_ends_with_130(folder: Path) -> None:
    os.mkfifo(folder / "pipe")
    process = subprocess.Popen(
        [sys.executable, "-c", FAKED, "info", "./pipe"],
        stderr=subprocess.PIPE,
        env=environment(),
        start_new_session=True,
    )
    writing = os.open(folder / "pipe", os.O_WRONLY)  # returns when the command has begun to read, which never ends
    process.send_signal(signal.SIGINT)
    _, err = process.communicate(timeout=60)
    os.close(writing)
    assert (process.returncode, err) == (130, b"interrupted\n")
