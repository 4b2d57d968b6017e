"""TensorFlow's side of the sweep: lines of JSON say what to call, each is answered by the medians of its times, eager and as a `tf.function`."""

import inspect
import json
import os
import re
import statistics
import sys
import time

os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")
os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
ANSWERS = os.fdopen(os.dup(1), "w")
os.dup2(2, 1)

import numpy as np
import tensorflow as tf

keras = tf.keras


def plain(name):
    return name.replace("_", "").lower()


def member(space, name):
    """What stands under a name in camelCase: first under the very name in snake_case, then without regard to case."""
    exact = re.sub(r"[A-Z]", lambda m: "_" + m.group(0).lower(), name)
    if hasattr(space, exact):
        return getattr(space, exact)
    for key in dir(space):
        if not key.startswith("_") and plain(key) == plain(name):
            return getattr(space, key)
    return None


def function_of(name):
    at = tf
    for part in name.split("."):
        at = member(at, part)
        if at is None:
            break
    if at is None and "." not in name:
        found = [member(space, name) for space in (tf.math, tf.linalg, tf.nn)]
        at = next((f for f in found if f is not None), None)
    if not callable(at):
        raise LookupError("TensorFlow has no function of this name")
    return at


def filled(value, inputs):
    if isinstance(value, dict):
        if "input" in value:
            return inputs[value["input"]]
        if "array" in value:
            return tf.constant(value["array"], value["dtype"])
    if isinstance(value, list):
        return [filled(v, inputs) for v in value]
    return value


def bound(theirs):
    """The function, and how its arguments are made of the inputs."""
    fn = function_of(theirs["name"])
    parameters = inspect.signature(fn).parameters
    names = {plain(name): name for name, p in parameters.items() if p.kind != p.VAR_POSITIONAL}
    places = [name for name, p in parameters.items() if p.kind in (p.POSITIONAL_ONLY, p.POSITIONAL_OR_KEYWORD)]
    many = any(p.kind == p.VAR_POSITIONAL for p in parameters.values())
    given, rest = {}, []
    for name, value in theirs["values"].items():
        if plain(name) in names:
            given[names[plain(name)]] = value
    for at, name in enumerate(theirs["order"]):
        if name not in theirs["values"] or plain(name) in names:
            continue
        value = theirs["values"][name]
        if at < len(places) and places[at] not in given:
            given[places[at]] = value
        elif many:
            rest = value if isinstance(value, list) else [value]
        else:
            raise LookupError(f"TensorFlow's has no argument for {name}")

    def call(inputs):
        named = {name: filled(value, inputs) for name, value in given.items()}
        if not rest:
            return fn(**named)
        first = [named.pop(name) for name in places if name in named]
        return fn(*first, *filled(rest, inputs), **named)

    return call, []


def made(theirs):
    """An object of Keras, and how it is called."""
    thing = keras.saving.deserialize_keras_object(theirs["config"])
    kind, training = theirs["of"], theirs["training"]
    if kind == "layers":
        takes = "training" in inspect.signature(thing.call).parameters
        options = {"training": training} if takes else {}
        return (lambda xs: thing(xs[0] if len(xs) == 1 else xs, **options)), thing
    if kind == "losses":
        return (lambda xs: thing(*xs)), []
    if kind == "metrics":

        def measured(xs):
            thing.reset_state()
            thing.update_state(*xs)
            return thing.result()

        return measured, []
    w = tf.Variable(tf.ones([3, 2]))
    thing.build([w])

    def step(xs):
        with tf.GradientTape() as tape:
            loss = tf.reduce_mean(tf.square(tf.matmul(xs[0], w)))
        thing.apply_gradients([(tape.gradient(loss, w), w)])
        return loss

    return step, []


def time_of(run, seconds):
    run()
    samples, end = [], time.perf_counter() + seconds
    while time.perf_counter() < end or len(samples) < 2:
        start = time.perf_counter()
        run()
        samples.append(time.perf_counter() - start)
    return statistics.median(samples)


def tensors(result):
    flat = tf.nest.flatten(result, expand_composites=True)
    return [t for t in flat if isinstance(t, (tf.Tensor, tf.Variable))]


def both(run, inputs, seconds):
    """Times of a function of the inputs; None for a way in which it does not run."""
    times = {"eager": time_of(lambda: run(inputs), seconds), "traced": None}
    try:
        # Inputs are arguments: what is constant would be computed once for all.
        traced = tf.function(run, autograph=False)
        times["traced"] = time_of(lambda: traced(inputs), seconds)
    except Exception:
        pass
    return times


def answer(request):
    raw, inputs, offset = open(request["file"], "rb").read(), [], 0
    for x in request["inputs"]:
        if x["dtype"] == "string":
            values = [v.encode("utf-8", "surrogateescape") for v in x["values"]]
            inputs.append(tf.reshape(tf.constant(values, tf.string, [len(values)]), x["shape"]))
            continue
        array = np.frombuffer(raw, tf.as_dtype(x["dtype"]).as_numpy_dtype, offset=offset, count=x["bytes"] // tf.as_dtype(x["dtype"]).size)
        inputs.append(tf.constant(array.reshape(x["shape"])))
        offset += x["bytes"]
    theirs, seconds = request["theirs"], request["seconds"]
    run, _ = bound(theirs) if theirs["kind"] == "function" else made(theirs)
    result = run(inputs)
    shapes = [t.shape.as_list() for t in tensors(result)]
    expected = request["shapes"]
    if expected is not None and json.loads(expected) != shapes:
        return {"why": "the shapes of the results differ"}
    forward = both(run, inputs, seconds)
    floats = [x for x in inputs if x.dtype == tf.float32]

    def gradients(xs):
        watched = [x for x in xs if x.dtype == tf.float32]
        with tf.GradientTape() as tape:
            tape.watch(watched)
            targets = [t for t in tensors(run(xs)) if t.dtype == tf.float32]
        return tape.gradient(targets, watched)

    backward = None
    if request["gradients"] and floats:
        try:
            if any(g is not None for g in gradients(inputs)):
                backward = both(gradients, inputs, seconds)
        except Exception:
            pass
    return {"forward": forward, "backward": backward}


def say(message):
    ANSWERS.write(json.dumps(message) + "\n")
    ANSWERS.flush()


say({"version": tf.__version__})
for line in sys.stdin:
    try:
        say(answer(json.loads(line)))
    except LookupError as error:
        say({"why": str(error.args[0])})
    except Exception as error:
        say({"why": f"its call fails: {type(error).__name__}"})
