"""Checks that TensorFlow and its trace viewer read the profiles that Eagre writes.

Run: python profiles.py, after a build.
"""

import glob
import json
import os
import pathlib
import subprocess
import tempfile

os.environ["CUDA_VISIBLE_DEVICES"] = "-1"
os.environ["TF_CPP_MIN_LOG_LEVEL"] = "3"

import tensorflow as tf  # noqa: F401
from tensorflow.python.profiler.internal import _pywrap_profiler_plugin as plugin
from tensorflow.tsl.profiler.protobuf import xplane_pb2

SCRIPT = pathlib.Path(__file__).with_name("profiles.mjs")

with tempfile.TemporaryDirectory() as folder:
    expected = json.loads(subprocess.run(["node", SCRIPT, folder], check=True, capture_output=True, text=True).stdout)
    (path,) = glob.glob(f"{folder}/plugins/profile/*/*.xplane.pb")
    space = xplane_pb2.XSpace()
    space.ParseFromString(pathlib.Path(path).read_bytes())
    (plane,) = space.planes
    (line,) = plane.lines
    names = [plane.event_metadata[e.metadata_id].name for e in line.events]
    assert set(expected["events"]) <= set(names), names
    assert names.count("train") == expected["steps"], names
    stats = [{plane.stat_metadata[s.metadata_id].name: s.int64_value or s.str_value for s in e.stats} for e in line.events]
    assert [s["phase"] for s in stats if "phase" in s] == ["first"] * 3, stats
    shown, _ = plugin.xspace_to_tools_data([path], "trace_viewer", {})
    for step in range(expected["steps"]):
        assert f"train {step}".encode() in shown, shown
print("profiles: TensorFlow reads them, and its trace viewer knows the steps")
