"""Makes packages/eagre/golden/configs.json with Keras: what it writes of an object of each class, with options that are not the default.

Run: KERAS_BACKEND=tensorflow python tools/golden/configs.py (Keras's STFT needs SciPy)
"""

import json
import os
import pathlib

os.environ.setdefault("KERAS_BACKEND", "tensorflow")
os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "3")

import keras
from keras import constraints, initializers, layers, losses, metrics, optimizers, regularizers

OUT = pathlib.Path(__file__).parents[2] / "packages/eagre/golden"
schedules = optimizers.schedules

weights = {
    "kernel_initializer": initializers.HeNormal(seed=3),
    "kernel_regularizer": regularizers.L1L2(l1=0.25, l2=0.5),
    "kernel_constraint": constraints.MaxNorm(3.0, axis=0),
    "bias_initializer": "ones",
    "bias_regularizer": "l2",
    "bias_constraint": "non_neg",
}
recurrent = {
    **weights,
    "recurrent_initializer": initializers.Orthogonal(gain=0.5, seed=2),
    "recurrent_regularizer": "l1",
    "recurrent_constraint": "unit_norm",
    "dropout": 0.25,
    "recurrent_dropout": 0.125,
}
sequences = {"return_sequences": True, "return_state": True, "go_backwards": True, "zero_output_for_mask": True}
depthwise = {
    "depthwise_initializer": "he_uniform",
    "depthwise_regularizer": "l1",
    "depthwise_constraint": "max_norm",
    "depth_multiplier": 2,
}
convolution = {"strides": (2, 1), "padding": "same", "activation": "relu", "use_bias": False, "activity_regularizer": "l2"}
norm = {
    "epsilon": 0.01,
    "beta_initializer": "ones",
    "gamma_initializer": initializers.Constant(0.5),
    "beta_regularizer": "l1",
    "gamma_constraint": "non_neg",
}

