"""Judges a log by the kubelet's rules: each rule one small pure function over histories."""

from kubelet_emu.lifecycle.verification.catalogue import RULES
from kubelet_emu.lifecycle.verification.report import Finding, Report, judge, verify
from kubelet_emu.lifecycle.verification.verdicts import Case, Outcome, Rule, Terms, Verdict

__all__ = ["RULES", "Case", "Finding", "Outcome", "Report", "Rule", "Terms", "Verdict", "judge", "verify"]
