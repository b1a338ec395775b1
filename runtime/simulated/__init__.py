"""The simulated runtime: the CRI on Trio's clock."""

from runtime.simulated.faults import FaultPlan
from runtime.simulated.images import ImageKind, PullFault, SimulatedImage
from runtime.simulated.known import AppletProgram, UnknownProgram
from runtime.simulated.latencies import TYPICAL, Latencies
from runtime.simulated.program import (
    Exec,
    ExecAnswer,
    Line,
    OnSignal,
    Port,
    Program,
    Run,
    ScriptedProgram,
    StartFailure,
)
from runtime.simulated.runtime import SimulatedRuntime
from runtime.simulated.servers import GrpcAnswer, HttpAnswer

__all__ = [
    "TYPICAL",
    "AppletProgram",
    "Exec",
    "ExecAnswer",
    "FaultPlan",
    "GrpcAnswer",
    "HttpAnswer",
    "ImageKind",
    "Latencies",
    "Line",
    "OnSignal",
    "Port",
    "Program",
    "PullFault",
    "Run",
    "ScriptedProgram",
    "SimulatedImage",
    "SimulatedRuntime",
    "StartFailure",
    "UnknownProgram",
]
