from __future__ import annotations

import hashlib
import io
import json
import os
import threading
from collections.abc import Iterator, Sequence
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import BinaryIO

import pytest

import commonir as cir
from commonir import api
from commonir.base.diagnostics import Diagnostic
from commonir.dialects import common_ir
from commonir.formats.common_ir import fetch as fetching
from commonir.formats.common_ir.imports import MAX_DEPTH, MAX_LIBRARIES, parse_import
from commonir.formats.common_ir.read import read
from commonir.formats.format import ReadOptions
from commonir.ir.module import Module
from commonir.ods import Dialects

DIGEST = "0" * 64


def library(name: str, imports: Sequence[str] = (), domain: str = "com.example", version: int = 1) -> str:
    about = {"ir_version": 10, "model_version": version, "name": name, "domain": domain, "doc_string": "A library."}
    return json.dumps({"LibraryProto": {**about, "imported_libraries": list(imports), "common_ir_version": 1}})


def graph(imports: Sequence[str]) -> str:
    kind = {"tensor_type": {"elem_type": "FLOAT", "shape": {"dim": [{"dim_param": "n"}]}}}
    of = {
        "name": "main",
        "doc_string": "A graph.",
        "node": [{"input": ["x"], "output": ["y"], "op_type": "Relu"}],
        "input": [{"name": "x", "type": kind}],
        "output": [{"name": "y", "type": kind}],
        "imported_libraries": list(imports),
    }
    about = {"ir_version": 10, "domain": "com.example", "model_version": 1, "graph": of}
    return json.dumps(
        {"ModelProto": {**about, "opset_import": [{"domain": "", "version": 22}], "common_ir_version": 1}}
    )


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("COMMONIR_CACHE", str(tmp_path / "cache"))
    (tmp_path / "model" / "libs").mkdir(parents=True)
    return tmp_path / "model"


def opened(folder: Path, imports: Sequence[str], **options: object) -> tuple[Module | None, list[Diagnostic]]:
    path = folder / "main.cir.json"
    path.write_text(graph(imports))
    return read(path, Dialects(), ReadOptions(**options))  # pyright: ignore[reportArgumentType]  by name


def names(module: Module | None) -> list[str]:
    assert module is not None
    return [op.sym_name for op in module.body.operations if isinstance(op, common_ir.Library)]


def messages(diagnostics: Sequence[Diagnostic]) -> list[str]:
    return [d.message for d in diagnostics]


# -- files


def test_imports_are_transitive_and_come_before_those_that_need_them(folder: Path) -> None:
    (folder / "libs" / "a.cir.json").write_text(library("a", ["b.cir.json"]))
    (folder / "libs" / "b.cir.json").write_text(library("b", ["../c.cir.json"]))
    (folder / "c.cir.json").write_text(library("c"))
    module, diagnostics = opened(folder, ["libs/a.cir.json"])
    assert messages(diagnostics) == []
    assert names(module) == ["com.example.c", "com.example.b", "com.example.a"]


def test_a_library_that_is_imported_twice_is_there_once(folder: Path) -> None:
    (folder / "a.cir.json").write_text(library("a", ["c.cir.json"]))
    (folder / "b.cir.json").write_text(library("b", ["./libs/../c.cir.json"]))
    (folder / "c.cir.json").write_text(library("c"))
    module, _ = opened(folder, ["a.cir.json", "b.cir.json", "c.cir.json"])
    assert names(module) == ["com.example.c", "com.example.a", "com.example.b"]


def test_a_library_that_is_missing_is_reported_with_what_was_tried(folder: Path) -> None:
    module, (diagnostic,) = opened(folder, ["libs/a.cir"], library_path=(str(folder / "elsewhere"),))
    assert module is not None
    assert diagnostic.code.id == "E0252"
    assert diagnostic.message == "the library 'libs/a.cir' is not found"
    assert diagnostic.notes == (
        f"looked for: {folder / 'libs' / 'a.cir'}",
        f"looked for: {folder / 'elsewhere' / 'libs' / 'a.cir'}",
    )
    assert diagnostic.file == str(folder / "main.cir.json")


