"""Runs programs as a user does: in an interpreter of their own."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).parent.parent.parent
WITHIN_S = 120


def run_program(*arguments: str) -> str:
    """The output of a program that succeeds; fails with its output otherwise."""
    command = [sys.executable, *arguments]
    done = subprocess.run(command, capture_output=True, text=True, timeout=WITHIN_S, cwd=ROOT, env=dict(os.environ))
    assert done.returncode == 0, done.stdout + done.stderr
    return done.stdout
