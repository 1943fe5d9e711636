"""What is known of every value of a project.

One parameter, from its call site to a finding:

1. `source.indexer` lists what the files define: a `Function` with its `Parameter`, and nothing that is known of it.
2. `known.timeline` says that it is the turn of the caller, and `solver.Solver` gives it a `evaluate.frame.Frame`.
3. The frame finds who evaluates each statement and expression in `evaluate.registry`; `evaluators` fill it.
4. ``f(torch.zeros(3, device="cuda"))``: `evaluators.torch_calls` asks `table.results` where the tensor lives, and
5. `evaluators.functions` tells the `known.cells.Cell` of the parameter, with a step of evidence (`values.passing`).
6. The frame's `evaluate.outcome.Outcome` holds what the caller read and told; the time line commits it,
7. the cell joins it to what other callers contribute (`values.lattice`), and its readers take a turn in the next round: ``f`` does.
8. `evaluate.running` reads the cell as ``f`` starts; ``x.item()`` then is a call of the table with a GPU operand.
9. Nothing changes any more. `Solver.candidates` evaluates ``f`` once again, and its `evaluate.record.Recorder`
10. writes down the statement; `syncscan.check.match` asks the rules about it.

Dependencies point one way: values, source, known, table, evaluate, evaluators, solver (``tests/test_architecture.py``).
"""
