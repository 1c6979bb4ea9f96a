"""A rule file, YAML or text → tree.Pack, and every complaint about how it is written."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePath
from typing import Any, Literal

from historycompat import tree
from historycompat.errors import Complaint, RuleError, did_you_mean, respelt
from historycompat.language import assemble, json_nodes, nodes, parse, yaml_mistakes
from historycompat.language.assemble import Clause
from historycompat.language.fields import PACK, RULE
from historycompat.language.mistakes import MEANT_FIELDS
from historycompat.language.nodes import Node
from historycompat.language.vocabulary import CASE_FIELDS, CASE_NEEDS
from historycompat.source import Source, Span

Kind = Literal["yaml", "rules"]

_SUFFIXES: dict[str, Kind] = {".yaml": "yaml", ".yml": "yaml", ".rules": "rules"}

_PACK_FIELDS = tuple(PACK)

# What each field of a rule holds: a start symbol of the grammar, or free text. The plural fields take a list, too.
_TEXT = "text"
_FIELDS = {
    "name": "rule_name",
    "because": _TEXT,
    "see": _TEXT,
    "verified": _TEXT,
    "models": "model",
    "when": "expression",
    "on_error": "error_pattern",
    "phase": "phase",
    "persist": "persist",
    "format": "rule_name",
    "safety": "safety",
    "replaces": "rule_name",
    "do": "statement",
}
# What a mapping or list in place of a text should have been.
_LOOKS = {
    "statement": "drop assistant/text",
    "model": "anthropic/claude",
    "error_pattern": "400 /the words/i",
    "phase": "before, after or both",
    "persist": "yes or no",
    "safety": "safe, lossy or unsafe",
    "rule_name": "drop-empty-text",
}
_PLURAL = frozenset({"see", "models", "on_error", "do"})
_RULE_FIELDS = tuple(RULE)

_PACK_FIELD = {"name": "pack", "version": "language", "rule": "rules"}
_ABOVE = 'put "language: 1" and "rules:" above it, and indent it'
_MISSING = {
    "name": 'a rule begins with "- name: "; if this belongs to the one above, delete the "- "',
    "do": "say what it does: do: drop assistant/reasoning, or a list of statements",
}

_FOLDED = re.compile(r">[-+0-9]*")
_CUT = re.compile(r"[ \t]+(#[^\r\n]*)")
_SURROGATE = re.compile("[\ud800-\udfff]")


def kind_of(name: str) -> Kind:
    """The surface a file is written in, by its suffix: `.rules` is text, `.yaml` and `.yml` are YAML.

    Raises RuleError for any other suffix.
    """
    suffix = PurePath(name).suffix.lower()
    if suffix not in _SUFFIXES:
        message = f'{name}: a rule file ends in .yaml, .yml or .rules, not in "{suffix}"'
        raise RuleError([Complaint("E112", message, None, did_you_mean(suffix, _SUFFIXES))])
    return _SUFFIXES[suffix]


def symbol_of(field: str) -> str | None:
    """The symbol of the grammar that a field of a rule is read as; None for prose and for what is no such field."""
    symbol = _FIELDS.get(field)
    return None if symbol == _TEXT else symbol


def read_pack(source: Source, *, kind: Kind) -> tuple[tree.Pack | None, list[Complaint]]:
    """The rules that are written without a mistake, and the complaints about all others, in file order.

    The pack is None where the file as a whole cannot be read. A pack beside complaints is only good for further checks.
    """
    complaints = list(assemble.unreadable(source))
    if complaints:
        return None, complaints
    if kind == "rules":
        return parse.read_rules(source)
    reader = _Reader(source)
    pack = reader.pack(nodes.read(source, reader.complaints))
    return pack, sorted(reader.complaints, key=assemble.position)


class _Reader:
    """The fields of one YAML file, each scalar parsed on its own, so that one mistake hides no other."""

    def __init__(self, source: Source) -> None:
        self.complaints: list[Complaint] = []
        self._source = source

    def _complain(self, code: str, message: str, span: Span, suggestion: str | None = None) -> None:
        self.complaints.append(Complaint(code, message, span, suggestion))

    def pack(self, root: Node | None) -> tree.Pack | None:
        if root is None or root.kind != "mapping":
            if not self.complaints:
                span = root.span if root else Span(self._source, 0, 0)
                listed = f"a pack has {', '.join(_PACK_FIELDS)}"
                hint = _ABOVE if root and root.kind == "list" else listed
                self._complain("E105", "this file holds no rules", span, hint)
            return None
        fields = self._fields(root, _PACK_FIELDS, "a pack")
        name = self._one(fields["pack"], "rule_name") if "pack" in fields else None
        language = self._one(fields["language"], "version") if "language" in fields else None
        if "rules" not in fields:
            self._complain("E105", "this pack has no rules", root.items[0].span, "add the field rules, a list")
        written = self._items(fields["rules"], "rules", "rule") if "rules" in fields else []
        rules = [self._rule(node) for node in written if not node.spoiled]
        return assemble.pack(self._source, name, language, filter(None, rules), self.complaints)

    def _fields(self, node: Node, known: tuple[str, ...], owner: str) -> dict[str, Node]:
        """The fields of a mapping by name: the known ones, and of two with one name the first."""
        fields: dict[str, Node] = {}
        given = {key.text for key, _ in node.pairs()}
        for key, value in node.pairs():
            if key.text in known:
                fields.setdefault(key.text, value)
            elif not key.spoiled:
                meant = MEANT_FIELDS.get(key.text) if owner != "a pack" else _PACK_FIELD.get(key.text)
                hint = f"write {meant}" if meant in known else did_you_mean(key.text, known)
                hint = hint or f"the fields are {', '.join(known)}"
                free = [field for field in known if field not in given]
                fix = (key.span, meant) if meant in free else respelt(key.span, key.text, free)
                message = f'{owner} has no field "{key.text}"'
                self.complaints.append(Complaint("E107", message, key.span, hint, fix=fix))
        return fields

    def _items(self, node: Node, field: str, item: str) -> list[Node]:
        if node.kind == "list":
            return node.items
        if not node.spoiled:
            hint = f'write "- " before the first line of each {item}, and two blanks before its others'
            self._complain("E106", f'"{field}" is a list: each {item} starts with "- "', node.span, hint)
        return []

    def _rule(self, node: Node) -> tree.Rule | None:
        """The rule, or None if anything in it drew a complaint."""
        if node.kind != "mapping":
            self._complain("E106", "a rule is a mapping: it starts with - name: ...", node.span)
            return None
        before = len(self.complaints)
        fields = self._fields(node, _RULE_FIELDS, "a rule")
        tests = dict(self._tests(fields.pop("tests"))) if "tests" in fields else {}
        clauses = {key: self._clause(key, fields[key]) for key in fields}
        name, do = clauses.pop("name", None), clauses.pop("do", None)
        for field, missing in (("name", name is None), ("do", do is None or not do.value)):
            if missing and not (field in fields and fields[field].spoiled):
                self._complain("E105", f'this rule has no "{field}"', node.items[0].span, _MISSING[field])
        if self._is_faulty(before, node.span, name.value.text if name and name.value else None):
            return None
        assert name
        assert do
        return assemble.rule(name.value, clauses, do.value, node.span, tests=tests)

    def _is_faulty(self, before: int, span: Span, rule: str | None) -> bool:
        """Whether there are complaints about a rule, since `before` or from YAML inside its span; they get its name."""
        places = [complaint.span.start if complaint.span else -1 for complaint in self.complaints]
        found = [i for i, place in enumerate(places) if i >= before or span.start <= place <= span.end]
        for index in found:
            self.complaints[index] = replace(self.complaints[index], rule=rule)
        return bool(found)

    def _clause(self, name: str, node: Node) -> Clause:
        if name not in _PLURAL:
            return Clause(name, self._one(node, _FIELDS[name]), node.span)
        items = node.items if node.kind == "list" else [node]
        return Clause(name, tuple(self._one(item, _FIELDS[name]) for item in items), node.span)

    def _one(self, node: Node, symbol: str) -> Any:
        """What a scalar means as a symbol of the grammar; None after a complaint."""
        if node.spoiled:
            return None
        if node.kind != "scalar":
            eaten = self._is_eaten(node, symbol)
            hint = yaml_mistakes.QUOTE if eaten else f"write it as one text: {_LOOKS[symbol]}"
            fix = yaml_mistakes.in_quotes(self._source, node.start) if eaten and "\n" not in node.span.text else None
            message = f"YAML reads a {node.kind} where text is meant"
            self.complaints.append(Complaint("E110", message, node.span, hint, fix=fix))
        elif half := _SURROGATE.search(node.text):
            message = f"U+{ord(half[0]):04X} is half of a character"
            self._complain("E106", message, node.span, r"write it in one: \U0001F600")
        elif symbol == _TEXT:
            return self._text(node)
        elif node.style == ">":
            head = Span(self._source, node.start, node.start + len(_FOLDED.findall(node.span.text)[0]))
            message = 'a folded text (">") loses its lines'
            self.complaints.append(Complaint("E111", message, node.span, 'write "|-" for ">"', fix=(head, "|-")))
        else:
            return self._parsed(node, symbol)
        return None

    def _is_eaten(self, node: Node, symbol: str) -> bool:
        """Whether YAML took rule text for a mapping or list; its author may have meant one as well."""
        if node.kind == "list" or symbol not in _LOOKS:
            return symbol not in _LOOKS
        return (symbol == "statement" and node.style == "flow") or any(" " in key.text for key, _ in node.pairs())

    def _text(self, node: Node) -> tree.Text | None:
        """Free text. Behind prose, unlike behind an address or a date, a comment is text that YAML cut off."""
        if not node.text.strip():
            self._complain("E102", "nothing is written here", node.span, "write a text, or delete the field")
        elif not (" " in node.text and self._is_cut(node, is_prose=True)):
            return tree.Text(node.text, node.span)
        return None

    def _parsed(self, node: Node, symbol: str) -> Any:
        """Outside quotes `#` starts a comment in both languages: only a text that makes no sense without it was cut."""
        try:
            return parse.parse(node.fragment, symbol)
        except RuleError as error:
            if not self._is_cut(node):
                self.complaints += error.complaints
        return None

    def _is_cut(self, node: Node, *, is_prose: bool = False) -> bool:
        """Whether a comment stands directly behind a plain scalar; that is complained about. Behind prose it may be a
        remark all the same."""
        cut = None if node.style else _CUT.match(self._source.text, node.end)
        if cut:
            span = Span(self._source, cut.start(1), cut.end(1))
            is_remark = is_prose and cut[1][1:2].isspace()
            fix = None if is_remark else yaml_mistakes.in_quotes(self._source, node.start)
            message = f'YAML cut the text off at "{cut[1]}"'
            self.complaints.append(Complaint("E110", message, span, yaml_mistakes.QUOTE, fix=fix))
        return cut is not None

    def _tests(self, node: Node) -> Iterator[tuple[str, tuple[dict[str, Any], Span]]]:
        for index, case in enumerate(self._items(node, "tests", "test")):
            if case.kind == "mapping":
                given = self._fields(case, CASE_FIELDS, "a test")
                if absent := [field for field in CASE_NEEDS if field not in given]:
                    message = f"this test has no {' and no '.join(absent)}"
                    hint = "model says who reads the history, given is it before, then is it after, or: unchanged"
                    self._complain("E105", message, case.items[0].span if case.items else case.span, hint)
                yield f"tests[{index}]", (json_nodes.value(case, self.complaints), case.span)
            elif not case.spoiled:
                self._complain("E106", "a test is a mapping with name, model, given and then", case.span)
