"""Pure scoring: rules, checkers, aggregation, intervals and the display grid.

Standard library only (scipy is imported where an interval is made); nothing here knows of Django.
"""
