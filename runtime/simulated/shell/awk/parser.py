"""awk's grammar above expressions: rules, functions, statements."""

from __future__ import annotations

from typing import TYPE_CHECKING

from attrs import define

from runtime.simulated.shell.awk.expressions import ExpressionReader
from runtime.simulated.shell.awk.lexer import Kind, tokens
from runtime.simulated.shell.awk.nodes import (
    Block,
    Delete,
    Evaluate,
    ForIn,
    Function,
    Group,
    If,
    Leave,
    Loop,
    Print,
    Program,
    Rule,
    Statement,
)

if TYPE_CHECKING:
    from collections.abc import Callable

    from runtime.simulated.shell.awk.nodes import Expression


def parse(script: str) -> Program:
    """Return the program of a script; AppletError."""
    return _Parser(ExpressionReader(tokens(script))).program()


@define
class _Parser:
    reader: ExpressionReader

    def program(self) -> Program:
        begin: list[Statement] = []
        end: list[Statement] = []
        rules: list[Rule] = []
        functions: dict[str, Function] = {}
        self.reader.skip_ends()
        while self.reader.next.kind is not Kind.END:
            if word := self.reader.take("BEGIN", "END"):
                self.reader.skip_newlines()
                (begin if word == "BEGIN" else end).append(self.block())
            elif self.reader.take("function"):
                name = self.reader.need_name()
                functions[name] = self.function()
            else:
                rules.append(self.rule())
            self.reader.skip_ends()
        return Program(tuple(begin), tuple(rules), tuple(end), functions)

    def function(self) -> Function:
        self.reader.need("(")
        parameters: list[str] = []
        while not self.reader.take(")"):
            parameters.append(self.reader.need_name())
            self.reader.take(",")
            self.reader.skip_newlines()
        self.reader.skip_newlines()
        return Function(tuple(parameters), self.block())

    def rule(self) -> Rule:
        patterns: list[Expression] = []
        if not self.reader.peek("{"):
            patterns.append(self.reader.expression())
            if self.reader.take(","):
                self.reader.skip_newlines()
                patterns.append(self.reader.expression())
        return Rule(tuple(patterns), self.block() if self.reader.peek("{") else None)

    def block(self) -> Block:
        self.reader.need("{")
        statements: list[Statement] = []
        self.reader.skip_ends()
        while not self.reader.take("}"):
            if self.reader.next.kind is Kind.END:
                raise self.reader.unexpected()
            statements.append(self.statement())
            self.reader.skip_ends()
        return Block(tuple(statements))

    def statement(self) -> Statement:
        if self.reader.peek("{"):
            return self.block()
        if self.reader.take(";"):
            return Block(())
        readers: dict[str, Callable[[], Statement]] = {
            "if": self.if_, "while": self.while_, "do": self.do, "for": self.for_,
        }  # fmt: skip
        if word := self.reader.take(*readers):
            return readers[word]()
        made = self.simple()
        if not (self.reader.next.kind in {Kind.NEWLINE, Kind.END} or self.reader.peek(";", "}")):
            raise self.reader.unexpected()
        self.reader.take(";")
        return made

    def body(self) -> Statement:
        self.reader.skip_newlines()
        return self.statement()

    def condition(self) -> Expression:
        self.reader.need("(")
        made = self.reader.expression()
        self.reader.need(")")
        return made

    def if_(self) -> If:
        condition = self.condition()
        then = self.body()
        place = self.reader.at
        self.reader.skip_ends()
        if self.reader.take("else"):
            return If(condition, then, self.body())
        self.reader.at = place
        return If(condition, then, None)

    def while_(self) -> Loop:
        condition = self.condition()
        return Loop(None, condition, None, Block(()) if self.reader.take(";") else self.body())

    def do(self) -> Loop:
        body = self.body()
        self.reader.skip_ends()
        self.reader.need("while")
        return Loop(None, self.condition(), None, body, is_late=True)

    def for_(self) -> Statement:
        self.reader.need("(")
        ahead = [token.text for token in self.reader.tokens[self.reader.at : self.reader.at + 4]]
        if self.reader.next.kind is Kind.NAME and ahead[1:2] == ["in"] and ahead[3:] == [")"]:
            name = self.reader.need_name()
            self.reader.need("in")
            array = self.reader.need_name()
            self.reader.need(")")
            return ForIn(name, array, self.body())
        begin = None if self.reader.peek(";") else self.simple()
        self.reader.need(";")
        self.reader.skip_newlines()
        condition = None if self.reader.peek(";") else self.reader.expression()
        self.reader.need(";")
        self.reader.skip_newlines()
        step = None if self.reader.peek(")") else self.simple()
        self.reader.need(")")
        return Loop(begin, condition, step, Block(()) if self.reader.take(";") else self.body())

    def simple(self) -> Statement:
        if word := self.reader.take("print", "printf"):
            return self.print(is_formatted=word == "printf")
        if word := self.reader.take("break", "continue", "next"):
            return Leave(word)
        if word := self.reader.take("exit", "return"):
            has_value = not (self.reader.next.kind in {Kind.NEWLINE, Kind.END} or self.reader.peek(";", "}"))
            return Leave(word, self.reader.expression() if has_value else None)
        if self.reader.take("delete"):
            name = self.reader.need_name()
            return Delete(name, self.reader.index() if self.reader.peek("[") else None)
        return Evaluate(self.reader.expression())

    def print(self, *, is_formatted: bool) -> Print:
        self.reader.no_greater += 1
        arguments: tuple[Expression, ...] = ()
        if not (self.reader.next.kind in {Kind.NEWLINE, Kind.END} or self.reader.peek(";", "}", ">", ">>", "|")):
            arguments = self.reader.list()
            if len(arguments) == 1 and isinstance(arguments[0], Group) and len(arguments[0].items) > 1:
                arguments = arguments[0].items
        self.reader.no_greater -= 1
        redirect = self.reader.take(">", ">>", "|")
        return Print(arguments, is_formatted, redirect, self.reader.choice() if redirect else None)