def test_the_library_path_is_looked_at_after_the_folder_of_the_model(folder: Path) -> None:
    shared = folder.parent / "shared"
    shared.mkdir()
    (shared / "a.cir.json").write_text(library("a", ["b.cir.json"]))
    (shared / "b.cir.json").write_text(library("b"))
    (folder / "c.cir.json").write_text(library("c"))
    (shared / "c.cir.json").write_text(library("other"))
    module, diagnostics = opened(folder, ["a.cir.json", "c.cir.json"], library_path=(str(shared),))
    assert messages(diagnostics) == []
    assert names(module) == ["com.example.b", "com.example.a", "com.example.c"]


@pytest.mark.parametrize("path", ["../a.cir.json", "libs/../../a.cir.json", "/etc/passwd", "libs\\a.cir.json", ""])
def test_a_path_that_leads_out_of_the_folder_is_refused(folder: Path, path: str) -> None:
    (folder.parent / "a.cir.json").write_text(library("a"))
    module, (diagnostic,) = opened(folder, [path])
    assert diagnostic.code.id == "E0301"
    assert names(module) == []


def test_a_link_is_refused(folder: Path) -> None:
    (folder.parent / "a.cir.json").write_text(library("a"))
    (folder / "a.cir.json").symlink_to(folder.parent / "a.cir.json")
    _, (diagnostic,) = opened(folder, ["a.cir.json"])
    assert diagnostic.code.id == "E0301"
    assert "symbolic link" in diagnostic.message


def test_a_library_in_the_library_path_cannot_leave_it(folder: Path) -> None:
    shared = folder.parent / "shared"
    shared.mkdir()
    (shared / "a.cir.json").write_text(library("a", ["../model/libs/b.cir.json"]))
    (folder / "libs" / "b.cir.json").write_text(library("b"))
    _, (diagnostic,) = opened(folder, ["a.cir.json"], library_path=(str(shared),))
    assert (diagnostic.code.id, diagnostic.file) == ("E0301", str(shared / "a.cir.json"))


def test_a_cycle_is_reported_as_a_whole(folder: Path) -> None:
    (folder / "libs" / "a.cir.json").write_text(library("a", ["b.cir.json"]))
    (folder / "libs" / "b.cir.json").write_text(library("b", ["c.cir.json"]))
    (folder / "libs" / "c.cir.json").write_text(library("c", ["a.cir.json"]))
    _, (diagnostic,) = opened(folder, ["libs/a.cir.json"])
    assert diagnostic.code.id == "E0253"
    assert diagnostic.notes == ("libs/a.cir.json -> libs/b.cir.json -> libs/c.cir.json -> libs/a.cir.json",)
    assert diagnostic.file == str(folder / "libs" / "c.cir.json")


def test_a_library_that_imports_itself_is_a_circle(folder: Path) -> None:
    (folder / "a.cir.json").write_text(library("a", ["a.cir.json"]))
    _, (diagnostic,) = opened(folder, ["a.cir.json"])
    assert diagnostic.notes == ("a.cir.json -> a.cir.json",)


def test_a_graph_cannot_be_imported(folder: Path) -> None:
    (folder / "a.cir.json").write_text(graph([]))
    _, (diagnostic,) = opened(folder, ["a.cir.json"])
    assert diagnostic.code.id == "E0254"
    assert diagnostic.message == "'a.cir.json' has a graph, and only libraries can be imported"


def test_two_libraries_of_one_name_are_reported(folder: Path) -> None:
    (folder / "a.cir.json").write_text(library("same"))
    (folder / "b.cir.json").write_text(library("same", version=2))
    module, diagnostics = opened(folder, ["a.cir.json", "b.cir.json"])
    assert messages(diagnostics) == ["two different libraries are called 'com.example.same'"]
    assert diagnostics[0].notes == ("found: 'a.cir.json' and 'b.cir.json'",)
    assert names(module) == ["com.example.same"]


