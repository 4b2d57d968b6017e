"""PyTorch's side of the workloads, eager or by torch.compile; see serve.py for the protocol."""

import os

from serve import Case, class_labels, library_kernels, noise, random_integers, serve, shaped_kernels, values, whole_numbers


def load(threads, compiled):
    import torch
    from torch import nn
    from torch.nn import functional as F

    if compiled and os.environ.get("ATEN_CPU_CAPABILITY") == "avx2":
        # The compiler would still step by the 16 elements of AVX-512, and leave half of a result unwritten.
        import torch._inductor.config

        torch._inductor.config.cpp.simdlen = 256

    torch.set_num_threads(threads)
    torch.set_num_interop_threads(threads)

    def tensor(shape, salt=0):
        return torch.from_numpy(values(shape, salt))

    def check(compute):
        def mean_square():
            result = compute()
            parts = result if isinstance(result, (tuple, list)) else [result]
            return sum((p.detach().double() ** 2).mean().item() for p in parts)

        return mean_square

    def timed(compute, iterations=1, variant=""):
        if compiled:
            torch.compiler.reset()
            compute = torch.compile(compute)
        return Case(compute, iterations, check(compute), variant)

    def gemm(m, k, n):
        def make():
            a, b = tensor([m, k]), tensor([k, n], 1)
            return timed(lambda: a @ b)

        return make

    def conv(batch, size, channels, filters):
        def variant(name, layout):
            x = tensor([batch, size, size, channels]).permute(0, 3, 1, 2).contiguous(memory_format=layout)
            w = tensor([3, 3, channels, filters], 1).permute(3, 2, 0, 1).contiguous(memory_format=layout)
            dy = tensor([batch, size - 2, size - 2, filters], 2).permute(0, 3, 1, 2).contiguous(memory_format=layout)
            x.requires_grad_()
            w.requires_grad_()

            def run():
                return torch.autograd.grad(F.conv2d(x, w), [x, w], dy)

            return timed(run, variant=name)

        return lambda: [variant("NCHW", torch.contiguous_format), variant("channels_last", torch.channels_last)]

    hundred = range(100)

    def add10():
        a, b = tensor([10]), tensor([10], 1)

        def run():
            for _ in hundred:
                a + b

        return Case(run, 100, check(lambda: a + b))

    def add10_tape():
        a, b = tensor([10]).requires_grad_(), tensor([10], 1)

        def run():
            for _ in hundred:
                a + b

        return Case(run, 100, check(lambda: a + b))

    def adds1000():
        x, b = tensor([10]).requires_grad_(), tensor([10], 1).requires_grad_()
        ones = torch.ones([10])

        def run():
            y = x
            for _ in range(1000):
                y = y + b
            return torch.autograd.grad(y, [x, b], ones)

        return timed(run)

    def elementwise_chain(n):
        def make():
            x = tensor([n])
            return timed(lambda: torch.tanh(2 * x + 1) * x - torch.relu(x))

        return make

    def softmax():
        x = tensor([1024, 1000])
        return timed(lambda: torch.softmax(x, -1))

    def layer_norm():
        x, scale, offset = tensor([1024, 1024]), tensor([1024], 1), tensor([1024], 2)
        return timed(lambda: F.layer_norm(x, (1024,), scale, offset, 1e-5))

    def sum10m():
        x = tensor([10_000_000]) + 0.5
        return timed(lambda: x.sum())

    def transpose():
        x = tensor([2000, 2000])
        return timed(lambda: x.T.contiguous())

    def add10m():
        a, b = tensor([10_000_000]), tensor([10_000_000], 1)
        return timed(lambda: a + b)

    def bias_add():
        x, b = tensor([2000, 1000]), tensor([1000], 1)
        return timed(lambda: x + b)

    def concat(shape, axis):
        def make():
            parts = [tensor(shape, salt) for salt in range(4)]
            return timed(lambda: torch.cat(parts, axis))

        return make

    def moments(shape, axis):
        def make():
            x = tensor(shape)

            def by_hand():
                mean = x.mean(axis, keepdim=True)
                return mean, ((x - mean) ** 2).mean(axis)

            def var_mean():
                variance, mean = torch.var_mean(x, axis, correction=0)
                return mean, variance

            return [timed(var_mean, variant="var_mean"), timed(by_hand, variant="by hand")]

        return make

    def exp2m():
        x = tensor([2_000_000])
        return timed(lambda: torch.exp(x))

    def cumsum(shape, axis):
        def make():
            x = tensor(shape)
            return timed(lambda: torch.cumsum(x, axis))

        return make

    def matmul_batched():
        a, b = tensor([64, 128, 64]), tensor([64, 64, 128], 1)
        return timed(lambda: a @ b)

    def transposed(shape, perm):
        def make():
            x = tensor(shape)
            return timed(lambda: x.permute(perm).contiguous())

        return make

    def conv2d():
        def variant(name, layout):
            x = tensor([16, 56, 56, 64]).permute(0, 3, 1, 2).contiguous(memory_format=layout)
            w = tensor([3, 3, 64, 64], 1).permute(3, 2, 0, 1).contiguous(memory_format=layout)
            return timed(lambda: F.conv2d(x, w, padding="same"), variant=name)

        return [variant("NCHW", torch.contiguous_format), variant("channels_last", torch.channels_last)]

    def depthwise():
        def variant(name, layout):
            x = tensor([16, 56, 56, 144]).permute(0, 3, 1, 2).contiguous(memory_format=layout)
            w = tensor([3, 3, 144, 1], 1).permute(2, 3, 0, 1).contiguous(memory_format=layout)
            return timed(lambda: F.conv2d(x, w, padding="same", groups=144), variant=name)

        return [variant("NCHW", torch.contiguous_format), variant("channels_last", torch.channels_last)]

    def adam10m():
        def variant(kind):
            weights = nn.Parameter(tensor([10_000_000]))
            weights.grad = tensor([10_000_000], 1)
            optimizer = torch.optim.Adam([weights], lr=1e-3, **optimizer_kinds[kind])
            return Case(torch.compile(optimizer.step) if compiled else optimizer.step, variant=f"Adam {kind}")

        return [variant(kind) for kind in optimizer_kinds]

    def step(model, optimizer, x, variant):
        labels = torch.from_numpy(class_labels(x.shape[0]))

        def run():
            optimizer.zero_grad()
            loss = F.cross_entropy(model(x), labels)
            loss.backward()
            optimizer.step()
            return loss

        return Case(run, variant=variant)

    optimizer_kinds = {"default": {}, "foreach": {"foreach": True}, "fused": {"fused": True}}

    def mnist_cnn_step():
        def variant(layout, kind):
            model = nn.Sequential(
                nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
                nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
                nn.Flatten(), nn.Linear(1600, 64), nn.ReLU(), nn.Linear(64, 10),
            )  # fmt: skip
            x = tensor([32, 1, 28, 28])
            if layout == "channels_last":
                model = model.to(memory_format=torch.channels_last)
                x = x.contiguous(memory_format=torch.channels_last)
            optimizer = torch.optim.Adam(model.parameters(), lr=1e-3, **optimizer_kinds[kind])
            return step(model, optimizer, x, f"{layout}, Adam {kind}")

        return [variant(layout, kind) for layout in ("NCHW", "channels_last") for kind in optimizer_kinds]

    def mlp_step(batch):
        def variant(kind):
            model = nn.Sequential(nn.Linear(784, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10))
            optimizer = torch.optim.SGD(model.parameters(), lr=0.01, **optimizer_kinds[kind])
            return step(model, optimizer, tensor([batch, 784]), f"SGD {kind}")

        return lambda: [variant(kind) for kind in optimizer_kinds]

    class Block(nn.Module):
        def __init__(self):
            super().__init__()
            self.attention_norm, self.norm = nn.LayerNorm(256), nn.LayerNorm(256)
            self.qkv, self.out = nn.Linear(256, 768), nn.Linear(256, 256)
            self.wide, self.narrow = nn.Linear(256, 1024), nn.Linear(1024, 256)

        def forward(self, x):
            batch, time, width = x.shape
            q, k, v = self.qkv(self.attention_norm(x)).view(batch, time, 3, 4, 64).permute(2, 0, 3, 1, 4)
            y = F.scaled_dot_product_attention(q, k, v).transpose(1, 2).reshape(batch, time, width)
            x = x + self.out(y)
            return x + self.narrow(F.gelu(self.wide(self.norm(x))))

    def transformer_step():
        def variant(kind):
            block, x = Block(), tensor([8, 128, 256])
            optimizer = torch.optim.SGD(block.parameters(), lr=0.01, **optimizer_kinds[kind])

            def run():
                optimizer.zero_grad()
                loss = (block(x) ** 2).mean()
                loss.backward()
                optimizer.step()
                return loss

            return Case(run, variant=f"SGD {kind}")

        return [variant(kind) for kind in optimizer_kinds]

    def lstm_step():
        def variant(kind):
            model = nn.LSTM(64, 128, batch_first=True)
            # Keras has one bias.
            model.bias_hh_l0.data.zero_()
            model.bias_hh_l0.requires_grad_(False)
            optimizer = torch.optim.Adam([p for p in model.parameters() if p.requires_grad], lr=1e-3, **optimizer_kinds[kind])
            x = tensor([32, 50, 64])

            def run():
                optimizer.zero_grad()
                loss = model(x)[0][:, -1].mean()
                loss.backward()
                optimizer.step()
                return loss

            return Case(run, variant=f"Adam {kind}")

        return [variant(kind) for kind in optimizer_kinds]

    def lstm_cell():
        cell = nn.LSTMCell(10, 10)
        x, states = tensor([10, 10]), (tensor([10, 10], 1), tensor([10, 10], 2))
        with torch.no_grad():
            cell.weight_ih.copy_(tensor([10, 40], 3).T)
            cell.weight_hh.copy_(tensor([10, 40], 4).T)
            cell.bias_ih.copy_(tensor([40], 5))
            cell.bias_hh.zero_()

        def variant(name, mode):
            def run():
                with mode():
                    for _ in range(10):
                        cell(x, states)

            return Case(run, 10, check(lambda: cell(x, states)), name)

        return [variant("no_grad", torch.no_grad), variant("inference_mode", torch.inference_mode)]

    def while_sum_even():
        x = torch.from_numpy(whole_numbers(1000))

        def run():
            total = torch.zeros([], dtype=torch.int32)
            for n in x:
                if n % 2 == 0:
                    total = total + n
            return total

        return Case(run, check=run)

    def adam_by_hand():
        def variant(name):
            gradient, weights = tensor([1_000_000]), tensor([1_000_000], 1)
            mean, square = torch.zeros([1_000_000]), torch.zeros([1_000_000])
            steps = 0

            def in_place():
                nonlocal steps
                steps += 1
                mean.mul_(0.9).add_(gradient, alpha=0.1)
                square.mul_(0.999).addcmul_(gradient, gradient, value=0.001)
                scale = (square / (1 - 0.999**steps)).sqrt_().add_(1e-7)
                weights.addcdiv_(mean, scale, value=-1e-3 / (1 - 0.9**steps))

            def as_written():
                nonlocal steps, mean, square, weights
                steps += 1
                mean = mean * 0.9 + gradient * 0.1
                square = square * 0.999 + gradient**2 * 0.001
                weights = weights - mean / (1 - 0.9**steps) / ((square / (1 - 0.999**steps)).sqrt() + 1e-7) * 1e-3

            return Case(in_place if name == "in place" else as_written, variant=name)

        return [variant("in place"), variant("as written")]

    def library(compute, inputs, check, name, variant):
        inputs = [torch.from_numpy(x) for x in inputs]
        if name in ("gather_rows", "segment_sum"):
            inputs[1] = inputs[1].long()
        if name == "resize_bilinear":
            layout = torch.channels_last if variant == "channels_last" else torch.contiguous_format
            inputs = [x.permute(0, 3, 1, 2).contiguous(memory_format=layout) for x in inputs]
        if compiled:
            torch.compiler.reset()
            compute = torch.compile(compute)
        images = (lambda y: y.permute(0, 2, 3, 1)) if name == "resize_bilinear" else (lambda y: y)
        return Case(lambda: compute(*inputs), 1, lambda: check(images(compute(*inputs))), variant)

    def resize(x):
        return F.interpolate(x, size=(112, 112), mode="bilinear")

    ops = {
        "sort_rows": lambda x: torch.sort(x).values,
        "topk100": lambda x: tuple(torch.topk(x, 100)),
        "gather_rows": [("x[ids]", lambda x, ids: x[ids]), ("index_select", lambda x, ids: x.index_select(0, ids))],
        "segment_sum": lambda x, ids: torch.zeros(100_000, 64).index_add_(0, ids, x),
        "resize_bilinear": [("NCHW", resize), ("channels_last", resize)],
        "einsum_attention": lambda q, k: torch.einsum("bhqd,bhkd->bhqk", q, k),
    }
    # Nothing of these is compiled.
    eager_ops = {
        "unique_100k": lambda x: torch.unique(x, return_inverse=True),
        "unique_2g": lambda x: torch.unique(x, return_inverse=True),
        "fft_1m": torch.fft.fft,
        "fft2d_1000": torch.fft.fft2,
        "cholesky512": torch.linalg.cholesky,
        "qr512": lambda a: tuple(torch.linalg.qr(a)),
        "svd512": lambda a: (lambda u, s, vh: (s, u, vh))(*torch.linalg.svd(a)),
        "solve512": torch.linalg.solve,
    }

    def embedding(sparse):
        def variant(kind):
            ids = torch.from_numpy(random_integers(32 * 128, 100_000, 3)).long().view(32, 128)

            def make():
                layer = nn.Embedding.from_pretrained(torch.from_numpy(noise([100_000, 64])), freeze=False, sparse=sparse)
                if sparse:
                    optimizer = torch.optim.SparseAdam(layer.parameters(), lr=1e-3)
                else:
                    optimizer = torch.optim.Adam(layer.parameters(), lr=1e-3, **optimizer_kinds[kind])

                def step():
                    optimizer.zero_grad()
                    loss = (layer(ids) ** 2).sum()
                    loss.backward()
                    optimizer.step()
                    return loss

                return layer, step

            def check():
                layer, step = make()
                before = layer.weight.detach().clone()
                step()
                step()
                moved = (layer.weight.detach() - before).double() * 1000
                return sum((y**2).mean().item() for y in (moved[ids.view(-1)[:100]], moved[:100]))

            return Case(make()[1], 1, check, "SparseAdam" if sparse else f"Adam {kind}")

        return lambda: [variant(kind) for kind in (["default"] if sparse else optimizer_kinds)]

    kernels = {
        "softmax": softmax,
        "layer_norm": layer_norm,
        "transpose": transpose,
        "sum10m": sum10m,
        "add10m": add10m,
        "bias_add": bias_add,
        **shaped_kernels(concat, moments, cumsum, transposed),
        **library_kernels(library, ops),
        "exp2m": exp2m,
        "matmul_batched": matmul_batched,
        "conv2d": conv2d,
        "depthwise": depthwise,
        "adam10m": adam10m,
        "gemm256": gemm(256, 256, 256),
        "gemm512": gemm(512, 512, 512),
        "elementwise_chain_10m_function": elementwise_chain(10_000_000),
    }
    if compiled:
        return torch.__version__, kernels
    return torch.__version__, {
        **kernels,
        **library_kernels(library, eager_ops),
        "embedding_adam": embedding(False),
        "embedding_lazy_adam": embedding(True),
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
        # PyTorch stays eager: it is what a compiled step is measured against.
        "add10_function": add10,
        "lstm_cell_function": lstm_cell,
        "mnist_cnn_step_function": mnist_cnn_step,
        "mlp_step_function": mlp_step(32),
        "lstm_step_function": lstm_step,
        "transformer_step_function": transformer_step,
        "while_sum_even": while_sum_even,
        "while_sum_even_function": while_sum_even,
        "adam_by_hand": adam_by_hand,
        "adam_by_hand_function": adam_by_hand,
    }


serve(load)
