"""Offers of re-runs: a combination published on one version may be run on the next one outside its quota."""
