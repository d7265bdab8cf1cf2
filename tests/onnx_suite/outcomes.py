"""The outcome of one case, and how it is determined."""

from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from enum import Enum

from tests.onnx_suite.cases import Case, DataSet, data_sets_of, quiet
from tests.onnx_suite.evaluators import Evaluator, Prepared, Unsupported, first_line
from tests.onnx_suite.values import RANDOM_OPERATORS, Disagreement, compare_all


class Verdict(Enum):
    """How a case ended."""

    PASS = "pass"
    UNSUPPORTED = "unsupported"
    """The evaluator says what it cannot do."""
    FAIL = "fail"
    """Other results, or an error that is not a refusal, a crash or no end in time."""


@dataclass(frozen=True)
class Outcome:
    """The outcome of one case. Seconds are those of the processor, in making the model ready and in running it."""

    case: Case
    verdict: Verdict
    reason: str = ""
    """Why it did not pass, or what had to be done so that it did."""
    error: float | None = None
    prepare_seconds: float = 0.0
    run_seconds: float = 0.0

    @property
    def seconds(self) -> float:
        return self.prepare_seconds + self.run_seconds


def ended(case: Case, reason: str) -> Outcome:
    """The outcome of a case whose process ended or was ended."""
    return Outcome(case, Verdict.FAIL, reason)


class Judge:
    """Runs cases with one evaluator, and compares."""

    def __init__(self, evaluator: Evaluator) -> None:
        self.evaluator = evaluator

    def judge(self, case: Case) -> Outcome:
        """Runs all sets of data of a case, whatever happens."""
        clock = Clock()
        try:
            with quiet():
                data_sets = list(data_sets_of(case))
                with clock.preparing():
                    prepared = self.evaluator.prepare(case.model, data_sets[0].inputs)
                run_all(case, data_sets, prepared, clock)
        except Unsupported as error:
            return Outcome(case, Verdict.UNSUPPORTED, str(error), None, *clock.seconds)
        except Disagreement as error:
            return Outcome(case, Verdict.FAIL, str(error), error.error, *clock.seconds)
        except Exception as error:  # noqa: BLE001  one case must not end the others
            return Outcome(case, Verdict.FAIL, first_line(error), None, *clock.seconds)
        return Outcome(case, Verdict.PASS, prepared.note, None, *clock.seconds)


def run_all(case: Case, data_sets: Sequence[DataSet], prepared: Prepared, clock: Clock) -> None:
    """Runs a model on each set of data, and compares. Raises: Disagreement, and what running raises."""
    run = prepared.run
    if run is None:
        return
    for data in data_sets:
        with clock.running():
            result = run(data.inputs)
        is_random = case.operator in RANDOM_OPERATORS
        compare_all(result, data.outputs, case.rtol, case.atol, prepared.error, is_random=is_random)


class Clock:
    """Processor time by stage."""

    def __init__(self) -> None:
        self.seconds = [0.0, 0.0]

    def preparing(self) -> Stage:
        return Stage(self, 0)

    def running(self) -> Stage:
        return Stage(self, 1)


class Stage:
    """Adds the time of a block to a stage."""

    def __init__(self, clock: Clock, index: int) -> None:
        self._clock = clock
        self._index = index
        self._start = 0.0

    def __enter__(self) -> None:
        self._start = time.process_time()

    def __exit__(self, *_: object) -> None:
        self._clock.seconds[self._index] += time.process_time() - self._start
