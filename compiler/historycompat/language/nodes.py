"""YAML text → nodes that know the place of every character; aliases, anchors and tags are refused."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any, Literal

from ruamel.yaml import YAML
from ruamel.yaml.error import MarkedYAMLError, YAMLError

from historycompat.errors import Complaint
from historycompat.language import scalars, yaml_mistakes
from historycompat.source import Fragment, Source, Span

# How deep lists and mappings may nest; the history in a test needs about ten levels.
DEPTH = 100

# How many values that YAML cannot read are reported before the rest has to wait.
_PATIENCE = 20

Kind = Literal["scalar", "list", "mapping"]
_KINDS: dict[str, Kind] = {"SequenceStartEvent": "list", "MappingStartEvent": "mapping"}
# So many anchors, aliases and tags of a file are told one by one.
_MOST_REFERENCES = 20

_REFERENCES = {"*": "an alias", "&": "an anchor", "!": "a tag"}
_ENDS = ("SequenceEndEvent", "MappingEndEvent")


@dataclass(slots=True)
class Node:
    """A scalar, or a list or mapping with its items; the items of a mapping are its keys and values in turns.

    `style` is `'`, `"`, `|` or `>` for a scalar, `flow` for `[...]` and `{...}`, and None for a plain scalar and for
    block lists and mappings. `start` and `end` are offsets in the file. A spoiled node is one that a complaint is
    about already.
    """

    kind: Kind
    source: Source
    start: int
    end: int
    style: str | None = None
    text: str = ""
    anchors: scalars.Anchors = ()
    items: list[Node] = field(default_factory=list)
    spoiled: bool = False

    @property
    def span(self) -> Span:
        return Span(self.source, self.start, self.end)

    @property
    def fragment(self) -> Fragment:
        return Fragment(self.source, self.text, self.anchors)

    @property
    def is_empty(self) -> bool:
        """Whether nothing is written here at all."""
        return self.kind == "scalar" and self.start == self.end

    def pairs(self) -> Iterator[tuple[Node, Node]]:
        return zip(self.items[::2], self.items[1::2], strict=True)


def read(source: Source, complaints: list[Complaint]) -> Node | None:
    """The document of a YAML text; None where there is none that can be read.

    A value that YAML cannot read is reported, masked with as many letters, and the rest read again.
    """
    text, masked = source.text, set[int]()
    while len(masked) <= _PATIENCE:
        found: list[Complaint] = []
        try:
            root = _Composer(source, masked, found).compose(YAML(typ="safe", pure=True).parse(text))
        except MarkedYAMLError as error:
            mistake = yaml_mistakes.explain(error, source)
            stretch = mistake.stretch
            if stretch and stretch.start in masked:
                return None
            complaints.append(mistake.complaint)
            if not stretch:
                return None
            masked.add(stretch.start)
            text = text[: stretch.start] + mistake.filler * (stretch.end - stretch.start) + text[stretch.end :]
        except (YAMLError, ValueError, OverflowError) as error:
            complaints.append(Complaint("E112", f"YAML cannot read this file: {error}", Span(source, 0, 0)))
            return None
        else:
            complaints += found
            return root
    return None


class _Composer:
    """Nodes from parse events: iterative, so that nesting costs no stack, and strict about what a pack may hold."""

    def __init__(self, source: Source, masked: set[int], complaints: list[Complaint]) -> None:
        self._source, self._masked, self._complaints = source, masked, complaints
        self._stack = [Node("list", source, 0, 0)]
        self._references = 0

    def compose(self, events: Iterator[Any]) -> Node | None:
        root = self._stack[0]
        for event in events:
            name = type(event).__name__
            if name in _ENDS:
                self._close(self._stack.pop(), event.end_mark.index)
            elif name in _KINDS or name in ("ScalarEvent", "AliasEvent"):
                self._open(name, event)
            if len(self._stack) > DEPTH:
                self._complain("E113", f"this nests more than {DEPTH} levels deep", self._stack[-1].span)
                return None
        if len(root.items) > 1:
            self._complain("E112", "a second document starts here", root.items[1].span, "write one pack a file")
        return root.items[0] if root.items else None

    def _complain(self, code: str, message: str, span: Span, suggestion: str | None = None) -> None:
        self._complaints.append(Complaint(code, message, span, suggestion))

    def _open(self, name: str, event: Any) -> None:
        start, end = event.start_mark.index, event.end_mark.index
        style = "flow" if getattr(event, "flow_style", False) else getattr(event, "style", None)
        node = Node(_KINDS.get(name, "scalar"), self._source, start, end, style, spoiled=start in self._masked)
        self._stack[-1].items.append(node)
        if node.kind != "scalar":
            self._stack.append(node)
        elif name == "ScalarEvent":
            self._fill(node, event.value)
        self._refuse_references(node, event)

    def _fill(self, node: Node, value: str) -> None:
        """The text of a scalar and its places; one that is empty stands directly behind its key or dash."""
        text = self._source.text
        raw = text[node.start : node.end]
        while not raw and node.start and text[node.start - 1] in " \t\r\n":
            node.start -= 1
        node.text, node.anchors = value, scalars.anchors(raw, node.style, value, node.start)
        node.end = node.start + len(raw.rstrip())

    def _refuse_references(self, node: Node, event: Any) -> None:
        if event.anchor is None and getattr(event, "tag", None) is None:
            return
        node.spoiled = True
        self._references += 1
        if self._references > _MOST_REFERENCES:
            return
        end = next((i for i in range(node.start, node.end) if self._source.text[i] in " \t\r\n"), node.end)
        span = Span(self._source, node.start, end)
        message = f"YAML reads {span.text} as {_REFERENCES.get(span.text[:1], 'a reference')}, not as text"
        message += ", and more such below" * (self._references == _MOST_REFERENCES)
        hint = yaml_mistakes.WRITTEN_OUT if span.text[:1] in "&*" else yaml_mistakes.QUOTE
        fix = yaml_mistakes.in_quotes(self._source, node.start)
        self._complaints.append(Complaint("E110", message, span, hint, fix=fix))

    def _close(self, node: Node, end: int) -> None:
        node.end = end if node.style == "flow" else max([node.end, *(item.end for item in node.items[-2:])])
        if node.kind == "mapping":
            self._check_keys(node)

    def _check_keys(self, node: Node) -> None:
        first: dict[str, Node] = {}
        for key, value in node.pairs():
            if key.kind != "scalar":
                key.spoiled = value.spoiled = True
                self._complain("E110", f"YAML reads a {key.kind} as a key here", key.span, yaml_mistakes.QUOTE)
            elif (other := first.setdefault(key.text, key)) is not key:
                message = f'"{key.text}" is given twice, first in line {other.span.place.line}'
                self._complain("E111", message, key.span, "delete one of them")
