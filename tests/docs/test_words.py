"""The tree uses the words of its field; `tests/words.toml` lists those that it replaces."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.words import Word, count, falls, files, lowered, recorded, rises, words


@pytest.mark.parametrize("word", words(), ids=lambda word: word.name)
def test_pattern_of_a_word_catches_and_allows_its_examples(word: Word) -> None:
    assert [text for text in word.catches if not word.pattern.search(text)] == []
    assert [text for text in word.allows if word.pattern.search(text)] == []


def test_message_of_a_rise_has_the_place_and_the_replacement() -> None:
    now = count([Path("tests/words.toml")])
    [message] = [m for m in rises({"src/commonir/base": {"dearest": 1000}}, {}) if "dearest" in m]
    assert "slowest" in message
    assert now["tests"]["dearest"] > 0


def test_counts_are_only_lowered_except_where_files_move() -> None:
    before = {"a": {"told": 3}, "b": {"told": 1}}
    assert lowered({"a": {"told": 2}, "b": {"told": 1}}, before) == {"a": {"told": 2}, "b": {"told": 1}}
    assert lowered({"a": {"told": 2}, "b": {"told": 2}}, before) == {"a": {"told": 2}, "b": {"told": 2}}
    assert lowered({"a": {"told": 4}, "b": {"told": 1}}, before) == before


def test_base_and_notation_use_no_more_of_the_words() -> None:
    paths = [*files("src/commonir/base"), *files("src/commonir/notation")]
    assert rises(count(paths), recorded()) == []


@pytest.mark.slow
def test_tree_uses_no_more_of_the_words_and_counts_are_lowered() -> None:
    now = count(files())
    assert rises(now, recorded()) == []
    assert falls(now, recorded()) == []
