"""The sizes of a value as expressions in the named dimensions: ``2*B``, ``H//2``, ``T+1``."""

from __future__ import annotations

import math
from functools import cache
from itertools import combinations

Sizes = tuple[tuple[str, int], ...]
_FACTORS = 64
_LARGEST = 513
_SHIFTS = 16
_HALVINGS = (2, 4, 8, 16, 32, 64, 14, 7)


def product(sizes: tuple[str, ...]) -> str:
    """The product of sizes in names: ``400*B`` of ``B, 16, 5, 5``; ``?`` where one isn't known."""
    number, names = 1, []
    for size in sizes:
        if size == "?":
            return "?"
        for factor in [size] if any(sign in size for sign in "+-/(") else size.split("*"):
            if factor.lstrip("-").isdigit():
                number *= int(factor)
            else:
                names.append(f"({factor})" if any(sign in factor for sign in "+-/") else factor)
    return "*".join([*([str(number)] if number != 1 or not names or number == 0 else []), *names])


@cache
def expression(sizes: tuple[int, ...], assignments: tuple[Sizes, ...]) -> str:
    """An expression in the names that gives ``sizes[i]`` under ``assignments[i]``; ``?`` where none is found."""
    if len(set(sizes)) == 1:
        return str(sizes[0])
    names = [name for name, _ in assignments[0]]
    values = {name: [dict(a)[name] for a in assignments] for name in names}
    for name in names:
        found = _of_one(name, values[name], sizes)
        if found:
            return found
    for a, b in combinations(names, 2):
        ratios = {s / (x * y) for s, x, y in zip(sizes, values[a], values[b])}
        if len(ratios) == 1 and (ratio := ratios.pop()) == int(ratio):
            return f"{a}*{b}" if ratio == 1 else f"{int(ratio)}*{a}*{b}"
        sums = {s - x - y for s, x, y in zip(sizes, values[a], values[b])}
        if len(sums) == 1:
            rest = sums.pop()
            return f"{a}+{b}" if rest == 0 else f"{a}+{b}{rest:+d}"
    return _of_two(values, sizes) or _multiple(sizes, assignments) or "?"


def _multiple(sizes: tuple[int, ...], assignments: tuple[Sizes, ...]) -> str:
    """``2*(H//2)``: the common divisor of all sizes times an expression in the rest."""
    common = math.gcd(*sizes)
    if common <= 1:
        return ""
    rest = expression(tuple(size // common for size in sizes), assignments)
    return "" if rest == "?" or rest[0].isdigit() else f"{common}*{_braced(rest)}"


def _of_two(values: dict[str, list[int]], sizes: tuple[int, ...]) -> str:
    """``(H//16)*(W//16)``: a product of two axes that one stride divided."""
    for a, b in combinations(values, 2):
        for factor in _HALVINGS:
            for up in (0, factor - 1):
                first, second = ([(v + up) // factor for v in values[name]] for name in (a, b))
                products = {s / (x * y) for s, x, y in zip(sizes, first, second)} if all((*first, *second)) else set()
                if len(products) == 1 and (ratio := products.pop()) == int(ratio):
                    parts = [f"(({name}+{up})//{factor})" if up else f"({name}//{factor})" for name in (a, b)]
                    return "*".join(parts if ratio == 1 else [str(int(ratio)), *parts])
    return ""


def _braced(text: str) -> str:
    return f"({text})" if any(sign in text for sign in "+-/") else text


def _of_one(name: str, values: list[int], sizes: tuple[int, ...]) -> str:
    if list(sizes) == values:
        return name
    shifts = {s - v for s, v in zip(sizes, values)}
    if len(shifts) == 1 and abs(shift := shifts.pop()) <= _SHIFTS:
        return f"{name}{shift:+d}"
    ratios = {s / v for s, v in zip(sizes, values)} if all(values) else set()
    if len(ratios) == 1 and (ratio := ratios.pop()) == int(ratio):
        return f"{int(ratio)}*{name}"
    if len(set(values)) < 3:  # noqa: PLR2004  # two points fit too many lines
        return ""
    return _exact(name, values, sizes) or _floored(name, values, sizes)


def _exact(name: str, values: list[int], sizes: tuple[int, ...]) -> str:
    """``H//32-1`` where every value is a multiple."""
    for factor in range(2, _LARGEST):
        if all(v % factor == 0 for v in values):
            shifts = {s - v // factor for s, v in zip(sizes, values)}
            if len(shifts) == 1:
                return f"{name}//{factor}{_signed(shifts.pop())}"
    return ""


def _floored(name: str, values: list[int], sizes: tuple[int, ...]) -> str:
    """``(H+3)//8-4``: the one factor for which a shift exists, or the one power of two; else none.

    ``(v + c) // k == s`` just where ``k*s - v <= c < k*s - v + k``: the shifts that do lie in all these intervals.
    """
    found = []
    for factor in range(2, _FACTORS):
        low = max(factor * s - v for s, v in zip(sizes, values))
        high = min(factor * s - v + factor - 1 for s, v in zip(sizes, values))
        if low <= high:
            found.append((factor, low, high))
    if len(found) > 1:
        # Small sizes fit many factors; halvings that round down or up are the only guess that is allowed.
        found = [(f, a, b) for f, a, b in found if f & (f - 1) == 0 and (a <= 0 <= b or a <= f - 1 <= b)]
    if len(found) != 1:
        return ""
    factor, low, high = found[0]
    # Rounded down or up is what strides do; three sizes can't tell more where the factor is large.
    shift = min(range(low, high + 1), key=lambda c: (c // factor != 0, c % factor not in (0, factor - 1), abs(c)))
    whole, rest = divmod(shift, factor)
    inner = name if rest == 0 else f"({name}+{rest})"
    return f"{inner}//{factor}{_signed(whole)}"


def _signed(number: int) -> str:
    return f"{number:+d}" if number else ""
