"""What is known of every value of a project.

One parameter, from its call site to a finding:

1. `source.indexer` lists what the files define: a `Function` with its `Parameter`, and nothing that is known of it.
2. `lower.function` makes of each function a list of instructions, an `ir.instructions.FunctionIR`.
3. `solve.solver.Solver` gives each a `dataflow.state.State`, and runs the instructions that are due.
4. ``f(torch.zeros(3, device="cuda"))``: `transfer.torch_calls` asks `transfer.results` where the tensor lives, and
5. `transfer.functions` contributes to the `dataflow.cells.Cell` of the parameter; the cell joins it to what other calls contribute.
6. The cell has changed, so the instruction of ``f`` that reads it is due, then those that use its slot: ``x.item()`` is a call of
   the table with a GPU operand.
7. Nothing is due any more. `solve.recording` lowers ``f`` once more beside its values, and a `solve.record.Recorder`
8. writes down the statement; `syncscan.check.match` asks the rules about it.
9. `solve.provenance` goes back from the operand through instructions and cells, for the evidence.

Dependencies point one way: domain, ir, source, lower, dataflow, transfer, solve and kept (``tests/test_architecture.py``).
"""
