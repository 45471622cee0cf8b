"""What stands along each axis of a value: the factors its size is made of, and which of them is the batch.

A `Layout` follows the elements, not the sizes. ``[B, T, F]`` viewed as ``[B*T, F]`` still knows that its first axis is B outside
and T inside; viewed as ``[2, B, T*F//2]`` it knows that an axis of size B there is not the batch. Sizes are tuples with one
number for each run that is looked at, so two factors are told apart where any run tells them apart.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

Sizes = tuple[int, ...]
"""One size in each run."""


@dataclass(frozen=True, slots=True)
class Atom:
    """A factor of an axis's size.

    ``batch`` says that it counts the samples. ``mixed`` is the op whose reshape put several samples, or parts of them,
    along this factor; -1 if none did.
    """

    sizes: Sizes
    batch: bool = False
    mixed: int = -1


@dataclass(frozen=True, slots=True)
class Segment:
    """Neighbouring axes over neighbouring factors, in row-major order.

    One axis is the rule. Several axes over several factors are what a reshape leaves that cut through a factor: none of
    them has a meaning of its own until another reshape joins them again. ``born`` is the op that did so.
    """

    axes: tuple[Sizes, ...]
    atoms: tuple[Atom, ...]
    born: int = -1

    @property
    def batch(self) -> bool:
        """Whether the samples run along here, alone or among others."""
        return any(atom.batch for atom in self.atoms)

    @property
    def mixed(self) -> int:
        """The op that mixed samples along here, -1 if none did."""
        return next((atom.mixed for atom in self.atoms if atom.mixed >= 0), -1)


Layout = tuple[Segment, ...]


def times(a: Sizes, b: Sizes) -> Sizes:
    """The products, run by run."""
    return tuple([x * y for x, y in zip(a, b)])


def divides(a: Sizes, b: Sizes) -> bool:
    """Whether ``a`` divides ``b`` in every run."""
    return all(x and y % x == 0 for x, y in zip(a, b))


def axis(sizes: Sizes, *atoms: Atom) -> Segment:
    """One axis made of these factors; factors of size 1 are left out."""
    return Segment((sizes,), tuple([atom for atom in atoms if any(size != 1 for size in atom.sizes)]))


def axis_count(layout: Layout) -> int:
    """The rank."""
    return sum(len(segment.axes) for segment in layout)


def shape(layout: Layout) -> tuple[Sizes, ...]:
    """The sizes of all axes."""
    return tuple([sizes for segment in layout for sizes in segment.axes])


def apart(layout: Layout) -> Layout:
    """The layout with one segment an axis: what was cut through loses its factors.

    This is what an operation sees that works along single axes. Where the batch took part in the cut, each of the axes
    holds elements of several samples.
    """
    if all(len(segment.axes) == 1 for segment in layout):
        return layout
    out: list[Segment] = []
    for segment in layout:
        if len(segment.axes) == 1:
            out.append(segment)
            continue
        mixed = segment.born if segment.batch else segment.mixed
        out += [axis(sizes, Atom(sizes, mixed=mixed)) for sizes in segment.axes]
    return tuple(out)


def is_batch(segment: Segment) -> bool:
    """Whether the segment is the batch and nothing else."""
    return len(segment.axes) == 1 and len(segment.atoms) == 1 and segment.atoms[0].batch


# ---------------------------------------------------------------------------------------------------- reshaping


@dataclass(slots=True)
class _Cut:
    """The state of `reshape`: factors not yet used, and the axis that is being filled."""

    rest: list[Atom]
    filled: list[Atom]
    pieces: bool = False


def reshape(layout: Layout, wanted: tuple[Sizes, ...], op: int, *, free: int = -1) -> Layout | None:
    """The layout after a row-major reshape to ``wanted``, made by ``op``; None where the sizes don't fit or one is 0.

    Factors are dealt out to the axes from the left; one is split where an axis ends inside it and divides it. Where it
    doesn't, the axes up to the next common boundary become one segment. ``free`` is the axis that was given as -1: the
    batch that is joined there with a piece of something else is mixed.
    """
    if any(not size for sizes in wanted for size in sizes):
        return None
    cut = _Cut([atom for segment in layout for atom in segment.atoms], [])
    out: list[Segment] = []
    position = 0
    while position < len(wanted):
        left = wanted[position]
        cut.filled, cut.pieces = [], False
        while any(size != 1 for size in left) and cut.rest:
            atom = cut.rest[0]
            if divides(atom.sizes, left):
                cut.filled.append(cut.rest.pop(0))
                left = tuple([a // b for a, b in zip(left, atom.sizes)])
            elif divides(left, atom.sizes):
                inner = tuple([a // b for a, b in zip(atom.sizes, left)])
                cut.filled.append(replace(atom, sizes=left))
                cut.rest[0] = replace(atom, sizes=inner)
                cut.pieces = cut.pieces or not atom.batch
                left = (1,) * len(left)
            else:
                break
        if all(size == 1 for size in left):
            out.append(_filled(wanted[position], cut, op, mixes=position == free and cut.pieces))
            position += 1
            continue
        crossing = _crossing(cut, wanted[position:], op)
        if crossing is None:
            return None
        out.append(crossing)
        position += len(crossing.axes)
    return None if any(size != 1 for atom in cut.rest for size in atom.sizes) else tuple(out)


def _filled(sizes: Sizes, cut: _Cut, op: int, *, mixes: bool) -> Segment:
    atoms = cut.filled
    if mixes and len(atoms) > 1 and any(atom.batch for atom in atoms):
        atoms = [replace(atom, mixed=op) if atom.batch else atom for atom in atoms]
    elif len(atoms) == 1 and atoms[0].batch:
        # What stood beside the batch stands on its own again.
        atoms = [replace(atoms[0], mixed=-1)]
    return axis(sizes, *atoms)


def _crossing(cut: _Cut, wanted: tuple[Sizes, ...], op: int) -> Segment | None:
    """The axes and factors up to the next boundary that both have in common."""
    one = (1,) * len(wanted[0])
    atoms = list(cut.filled)
    have, need = one, one
    for atom in atoms:
        have = times(have, atom.sizes)
    count = 0
    while count == 0 or have != need:
        if count == 0 or (all(n <= h for n, h in zip(need, have)) and count < len(wanted)):
            need = times(need, wanted[count])
            count += 1
        elif cut.rest:
            atom = cut.rest.pop(0)
            atoms.append(atom)
            have = times(have, atom.sizes)
        elif count < len(wanted):
            need = times(need, wanted[count])
            count += 1
        else:
            return None
    # A following axis of size 1 belongs to nobody; it stands on its own.
    kept = [atom for atom in atoms if any(size != 1 for size in atom.sizes)]
    return Segment(wanted[:count], tuple(kept), op)