LAYERS = [
    ("Activation", {"activation": "leaky_relu"}),
    ("Add", {"name": "sum", "trainable": False}),
    ("Average", {}),
    ("AveragePooling2D", {"pool_size": (3, 2), "strides": 1, "padding": "same"}),
    ("BatchNormalization", {**norm, "axis": 1, "momentum": 0.75, "scale": False, "moving_mean_initializer": "ones"}),
    ("Bidirectional", {"layer": layers.GRU(3, name="g", return_sequences=True), "merge_mode": "sum"}),
    ("Concatenate", {"axis": 1}),
    ("Conv2D", {**convolution, **weights, "filters": 4, "kernel_size": 3, "groups": 2}),
    ("Conv2DTranspose", {**convolution, **weights, "filters": 4, "kernel_size": (3, 2), "output_padding": (1, 0)}),
    ("Dense", {**weights, "units": 3, "activation": "relu", "dtype": "float64", "activity_regularizer": regularizers.L1(0.5)}),
    ("Dense", {"units": 2, "activation": layers.ReLU(max_value=6, name="six")}),
    ("DepthwiseConv2D", {**depthwise, "kernel_size": 3, "strides": 2}),
    ("Dropout", {"rate": 0.25, "noise_shape": (None, 1), "seed": 5}),
    ("Embedding", {"input_dim": 5, "output_dim": 3, "embeddings_initializer": "normal", "embeddings_constraint": "unit_norm"}),
    ("Flatten", {}),
    ("GRU", {**recurrent, **sequences, "units": 3, "reset_after": False, "activation": "relu"}),
    ("GRUCell", {**recurrent, "units": 3, "recurrent_activation": "hard_sigmoid"}),
    ("GaussianDropout", {"rate": 0.25, "seed": 1}),
    ("GaussianNoise", {"stddev": 0.5}),
    ("GlobalAveragePooling1D", {"keepdims": True}),
    ("GlobalAveragePooling2D", {"keepdims": True}),
    ("GlobalMaxPooling1D", {}),
    ("GlobalMaxPooling2D", {"keepdims": True}),
    ("Identity", {"name": "same"}),
    ("InputLayer", {"shape": (4, None), "name": "first"}),
    ("LSTM", {**recurrent, **sequences, "units": 3, "unit_forget_bias": False, "seed": 4, "activity_regularizer": "l2"}),
    ("LSTMCell", {**recurrent, "units": 3, "unit_forget_bias": False}),
    ("LayerNormalization", {**norm, "axis": [1, 2], "center": False}),
    ("LeakyReLU", {"negative_slope": 0.125}),
    ("MaxPooling2D", {"pool_size": 3}),
    ("Maximum", {}),
    ("Minimum", {}),
    ("MultiHeadAttention", {**weights, "num_heads": 2, "key_dim": 3, "value_dim": 4, "dropout": 0.25, "output_shape": 5, "seed": 2}),
    ("Multiply", {}),
    ("Permute", {"dims": (2, 1)}),
    ("RMSNormalization", {"axis": 1, "epsilon": 0.5}),
    ("RNN", {**sequences, "cell": [layers.LSTMCell(3, name="a"), layers.GRUCell(2, name="b")]}),
    ("ReLU", {"max_value": 6.0, "negative_slope": 0.25, "threshold": 0.5}),
    ("RepeatVector", {"n": 3}),
    ("Rescaling", {"scale": 0.5, "offset": 1.5}),
    ("Reshape", {"target_shape": (2, -1)}),
    ("SeparableConv2D", {**convolution, **depthwise, "filters": 3, "kernel_size": 2, "strides": 1, "pointwise_initializer": "he_normal"}),
    ("SimpleRNN", {**recurrent, **sequences, "units": 3}),
    ("SimpleRNNCell", {**recurrent, "units": 3, "seed": 3}),
    ("Softmax", {"axis": 1}),
    ("SpatialDropout2D", {"rate": 0.25, "seed": 3}),
    ("StackedRNNCells", {"cells": [layers.SimpleRNNCell(3, name="a")]}),
    ("Subtract", {}),
    ("TimeDistributed", {"layer": layers.Dense(3, name="inner")}),
    ("UpSampling2D", {"size": (2, 3)}),
    ("ZeroPadding2D", {"padding": ((1, 2), (3, 4))}),
    ("AdaptiveAveragePooling1D", {"output_size": 3}),
    ("AdaptiveAveragePooling2D", {"output_size": (3, 2), "data_format": "channels_first"}),
    ("AdaptiveAveragePooling3D", {"output_size": 3}),
    ("AdaptiveMaxPooling1D", {"output_size": (3,)}),
    ("AdaptiveMaxPooling2D", {"output_size": 3}),
    ("AdaptiveMaxPooling3D", {"output_size": (3, 2, 1)}),
    ("AveragePooling1D", {"pool_size": 3, "strides": 1, "padding": "same"}),
    ("AveragePooling3D", {"pool_size": (3, 2, 1), "data_format": "channels_first"}),
    ("Conv1D", {**weights, "filters": 4, "kernel_size": 3, "groups": 2, "padding": "causal", "dilation_rate": 2}),
    ("Conv1DTranspose", {**weights, "filters": 4, "kernel_size": 3, "strides": 2, "output_padding": 1}),
    ("Conv3D", {**weights, "filters": 4, "kernel_size": (3, 2, 1), "data_format": "channels_first", "activation": "relu"}),
    ("Conv3DTranspose", {**weights, "filters": 4, "kernel_size": 3, "strides": (1, 2, 1)}),
    ("Cropping1D", {"cropping": 2}),
    ("Cropping2D", {"cropping": ((1, 2), (3, 4)), "data_format": "channels_first"}),
    ("Cropping3D", {"cropping": (1, 2, 3)}),
    ("DepthwiseConv1D", {**depthwise, "kernel_size": 3, "strides": 2}),
    ("GlobalAveragePooling3D", {"keepdims": True, "data_format": "channels_first"}),
    ("GlobalMaxPooling3D", {}),
    ("MaxPooling1D", {"pool_size": 3}),
    ("MaxPooling3D", {"pool_size": 3, "strides": (1, 2, 3)}),
    ("SeparableConv1D", {**depthwise, "filters": 3, "kernel_size": 2, "pointwise_initializer": "he_normal"}),
    ("SpatialDropout1D", {"rate": 0.25, "seed": 3}),
    ("SpatialDropout3D", {"rate": 0.25, "data_format": "channels_first"}),
    ("UpSampling1D", {"size": 3}),
    ("UpSampling3D", {"size": (2, 3, 1)}),
    ("ZeroPadding1D", {"padding": (1, 2)}),
    ("ZeroPadding3D", {"padding": ((1, 2), (3, 4), (5, 6))}),
    ("ActivityRegularization", {"l1": 0.5, "l2": 0.25}),
    ("AdditiveAttention", {"use_scale": False, "dropout": 0.25}),
    ("AlphaDropout", {"rate": 0.25, "noise_shape": (None, 1), "seed": 5}),
    ("Attention", {"use_scale": True, "score_mode": "concat", "dropout": 0.25, "seed": 3}),
    ("Dot", {"axes": (1, 2), "normalize": True}),
    ("ELU", {"alpha": 0.5}),
    ("EinsumDense", {**weights, "equation": "abc,cd->abd", "output_shape": (None, 3), "bias_axes": "d", "activation": "relu"}),
    ("Embedding", {"input_dim": 5, "output_dim": 3, "mask_zero": True}),
    ("GroupNormalization", {**norm, "groups": 4, "axis": 1, "scale": False}),
    ("Masking", {"mask_value": 2.5}),
    ("PReLU", {"alpha_initializer": "ones", "alpha_regularizer": "l1", "shared_axes": [1]}),
    ("UnitNormalization", {"axis": [1, 2]}),
    ("SpectralNormalization", {"layer": layers.Dense(3, name="inner"), "power_iterations": 2}),
    ("Wrapper", {"layer": layers.Dense(3, name="inner")}),
    ("AugMix", {"value_range": (0, 1), "num_chains": 2, "chain_depth": 1, "factor": (0.1, 0.4), "alpha": 0.5, "all_ops": False, "interpolation": "nearest", "seed": 3}),
    ("AutoContrast", {"value_range": (0, 1)}),
    ("CategoryEncoding", {"num_tokens": 3, "output_mode": "count"}),
    ("Discretization", {"bin_boundaries": [0.5, 1.0], "output_mode": "one_hot"}),
    ("Discretization", {"num_bins": 3, "epsilon": 0.25}),
    ("HashedCrossing", {"num_bins": 3, "output_mode": "one_hot"}),
    ("Hashing", {"num_bins": 3, "mask_value": "", "salt": 4}),
    ("IntegerLookup", {"max_tokens": 9, "vocabulary": [3, 1], "mask_token": 0, "oov_token": -2, "num_oov_indices": 2, "output_mode": "multi_hot", "pad_to_max_tokens": True, "oov_method": "farmhash", "salt": [1, 2]}),
    ("StringLookup", {"vocabulary": ["a", "b"], "mask_token": "", "oov_token": "?", "invert": True}),
    ("StringLookup", {"vocabulary": ["a", "b"], "output_mode": "tf_idf", "idf_weights": [0.25, 0.5]}),
    ("TextVectorization", {"max_tokens": 9, "standardize": "lower", "split": "character", "ngrams": 2, "output_sequence_length": 4, "vocabulary": ["a", "b"]}),
    ("Normalization", {"axis": [1, 2], "mean": [[1.0, 2.0]], "variance": [[4.0, 9.0]], "invert": True}),
    ("CenterCrop", {"height": 3, "width": 4, "data_format": "channels_first"}),
    ("ContrastLimitedAdaptiveHistogramEqualization", {"value_range": (0, 1), "clip_limit": 2.0, "tile_grid_size": (2, 3)}),
    ("CutMix", {"factor": (0.25, 0.5), "seed": 3}),
    ("Equalization", {"value_range": (0, 1), "bins": 16}),
    ("MixUp", {"alpha": 0.5, "seed": 3}),
    ("Pipeline", {"layers": [layers.RandomFlip("vertical", seed=2, name="flip"), layers.Rescaling(0.5, name="half")]}),
    ("RandAugment", {"value_range": (0, 1), "num_ops": 3, "factor": (0.25, 0.5), "interpolation": "nearest", "seed": 3}),
    ("RandomBrightness", {"factor": (-0.25, 0.5), "value_range": (0, 1), "seed": 3}),
    ("RandomColorDegeneration", {"factor": 0.5, "value_range": (0, 1), "seed": 3}),
    ("RandomColorJitter", {"value_range": (0, 1), "brightness_factor": 0.5, "contrast_factor": (0.25, 0.5), "hue_factor": 0.25, "seed": 3}),
    ("RandomContrast", {"factor": (0.25, 0.5), "value_range": (0, 1), "seed": 3}),
    ("RandomCrop", {"height": 3, "width": 4, "seed": 3}),
    ("RandomElasticTransform", {"factor": (0.25, 0.5), "scale": 0.5, "interpolation": "nearest", "fill_mode": "wrap", "fill_value": 2.0, "value_range": (0, 1), "seed": 3}),
    ("RandomErasing", {"factor": (0.25, 0.5), "scale": (0.25, 0.75), "fill_value": 3.0, "value_range": (0, 1), "seed": 3}),
    ("RandomFlip", {"mode": "horizontal", "seed": 3}),
    ("RandomGaussianBlur", {"factor": (0.25, 0.5), "kernel_size": (3, 5), "sigma": (0.25, 0.5), "value_range": (0, 1), "seed": 3}),
    ("RandomGrayscale", {"factor": 0.25, "seed": 3}),
    ("RandomHue", {"factor": (0.25, 0.5), "value_range": (0, 1), "seed": 3}),
    ("RandomInvert", {"factor": 0.5, "value_range": (0, 1), "seed": 3}),
    ("RandomPerspective", {"factor": (0.25, 0.5), "scale": 0.5, "interpolation": "nearest", "fill_value": 2.0, "seed": 3}),
    ("RandomPosterization", {"factor": (2, 4), "value_range": (0, 1), "seed": 3}),
    ("RandomRotation", {"factor": (-0.25, 0.5), "fill_mode": "wrap", "interpolation": "nearest", "seed": 3, "fill_value": 2.0, "data_format": "channels_first"}),
    ("RandomSaturation", {"factor": (0.25, 0.5), "value_range": (0, 1), "seed": 3}),
    ("RandomSharpness", {"factor": (0.25, 0.5), "value_range": (0, 1), "seed": 3}),
    ("RandomShear", {"x_factor": (0.25, 0.5), "y_factor": (0.0, 0.25), "interpolation": "nearest", "fill_mode": "wrap", "fill_value": 2.0, "seed": 3}),
    ("RandomTranslation", {"height_factor": 0.25, "width_factor": (-0.25, 0.5), "fill_mode": "nearest", "seed": 3}),
    ("RandomZoom", {"height_factor": 0.25, "width_factor": (-0.25, 0.5), "fill_mode": "constant", "seed": 3}),
    ("Resizing", {"height": 3, "width": 4, "interpolation": "bicubic", "crop_to_aspect_ratio": True, "antialias": True}),
    ("Solarization", {"addition_factor": (0.25, 0.5), "threshold_factor": 0.25, "value_range": (0, 1), "seed": 3}),
]
LAYERS += [
    ("ConvLSTM1D", {**recurrent, **sequences, "filters": 3, "kernel_size": 2, "strides": 2, "padding": "same", "unit_forget_bias": False, "seed": 4}),
    ("ConvLSTM2D", {**recurrent, "filters": 3, "kernel_size": (2, 3), "dilation_rate": (2, 1), "data_format": "channels_first", "activity_regularizer": "l2"}),
    ("GroupQueryAttention", {**weights, "head_dim": 3, "num_query_heads": 4, "num_key_value_heads": 2, "dropout": 0.25, "sliding_window": 5, "use_gate": True, "seed": 2}),
    ("ReversibleEmbedding", {"input_dim": 5, "output_dim": 3, "tie_weights": False, "mask_zero": True, "reverse_dtype": "float64", "logit_soft_cap": 2.5}),
    ("STFTSpectrogram", {"mode": "psd", "frame_length": 6, "frame_step": 2, "fft_length": 16, "window": "hamming", "periodic": True, "scaling": "spectrum", "padding": "same", "expand_dims": True, "data_format": "channels_first"}),
    ("MelSpectrogram", {"fft_length": 64, "sequence_stride": 20, "window": "hamming", "sampling_rate": 8000, "num_mel_bins": 5, "power_to_db": False, "top_db": 20.0, "mag_exp": 1.0, "min_power": 0.5, "ref_power": 2.0}),
    ("MaxNumBoundingBoxes", {"max_number": 3, "data_format": "channels_first", "bounding_box_format": "xyxy"}),
    ("ConvLSTM3D", {"filters": 3, "kernel_size": 2, "recurrent_activation": "hard_sigmoid", "stateful": True}),
]
INITIALIZERS = [
    ("Zeros", {}),
    ("Ones", {}),
    ("Constant", {"value": 2.5}),
    ("Identity", {"gain": 0.5}),
    ("RandomNormal", {"mean": 1.0, "stddev": 0.5, "seed": 1}),
    ("TruncatedNormal", {"mean": 1.0, "stddev": 0.5, "seed": 1}),
    ("RandomUniform", {"minval": -1.0, "maxval": 0.5, "seed": 1}),
    ("VarianceScaling", {"scale": 2.0, "mode": "fan_out", "distribution": "untruncated_normal", "seed": 1}),
    ("GlorotUniform", {"seed": 2}),
    ("GlorotNormal", {"seed": 2}),
    ("HeNormal", {"input_axes": [0], "output_axes": [1]}),
    ("HeUniform", {}),
    ("LecunNormal", {"seed": 2}),
    ("LecunUniform", {"seed": 2}),
    ("Orthogonal", {"gain": 0.5, "seed": 3}),
    ("STFT", {"side": "imag", "window": "hamming", "scaling": "spectrum", "periodic": True}),
    ("STFT", {"window": [0.5, 1.0], "scaling": None}),
    ("STFT", {"window": None}),
]
REGULARIZERS = [("L1", {"l1": 0.5}), ("L2", {"l2": 0.25}), ("L1L2", {"l1": 0.5, "l2": 0.125}), ("OrthogonalRegularizer", {"factor": 0.5, "mode": "columns"})]
CONSTRAINTS = [
    ("MaxNorm", {"max_value": 3.0, "axis": 1}),
    ("MinMaxNorm", {"min_value": 0.5, "max_value": 2.0, "rate": 0.5, "axis": [0, 1]}),
    ("NonNeg", {}),
    ("UnitNorm", {"axis": 1}),
]
every = {"weight_decay": 0.5, "clipnorm": 1.5, "use_ema": True, "ema_momentum": 0.5, "ema_overwrite_frequency": 3, "name": "mine"}
OPTIMIZERS = [
    ("SGD", {**every, "learning_rate": 0.5, "momentum": 0.5, "nesterov": True}),
    ("RMSprop", {"learning_rate": 0.5, "rho": 0.5, "momentum": 0.25, "epsilon": 0.5, "centered": True, "clipvalue": 2.0}),
    ("Adam", {"learning_rate": schedules.ExponentialDecay(0.5, 10, 0.25), "beta_1": 0.5, "beta_2": 0.25, "epsilon": 0.5, "amsgrad": True}),
    ("AdamW", {"learning_rate": 0.5, "weight_decay": 0.25, "beta_1": 0.5, "global_clipnorm": 2.0}),
    ("Adamax", {"learning_rate": 0.5, "beta_1": 0.5, "beta_2": 0.25, "epsilon": 0.5}),
    ("Nadam", {"learning_rate": 0.5, "beta_1": 0.5, "beta_2": 0.25, "epsilon": 0.5}),
    ("Adagrad", {"learning_rate": 0.5, "initial_accumulator_value": 0.25, "epsilon": 0.5}),
    ("Adadelta", {"learning_rate": 0.5, "rho": 0.5, "epsilon": 0.5}),
    ("Adafactor", {"learning_rate": 0.5, "beta_2_decay": -0.5, "epsilon_1": 0.5, "epsilon_2": 0.25, "clip_threshold": 2.0, "relative_step": False}),
    ("Ftrl", {"learning_rate": 0.5, "learning_rate_power": -0.25, "initial_accumulator_value": 0.25, "l1_regularization_strength": 0.5, "l2_regularization_strength": 0.25, "l2_shrinkage_regularization_strength": 0.125, "beta": 0.5}),
    ("Lion", {"learning_rate": 0.5, "beta_1": 0.5, "beta_2": 0.25}),
    ("Adam", {"learning_rate": 0.5, "gradient_accumulation_steps": 4}),
    ("Lamb", {"learning_rate": 0.5, "beta_1": 0.5, "beta_2": 0.25, "epsilon": 0.5}),
    ("Muon", {"learning_rate": 0.5, "adam_beta_1": 0.5, "adam_weight_decay": None, "exclude_layers": ["last"], "muon_a": 3.0, "muon_b": -4.5, "muon_c": 2.0, "adam_lr_ratio": 0.5, "momentum": 0.5, "ns_steps": 3, "nesterov": False, "rms_rate": None}),
    ("ScheduleFreeAdamW", {"learning_rate": 0.5, "beta_1": 0.5, "beta_2": 0.25, "epsilon": 0.5, "warmup_steps": 10, "weight_decay": 0.25}),
    ("MultiOptimizer", {"optimizer_map": optimizers.OptimizerMap(optimizers.SGD(0.5), {"encoder/.*": optimizers.Adam(0.25, name="a")})}),
    ("LossScaleOptimizer", {"inner_optimizer": optimizers.SGD(0.5, name="inner"), "initial_scale": 8.0, "dynamic_growth_steps": 3}),
]
SCHEDULES = [
    ("ExponentialDecay", {"initial_learning_rate": 0.5, "decay_steps": 10, "decay_rate": 0.25, "staircase": True}),
    ("InverseTimeDecay", {"initial_learning_rate": 0.5, "decay_steps": 10, "decay_rate": 0.25, "staircase": True}),
    ("PiecewiseConstantDecay", {"boundaries": [1, 2], "values": [0.5, 0.25, 0.125]}),
    ("PolynomialDecay", {"initial_learning_rate": 0.5, "decay_steps": 10, "end_learning_rate": 0.25, "power": 2.0, "cycle": True}),
    ("CosineDecay", {"initial_learning_rate": 0.5, "decay_steps": 10, "alpha": 0.25, "warmup_target": 1.5, "warmup_steps": 2}),
    ("CosineDecayRestarts", {"initial_learning_rate": 0.5, "first_decay_steps": 10, "t_mul": 3.0, "m_mul": 0.5, "alpha": 0.25}),
]
loss = {"reduction": "sum", "name": "mine"}
LOSSES = [
    ("MeanSquaredError", loss),
    ("MeanAbsoluteError", loss),
    ("MeanAbsolutePercentageError", loss),
    ("MeanSquaredLogarithmicError", {}),
    ("Huber", {"delta": 0.5, **loss}),
    ("LogCosh", loss),
    ("KLDivergence", loss),
    ("Poisson", {}),
    ("Hinge", loss),
    ("SquaredHinge", loss),
    ("CategoricalHinge", loss),
    ("CosineSimilarity", {"axis": 1, **loss}),
    ("BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.25, "axis": 1, **loss}),
    ("CategoricalCrossentropy", {"from_logits": True, "label_smoothing": 0.25, "axis": 1, **loss}),
    ("SparseCategoricalCrossentropy", {"from_logits": True, "ignore_class": 2, **loss}),
    ("BinaryFocalCrossentropy", {"apply_class_balancing": True, "alpha": 0.5, "gamma": 1.0, "axis": 1, **loss}),
    ("CategoricalFocalCrossentropy", {"alpha": [0.25, 0.5], "gamma": 1.0, "from_logits": True, **loss}),
    ("CategoricalGeneralizedCrossEntropy", {"q": 0.25, **loss}),
    ("Circle", {"gamma": 2.0, "margin": 0.5, "remove_diagonal": False, **loss}),
    ("Dice", {"axis": [1, 2], **loss}),
    ("Tversky", {"alpha": 0.25, "beta": 0.75, "axis": 1, **loss}),
    ("CTC", loss),
]
metric = {"name": "mine"}
METRICS = [
    ("BinaryIoU", {"target_class_ids": [1], "threshold": 0.25, "dtype": "float32", **metric}),
    ("ConcordanceCorrelation", {"axis": 1, "dtype": "float32", **metric}),
    ("FalseNegatives", {"thresholds": 0.25, **metric}),
    ("FalsePositives", {"thresholds": [0.25, 0.5], **metric}),
    ("IoU", {"num_classes": 3, "target_class_ids": [1], "ignore_class": 2, "sparse_y_true": False, "dtype": "float32", **metric}),
    ("MeanIoU", {"num_classes": 3, "axis": 1, "dtype": "float32", **metric}),
    ("OneHotIoU", {"num_classes": 3, "target_class_ids": [1], "dtype": "float32", **metric}),
    ("OneHotMeanIoU", {"num_classes": 3, "sparse_y_pred": True, "dtype": "float32", **metric}),
    ("PearsonCorrelation", {"axis": 1, "dtype": "float32", **metric}),
    ("PrecisionAtRecall", {"recall": 0.25, "num_thresholds": 10, **metric}),
    ("R2Score", {"class_aggregation": "variance_weighted_average", "num_regressors": 2, "dtype": "float32", **metric}),
    ("RecallAtPrecision", {"precision": 0.25, "class_id": 1, **metric}),
    ("SensitivityAtSpecificity", {"specificity": 0.25, **metric}),
    ("SpecificityAtSensitivity", {"sensitivity": 0.25, **metric}),
    ("TrueNegatives", metric),
    ("TruePositives", {"thresholds": 0.25, **metric}),
    ("Mean", metric),
    ("Sum", metric),
    ("Accuracy", metric),
    ("BinaryAccuracy", {"threshold": 0.25, **metric}),
    ("CategoricalAccuracy", {}),
    ("SparseCategoricalAccuracy", metric),
    ("TopKCategoricalAccuracy", {"k": 2, **metric}),
    ("SparseTopKCategoricalAccuracy", {"k": 2}),
    ("AUC", {"num_thresholds": 5, "curve": "PR", "summation_method": "majoring", "from_logits": True}),
    ("Precision", {"thresholds": 0.25, "top_k": 2, "class_id": 1}),
    ("Recall", {"thresholds": [0.25, 0.5]}),
    ("FBetaScore", {"average": "micro", "beta": 0.5, "threshold": 0.25}),
    ("F1Score", {"average": "macro", "threshold": 0.5}),
    ("MeanSquaredError", metric),
    ("RootMeanSquaredError", metric),
    ("MeanAbsoluteError", metric),
    ("MeanAbsolutePercentageError", {}),
    ("MeanSquaredLogarithmicError", {}),
    ("CosineSimilarity", {"axis": 1}),
    ("LogCoshError", metric),
    ("Hinge", metric),
    ("SquaredHinge", {}),
    ("CategoricalHinge", {}),
    ("KLDivergence", {}),
    ("Poisson", {}),
    ("BinaryCrossentropy", {"from_logits": True, "label_smoothing": 0.25}),
    ("CategoricalCrossentropy", {"from_logits": True, "label_smoothing": 0.25, "axis": 1}),
    ("SparseCategoricalCrossentropy", {"from_logits": True, "axis": 1}),
]


def named(name, options):
    """Names are numbered as objects are made, so that those which are not given are given here."""
    return {"name": options.get("name", name.lower()), **options}


def written(space, cases, name=lambda name, options: options):
    made = []
    for cls, options in cases:
        thing = getattr(space, cls)(**name(cls, options))
        made.append(keras.saving.serialize_keras_object(thing))
    return made


if __name__ == "__main__":
    keras.utils.set_random_seed(1)
    file = {
        "keras": keras.__version__,
        "layers": written(layers, LAYERS, named),
        "initializers": written(initializers, INITIALIZERS),
        "regularizers": written(regularizers, REGULARIZERS),
        "constraints": written(constraints, CONSTRAINTS),
        "optimizers": written(optimizers, OPTIMIZERS),
        "schedules": written(schedules, SCHEDULES),
        "losses": written(losses, LOSSES),
        "metrics": written(metrics, METRICS),
    }
    OUT.mkdir(exist_ok=True)
    (OUT / "configs.json").write_text(json.dumps(file) + "\n")
