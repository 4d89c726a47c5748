"""Pure scoring: rules, checkers, aggregation, intervals and the display grid.

Standard library only (scipy and openpyxl are imported where they are met); nothing here knows of Django.
"""
