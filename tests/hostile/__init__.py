"""Changes small models at random and requires that every command still ends with a result or a diagnostic.

python -m tests.hostile [--count N | --seconds S] [--only PATTERN] [--number N] [--keep FOLDER] [--results FILE]

Seeds are the models of the tests and examples, and their conversions to every format. Each case changes one file of a
seed, in terms of its syntax or of its bytes, and goes through all stages, in a process with limits. A traceback, the
end of the process, more than 5 s of CPU time or more than 1 GB of memory is a fault. A case is found again by its name
and number: `--only NAME --number N`.
"""
