"""Drover runs requests where they finish first; this is its client for Python.

    import pathlib, drover

    with drover.Client(["http://agent.example:7410"]) as grid:
        job = grid.call("lu", matrix=pathlib.Path("a.mtx"), solution=drover.Output("x.mtx"))
        print(job.site, job.outcome.exit_code)

It needs nothing beyond the standard library. ``Client`` is where to begin; the words
of GridRPC beside ours are in the README.
"""

from .arrays import Matrix
from .client import LOCAL, Client, new_job_id
from .data import Data
from .errors import (
    ClosedError,
    DroverError,
    FileError,
    GridError,
    HopsError,
    JobFailed,
    PatienceError,
    UnknownOutcome,
)
from .grid import Argument, Candidate, Decision, Missing, Outcome, Service, Site, Written
from .job import Job
from .options import Agreement, Options
from .values import Output

__all__ = [
    "LOCAL", "Agreement", "Argument", "Candidate", "Client", "ClosedError", "Data", "Decision", "DroverError", "FileError", "GridError",
    "HopsError", "Job", "JobFailed", "Matrix", "Missing", "Options", "Outcome", "Output", "PatienceError", "Service",
    "Site", "UnknownOutcome", "Written", "new_job_id",
]
