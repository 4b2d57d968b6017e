# What saving or restoring 500 MB of variables by TensorFlow's tf.train.Checkpoint costs; see checkpoint.mjs, which does the same by Eagre's:
# python checkpoint.py save|restore|memory
import json
import math
import os
import shutil
import statistics
import sys
import tempfile
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
import tensorflow as tf

MB = 2**20
ROUNDS = 9
SIZES = [size * MB for size in [256, 40, 40, *[1] * 144]] + [10_000] * 2000

what = sys.argv[1]
folder = tempfile.mkdtemp(prefix="bench-checkpoint-")
variables = [tf.Variable(tf.fill([size // 4], float(i))) for i, size in enumerate(SIZES)]
checkpoint = tf.train.Checkpoint(variables=variables)
prefix = os.path.join(folder, "checkpoint")
unsynced = []


def files(wanted):
    """Syncs the folder's files, and has the system forget them if that is wanted."""
    for name in os.listdir(folder):
        file = os.open(os.path.join(folder, name), os.O_RDONLY)
        os.fsync(file)
        if wanted == "forgotten" and hasattr(os, "posix_fadvise"):
            os.posix_fadvise(file, 0, 0, os.POSIX_FADV_DONTNEED)
        os.close(file)


def save():
    # TensorFlow leaves its files to the system's memory: until they are on the disk is part of it.
    start = time.perf_counter()
    checkpoint.write(prefix)
    unsynced.append(time.perf_counter() - start)
    files("synced")


def restore():
    checkpoint.read(prefix).assert_consumed()


def field(name):
    with open("/proc/self/status") as status:
        return next(int(line.split()[1]) * 1024 for line in status if line.startswith(f"{name}:"))


def measure(step):
    memory = what == "memory"
    if memory:
        with open("/proc/self/clear_refs", "w") as file:
            file.write("5")
        before = field("VmRSS")
    start = time.perf_counter()
    step()
    seconds = time.perf_counter() - start
    return (field("VmHWM") - before) / MB if memory else seconds


def written():
    """As in checkpoint.mjs, there is one of its kind before each step that writes."""
    save()
    for name in os.listdir(folder):
        os.remove(os.path.join(folder, name))
    os.sync()
    return measure(save)


def read():
    files("forgotten")
    return measure(restore)


try:
    detail = {}
    if what == "memory":
        value = -math.inf
        for _ in range(2):
            value = max(value, written(), read())
    elif what == "save":
        value = statistics.median(written() for _ in range(ROUNDS))
        detail = {"detail": f"TensorFlow took {statistics.median(unsynced):.3g} s to save, and the rest until it was on the disk"}
    else:
        save()
        read()
        value = statistics.median(read() for _ in range(ROUNDS))
    print(json.dumps({"value": value, **detail}))
finally:
    shutil.rmtree(folder)
