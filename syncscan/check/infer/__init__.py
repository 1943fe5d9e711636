"""The inference: an abstract value for each expression of a project, with device, dtype, shape facts and confidence.

The following steps trace one parameter from its call site to a finding:

1. `source.indexer` lists the definitions of each file: a `Function` with its `Parameter`, without any values.
2. `lower.function` lowers each function to a list of instructions, an `ir.instructions.FunctionIR`.
3. `solve.solver.Solver` gives each function a `dataflow.state.State`, and runs the instructions on the worklist.
4. For ``f(torch.zeros(3, device="cuda"))``, `transfer.torch_calls` asks `transfer.results` for the device of the tensor.
5. `transfer.functions` contributes the tensor to the `dataflow.cells.Cell` of the parameter. The cell joins the
   contributions of all call sites.
6. The cell has changed, so the instruction of ``f`` that reads the cell runs again, then the users of its slot: ``x.item()`` is
   a call of the operation table with a GPU operand.
7. The worklist is empty at the fixed point. `solve.recording` lowers ``f`` once more beside its values, and
   a `solve.record.Recorder` records the statement.
8. `syncscan.check.match` runs the rules on the statement.
9. `solve.provenance` follows instructions and cells back from the operand, for the evidence.

Dependencies point one way: domain, ir, source, lower, dataflow, transfer, solve and kept
(``tests/test_architecture.py``).
"""
