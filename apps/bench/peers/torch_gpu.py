"""PyTorch's side of the workloads of src/gpu/workloads.ts, which starts it with settings in JSON. It prints a line of JSON for each timing."""

import json
import math
import sys
import time


def tell(**what):
    print(json.dumps(what), flush=True)


def main():
    settings = json.loads(sys.argv[1])
    try:
        import torch
    except ImportError as error:
        return tell(absent=str(error))
    if not settings["onCpu"] and not torch.cuda.is_available():
        return tell(absent=f"PyTorch {torch.__version__} finds no GPU")
    device = "cpu" if settings["onCpu"] else "cuda"
    makers = workloads(torch, device, settings["isTiny"])
    for workload in settings["workloads"]:
        name = workload["name"]
        base = name.removesuffix("_function") if name != "host_function" else name
        # A function is held against both; what is eager, against eager PyTorch alone.
        for library in ("torch", "torch-compile") if workload["isTraced"] and settings["compiles"] else ("torch",):
            try:
                samples = timed(torch, device, makers[base], workload, settings, library == "torch-compile")
                tell(workload=name, library=library, samples=samples)
            except Exception as error:  # noqa: BLE001: told, and the next one runs
                tell(workload=name, library=library, failed=f"{type(error).__name__}: {error}"[:500])
            if device == "cuda":
                torch.cuda.empty_cache()


def timed(torch, device, make, workload, settings, compiled):
    def wait():
        if device == "cuda":
            torch.cuda.synchronize()

    run = make()
    if compiled:
        torch.compiler.reset()
        run = run.compiled() if hasattr(run, "compiled") else torch.compile(run)
    repeats = 1 if settings["isTiny"] else workload["repeats"]
    # As long as Eagre has.
    began, i = time.perf_counter(), 0
    while i < 3 or time.perf_counter() - began < settings["seconds"]:
        run()
        if i % repeats == 0:
            wait()
        i += 1
    wait()
    samples, spent = [], 0.0
    while spent < settings["seconds"] or len(samples) < settings["least"]:
        before = time.perf_counter()
        for _ in range(repeats):
            run()
        if not workload["isHostTime"]:
            wait()
        took = time.perf_counter() - before
        wait()
        spent += time.perf_counter() - before
        samples.append(took / repeats / workload["parts"])
    return samples


