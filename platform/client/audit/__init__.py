"""`lgbench-audit`: what an outsider runs to check the transparency log without trusting the operator."""
