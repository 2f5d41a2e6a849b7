"""Runs programs: as a user does, in an interpreter of their own, or in this one, where large libraries are loaded."""

from __future__ import annotations

import contextlib
import io
import os
import runpy
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


def run_here(script: str, *arguments: str) -> str:
    """Output of a script as the main program of this interpreter, with all else that prints meanwhile."""
    printed = io.StringIO()
    before = sys.argv
    sys.argv = [script, *arguments]
    try:
        with contextlib.redirect_stdout(printed):
            runpy.run_path(str(ROOT / script), run_name="__main__")
    finally:
        sys.argv = before
    return printed.getvalue()
