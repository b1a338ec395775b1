"""The simulated runtime: the CRI on Trio's clock."""

from runtime.simulated.faults import FailingCall, FaultPlan, LostEvents, Period, PullFault, SlowStops
from runtime.simulated.images import ImageKind, SimulatedImage
from runtime.simulated.known import AppletProgram, UnknownProgram, end_signals
from runtime.simulated.latencies import TYPICAL, Latencies
from runtime.simulated.machine import Abilities
from runtime.simulated.network import ANY_PORT
from runtime.simulated.program import (
    AnsweredProgram,
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
from runtime.simulated.servers import ANY_SERVICE, Answers, GrpcAnswer, HttpAnswer

__all__ = [
    "ANY_PORT",
    "ANY_SERVICE",
    "TYPICAL",
    "Abilities",
    "AnsweredProgram",
    "Answers",
    "AppletProgram",
    "Exec",
    "ExecAnswer",
    "FailingCall",
    "FaultPlan",
    "GrpcAnswer",
    "HttpAnswer",
    "ImageKind",
    "Latencies",
    "Line",
    "LostEvents",
    "OnSignal",
    "Period",
    "Port",
    "Program",
    "PullFault",
    "Run",
    "ScriptedProgram",
    "SimulatedImage",
    "SimulatedRuntime",
    "SlowStops",
    "StartFailure",
    "UnknownProgram",
    "end_signals",
]
