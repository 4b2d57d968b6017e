"""Makes packages/core/golden/signal.json with TensorFlow: the functions of tf.signal, their results and gradients.

Run: python tools/golden/signals.py
"""

import json
import pathlib

from golden_cases import Cases

import numpy as np
import tensorflow as tf

SEED = 51
OUT = pathlib.Path(__file__).parents[2] / "packages/core/golden"
cases = Cases(SEED)
normal, add, signal = cases.normal, cases.add, tf.signal

for dtype in ["complex64", "complex128"]:
    for shape in [(1,), (2,), (4,), (5,), (12,), (17,), (37,), (2, 3, 16), (0, 4), (2, 30)]:
        add("fft", signal.fft, normal(shape, dtype))
        add("ifft", signal.ifft, normal(shape, dtype))
    for shape in [(1, 1), (3, 4), (2, 5, 6)]:
        add("fft2d", signal.fft2d, normal(shape, dtype))
        add("ifft2d", signal.ifft2d, normal(shape, dtype))
    for shape in [(1, 2, 3), (2, 2, 3, 4)]:
        add("fft3d", signal.fft3d, normal(shape, dtype))
        add("ifft3d", signal.ifft3d, normal(shape, dtype))
for dtype, half in [("float32", "complex64"), ("float64", "complex128")]:
    for shape, length in [((1,), None), ((2,), None), ((7,), None), ((8,), None), ((2, 3, 10), None), ((8,), [5]), ((5,), [12]), ((2, 13), [13]), ((47,), None)]:
        more = {} if length is None else {"fft_length": length}
        add("rfft", signal.rfft, normal(shape, dtype), **more)
    for shape, length in [((2,), None), ((5,), None), ((4,), [7]), ((2, 3), [9]), ((6,), [5]), ((3, 2), [3]), ((1,), [1]), ((24,), [46])]:
        more = {} if length is None else {"fft_length": length}
        add("irfft", signal.irfft, normal(shape, half), **more)
    for shape, length in [((3, 4), None), ((2, 4, 5), None), ((3, 4), [5, 3])]:
        more = {} if length is None else {"fft_length": length}
        add("rfft2d", signal.rfft2d, normal(shape, dtype), **more)
        add("irfft2d", signal.irfft2d, normal(shape, half), **more)
    for shape in [(2, 3, 4), (1, 2, 2, 3)]:
        add("rfft3d", signal.rfft3d, normal(shape, dtype))
        add("irfft3d", signal.irfft3d, normal(shape, half))


def of_numpy(fn):
    """TensorFlow's ops of any axes have no kernels for CPUs; NumPy's functions have the same definition."""
    return lambda x, fft_length=None, axes=None, norm=None: tf.constant(
        fn(x.numpy(), s=fft_length, axes=range(len(x.shape)) if axes is None else axes, norm=norm).astype(
            x.dtype.real_dtype.name if fn is np.fft.irfftn else "complex64"
        )
    )


for shape, more in [((3, 4), {}), ((2, 3, 4), {"axes": [1, 2], "fft_length": [3, 6]}), ((3, 4), {"norm": "ortho"}), ((3, 4), {"norm": "forward"}), ((2, 3, 4), {"axes": [0], "fft_length": [1]}), ((5, 2), {"axes": [1, 0]})]:
    add("fftnd", of_numpy(np.fft.fftn), normal(shape, "complex64"), gradient=False, **more)
    add("ifftnd", of_numpy(np.fft.ifftn), normal(shape, "complex64"), gradient=False, **more)
    add("rfftnd", of_numpy(np.fft.rfftn), normal(shape, "float32"), gradient=False, **more)
for shape, more in [((3, 4), {}), ((3, 4), {"fft_length": [3, 7]}), ((3, 4), {"norm": "ortho"}), ((4, 3), {"axes": [1, 0], "norm": "forward"})]:
    add("irfftnd", of_numpy(np.fft.irfftn), normal(shape, "complex64"), gradient=False, **more)

for shape, axes in [((5,), None), ((4, 3), None), ((4, 3), 1), ((2, 5, 4), [0, 2]), ((3,), -1)]:
    more = {} if axes is None else {"axes": axes}
    add("fftshift", signal.fftshift, normal(shape), **more)
    add("ifftshift", signal.ifftshift, normal(shape), **more)

for shape, length, step, more in [
    ((5,), 3, 2, {}),
    ((2, 10), 4, 4, {}),
    ((3,), 5, 1, {}),
    ((2, 11), 4, 3, {"pad_end": True}),
    ((7,), 3, 5, {"pad_end": True, "pad_value": -1.0}),
    ((6, 2), 3, 2, {"axis": 0}),
    ((2, 7, 2), 3, 2, {"axis": 1, "pad_end": True}),
]:
    add("frame", signal.frame, normal(shape), frame_length=length, frame_step=step, **more)
