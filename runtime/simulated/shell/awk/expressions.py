"""awk's expressions, read from tokens by recursive descent: each level reads what binds less and calls the next."""

from __future__ import annotations

from attrs import define, field

from runtime.simulated.shell.applets.base import AppletError
from runtime.simulated.shell.awk.lexer import Kind, Token
from runtime.simulated.shell.awk.nodes import (
    Assign,
    Binary,
    Call,
    Choice,
    Constant,
    Element,
    Expression,
    Field,
    Getline,
    Group,
    Membership,
    Pattern,
    Step,
    Target,
    Unary,
    Variable,
)

_ASSIGNING = frozenset({"=", "+=", "-=", "*=", "/=", "%=", "^="})
_COMPARING = frozenset({"<", "<=", "==", "!=", ">", ">="})
_STARTS_OPERAND = frozenset({"$", "!", "(", "++", "--"})
_JOINED_KINDS = frozenset({Kind.NUMBER, Kind.STRING, Kind.PATTERN, Kind.NAME, Kind.CALL, Kind.BUILTIN})


@define
class ExpressionReader:
    """Reads from a list of tokens; `no_greater` leaves > to print, which writes to a file with it."""

    tokens: list[Token]
    at: int = 0
    no_greater: int = field(default=0, init=False)

    # -- tokens

    @property
    def next(self) -> Token:
        """Return the token that comes."""
        return self.tokens[self.at]

    def peek(self, *texts: str) -> bool:
        """Tell whether one of some marks or words comes."""
        return self.next.kind in {Kind.MARK, Kind.WORD} and self.next.text in texts

    def take(self, *texts: str) -> str:
        """Take one of some marks or words; "" when none comes."""
        if not self.peek(*texts):
            return ""
        self.at += 1
        return self.tokens[self.at - 1].text

    def need(self, text: str) -> None:
        """Take a mark or a word; AppletError."""
        if not self.take(text):
            raise self.unexpected()

    def need_name(self) -> str:
        """Take a name; AppletError."""
        token = self.next
        if token.kind not in {Kind.NAME, Kind.CALL}:
            raise self.unexpected()
        self.at += 1
        return token.text

    def unexpected(self) -> AppletError:
        """Return the error for what comes, to be raised."""
        return AppletError("cmd. line:1: Unexpected token")

    def skip_newlines(self) -> None:
        """Skip newlines."""
        while self.next.kind is Kind.NEWLINE:
            self.at += 1

    def skip_ends(self) -> None:
        """Skip newlines and semicolons."""
        while self.next.kind is Kind.NEWLINE or self.peek(";"):
            self.at += 1

    def list(self) -> tuple[Expression, ...]:
        """Read expressions between commas."""
        items = [self.expression()]
        while self.take(","):
            self.skip_newlines()
            items.append(self.expression())
        return tuple(items)

    def index(self) -> tuple[Expression, ...]:
        """Read what stands between brackets."""
        self.need("[")
        saved, self.no_greater = self.no_greater, 0
        items = self.list()
        self.no_greater = saved
        self.need("]")
        return items

    # -- expressions, from what binds least

    def expression(self) -> Expression:
        """Read an expression; AppletError."""
        left = self.choice()
        if isinstance(left, Variable | Field | Element) and (op := self.take(*_ASSIGNING)):
            self.skip_newlines()
            return Assign(left, op[:-1], self.expression())
        return left

    def choice(self) -> Expression:
        """Read an expression that is no assignment."""
        condition = self._or()
        if not self.take("?"):
            return condition
        self.skip_newlines()
        one = self.expression()
        self.skip_newlines()
        self.need(":")
        self.skip_newlines()
        return Choice(condition, one, self.expression())

    def _or(self) -> Expression:
        left = self._and()
        while self.take("||"):
            self.skip_newlines()
            left = Binary("||", left, self._and())
        return left

    def _and(self) -> Expression:
        left = self._membership()
        while self.take("&&"):
            self.skip_newlines()
            left = Binary("&&", left, self._membership())
        return left

    def _membership(self) -> Expression:
        left = self._matching()
        while self.take("in"):
            items = left.items if isinstance(left, Group) else (left,)
            left = Membership(items, self.need_name())
        return left

    def _matching(self) -> Expression:
        left = self._comparison()
        while op := self.take("~", "!~"):
            left = Binary(op, left, self._comparison())
        return left

    def _comparison(self) -> Expression:
        left = self._joined()
        while True:
            if self.peek("|") and self.tokens[self.at + 1].text == "getline":
                self.at += 2
                left = Getline(self._getline_target(), "|", left)
                continue
            if self.peek(">") and self.no_greater:
                return left
            op = self.take(*_COMPARING)
            if not op:
                return left
            left = Binary(op, left, self._joined())

    def _joined(self) -> Expression:
        left = self._sum()
        while self._starts_operand():
            left = Binary(" ", left, self._sum())
        return left

    def _starts_operand(self) -> bool:
        token = self.next
        if token.kind is Kind.MARK:
            return token.text in _STARTS_OPERAND
        return token.kind in _JOINED_KINDS

    def _sum(self) -> Expression:
        left = self._product()
        while op := self.take("+", "-"):
            left = Binary(op, left, self._product())
        return left

    def _product(self) -> Expression:
        left = self._unary()
        while op := self.take("*", "/", "%"):
            left = Binary(op, left, self._unary())
        return left

    def _unary(self) -> Expression:
        if op := self.take("!", "-", "+"):
            return Unary(op, self._unary())
        return self._power()

    def _power(self) -> Expression:
        base = self._postfix()
        if self.take("^"):
            return Binary("^", base, self._unary() if self.peek("-", "+", "!") else self._power())
        return base

    def _postfix(self) -> Expression:
        if op := self.take("++", "--"):
            return Step(self._need_target(self._postfix()), 1 if op == "++" else -1, is_prefix=True)
        made = self._primary()
        if isinstance(made, Variable | Field | Element) and (op := self.take("++", "--")):
            return Step(made, 1 if op == "++" else -1, is_prefix=False)
        return made

    def _need_target(self, made: Expression) -> Target:
        if not isinstance(made, Variable | Field | Element):
            raise self.unexpected()
        return made

    def _primary(self) -> Expression:
        token = self.next
        self.at += 1
        match token.kind:
            case Kind.NUMBER:
                return Constant(float(int(token.text, 16)) if token.text[:2] in {"0x", "0X"} else float(token.text))
            case Kind.STRING:
                return Constant(token.text)
            case Kind.PATTERN:
                return Pattern(token.text)
            case Kind.NAME:
                return Element(token.text, self.index()) if self.peek("[") else Variable(token.text)
            case Kind.CALL:
                return Call(token.text, self._arguments(), is_builtin=False)
            case Kind.BUILTIN:
                return Call(token.text, self._arguments() if self.peek("(") else (), is_builtin=True)
        if token.text == "$" and token.kind is Kind.MARK:
            return Field(self._postfix_operand())
        if token.text == "(" and token.kind is Kind.MARK:
            return self._group()
        if token.text == "getline":
            target = self._getline_target()
            return Getline(target, "<", self._postfix()) if self.take("<") else Getline(target, "", None)
        self.at -= 1
        raise self.unexpected()

    def _postfix_operand(self) -> Expression:
        if op := self.take("++", "--"):
            return Step(self._need_target(self._postfix()), 1 if op == "++" else -1, is_prefix=True)
        if self.take("-"):
            return Unary("-", self._primary())
        return self._primary()

    def _group(self) -> Group:
        saved, self.no_greater = self.no_greater, 0
        self.skip_newlines()
        items = self.list()
        self.skip_newlines()
        self.no_greater = saved
        self.need(")")
        return Group(items)

    def _arguments(self) -> tuple[Expression, ...]:
        self.need("(")
        self.skip_newlines()
        if self.take(")"):
            return ()
        saved, self.no_greater = self.no_greater, 0
        items = self.list()
        self.no_greater = saved
        self.skip_newlines()
        self.need(")")
        return items

    def _getline_target(self) -> Target | None:
        if self.next.kind is Kind.NAME or self.peek("$"):
            return self._need_target(self._primary())
        return None
