"""How hard tasks are, and which of them may stand in for others. Pure: arrays in, arrays out, no Django.

It lies below governance so that whoever forms groups of tasks, here or in `benchmark`, uses the very same profile.
"""
