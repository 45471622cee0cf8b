"""The batch axis: what stands along each axis of each value of a trace, and what is wrong with that.

Pure functions on a `shapelint.records.CaseReport`, in the standard library alone. `layout` has the words, `calls` reads an
operation, `along`, `moves`, `products` and `layers` say where each operation leaves the axes, `follow` walks the trace, `transposed` and `judge` find
the operations that treat an axis as what it isn't.
"""