def test_two_equal_files_are_one_library(folder: Path) -> None:
    (folder / "a.cir.json").write_text(library("same"))
    (folder / "b.cir.json").write_text(library("same"))
    module, diagnostics = opened(folder, ["a.cir.json", "b.cir.json"])
    assert messages(diagnostics) == []
    assert names(module) == ["com.example.same"]


def test_a_library_that_is_not_a_file_is_reported_with_its_place(folder: Path) -> None:
    (folder / "a.cir.json").write_text('{"LibraryProto": {"name": 3}}')
    (folder / "b.cir.json").write_text("version https://git-lfs.github.com/spec/v1\n")
    (folder / "c.cir.json").write_bytes(b"")
    os.mkfifo(folder / "d.cir.json")
    _, diagnostics = opened(folder, [f"{name}.cir.json" for name in "abcd"])
    assert [(d.code.id, Path(d.file or "").name) for d in diagnostics] == [
        ("E0250", "a.cir.json"),
        ("E0104", "b.cir.json"),
        ("E0103", "c.cir.json"),
        ("E0301", "main.cir.json"),
    ]


def test_depth_is_limited(folder: Path) -> None:
    for n in range(MAX_DEPTH + 2):
        (folder / f"{n}.cir.json").write_text(library(f"l{n}", [f"{n + 1}.cir.json"]))
    _, (diagnostic,) = opened(folder, ["0.cir.json"])
    assert diagnostic.code.id == "E0302"


def test_the_number_of_libraries_is_limited(folder: Path) -> None:
    for n in range(MAX_LIBRARIES + 1):
        (folder / f"{n}.cir.json").write_text(library(f"l{n}"))
    module, (diagnostic,) = opened(folder, [f"{n}.cir.json" for n in range(MAX_LIBRARIES + 1)])
    assert diagnostic.code.id == "E0303"
    assert len(names(module)) == MAX_LIBRARIES


