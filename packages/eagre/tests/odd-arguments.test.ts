// Mistakes that are easy to make, and values that nobody expects: each is refused by an error of Eagre's own, at once.
import { mkdirSync, rmSync, symlinkSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const cyclic: unknown[] = [];
cyclic.push(cyclic);
const holes: unknown[] = [1, 2, 3];
delete holes[1];
const bare: object = Object.create(null);
const symbol = Symbol('s');
const x = tf.ones([2, 2]);
const ragged = tf.ragged.constant([[1, 2], [3]]);
const folder = join(tmpdir(), `eagre-odd-${process.pid}`);
afterAll(() => rmSync(folder, { recursive: true, force: true }));

const inGraph = (call: () => unknown): unknown => {
  const graph = new tf.compat.v1.Graph();
  return graph.asDefault(call);
};
const sgd = (): { applyGradients(...args: unknown[]): unknown } => new tf.optimizers.SGD() as never;

const { proxy, revoke } = Proxy.revocable({}, {});
revoke();

const calls: Readonly<Record<string, readonly [call: () => unknown, message: string]>> = {
  'stack of a ragged tensor': [() => tf.stack(ragged as never), 'expected a list of tensors'],
  'concat of a ragged tensor': [() => tf.concat(ragged as never, 0), 'expected a list of tensors'],
  'addN of a ragged tensor': [() => tf.addN(ragged as never), 'expected a list of tensors'],
  'strings.join of a ragged tensor': [() => tf.strings.join(ragged as never), 'expected a list of tensors'],
  'decodeCsv at a number': [
    () => tf.io.decodeCsv(['1'], [[1]], { fieldDelim: 3 as never }),
    'fieldDelim must be',
  ],
  'decodeCsv at a symbol': [
    () => tf.io.decodeCsv(['1'], [[1]], { fieldDelim: symbol as never }),
    'fieldDelim must be',
  ],
  'resizeWithCropOrPad to null': [
    () => tf.image.resizeWithCropOrPad(tf.ones([2, 2, 3]), null as never, 2),
    'the target must be at least 1 × 1',
  ],
  'sparse.transpose by a number': [
    () => tf.sparse.transpose(tf.sparse.fromDense([[1, 0]]), 3 as never),
    'perm must be a list of axes',
  ],
  'unfold of huge windows': [() => tf.keras.ops.unfold(tf.ones([1, 2, 3, 3]), 1e9), 'do not fit'],
  'unfold of windows in one direction': [
    () => tf.keras.ops.unfold(tf.ones([1, 2, 3, 3]), [1, 2 ** 50]),
    'do not fit',
  ],
  'fold of huge windows': [
    () => tf.keras.ops.fold(tf.ones([1, 2, 1]), 1e9, 1e9),
    'channels times the 1000000000000000000 pixels',
  ],
  'a scan by a tensor': [() => tf.keras.ops.scan(x as never, 2, x), 'f must be a function'],
  'a scan whose function gives one thing': [
    () => tf.keras.ops.scan((() => x) as never, 2, x),
    'the next carry and a result',
  ],
  'a scan of no length': [
    () => tf.keras.ops.scan((c) => [c, c], 2, null, { length: 'a' as never }),
    'length must be',
  ],
  'a loop by a number': [() => tf.keras.ops.foriLoop(0, 2, 3 as never, 0), 'bodyFun must be a function'],
  'a switch between numbers': [() => tf.keras.ops.switch(0, [1, 2] as never), 'a branch must be a function'],
  'equal of a list that holds itself': [() => tf.equal(x, cyclic as never), 'at most 8'],
  'notEqual of a list that holds itself': [() => tf.notEqual(cyclic as never, x), 'at most 8'],
  'one argument too many, a list that holds itself': [
    () => (tf.matmul as (...args: unknown[]) => unknown)(x, x, cyclic),
    'only a and b can be given by position',
  ],
  'smartResize to no size': [
    () => tf.keras.preprocessing.image.smartResize(tf.ones([4, 4, 3]), null as never),
    'size must be [height, width], got null',
  ],
  'image.resize to one size': [
    () => tf.keras.ops.image.resize(tf.ones([4, 4, 3]), [2] as never),
    'size must be [height, width], got [2]',
  ],
  'add of a proxy that was revoked': [() => tf.add(x, proxy as never), 'cannot be inspected'],
  'a loop with a proxy that was revoked for the shapes of its values': [
    () =>
      tf.whileLoop(
        () => false,
        (y) => [y],
        [x],
        { shapeInvariants: proxy as never },
      ),
    'cannot be inspected',
  ],
  'the method add of such a proxy': [() => x.add(proxy as never), 'cannot be inspected'],
  'a model of a list that holds itself': [
    () => new tf.Model({ inputs: cyclic, outputs: cyclic } as never),
    'a structure contains itself',
  ],
  'stack of a list with holes': [() => tf.stack(holes as never), 'undefined'],
  'addN of a list with holes': [() => tf.addN(holes as never), 'undefined'],
  'sort in no direction': [() => tf.sort(x, -1, { direction: bare as never }), 'ASCENDING'],
  'pad by undefined': [() => tf.pad(x, [undefined, undefined] as never), 'paddings must be 2 pairs'],
  'a fetch of a list that holds itself': [
    () => new tf.compat.v1.Session({ graph: new tf.compat.v1.Graph() }).run(cyclic as never),
    'a structure contains itself',
  ],
  'specialize of a list that holds itself': [
    () =>
      tf
        .function((y: tf.Tensor) => y.add(1))
        .getConcreteFunction(x)
        .specialize(cyclic as never),
    'do not match',
  ],
  'addVariable of no shape': [
    () => new tf.optimizers.SGD().addVariable(null as never),
    'shape must be an array, got null',
  ],
  'applyGradients of gradients alone': [() => sgd().applyGradients([x, x]), 'pairs [gradient, variable]'],
  'applyGradients of nulls': [() => sgd().applyGradients([null]), 'pairs [gradient, variable]'],
  'applyGradients of numbers': [() => sgd().applyGradients([2]), 'got 2 in the list'],
  'applyGradients of a graph': [
    () => inGraph(() => new tf.compat.v1.train.GradientDescentOptimizer(0.1).applyGradients([null] as never)),
    'pairs [gradient, variable]',
  ],
  'resetStates by a number': [() => new tf.layers.LSTM(2).resetStates(1 as never), 'states must be'],
  'resetStates by numbers': [() => new tf.layers.LSTM(2).resetStates([1, 2] as never), 'list of tensors'],
  'resetStates by null': [() => new tf.layers.LSTM(2).resetStates([null] as never), 'list of tensors'],
  'addWeight by a symbol': [
    () => new tf.layers.Dense(2).addWeight({ name: symbol as never }),
    'name must be a string',
  ],
  'Sequential.add of symbols': [() => new tf.Sequential().add([symbol] as never), 'Symbol(s)'],
  'an operation by a symbol': [
    () => new tf.compat.v1.Graph().getOperationByName(symbol as never),
    'name must be a string',
  ],
  'a tensor by a symbol': [() => new tf.compat.v1.Graph().getTensorByName(bare as never), 'name must be'],
  'a feature of no dtype': [() => new tf.data.VarLenFeature([symbol] as never), 'Symbol(s)'],
  'a default that is none': [() => new tf.data.CsvDataset('a', [null] as never), 'the dtype must be one of'],
  'an element of null': [() => tf.data.at({ dataset: null as never, index: 0 }), 'dataset'],
  'save in no folder': [() => tf.data.Dataset.range(2).save(null as never), 'path must be a path'],
  'a matrix of no size': [() => tf.keras.ops.tri(null as never), 'N must be'],
  'a unit matrix of no size': [() => tf.keras.ops.identity(null as never), 'n must be'],
  'no number of numbers': [() => tf.keras.ops.geomspace(1, 2, null as never), 'num must be'],
  'pieces of no number': [() => tf.keras.ops.arraySplit(x, null as never), 'indicesOrSections must be'],
  'pieces without end': [
    () => tf.experimental.numpy.arraySplit(x, Number.POSITIVE_INFINITY),
    'indicesOrSections must be',
  ],
  'places of no size': [() => tf.experimental.numpy.diagIndices(null as never), 'n must be'],
  'places along axes without end': [
    () => tf.experimental.numpy.diagIndices(2, Number.POSITIVE_INFINITY),
    'ndim must be',
  ],
  'pieces by letters': [() => tf.keras.ops.vsplit(x, 'x' as never), 'indicesOrSections must be'],
  'an inverse by a flag': [() => tf.keras.ops.pinv(x, true as never), 'rcond must be a number'],
  'least squares by a bigint': [() => tf.keras.ops.lstsq(x, x, 10n as never), 'rcond must be a number'],
  'a scan over no tensors': [() => tf.keras.ops.scan(() => [0, 0], 0, {}), 'xs has no tensors'],
  'an associative scan over none': [() => tf.keras.ops.associativeScan((a) => a, {}), 'elems has no tensors'],
  'a depthwise convolution by a vector': [
    () => tf.keras.ops.depthwiseConv([1, 2], [-5]),
    'kernel must be [...windows, channels, multiplier]',
  ],
  'a queue of elements of no dtype': [
    () => new tf.queue.PriorityQueue(10, 10n as never, 3 as never),
    'dtypes must be',
  ],
  'a part of a picture': [() => tf.image.decodeAndCropJpeg('x', undefined as never), 'cropWindow must be'],
  'outside of graphs what is no function': [() => tf.initScope(null as never), 'fn must be a function'],
  'a file in no mode': [() => new tf.io.gfile.GFile('x', null as never), 'mode must be'],
  'segments by letters': [() => tf.sparse.segmentSum(x, [0], tf.constant(['a']) as never), 'string'],
  'more bands than memory has': [() => tf.signal.linearToMelWeightMatrix(20, 2 ** 40), 'too many'],
  'save compressed by a bigint': [
    () => tf.data.Dataset.range(2).save(folder, { compression: 1n as never }),
    "'GZIP' or 'ZLIB', got 1",
  ],
};

describe('odd arguments are refused by typed errors', () => {
  test.each(Object.entries(calls))('%s', async (_, [call, message]) => {
    const error = await (async () => call())().then(
      () => undefined,
      (thrown: unknown) => thrown,
    );
    expect(error).toBeInstanceOf(tf.errors.EagreError);
    expect((error as Error).message).toContain(message);
  });
});

describe('odd files are refused by typed errors', () => {
  const broken = join(folder, 'broken');
  const loop = join(folder, 'loop');
  const model = new tf.Sequential([new tf.layers.Dense(1, { inputShape: [2] })]);
  beforeAll(() => {
    mkdirSync(join(folder, 'dir.safetensors'), { recursive: true });
    writeFileSync(broken, Uint8Array.of(1, 2, 3));
    symlinkSync(loop, loop);
  });
  const reads: Readonly<Record<string, readonly [call: () => unknown, error: keyof typeof tf.errors]>> = {
    'a broken .npy': [() => tf.io.readNpyFile(broken), 'DataLossError'],
    'a broken .npz': [() => tf.io.readNpzFile(broken), 'DataLossError'],
    'a broken .safetensors': [() => tf.io.readSafetensorsFile(broken), 'DataLossError'],
    'a broken IDX file': [() => tf.io.readIdxFile(broken), 'DataLossError'],
    'a broken example': [() => tf.io.decodeExample(Uint8Array.of(255, 1)), 'DataLossError'],
    'weights that are a folder': [
      () => model.loadWeights(join(folder, 'dir.safetensors')),
      'FailedPreconditionError',
    ],
    'a folder that is a loop of links': [
      () => tf.keras.utils.imageDatasetFromDirectory(loop),
      'FailedPreconditionError',
    ],
    'checkpoints in a loop of links': [() => tf.train.latestCheckpoint(loop), 'FailedPreconditionError'],
  };
  test.each(Object.entries(reads))('%s', async (_, [call, error]) => {
    await expect((async () => call())()).rejects.toBeInstanceOf(tf.errors[error]);
  });
});