for shape, step in [((3, 4), 2), ((2, 5, 4), 3), ((1, 3), 3), ((4, 2), 5), ((2, 2, 3, 7), 2)]:
    add("overlapAndAdd", signal.overlap_and_add, normal(shape), frame_step=step)

def typed(fn):
    """A function whose dtype is a name."""
    return lambda dtype="float32", **options: fn(dtype=tf.as_dtype(dtype), **options)


for length in [1, 2, 5, 8]:
    for dtype in ["float32", "float64"]:
        more = {"dtype": dtype}
        for periodic in [True, False]:
            add("hannWindow", typed(signal.hann_window), window_length=length, periodic=periodic, **more)
            add("hammingWindow", typed(signal.hamming_window), window_length=length, periodic=periodic, **more)
        add("kaiserWindow", typed(signal.kaiser_window), window_length=length, **more)
        add("kaiserWindow", typed(signal.kaiser_window), window_length=length, beta=5.0, **more)
        add("vorbisWindow", typed(signal.vorbis_window), window_length=length, **more)
        if length % 2 == 0:
            add("kaiserBesselDerivedWindow", typed(signal.kaiser_bessel_derived_window), window_length=length, beta=4.0, **more)


WINDOWS = {"hann": signal.hann_window, "hamming": signal.hamming_window, "vorbis": signal.vorbis_window, "none": None}


def windowed(fn):
    """A function whose option `window` names a window."""
    return lambda *inputs, window=None, **options: fn(*inputs, **options, **({} if window is None else {"window_fn": WINDOWS[window]}))


def inverse_of(x, frame_length, frame_step, window):
    fn = WINDOWS[window]
    y = signal.stft(x, frame_length, frame_step, window_fn=fn, pad_end=True)
    return signal.inverse_stft(y, frame_length, frame_step, window_fn=signal.inverse_stft_window_fn(frame_step, forward_window_fn=fn))


for dtype, half in [("float32", "complex64"), ("float64", "complex128")]:
    for shape, more in [
        ((20,), {"frame_length": 8, "frame_step": 4}),
        ((2, 17), {"frame_length": 5, "frame_step": 3}),
        ((2, 12), {"frame_length": 6, "frame_step": 2, "fft_length": 12, "window": "hamming"}),
        ((13,), {"frame_length": 6, "frame_step": 4, "fft_length": 4, "pad_end": True, "window": "none"}),
    ]:
        add("stft", windowed(signal.stft), normal(shape, dtype), **more)
    for shape, more in [
        ((3, 5), {"frame_length": 8, "frame_step": 4}),
        ((2, 4, 5), {"frame_length": 6, "frame_step": 3, "fft_length": 8}),
        ((3, 3), {"frame_length": 7, "frame_step": 2, "fft_length": 4, "window": "none"}),
    ]:
        add("inverseStft", windowed(signal.inverse_stft), normal(shape, half), **more)
    add("stftAndBack", inverse_of, normal((20,), dtype), frame_length=8, frame_step=4, window="hann")
    add("stftAndBack", inverse_of, normal((2, 15), dtype), frame_length=6, frame_step=4, window="hamming")
    for shape, more in [
        ((24,), {"frame_length": 8}),
        ((2, 21), {"frame_length": 4, "pad_end": True}),
        ((2, 20), {"frame_length": 12, "norm": "ortho", "window": "hann"}),
        ((16,), {"frame_length": 8, "window": "none"}),
    ]:
        add("mdct", windowed(signal.mdct), normal(shape, dtype), **more)
    for shape, more in [((3, 4), {}), ((2, 3, 2), {"norm": "ortho"}), ((2, 6), {"window": "none"})]:
        add("inverseMdct", windowed(signal.inverse_mdct), normal(shape, dtype), **more)
    for kind in [1, 2, 3, 4]:
        for shape, more in [((5,), {}), ((2, 4), {}), ((2, 2, 3), {"norm": "ortho"}), ((6,), {"n": 4}), ((3,), {"n": 7}), ((2, 13), {"norm": "ortho"})]:
            add("dct", signal.dct, normal(shape, dtype), type=kind, **more)
            if "n" not in more:
                add("idct", signal.idct, normal(shape, dtype), type=kind, **more)
    add("linearToMelWeightMatrix", typed(signal.linear_to_mel_weight_matrix), num_mel_bins=6, num_spectrogram_bins=17, sample_rate=16000, lower_edge_hertz=80.0, upper_edge_hertz=7600.0, dtype=dtype)
    for shape in [(5,), (2, 3, 8), (2, 1)]:
        add("mfccsFromLogMelSpectrograms", signal.mfccs_from_log_mel_spectrograms, normal(shape, dtype))
add("linearToMelWeightMatrix", typed(signal.linear_to_mel_weight_matrix))

text = json.dumps(cases.golden(seed=SEED), separators=(",", ":"))
(OUT / "signal.json").write_text(text + "\n")
print(len(cases.list), "cases,", len(text), "bytes;", [c["fn"] + ": " + c["error"] for c in cases.list if "error" in c])
