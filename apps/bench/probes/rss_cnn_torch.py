# The most memory that PyTorch needs to train the convolutional network of rss-cnn.mjs.
import json
import resource

import torch
from torch import nn
from torch.nn import functional as F

model = nn.Sequential(
    nn.Conv2d(1, 32, 3), nn.ReLU(), nn.MaxPool2d(2),
    nn.Conv2d(32, 64, 3), nn.ReLU(), nn.MaxPool2d(2),
    nn.Flatten(), nn.Linear(1600, 64), nn.ReLU(), nn.Linear(64, 10),
)  # fmt: skip
optimizer = torch.optim.Adam(model.parameters(), lr=1e-3)
x, labels = torch.randn([32, 1, 28, 28]), torch.arange(32) % 10
for _ in range(500):
    optimizer.zero_grad()
    F.cross_entropy(model(x), labels).backward()
    optimizer.step()
print(json.dumps({"value": resource.getrusage(resource.RUSAGE_SELF).ru_maxrss * 1024 / 1e6}))
