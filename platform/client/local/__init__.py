"""`lgbench run-local`: the harness on public tasks on this machine, graded by the code that grades the real runs."""
