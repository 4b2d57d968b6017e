"""The peer of serve.mjs: a server of aiohttp around tf.saved_model.load. Needs tensorflow, keras and aiohttp.

    python serve.py export FOLDER SIDE     writes a small CNN as a SavedModel
    python serve.py serve FOLDER THREADS   serves it (0 threads: as TensorFlow likes)
"""

import asyncio
import concurrent.futures
import signal
import sys

import numpy as np
import tensorflow as tf

command, folder, number = sys.argv[1:4]


def export():
    import keras

    side = int(number)
    keras.utils.set_random_seed(1)
    model = keras.Sequential([
        keras.Input([side, side, 1]),
        keras.layers.Conv2D(16, 3, activation='relu'),
        keras.layers.MaxPooling2D(2),
        keras.layers.Conv2D(32, 3, activation='relu'),
        keras.layers.MaxPooling2D(2),
        keras.layers.Flatten(),
        keras.layers.Dense(64, activation='relu'),
        keras.layers.Dense(10, activation='softmax'),
    ])
    model.export(folder, verbose=False)
    print('exported', flush=True)


async def serve():
    from aiohttp import web

    if number != '0':
        tf.config.threading.set_intra_op_parallelism_threads(int(number))
    model = tf.saved_model.load(folder)
    run = model.signatures['serving_default']
    (name,) = run.structured_input_signature[1]
    pool = concurrent.futures.ThreadPoolExecutor()

    def computed(instances):
        (outputs,) = run(**{name: tf.constant(np.asarray(instances, np.float32))}).values()
        return outputs.numpy().tolist()

    async def predict(request):
        body = await request.json()
        predictions = await asyncio.get_running_loop().run_in_executor(pool, computed, body['instances'])
        return web.json_response({'predictions': predictions})

    app = web.Application(client_max_size=32 * 2**20)
    app.router.add_post('/predict', predict)
    runner = web.AppRunner(app, access_log=None)
    await runner.setup()
    site = web.TCPSite(runner, '127.0.0.1', 0)
    await site.start()
    _, port = site._server.sockets[0].getsockname()
    stop = asyncio.Event()
    asyncio.get_running_loop().add_signal_handler(signal.SIGTERM, stop.set)
    print(f'at http://127.0.0.1:{port}/predict', flush=True)
    await stop.wait()
    await runner.cleanup()


if command == 'export':
    export()
else:
    asyncio.run(serve())
