"""Sums over processes by PyTorch's gloo: what probes/all-reduce.mjs compares with. Prints the median seconds of each size."""

import json
import os
import sys
import time

import torch
import torch.distributed as dist
import torch.multiprocessing as mp

COUNT, SIZES = int(sys.argv[1]), json.loads(sys.argv[2])


def rounds(size):
    return 15 if size > 1e7 else 60 if size > 1e5 else 300


def work(rank, port):
    os.environ.update(MASTER_ADDR="127.0.0.1", MASTER_PORT=str(port), GLOO_SOCKET_IFNAME="lo")
    torch.set_num_threads(1)
    dist.init_process_group("gloo", rank=rank, world_size=COUNT)
    medians = []
    for size in SIZES:
        data = torch.ones(size // 4)
        times = []
        for _ in range(rounds(size)):
            start = time.perf_counter()
            dist.all_reduce(data)
            times.append(time.perf_counter() - start)
            data.fill_(1)
        medians.append(sorted(times[3:])[(len(times) - 3) // 2])
    if rank == 0:
        print(json.dumps(medians))
    dist.destroy_process_group()


if __name__ == "__main__":
    import socket

    with socket.socket() as free:
        free.bind(("127.0.0.1", 0))
        chosen = free.getsockname()[1]
    mp.spawn(work, args=(chosen,), nprocs=COUNT)