def test_the_size_of_a_library_is_limited(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("commonir.formats.common_ir.imports.MAX_BYTES", 100)
    (folder / "a.cir.json").write_text(library("a"))
    _, (diagnostic,) = opened(folder, ["a.cir.json"])
    assert diagnostic.code.id == "E0303"


def test_a_digest_of_a_file_is_checked(folder: Path) -> None:
    content = library("a")
    (folder / "a.cir.json").write_text(content)
    right = hashlib.sha256(content.encode()).hexdigest()
    assert names(opened(folder, [f"a.cir.json#sha256={right}"])[0]) == ["com.example.a"]
    _, (diagnostic,) = opened(folder, [f"a.cir.json#sha256={DIGEST}"])
    assert diagnostic.code.id == "E0306"
    assert diagnostic.notes == (f"expected: sha256 {DIGEST}", f"found: sha256 {right}")


def test_the_library_of_a_dialect_needs_no_file(folder: Path) -> None:
    module, diagnostics = opened(folder, ["commonir:core"])
    assert messages(diagnostics) == []
    assert names(module) == []


@pytest.mark.parametrize(
    ("text", "uri", "digest"),
    [
        ("a.cir", "a.cir", ""),
        (f"https://x/a.cir#sha256={DIGEST}", "https://x/a.cir", DIGEST),
        ("a.cir#part", "a.cir#part", ""),
        (f"a.cir#sha256={DIGEST[1:]}", f"a.cir#sha256={DIGEST[1:]}", ""),
    ],
)
def test_an_import_has_a_place_and_a_digest(text: str, uri: str, digest: str) -> None:
    assert parse_import(text) == (uri, digest)
    assert str(parse_import(text)) == text


# -- the network


class Network:
    """Addresses and what they hold; `asked` are those that were opened."""

    def __init__(self, **stored: bytes) -> None:
        self.held = {f"https://example.com/{name}.cir.json": content for name, content in stored.items()}
        self.asked: list[str] = []

    def __call__(self, url: str, timeout_seconds: float) -> BinaryIO:
        assert timeout_seconds > 0
        self.asked.append(url)
        if url not in self.held:
            raise OSError("HTTP Error 404: Not Found")
        return io.BytesIO(self.held[url])


def fetched(
    folder: Path, network: Network, imports: Sequence[str], *, allow: bool = True
) -> tuple[Module | None, list[Diagnostic]]:
    path = folder / "main.cir.json"
    path.write_text(graph(imports))
    return read(path, Dialects(), ReadOptions(allow_fetch=allow), open_url=network)


def url(name: str, content: str) -> str:
    return f"https://example.com/{name}.cir.json#sha256={hashlib.sha256(content.encode()).hexdigest()}"


def test_nothing_is_fetched_unless_it_is_allowed(folder: Path) -> None:
    network = Network(a=library("a").encode())
    _, (result,) = fetched(folder, network, [url("a", library("a"))], allow=False)
    assert (result.code.id, result.help, network.asked) == ("E0305", "allow it with `--allow-fetch`", [])


def test_nothing_is_fetched_without_a_digest(folder: Path) -> None:
    network = Network(a=library("a").encode())
    _, (result,) = fetched(folder, network, ["https://example.com/a.cir.json"])
    assert (result.code.id, network.asked) == ("E0305", [])


@pytest.mark.parametrize("scheme", ["http", "ftp", "file", "data"])
def test_only_https_is_fetched(folder: Path, scheme: str) -> None:
    network = Network()
    _, (result,) = fetched(folder, network, [f"{scheme}://example.com/a.cir.json#sha256={DIGEST}"])
    assert (result.code.id, network.asked) == ("E0305", [])
    assert "must be https" in result.message


def test_a_library_is_fetched_once_and_kept(folder: Path) -> None:
    network = Network(a=library("a").encode())
    uri = url("a", library("a"))
    assert names(fetched(folder, network, [uri])[0]) == ["com.example.a"]
    assert names(fetched(folder, network, [uri])[0]) == ["com.example.a"]
    assert names(fetched(folder, Network(), [uri], allow=False)[0]) == ["com.example.a"]
    assert network.asked == ["https://example.com/a.cir.json"]


def test_a_kept_library_that_was_changed_is_fetched_again(folder: Path) -> None:
    network = Network(a=library("a").encode())
    uri = url("a", library("a"))
    fetched(folder, network, [uri])
    kept_in = fetching.libraries_folder()
    assert kept_in is not None
    (preserved,) = kept_in.iterdir()
    preserved.write_text(library("evil"))
    assert names(fetched(folder, network, [uri])[0]) == ["com.example.a"]
    assert len(network.asked) == 2


def test_what_is_fetched_must_have_the_digest(folder: Path) -> None:
    network = Network(a=library("evil").encode())
    _, (result,) = fetched(folder, network, [url("a", library("a"))])
    assert result.code.id == "E0306"
    kept_in = fetching.libraries_folder()
    assert kept_in is not None
    assert not kept_in.exists()


def test_a_relative_import_of_a_fetched_library_leads_to_its_server(folder: Path) -> None:
    inner = library("b")
    outer = library("a", [url("b", inner).removeprefix("https://example.com/")])
    network = Network(a=outer.encode(), b=inner.encode())
    module, result = fetched(folder, network, [url("a", outer)])
    assert messages(result) == []
    assert names(module) == ["com.example.b", "com.example.a"]


def test_a_server_that_says_no_is_reported(folder: Path) -> None:
    _, (result,) = fetched(folder, Network(), [url("a", library("a"))])
    assert result.code.id == "E0252"
    assert result.message == "the library 'https://example.com/a.cir.json' cannot be fetched: HTTP Error 404: Not Found"


def test_a_content_without_end_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "MAX_BYTES", 1000)
    _, (result,) = fetched(folder, Network(a=bytes(10_000_000)), [url("a", "")])
    assert result.code.id == "E0303"


