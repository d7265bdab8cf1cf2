"""The error of evaluating TableGen."""


class EvaluationError(Exception):
    """An invalid value; the parser adds the location."""
