"""HTML in documentation strings is what CommonMark 0.31.2 renders as raw HTML.

The texts are examples of its specification (tabs, code, HTML blocks, raw HTML, autolinks, links, lists), each with the
first raw HTML of the rendering that the specification states, or None. Of a block it is the tag, or the first word.
"""

from __future__ import annotations

import time

import pytest

from commonir.dialects.common_ir.naming import markup_in

EXAMPLES: list[tuple[str, str | None]] = [
    # Precedence, backslash escapes, entities.
    ("- `one\n- two`", None),
    ("\\<br/> not a tag", None),
    ("\\\\<br/>", "<br/>"),
    ("<https://example.com?find=\\*>", None),
    ('<a href="/bar\\/)">', '<a href="/bar\\/)">'),
    ('<a href="&ouml;&ouml;.html">', '<a href="&ouml;&ouml;.html">'),
    ("&lt;b&gt;", None),
    # Indented code.
    ("    <a/>\n    *hi*\n\n    - one", None),
    ("\t<b>", None),
    ("Foo\n    <b>", "<b>"),
    ("    chunk1\n\n    chunk2\n  \n \n \n    <b>", None),
    ("# Heading\n    <b>\nHeading\n------\n    <b>\n----", None),
    ("  - foo\n\n    <b>", "<b>"),
    ("- foo\n\n      <b>", None),
    ("1.  foo\n\n        <b>", None),
    ("> foo\n    - <b>", "<b>"),
    (">     <b>\n\n>    not code", None),
    ("-\n\n  <b>", "<b>"),
    ("-     <b>", None),
    ("- foo\n\n\tbar <b>", "<b>"),
    ("- foo\n\n\t\t<b>", None),
    (">\t\t<b>", None),
    # Fenced code.
    ("```\n<\n >\n```", None),
    ("~~~\n<b>\n```\n~~~\n<i>", "<i>"),
    ("````\n<b>\n```\n``````\n<i>", "<i>"),
    ("`````\n\n```\n<b>", None),
    ("> ```\n> aaa\n\n<b>", "<b>"),
    ("``` ```\n<b>", "<b>"),
    ("~~~ aa ``` ~~~\n<b>\n~~~", None),
    ("   ```\n<b>\n    ```\n", None),
    # Code spans.
    ("`` foo ` <b> ``", None),
    ('`<a href="`">`', None),
    ('<a href="`">`', '<a href="`">'),
    ("`<https://foo.bar.`baz>`", None),
    ("<https://foo.bar.`baz>`", None),
    ("```foo``<b>", "<b>"),
    ("`foo``bar``<b>", "<b>"),
    ("foo\\`<b>`", "<b>"),
    # HTML blocks.
    ("<table><tr><td>\n<pre>\n**Hello**", "<table>"),
    (" <div>\n  *hello*", "<div>"),
    ("</div>\n*foo*", "</div>"),
    ('<div id="foo"\n  class="bar">\n</div>', "<div"),
    ("<div *???-&&&-<---\n*foo*", "<div"),
    ("<Warning>\n*bar*\n</Warning>", "<Warning>"),
    ('<i class="foo">\n*bar*\n</i>', '<i class="foo">'),
    ("<del>*foo*</del>", "<del>"),
    ('<style\n  type="text/css">\n\nfoo', "<style"),
    ("> <div>\n> foo\n\nbar", "<div>"),
    ("- <div>\n- foo", "<div>"),
    ("<!-- Foo\n\nbar -->\nokay", "<!--"),
    ("<?php\n\n  echo '>';\n\n?>\nokay", "<?php"),
    ("<!DOCTYPE html>", "<!DOCTYPE html>"),
    ("<![CDATA[\nfoo\n]]>\nokay", "<![CDATA["),
    ("    <!-- foo -->", None),
    ("Foo\n<div>\nbar\n</div>", "<div>"),
    ('Foo\n<a href="bar">\nbaz', '<a href="bar">'),
    # Raw HTML.
    ("<a><bab><c2c>", "<a>"),
    ("<a/><b2/>", "<a/>"),
    ('<a  /><b2\ndata="foo" >', "<a  />"),
    (
        '<a foo="bar" bam = \'baz <em>"</em>\'\n_boolean zoop:33=zoop:33 />',
        '<a foo="bar" bam = \'baz <em>"</em>\'\n_boolean zoop:33=zoop:33 />',
    ),
    ('Foo <responsive-image src="foo.jpg" />', '<responsive-image src="foo.jpg" />'),
    ("<33> <__>", None),
    ('<a h*#ref="hi">', None),
    ("<a href=\"hi'> <a href=hi'>", None),
    ("< a><\nfoo><bar/ >\n<foo bar=baz\nbim!bop />", None),
    ("<a href='bar'title=title>", None),
    ("</a></foo >", "</a>"),
    ('</a href="foo">', None),
    ("foo <!-- this is a --\ncomment - with hyphens -->", "<!-- this is a --\ncomment - with hyphens -->"),
    ("foo <!--> foo -->", "<!-->"),
    ("foo <!---> foo -->", "<!--->"),
    ("foo <?php echo $a; ?>", "<?php echo $a; ?>"),
    ("foo <!ELEMENT br EMPTY>", "<!ELEMENT br EMPTY>"),
    ("foo <![CDATA[>&<]]>", "<![CDATA[>&<]]>"),
    ('foo <a href="\\*">', '<a href="\\*">'),
    ('<a href="\\"">', None),
    # Autolinks.
    ("<http://foo.bar.baz>", None),
    ("<MAILTO:FOO@BAR.BAZ>", None),
    ("<made-up-scheme://foo,bar>", None),
    ("<localhost:5001/foo>", None),
    ("<https://foo.bar/baz bim>", None),
    ("<foo@bar.example.com>", None),
    ("<foo\\+@bar.example.com>", None),
    ("<> <m:abc> < https://foo.bar > <foo.bar.baz>", None),
    # Links: destinations, titles and labels are not text, what stands between brackets is.
    ("[link](<b>)", None),
    ("[link](<foo\nbar>)", "<foo\nbar>"),
    ("[a](<b)c>)", None),
    ("[a](<b)c", None),
    ("[a](<b)c>", None),
    ('[link](/url "<b>")', None),
    ("[link <b>](/url)", "<b>"),
    ('[foo <bar attr="](baz)">', '<bar attr="](baz)">'),
    ("[foo`](/uri)`<b>", "<b>"),
    ("[foo<https://example.com/?search=](uri)>", None),
    ("[foo]: /url '<b>'\n\n[foo]", None),
    ("[foo]: <b>\n\n[foo]", None),
    ("[foo]: <b>x\n\n[foo]", "<b>"),
    ("[foo][<b>]\n\n[<b>]: /url", None),
    ("[foo][<b>]", "<b>"),
    # Prose of this project.
    ("Returns a list<T>.", "<T>"),
    ("Returns a `list<T>`.", None),
    ("x < y and y > z", None),
    ("Takes map<i64, f32>.", None),
]


@pytest.mark.parametrize(("text", "html"), EXAMPLES)
def test_html_is_what_commonmark_renders_as_raw_html(text: str, html: str | None) -> None:
    assert markup_in(text) == html


LONG = ["`" * 50_000, "`a``b" * 12_000, "<!--" * 15_000, "<a " * 20_000, "[" * 60_000, "[a](b " * 10_000, "> " * 30_000]


@pytest.mark.parametrize("text", LONG)
def test_a_long_text_takes_no_long_time(text: str) -> None:
    start = time.process_time()
    assert markup_in(text) is None or text.startswith("<!--")
    assert time.process_time() - start < 1
