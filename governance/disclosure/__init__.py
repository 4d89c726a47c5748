"""What may be shown of a result, and what showing it costs: pure rules, without a database (release policy).

`changes` compares behaviour, `gate` decides silences from it, `ladder` is the other rule of a version, `sides` shapes
side figures, `bits` counts capacity.
"""
