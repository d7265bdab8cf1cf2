"""Completion of names, and the scripts in the shells themselves."""

from __future__ import annotations

import os
import shlex
import shutil
import subprocess
import sys
from pathlib import Path

import pytest
from click.shell_completion import BashComplete

from commonir.cli.completing import PowerShell
from commonir.cli.table import cir as group

from tests.first_hour import models

PROGRAM = "import sys; sys.argv[0] = 'cir'; from commonir.cli.main import main; sys.exit(main())"


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    models.MODELS["net.onnx"](tmp_path / "net.onnx")
    monkeypatch.chdir(tmp_path)
    return tmp_path


def completed(line: str) -> list[str]:
    """Returns the completions of the last word of a line, which ends with a space to complete a new word."""
    words = shlex.split(line)[1:]
    incomplete = "" if line.endswith(" ") else words.pop()
    found = BashComplete(group, {}, "cir", "_CIR_COMPLETE").get_completions(words, incomplete)
    return [item.value if item.type == "plain" else f"<{item.type}>" for item in found]


@pytest.mark.parametrize(
    ("line", "expected"),
    [
        ("cir co", ["convert", "compile", "compare", "completion"]),
        ("cir net", ["<file>"]),
        ("cir net.onnx --fl", ["--flops"]),
        ("cir --v", ["--version"]),
        ("cir help li", ["library"]),
        ("cir completion ", ["bash", "zsh", "fish", "powershell"]),
        ("cir run ", ["<file>"]),
        ("cir run net.onnx im", ["image="]),
        ("cir run net.onnx --set ", ["N="]),
        ("cir run net.onnx --engine re", ["reference"]),
        ("cir compare net.onnx --engines reference,nu", ["reference,numpy"]),
        ("cir show net.onnx --node /", ["/stem/Conv", "/stem/act/Relu", "/head/Conv"]),
        ("cir show gone.onnx --node /", []),
        ("cir extract net.onnx --from stem_", ["stem_out", "stem_act"]),
        ("cir edit net.onnx --rename lo", ["logits="]),
        ("cir convert net.onnx --to co", ["coreml", "common_ir"]),
        ("cir convert net.onnx --target macOS1", ["macOS12", "macOS13", "macOS14", "macOS15"]),
        ("cir opt net.onnx --passes cse,inl", ["cse,inline"]),
        ("cir explain E080", [f"E080{n}" for n in range(1, 10)]),
        ("cir check --level w", ["warning"]),
    ],
)
def test_words_are_completed(folder: Path, line: str, expected: list[str]) -> None:
    assert completed(line) == expected


@pytest.mark.slow
def test_operations_are_completed(folder: Path) -> None:
    assert "mil.conv_transpose" in completed("cir ops mil.conv")
    assert "linalg" in completed("cir opt net.onnx --legalize-to li")


def test_powershell_gets_values_with_their_help(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("COMP_WORDS", "cir exp")
    monkeypatch.setenv("COMP_CWORD", "exp")
    shell = PowerShell(group, {}, "cir", "_CIR_COMPLETE")
    assert shell.complete() == "plain\texplain\tExplain a diagnostic code."
    assert "-CommandName cir " in shell.source()


@pytest.mark.parametrize(
    ("line", "word", "words"),
    [
        (r"cir show models\net.onnx --node /h", "/h", ["show", r"models\net.onnx", "--node"]),
        (r"cir show 'my models\net.onnx' --node ", None, ["show", r"my models\net.onnx", "--node"]),
        ('cir show my` net.onnx --node "/h', '"/h', ["show", "my net.onnx", "--node"]),
    ],
)
def test_powershell_splits_words_at_its_own_quotes(
    monkeypatch: pytest.MonkeyPatch, line: str, word: str | None, words: list[str]
) -> None:
    """A backslash is part of a path, a backtick escapes; a variable that is set to the empty string is removed."""
    monkeypatch.setenv("COMP_WORDS", line)
    monkeypatch.delenv("COMP_CWORD", raising=False)
    if word is not None:
        monkeypatch.setenv("COMP_CWORD", word)
    shell = PowerShell(group, {}, "cir", "_CIR_COMPLETE")
    assert shell.get_completion_args() == (words, (word or "").strip('"'))


# -- in the shells themselves


IN_SHELLS = {
    "bash": 'eval "$(cir completion bash)"; COMP_WORDS=(cir show net.onnx --node /h); COMP_CWORD=4;'
    ' _cir_completion cir; echo "${COMPREPLY[@]}"',
    "fish": 'cir completion fish | source; complete -C "cir show net.onnx --node /h"',
    "zsh": 'autoload -U compinit; compinit -u; eval "$(cir completion zsh)"; words=(cir show net.onnx --node /h);'
    ' CURRENT=5; _describe() { eval "print -r -- \\${$3[@]}"; }; compdef() { }; compadd() { print -r -- "${@[-1]}"; };'
    " _cir_completion",
    "pwsh": "cir completion powershell | Out-String | Invoke-Expression;"
    " (TabExpansion2 'cir show net.onnx --node /h').CompletionMatches.CompletionText",
}


@pytest.mark.slow
@pytest.mark.parametrize("shell", IN_SHELLS)
def test_script_completes_in_its_shell(folder: Path, shell: str) -> None:
    program = shutil.which(shell)
    if program is None:
        pytest.skip(f"needs {shell}")
    command = folder / "bin" / "cir"
    command.parent.mkdir()
    command.write_text(f'#!/bin/sh\nexec {shlex.quote(sys.executable)} -c "{PROGRAM}" "$@"\n')
    command.chmod(0o755)
    path = f"{command.parent}{os.pathsep}{os.environ['PATH']}"
    done = subprocess.run(
        [program, "-c", IN_SHELLS[shell]], capture_output=True, text=True, env={**os.environ, "PATH": path}, check=False
    )
    assert "/head/Conv" in done.stdout, done.stderr
