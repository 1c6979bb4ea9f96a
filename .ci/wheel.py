"""Builds the wheel from the sdist and fails if it would put anything but `historycompat` into site-packages, or if a
data file of the repository is missing from it."""

from __future__ import annotations

import subprocess
import sys
import tarfile
import tempfile
import zipfile
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]


def main() -> None:
    with tempfile.TemporaryDirectory() as scratch:
        # `build` makes the sdist first and then the wheel from it.
        subprocess.run([sys.executable, "-m", "build", "--outdir", scratch, str(ROOT)], check=True, stdout=sys.stderr)
        (wheel,) = Path(scratch).glob("*.whl")
        (sdist,) = Path(scratch).glob("*.tar.gz")
        inside = set(zipfile.ZipFile(wheel).namelist())
        with tarfile.open(sdist) as archive:
            packed = {name.partition("/")[2] for name in archive.getnames()}
    tops = {name.partition("/")[0] for name in inside}
    strangers = sorted(top for top in tops if top != "historycompat" and not top.endswith(".dist-info"))
    assert not strangers, f"the wheel would put these into site-packages: {strangers}"
    tracked = subprocess.run(
        ["git", "ls-files", "grammar", "builtin_rules"], cwd=ROOT, check=True, capture_output=True, text=True
    ).stdout.split()
    assert tracked, "no data files are tracked"
    missing = [name for name in tracked if f"historycompat/{name}" not in inside or name not in packed]
    assert not missing, f"missing from the wheel or the sdist: {missing}"
    assert "historycompat/py.typed" in inside, "py.typed is missing"
    print(f"wheel: {len(inside)} files, {len(tracked)} data files, nothing else in site-packages")


if __name__ == "__main__":
    main()