def workloads(torch, device, tiny):
    from torch import nn
    from torch.nn import functional as F

    def tf32(on):
        torch.backends.cuda.matmul.allow_tf32 = on
        torch.backends.cudnn.allow_tf32 = on

    def random(*shape, dtype=torch.float32):
        return torch.rand(*shape, device=device).to(dtype)

    def matmul(size, precision):
        def make():
            tf32(precision == "tf32")
            n = 32 if tiny else size
            dtype = torch.bfloat16 if precision == "bf16" else torch.float32
            a, b = random(n, n, dtype=dtype), random(n, n, dtype=dtype)
            return lambda: a @ b

        return make

    class Step:
        """A training step; what is compiled is the forward pass, and with it the gradients, as PyTorch's users do."""

        def __init__(self, model, loss, optimizer):
            self.loss, self.optimizer = loss, optimizer

        def compiled(self):
            self.loss = torch.compile(self.loss)
            return self

        def __call__(self):
            self.optimizer.zero_grad(set_to_none=True)
            self.loss().backward()
            self.optimizer.step()

    def sgd(model, momentum=0.0):
        return torch.optim.SGD(model.parameters(), lr=0.01, momentum=momentum)

    def adam(model, rate):
        return torch.optim.Adam(model.parameters(), lr=rate, fused=device == "cuda")

    def mlp():
        tf32(True)
        width = 8 if tiny else 784
        model = nn.Sequential(nn.Linear(width, 128), nn.ReLU(), nn.Linear(128, 64), nn.ReLU(), nn.Linear(64, 10)).to(device)
        x, labels = random(32, width), torch.arange(32, device=device) % 10
        return Step(model, lambda: F.cross_entropy(model(x), labels), sgd(model))

    def lstm():
        tf32(True)
        units, batch, steps, features = (4, 2, 3, 4) if tiny else (128, 32, 50, 64)
        model = nn.LSTM(features, units, batch_first=True).to(device)
        x = random(batch, steps, features)
        return Step(model, lambda: model(x)[0][:, -1].mean(), adam(model, 1e-3))

    class Bottleneck(nn.Module):
        def __init__(self, channels, filters, stride, first):
            super().__init__()

            def convolution(c, f, kernel, s):
                return nn.Sequential(nn.Conv2d(c, f, kernel, s, kernel // 2, bias=False), nn.BatchNorm2d(f))

            self.inner = nn.Sequential(
                convolution(channels, filters, 1, 1), nn.ReLU(), convolution(filters, filters, 3, stride), nn.ReLU(),
                convolution(filters, 4 * filters, 1, 1),
            )
            self.shortcut = convolution(channels, 4 * filters, 1, stride) if first else nn.Identity()

        def forward(self, x):
            return F.relu(self.inner(x) + self.shortcut(x))

    def resnet(precision):
        def make():
            tf32(True)
            batch, size, width, blocks, classes = (2, 16, 2, [1, 1], 4) if tiny else (64, 224, 64, [3, 4, 6, 3], 1000)
            parts = [nn.Conv2d(3, width, 7, 2, 3, bias=False), nn.BatchNorm2d(width), nn.ReLU(), nn.MaxPool2d(3, 2, 1)]
            channels = width
            for stage, count in enumerate(blocks):
                filters = width * 2**stage
                for i in range(count):
                    parts.append(Bottleneck(channels, filters, 2 if stage > 0 and i == 0 else 1, i == 0))
                    channels = 4 * filters
            parts += [nn.AdaptiveAvgPool2d(1), nn.Flatten(), nn.Linear(channels, classes)]
            # The layout that is fast on tensor cores.
            model = nn.Sequential(*parts).to(device, memory_format=torch.channels_last)
            x = random(batch, 3, size, size).to(memory_format=torch.channels_last)
            labels = torch.arange(batch, device=device) % classes

            def loss():
                with torch.autocast(device, torch.bfloat16, enabled=precision == "bf16"):
                    return F.cross_entropy(model(x).float(), labels)

            return Step(model, loss, sgd(model, 0.9))

        return make

    class Block(nn.Module):
        def __init__(self, width, heads):
            super().__init__()
            self.heads = heads
            self.before, self.between = nn.LayerNorm(width), nn.LayerNorm(width)
            self.projections, self.joined = nn.Linear(width, 3 * width), nn.Linear(width, width)
            self.wide, self.narrow = nn.Linear(width, 4 * width), nn.Linear(4 * width, width)

        def forward(self, x):
            batch, steps, width = x.shape
            q, k, v = (
                part.view(batch, steps, self.heads, width // self.heads).transpose(1, 2)
                for part in self.projections(self.before(x)).split(width, dim=2)
            )
            seen = F.scaled_dot_product_attention(q, k, v, is_causal=True)
            x = x + self.joined(seen.transpose(1, 2).reshape(batch, steps, width))
            return x + self.narrow(F.gelu(self.wide(self.between(x)), approximate="tanh"))

    class Language(nn.Module):
        def __init__(self, words, steps, width, heads, depth):
            super().__init__()
            self.words, self.places = nn.Embedding(words, width), nn.Embedding(steps, width)
            self.blocks = nn.ModuleList(Block(width, heads) for _ in range(depth))
            self.last, self.logits = nn.LayerNorm(width), nn.Linear(width, words, bias=False)

        def forward(self, tokens, places):
            x = self.words(tokens) + self.places(places)
            for block in self.blocks:
                x = block(x)
            return self.logits(self.last(x))

    def transformer():
        tf32(True)
        batch, steps, width, heads, depth, words = (2, 6, 16, 2, 1, 11) if tiny else (4, 1024, 768, 12, 12, 50257)
        model = Language(words, steps, width, heads, depth).to(device)
        ids = torch.arange(batch * steps, device=device) * 7919
        tokens, targets = (ids % words).view(batch, steps), (ids + 1) % words
        places = torch.arange(steps, device=device)

        def loss():
            with torch.autocast(device, torch.bfloat16):
                logits = model(tokens, places)
            return F.cross_entropy(logits.float().view(-1, words), targets)

        return Step(model, loss, adam(model, 1e-4))

    def host_op():
        a, b = random(10), random(10)

        def run():
            for _ in range(100):
                a + b

        return run

    def host_function():
        tf32(False)
        x = random(32, 32) / math.sqrt(32)

        def run():
            y = x
            for _ in range(100):
                y = y @ x
            return y

        return run

    makers = {f"matmul_{n}_{p}": matmul(n, p) for n in (1000, 4096, 8192) for p in ("bf16", "tf32", "fp32")}
    return makers | {
        "host_op": host_op, "host_function": host_function, "mlp_step": mlp, "lstm_step": lstm, "transformer_bf16": transformer,
        "resnet50_bf16": resnet("bf16"), "resnet50_tf32": resnet("tf32"),
    }


main()
