"""TensorFlow's side of the workloads, eager or (single kernels) as a `tf.function`; see serve.py for the protocol."""

import atexit
import os
import shutil
import tempfile

from serve import Case, class_labels, library_kernels, model_weights, noise, random_integers, serve, shaped_kernels, text_lines, values, whole_numbers


def load(threads, compiled):
    os.environ.setdefault("TF_CPP_MIN_LOG_LEVEL", "2")
    os.environ.setdefault("CUDA_VISIBLE_DEVICES", "-1")
    import numpy as np
    import tensorflow as tf

    tf.config.threading.set_intra_op_parallelism_threads(threads)
    tf.config.threading.set_inter_op_parallelism_threads(threads)
    keras = tf.keras

    def tensor(shape, salt=0):
        return tf.constant(values(shape, salt))

    def check(compute):
        def mean_square():
            result = compute()
            parts = result if isinstance(result, (tuple, list)) else [result]
            return sum(float(tf.reduce_mean(tf.cast(p, tf.float64) ** 2)) for p in parts)

        return mean_square

    def timed(compute):
        if not compiled:
            return Case(compute, 1, check(compute))
        return [
            Case(run, 1, check(run), variant)
            for run, variant in [(tf.function(compute), "graph"), (tf.function(compute, jit_compile=True), "XLA")]
        ]

    def gemm(m, k, n):
        def make():
            a, b = tensor([m, k]), tensor([k, n], 1)
            return timed(lambda: tf.matmul(a, b))

        return make

    def conv(batch, size, channels, filters):
        def make():
            x, w = tensor([batch, size, size, channels]), tensor([3, 3, channels, filters], 1)
            dy = tensor([batch, size - 2, size - 2, filters], 2)

            def run():
                with tf.GradientTape() as tape:
                    tape.watch([x, w])
                    y = tf.nn.conv2d(x, w, 1, "VALID")
                return tape.gradient(y, [x, w], dy)

            return timed(run)

        return make

    hundred = range(100)

    def add10():
        a, b = tensor([10]), tensor([10], 1)

        def run():
            for _ in hundred:
                a + b

        return Case(run, 100, check(lambda: a + b))

    def add10_tape():
        a, b = tensor([10]), tensor([10], 1)

        def run():
            with tf.GradientTape() as tape:
                tape.watch(a)
                for _ in hundred:
                    a + b

        return Case(run, 100, check(lambda: a + b))

    def adds1000():
        x, b = tensor([10]), tensor([10], 1)

        def run():
            with tf.GradientTape() as tape:
                tape.watch([x, b])
                y = x
                for _ in range(1000):
                    y = y + b
            return tape.gradient(y, [x, b])

        return timed(run)

    def elementwise_chain(n):
        def make():
            x = tensor([n])
            return timed(lambda: tf.tanh(2 * x + 1) * x - tf.nn.relu(x))

        return make

    def softmax():
        x = tensor([1024, 1000])
        return timed(lambda: tf.nn.softmax(x))

    def sum10m():
        x = tensor([10_000_000]) + 0.5
        return timed(lambda: tf.reduce_sum(x))

    def transpose():
        x = tensor([2000, 2000])
        return timed(lambda: tf.transpose(x))

    def layer_norm():
        # TensorFlow has no such op; this is Keras's.
        x, scale, offset = tensor([1024, 1024]), tensor([1024], 1), tensor([1024], 2)
        return timed(lambda: keras.ops.layer_normalization(x, scale, offset, -1, 1e-5))

    def add10m():
        a, b = tensor([10_000_000]), tensor([10_000_000], 1)
        return timed(lambda: a + b)

    def bias_add():
        x, b = tensor([2000, 1000]), tensor([1000], 1)
        return timed(lambda: x + b)

    def concat(shape, axis):
        def make():
            parts = [tensor(shape, salt) for salt in range(4)]
            return timed(lambda: tf.concat(parts, axis))

        return make

    def moments(shape, axis):
        def make():
            x = tensor(shape)
            return timed(lambda: tf.nn.moments(x, axis))

        return make

    def exp2m():
        x = tensor([2_000_000])
        return timed(lambda: tf.exp(x))

    def cumsum(shape, axis):
        def make():
            x = tensor(shape)
            return timed(lambda: tf.cumsum(x, axis))

        return make

    def matmul_batched():
        a, b = tensor([64, 128, 64]), tensor([64, 64, 128], 1)
        return timed(lambda: tf.matmul(a, b))

    def transposed(shape, perm):
        def make():
            x = tensor(shape)
            return timed(lambda: tf.transpose(x, perm))

        return make

    def conv2d():
        x, w = tensor([16, 56, 56, 64]), tensor([3, 3, 64, 64], 1)
        return timed(lambda: tf.nn.conv2d(x, w, 1, "SAME"))

    def depthwise():
        x, w = tensor([16, 56, 56, 144]), tensor([3, 3, 144, 1], 1)
        return timed(lambda: tf.nn.depthwise_conv2d(x, w, [1, 1, 1, 1], "SAME"))

    def mobilenet_v2():
        model = keras.applications.MobileNetV2(weights=None)
        weights = iter(model_weights([w.shape for layer in model.layers for w in layer.weights]))
        for layer in model.layers:
            layer.set_weights([next(weights) for _ in layer.weights])
        x = tensor([1, 224, 224, 3])
        return timed(lambda: model(x))

    def adam10m():
        gradient = tensor([10_000_000], 1)

        def variant(name, **options):
            weights, optimizer = tf.Variable(tensor([10_000_000])), keras.optimizers.Adam(1e-3)
            optimizer.build([weights])

            def run():
                optimizer.apply_gradients([(gradient, weights)])

            return Case(tf.function(run, **options) if compiled else run, variant=name)

        return [variant("graph"), variant("XLA", jit_compile=True)] if compiled else variant("")

    def step(model, optimizer, x):
        labels = tf.constant(class_labels(x.shape[0]))
        loss_object = keras.losses.SparseCategoricalCrossentropy(from_logits=True)
        variables = model.trainable_variables

        def run():
            with tf.GradientTape() as tape:
                loss = loss_object(labels, model(x, training=True))
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

        return Case(run)

    def mnist_cnn():
        layers = keras.layers
        model = keras.Sequential([
            keras.Input([28, 28, 1]),
            layers.Conv2D(32, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Conv2D(64, 3, activation="relu"),
            layers.MaxPooling2D(),
            layers.Flatten(),
            layers.Dense(64, activation="relu"),
            layers.Dense(10),
        ])
        return model, keras.optimizers.Adam(1e-3)

    def mnist_cnn_step():
        return step(*mnist_cnn(), tensor([32, 28, 28, 1]))

    def mlp_step(batch):
        def make():
            layers = keras.layers
            model = keras.Sequential([
                keras.Input([784]),
                layers.Dense(128, activation="relu"),
                layers.Dense(64, activation="relu"),
                layers.Dense(10),
            ])
            return step(model, keras.optimizers.SGD(0.01), tensor([batch, 784]))

        return make

    def transformer_step():
        layers = keras.layers
        x = inputs = keras.Input([128, 256])
        y = layers.LayerNormalization(epsilon=1e-5)(x)
        x = x + layers.MultiHeadAttention(4, 64)(y, y)
        y = layers.LayerNormalization(epsilon=1e-5)(x)
        x = x + layers.Dense(256)(layers.Dense(1024, activation="gelu")(y))
        block = keras.Model(inputs, x)
        tokens = tensor([8, 128, 256])
        variables = block.trainable_variables
        optimizer = keras.optimizers.SGD(0.01)

        def run():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(tf.square(block(tokens, training=True)))
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

        return Case(run)

    def lstm_step():
        layer = keras.layers.LSTM(128)
        x = tensor([32, 50, 64])
        layer(x)
        variables = layer.trainable_variables
        optimizer = keras.optimizers.Adam(1e-3)

        def run():
            with tf.GradientTape() as tape:
                loss = tf.reduce_mean(layer(x, training=True))
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

        return Case(run)

    def lstm_cell():
        cell = keras.layers.LSTMCell(10)
        x, states = tensor([10, 10]), [tensor([10, 10], 1), tensor([10, 10], 2)]
        cell(x, states)
        cell.set_weights([values([10, 40], 3), values([10, 40], 4), values([40], 5)])

        def run():
            for _ in range(10):
                cell(x, states)

        return Case(run, 10, check(lambda: cell(x, states)[1]))

    def function(make, **options):
        """A workload with what it runs as a `tf.function`."""

        def traced():
            case = make()
            return Case(tf.function(case.run, **options), case.iterations, case.check)

        return traced

    def while_sum_even():
        x = tf.constant(whole_numbers(1000))

        def body(i, total):
            n = tf.gather(x, i)
            return i + 1, tf.cond(n % 2 == 0, lambda: total + n, lambda: total)

        def run():
            zero = tf.constant(0)
            return tf.while_loop(lambda i, total: i < 1000, body, [zero, zero])[1]

        return Case(run, check=run)

    def while_sum_even_function():
        run = tf.function(while_sum_even().run)
        return Case(run, check=run)

    def autograph_sum_even():
        x = tf.constant(whole_numbers(1000))

        def sum_even(items):
            total = 0
            for n in items:
                if n % 2 > 0:
                    continue
                total += n
            return total

        return x, sum_even

    def autograph_sum_even_eager():
        x, sum_even = autograph_sum_even()
        return Case(lambda: sum_even(x), check=lambda: sum_even(x))

    def autograph_sum_even_function():
        x, sum_even = autograph_sum_even()
        converted = tf.function(sum_even)
        return Case(lambda: converted(x), check=lambda: converted(x))

    def adam_by_hand():
        gradient, weights = tensor([1_000_000]), tf.Variable(tensor([1_000_000], 1))
        mean, square, steps = tf.Variable(tf.zeros([1_000_000])), tf.Variable(tf.zeros([1_000_000])), tf.Variable(0.0)

        def run():
            steps.assign_add(1)
            mean.assign(mean * 0.9 + gradient * 0.1)
            square.assign(square * 0.999 + tf.square(gradient) * 0.001)
            scale = tf.sqrt(square / (1 - 0.999**steps)) + 1e-7
            weights.assign_sub(mean / (1 - 0.9**steps) / scale * 1e-3)

        return Case(run)

    def adam_by_hand_function():
        run = adam_by_hand().run
        return [Case(tf.function(run), variant="graph"), Case(tf.function(run, jit_compile=True), variant="XLA")]

    def pipeline():
        count = 60_000
        pixels = (np.arange(count * 28 * 28, dtype=np.int64) * 7).astype(np.uint8).reshape(count, 28, 28, 1)
        labels = np.arange(count, dtype=np.int32) % 10
        return (
            tf.data.Dataset.from_tensor_slices((pixels, labels))
            .shuffle(count)
            .map(lambda x, y: (tf.cast(x, tf.float32) / 255, y), num_parallel_calls=tf.data.AUTOTUNE)
            .repeat()
            .batch(32)
            .prefetch(tf.data.AUTOTUNE)
        )

    def data_pipeline():
        iterator = iter(pipeline())

        def run():
            for _ in hundred:
                next(iterator)

        return Case(run, 100)

    def data_cnn_step():
        iterator = iter(pipeline())
        model, optimizer = mnist_cnn()
        loss_object = keras.losses.SparseCategoricalCrossentropy(from_logits=True)

        @tf.function
        def step(x, labels):
            with tf.GradientTape() as tape:
                loss = loss_object(labels, model(x, training=True))
            variables = model.trainable_variables
            optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

        return Case(lambda: step(*next(iterator)))

    def summary_scalars():
        folder = tempfile.mkdtemp(prefix="bench-summary-")
        atexit.register(shutil.rmtree, folder)
        writer = tf.summary.create_file_writer(folder)
        thousand = range(1000)

        def run():
            with writer.as_default():
                for i in thousand:
                    tf.summary.scalar("loss", 0.5, step=i)

        return Case(run, 1000)

    def trace_cnn():
        step = mnist_cnn_step().run
        step()

        def run():
            tf.function(lambda: step())()

        return Case(run)

    def add10_function():
        a, b = tensor([10]), tensor([10], 1)
        add = tf.function(lambda x, y: x + y)

        def run():
            for _ in hundred:
                add(a, b)

        return Case(run, 100, check(lambda: add(a, b)))

    def lstm_cell_function():
        cell = keras.layers.LSTMCell(10)
        x, states = tensor([10, 10]), [tensor([10, 10], 1), tensor([10, 10], 2)]
        cell(x, states)
        cell.set_weights([values([10, 40], 3), values([10, 40], 4), values([40], 5)])
        step = tf.function(lambda: cell(x, states))

        def run():
            for _ in range(10):
                step()

        return Case(run, 10, check(lambda: step()[1]))

    def library(compute, inputs, check, name, variant):
        inputs = [tf.constant(x) for x in inputs]

        def case(function, variant):
            return Case(lambda: function(*inputs), 1, lambda: check(function(*inputs)), variant)

        if not compiled:
            return case(compute, "")
        graph = case(tf.function(compute), "graph")
        return [graph, case(tf.function(compute, jit_compile=True), "XLA")] if name in xla_ops else graph

    # The others are not compiled, or take seconds.
    xla_ops = {"sort_rows", "gather_rows", "resize_bilinear", "einsum_attention"}
    ops = {
        "sort_rows": tf.sort,
        "topk100": lambda x: tuple(tf.math.top_k(x, 100)),
        "gather_rows": tf.gather,
        "segment_sum": lambda x, ids: tf.math.unsorted_segment_sum(x, ids, 100_000),
        "unique_100k": lambda x: tuple(tf.unique(x)),
        "unique_2g": lambda x: tuple(tf.unique(x)),
        "resize_bilinear": lambda x: tf.image.resize(x, (112, 112)),
        "einsum_attention": lambda q, k: tf.einsum("bhqd,bhkd->bhqk", q, k),
        "fft_1m": tf.signal.fft,
        "fft2d_1000": tf.signal.fft2d,
        "cholesky512": tf.linalg.cholesky,
        "qr512": lambda a: tuple(tf.linalg.qr(a)),
        "svd512": tf.linalg.svd,
        "solve512": tf.linalg.solve,
    }

    def split_lines():
        lines = tf.constant(text_lines(100_000))
        split = tf.function(tf.strings.split) if compiled else tf.strings.split
        lengths = lambda: tf.strings.length(split(lines).flat_values)
        return Case(lambda: split(lines), 1, check(lambda: lengths()))

    def embedding_adam():
        ids = tf.constant(random_integers(32 * 128, 100_000, 3).reshape(32, 128))

        def make(**options):
            layer, optimizer = keras.layers.Embedding(100_000, 64), keras.optimizers.Adam(1e-3)
            layer.build([None, 128])
            layer.set_weights([noise([100_000, 64])])
            variables = layer.trainable_variables
            optimizer.build(variables)

            def step():
                with tf.GradientTape() as tape:
                    loss = tf.reduce_sum(layer(ids) ** 2)
                optimizer.apply_gradients(zip(tape.gradient(loss, variables), variables))

            return tf.function(step, **options) if compiled else step

        # Without a check: Keras squares the gradients of a row that was looked up twice one by one, so its step is another one.
        if not compiled:
            return Case(make())
        return [Case(make(), variant="graph"), Case(make(jit_compile=True), variant="XLA")]

    kernels = {
        "softmax": softmax,
        "layer_norm": layer_norm,
        "transpose": transpose,
        "sum10m": sum10m,
        "add10m": add10m,
        "bias_add": bias_add,
        **shaped_kernels(concat, moments, cumsum, transposed),
        **library_kernels(library, ops),
        "split_lines": split_lines,
        "embedding_adam": embedding_adam,
        "exp2m": exp2m,
        "matmul_batched": matmul_batched,
        "conv2d": conv2d,
        "depthwise": depthwise,
        "mobilenet_v2": mobilenet_v2,
        "adam10m": adam10m,
        "gemm256": gemm(256, 256, 256),
        "gemm512": gemm(512, 512, 512),
    }
    if compiled:
        return tf.__version__, {**kernels, "elementwise_chain_10m_function": elementwise_chain(10_000_000)}
    return tf.__version__, {
        **kernels,
        "gemm1000": gemm(1000, 1000, 1000),
        "gemm1024": gemm(1024, 1024, 1024),
        "gemm2048": gemm(2048, 2048, 2048),
        "gemm_mlp": gemm(32, 784, 128),
        "gemm_row": gemm(1, 2896, 2896),
        "conv_fwd_bwd": conv(32, 26, 32, 64),
        "conv_large": conv(8, 56, 64, 64),
        "conv_one_channel": conv(32, 28, 1, 32),
        "add10": add10,
        "add10_tape": add10_tape,
        "adds1000": adds1000,
        "mnist_cnn_step": mnist_cnn_step,
        "mlp_step": mlp_step(32),
        "mlp_step_256": mlp_step(256),
        "lstm_step": lstm_step,
        "lstm_cell": lstm_cell,
        "elementwise_chain_10k": elementwise_chain(10_000),
        "elementwise_chain_1m": elementwise_chain(1_000_000),
        "elementwise_chain_10m": elementwise_chain(10_000_000),
        "transformer_step": transformer_step,
        "add10_function": add10_function,
        "lstm_cell_function": lstm_cell_function,
        "mnist_cnn_step_function": function(mnist_cnn_step),
        "mlp_step_function": function(mlp_step(32)),
        "lstm_step_function": function(lstm_step),
        "transformer_step_function": function(transformer_step),
        "elementwise_chain_10m_function": function(elementwise_chain(10_000_000), jit_compile=True),
        "while_sum_even": while_sum_even,
        "while_sum_even_function": while_sum_even_function,
        "autograph_sum_even": autograph_sum_even_eager,
        "autograph_sum_even_function": autograph_sum_even_function,
        "adam_by_hand": adam_by_hand,
        "adam_by_hand_function": adam_by_hand_function,
        "trace_cnn": trace_cnn,
        "data_pipeline": data_pipeline,
        "data_cnn_step": data_cnn_step,
        "summary_scalars": summary_scalars,
    }


serve(load)