def test_a_server_that_sends_slowly_is_given_up(folder: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fetching, "TIMEOUT_SECONDS", -1.0)

    class Slow(Network):
        def __call__(self, url: str, timeout_seconds: float) -> BinaryIO:
            return io.BytesIO(b"drip")

    _, (result,) = fetched(folder, Slow(), [url("a", "")])
    assert result.message.endswith("it takes too long")


class Server(BaseHTTPRequestHandler):
    """Gives `content` at `/a`, leads from `/moved` to it, and never answers at `/silent`."""

    content = b"content"

    def do_GET(self) -> None:
        if self.path == "/silent":
            self.server.silence.wait()  # pyright: ignore[reportAttributeAccessIssue]  of this test
            return
        self.send_response(302 if self.path == "/moved" else 200)
        self.send_header("Location", "/a")
        self.send_header("Content-Length", str(len(self.content)))
        self.end_headers()
        self.wfile.write(self.content)

    def log_message(self, format: str, *args: object) -> None:
        pass


@pytest.fixture
def address() -> Iterator[str]:
    server = ThreadingHTTPServer(("127.0.0.1", 0), Server)
    server.silence = threading.Event()  # pyright: ignore[reportAttributeAccessIssue]  of this test
    thread = threading.Thread(target=server.serve_forever)
    thread.start()
    yield f"http://127.0.0.1:{server.server_port}"
    server.silence.set()  # pyright: ignore[reportAttributeAccessIssue]  as above
    server.shutdown()
    thread.join()
    server.server_close()


@pytest.mark.slow
def test_an_address_is_opened(address: str) -> None:
    with fetching.open_url_securely(f"{address}/a", 5) as stream:
        assert stream.read() == b"content"


def test_a_redirection_to_something_else_than_https_is_refused(address: str) -> None:
    with pytest.raises(OSError, match="which is not https"):
        fetching.open_url_securely(f"{address}/moved", 5)


@pytest.mark.slow
def test_a_server_that_does_not_answer_is_given_up(address: str) -> None:
    with pytest.raises(OSError, match="timed out"):
        fetching.open_url_securely(f"{address}/silent", 0.2)


# -- the surface


def test_errors_of_imports_keep_a_model_from_being_loaded(folder: Path) -> None:
    path = folder / "main.cir.json"
    path.write_text(graph(["a.cir.json"]))
    with pytest.raises(cir.DiagnosticError, match="E0252"):
        cir.load(path)
    shared = folder.parent / "shared"
    shared.mkdir()
    (shared / "a.cir.json").write_text(library("a"))
    assert names(cir.load(path, library_path=[shared])) == ["com.example.a"]


def test_a_bundle_is_one_file_with_all_libraries(folder: Path) -> None:
    (folder / "libs" / "a.cir.json").write_text(library("a", ["b.cir.json", "commonir:core"]))
    (folder / "libs" / "b.cir.json").write_text(library("b"))
    path = folder / "main.cir.json"
    path.write_text(graph(["libs/a.cir.json", "commonir:core"]))
    result = folder.parent / "alone.cir"
    (written,) = cir.save(api.bundle(cir.load(path)), result)
    assert written.path == str(result)
    module = cir.load(result)
    assert names(module) == ["com.example.b", "com.example.a"]
    imports = [op.uri for op in module.nested() if isinstance(op, common_ir.Import)]
    assert imports == ["commonir:core", "commonir:core"]


def test_a_library_cannot_be_bundled(folder: Path) -> None:
    path = folder / "a.cir.json"
    path.write_text(library("a"))
    with pytest.raises(cir.DiagnosticError, match="E0254"):
        api.bundle(cir.load(path))
