// Damaged and hostile files: a typed error, soon, and the model stays as it was.
import '@eagre/backend-js';
import '@eagre/backend-native';
import { mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  DataLossError,
  InvalidArgumentError,
  NotFoundError,
  type Tensor,
  UnimplementedError,
} from '@eagre/core';
import { registerKerasSerializable } from '@eagre/core/internal';
import { unzip, zipParts } from '@eagre/formats';
import { afterAll, describe, expect, test, vi } from 'vitest';
import { zip } from '../../../formats/src/archives/zip-writer.ts';
import { mutate, randomSource } from '../../../formats/src/testing/mutate.ts';
import { Input, layers, loadModel, Model, Sequential } from '../index.ts';
import { folder } from '../testing/keras-files.ts';

const own = mkdtempSync(join(tmpdir(), 'eagre-bad-'));
afterAll(() => rmSync(own, { recursive: true }));
const file = (name: string): string => join(own, name);
const SEED = Number(process.env['EAGRE_FUZZ_SEED'] ?? 1);

const small = (units = 2): Sequential => {
  const model = new Sequential([
    new layers.Dense(units, { inputShape: [3], name: 'first' }),
    new layers.Dense(1),
  ]);
  model.compile({ optimizer: 'sgd', loss: 'mse' });
  return model;
};
const values = (model: Model): unknown => model.getWeights().map((w) => w.array());

/** The files of an archive, some of them changed. */
function archive(of: string, change: (files: Map<string, Uint8Array>) => void): Uint8Array {
  const files = new Map(unzip(readFileSync(`${folder}${of}.keras`)).map(({ name, bytes }) => [name, bytes]));
  change(files);
  return Uint8Array.from(Buffer.concat([...zipParts([...files])]));
}
const text = (value: unknown): Uint8Array =>
  new TextEncoder().encode(typeof value === 'string' ? value : JSON.stringify(value));
const configOf = (name: string): Record<string, never> =>
  JSON.parse(
    new TextDecoder().decode(
      unzip(readFileSync(`${folder}${name}.keras`)).find((one) => one.name === 'config.json')?.bytes,
    ),
  );

const TYPED =
  /^(DataLoss|InvalidArgument|Unimplemented|NotFound|FailedPrecondition|ResourceExhausted|OutOfRange)Error$/;
/** The outcome: the kind of the error, or `read`. @throws what is no error of Eagre */
async function outcome(run: () => Promise<unknown>): Promise<string> {
  try {
    await run();
    return 'read';
  } catch (error) {
    if (!TYPED.test((error as Error).constructor.name)) throw error;
    return (error as Error).constructor.name;
  }
}

describe('mutated files', () => {
  test.each([
    ['dense.weights.h5', 600],
    ['dense.h5', 120],
    ['dense.keras', 120],
    ['lookup.keras', 80],
  ])('%s', async (name, runs) => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const random = randomSource(SEED);
    const bytes = readFileSync(`${folder}${name}`);
    const model = await loadModel(`${folder}dense.keras`);
    const found: Record<string, number> = {};
    for (let run = 0; run < runs; run++) {
      const path = file(`mutated-${name}`);
      writeFileSync(path, mutate(bytes, random));
      const before = values(model);
      const isWeights = name.endsWith('.weights.h5');
      const what = await outcome(() => (isWeights ? model.loadWeights(path) : loadModel(path)));
      found[what] = (found[what] ?? 0) + 1;
      if (what !== 'read') expect(values(model)).toEqual(before);
    }
    expect(found['DataLossError']).toBeGreaterThan(runs / 10);
    warn.mockRestore();
  });

  test('configurations', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const random = randomSource(SEED);
    for (const name of ['shared', 'recurrent', 'penalties', 'custom']) {
      const config = text(configOf(name));
      for (let run = 0; run < 25; run++) {
        const changed = archive(name, (files) => files.set('config.json', mutate(config, random)));
        await outcome(() => loadModel(changed));
      }
    }
    warn.mockRestore();
  });

  test('values of all kinds in the places of others', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const odd = [null, -1, 1e300, 'x', [], {}, [null], { class_name: 'Dense', config: {} }, true, 'Infinity'];
    const random = randomSource(SEED);
    for (const name of ['shared', 'penalties', 'attention']) {
      const places: [object, string][] = [];
      const config = configOf(name);
      const visit = (at: object): void => {
        for (const [key, value] of Object.entries(at)) {
          places.push([at, key]);
          if (typeof value === 'object' && value !== null) visit(value);
        }
      };
      visit(config);
      for (let run = 0; run < 50; run++) {
        const [at, key] = places[Math.floor(random() * places.length)] as [Record<string, unknown>, string];
        const before = at[key];
        at[key] = odd[Math.floor(random() * odd.length)];
        const changed = archive(name, (files) => files.set('config.json', text(config)));
        at[key] = before;
        await outcome(() => loadModel(changed));
      }
    }
    warn.mockRestore();
  });
});

describe('archives', () => {
  const load = (of: string, change: (files: Map<string, Uint8Array>) => void): Promise<Model> =>
    loadModel(archive(of, change));

  test('parts that are missing, or are none', async () => {
    await expect(load('dense', (f) => f.delete('config.json'))).rejects.toThrow(/no config.json/);
    await expect(load('dense', (f) => f.delete('model.weights.h5'))).rejects.toThrow(/no model.weights.h5/);
    await expect(load('dense', (f) => f.set('config.json', text('[')))).rejects.toThrow(DataLossError);
    await expect(load('dense', (f) => f.set('config.json', text('[]')))).rejects.toThrow(
      InvalidArgumentError,
    );
    await expect(load('dense', (f) => f.set('model.weights.h5', text('no HDF5')))).rejects.toThrow(
      DataLossError,
    );
    await expect(
      load('lookup', (f) => f.delete('assets/layers/string_lookup/vocabulary.txt')),
    ).rejects.toThrow(/no vocabulary.txt/);
    await expect(loadModel(text('PK'))).rejects.toThrow(DataLossError);
    await expect(loadModel(file('none.keras'))).rejects.toThrow(NotFoundError);
    await expect(loadModel(own)).rejects.toThrow(/no config.json/);
    writeFileSync(file('model.txt'), '');
    await expect(loadModel(file('model.txt'))).rejects.toThrow(/ends in .keras/);
  });

  test.each(['../x', '/etc/x', 'assets/../../x', 'a\\..\\x', 'C:x', `${'a/'.repeat(80)}x`])(
    'a name that leads out: %s',
    async (name) => {
      await expect(load('dense', (f) => f.set(name, text('x')))).rejects.toThrow(/leads out of the archive/);
    },
  );

  test('bombs', async () => {
    // A member that says that it unpacks to a gigabyte.
    const bytes = new Uint8Array(readFileSync(`${folder}conv1d.keras`));
    const view = new DataView(bytes.buffer);
    for (let at = 0; at + 46 < bytes.length; at++)
      if (view.getUint32(at, true) === 0x02014b50) view.setUint32(at + 24, 2 ** 30, true);
    await expect(loadModel(bytes)).rejects.toThrow(DataLossError);
  });

  test('classes that nobody knows, and what is no model', async () => {
    const config = configOf('dense') as Record<string, unknown>;
    const unknown = { ...config, class_name: 'Nothing', registered_name: 'evil>Nothing' };
    await expect(load('dense', (f) => f.set('config.json', text(unknown)))).rejects.toThrow(
      /unknown layer 'Nothing'/,
    );
    const dense = { module: 'keras.layers', class_name: 'Dense', config: { units: 2 } };
    await expect(load('dense', (f) => f.set('config.json', text(dense)))).rejects.toThrow(/of no model/);
    const deep = '{"class_name":"Sequential","config":{"layers":['.repeat(5000);
    await expect(load('dense', (f) => f.set('config.json', text(deep)))).rejects.toThrow(DataLossError);
    const nested = `${deep}${']}}'.repeat(5000)}`;
    expect(await outcome(() => load('dense', (f) => f.set('config.json', text(nested))))).not.toBe('read');
  });

  test('weights that would take all memory', async () => {
    const config = JSON.stringify(configOf('dense')).replaceAll('"units": 4', '"units":4');
    const huge = config.replaceAll('"units":4', '"units":1e15');
    expect(huge).not.toBe(config);
    expect(await outcome(() => load('dense', (f) => f.set('config.json', text(huge))))).not.toBe('read');
  });
});

describe('functions of Python', () => {
  const lambda = {
    class_name: '__lambda__',
    config: { code: '4wEAAAAAAAAA', defaults: null, closure: null },
  };
  const withLambda = (fn: unknown): Uint8Array =>
    archive('dense', (files) => {
      const layer = {
        module: 'keras.layers',
        class_name: 'Lambda',
        config: { name: 'twice', function: fn },
        registered_name: null,
      };
      const input = {
        module: 'keras.layers',
        class_name: 'InputLayer',
        config: { batch_shape: [null, 2], name: 'x' },
      };
      const config = {
        module: 'keras',
        class_name: 'Sequential',
        config: { name: 's', layers: [input, layer] },
      };
      files.set('config.json', text(config));
    });

  test('are never run', async () => {
    await expect(loadModel(withLambda(lambda))).rejects.toThrow(
      /is a lambda of Python, whose code is not run here/,
    );
    await expect(loadModel(withLambda(lambda), { safeMode: false })).rejects.toThrow(/register it/);
    const twice = (x: Tensor): Tensor => x.mul(2);
    await expect(loadModel(withLambda(lambda), { customObjects: { twice } })).rejects.toThrow(
      /safeMode: false/,
    );
    const model = await loadModel(withLambda(lambda), { safeMode: false, customObjects: { twice } });
    expect((model([[1, 2]]) as Tensor).array()).toEqual([[2, 4]]);
    // The mode holds for that file only.
    await expect(loadModel(withLambda(lambda), { customObjects: { twice } })).rejects.toThrow(
      /safeMode: false/,
    );
  });

  test('by name, as Keras writes those with names', async () => {
    const thrice = (x: Tensor): Tensor => x.mul(3);
    const named = {
      module: 'builtins',
      class_name: 'function',
      config: 'thrice',
      registered_name: 'function',
    };
    await expect(loadModel(withLambda(named))).rejects.toThrow(/thrice/);
    const model = await loadModel(withLambda(named), { customObjects: { thrice } });
    expect((model([[1, 2]]) as Tensor).array()).toEqual([[3, 6]]);
    registerKerasSerializable(thrice, { name: 'thrice' });
    const path = file('lambda.keras');
    await model.save(path);
    expect(((await loadModel(path))([[1, 2]]) as Tensor).array()).toEqual([[3, 6]]);
  });

  test('of our own, without a name: by the name of the layer', async () => {
    const lambda = new layers.Lambda((x: Tensor): Tensor => x.mul(3), { name: 'triple' });
    const path = file('anonymous.keras');
    await new Sequential([Input({ shape: [2] }), lambda]).save(path);
    await expect(loadModel(path)).rejects.toThrow(/the function "triple" .* customObjects/);
    const model = await loadModel(path, { customObjects: { triple: (x: Tensor) => x.mul(3) } });
    expect((model([[1, 2]]) as Tensor).array()).toEqual([[3, 6]]);
  });
});

describe('weights that do not fit', () => {
  test('say the layer, what was expected and what there was', async () => {
    await small().saveWeights(file('two.weights.h5'));
    const model = small(4);
    const before = values(model);
    await expect(model.loadWeights(file('two.weights.h5'))).rejects.toThrow(
      /two\.weights\.h5 does not match the model: 'first' \(layers\/dense\): layers\/dense\/vars\/0: expected float32 \[3, 4\] for sequential_\d+\/first\/kernel, got float32 \[3, 2\]; 'dense/,
    );
    const more = new Sequential([
      new layers.Dense(2, { inputShape: [3] }),
      new layers.Dense(1),
      new layers.Dense(1),
    ]);
    await expect(more.loadWeights(file('two.weights.h5'))).rejects.toThrow(
      /expected 2 arrays \(sequential_\d+\/dense_\d+\/kernel \[1, 1\], sequential_\d+\/dense_\d+\/bias \[1\]\), got 0/,
    );
    expect(values(model)).toEqual(before);
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    await more.loadWeights(file('two.weights.h5'), { skipMismatch: true });
    expect(warn.mock.calls[0]?.[0]).toMatch(/These keep their values/);
    warn.mockRestore();
    expect(more.getWeights()[0]?.array()).toEqual((await loaded('two.weights.h5')).getWeights()[0]?.array());
  });
  async function loaded(name: string): Promise<Model> {
    const model = small();
    await model.loadWeights(file(name));
    return model;
  }

  test('older files: another number of layers, other shapes, names', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    await small().save(file('two.h5'));
    const one = new Sequential([new layers.Dense(2, { inputShape: [3] })]);
    await expect(one.loadWeights(file('two.h5'))).rejects.toThrow(
      /it has 2 layers with weights \(first, dense/,
    );
    const other = new Sequential([
      new layers.Dense(2, { inputShape: [3], name: 'first' }),
      new layers.Dense(7),
    ]);
    await expect(other.loadWeights(file('two.h5'))).rejects.toThrow(/expected float32 \[2, 7\]/);
    const before = other.getWeights()[2]?.array();
    await other.loadWeights(file('two.h5'), { byName: true, skipMismatch: true });
    expect(other.getWeights()[2]?.array()).toEqual(before);
    await expect(small().loadWeights(file('two.weights.h5'), { byName: true })).rejects.toThrow(
      /byName works for/,
    );
    writeFileSync(file('weights.h5'), readFileSync(file('two.weights.h5')));
    await expect(small().loadWeights(file('weights.h5'))).rejects.toThrow(
      /need a name that ends in .weights.h5/,
    );
    await expect(loadModel(file('weights.h5'))).rejects.toThrow(/no configuration of a model/);
    warn.mockRestore();
  });

  test('a loadOwnVariables that fails undoes what it did', async () => {
    class Failing extends layers.Dense {
      override loadOwnVariables(store: never): void {
        super.loadOwnVariables(store);
        throw new InvalidArgumentError('not today');
      }
    }
    await small().saveWeights(file('own.weights.h5'));
    const x = Input([3]);
    const model = new Model(x, new layers.Dense(1)(new Failing(2, { name: 'failing' })(x)));
    const before = values(model);
    await expect(model.loadWeights(file('own.weights.h5'))).rejects.toThrow();
    expect(values(model)).toEqual(before);
  });

  test('an optimizer of another kind keeps its state', async () => {
    const warn = vi.spyOn(console, 'warn').mockReturnValue();
    const model = small();
    model.compile({ optimizer: 'adam', loss: 'mse' });
    model.trainOnBatch([[1, 2, 3]], [[1]]);
    await model.saveWeights(file('adam.weights.h5'));
    await small().loadWeights(file('adam.weights.h5'));
    expect(warn.mock.calls[0]?.[0]).toMatch(/has 2 variables and the file 10/);
    warn.mockRestore();
  });
});

test('attributes in camelCase find those of Python in snake_case', async () => {
  class Python extends Model {
    dense_one = new layers.Dense(2);
    _hidden_ones = [new layers.Dense(2)];
    override call(x: Tensor): Tensor {
      return (this._hidden_ones[0] as layers.Dense)(this.dense_one(x));
    }
  }
  class Here extends Model {
    denseOne = new layers.Dense(2);
    _hiddenOnes = [new layers.Dense(2)];
    override call(x: Tensor): Tensor {
      return (this._hiddenOnes[0] as layers.Dense)(this.denseOne(x));
    }
  }
  const [python, here] = [new Python(), new Here()];
  for (const model of [python, here]) model.build([null, 3]);
  await python.saveWeights(file('python.weights.h5'));
  await here.loadWeights(file('python.weights.h5'));
  expect(values(here)).toEqual(values(python));
  await here.saveWeights(file('here.weights.h5'));
  const again = new Here();
  again.build([null, 3]);
  await again.loadWeights(file('here.weights.h5'));
  expect(values(again)).toEqual(values(python));
});

describe('lists of files', () => {
  const write = (list: unknown): string => {
    const path = file('list.weights.json');
    writeFileSync(path, typeof list === 'string' ? list : JSON.stringify(list));
    return path;
  };
  test('names that lead elsewhere, files that are missing or of another time', async () => {
    for (const list of ['{', '[]', {}, { weight_map: [] }, { weight_map: { '/vars': 3 } }])
      await expect(small().loadWeights(write(list))).rejects.toThrow(DataLossError);
    for (const name of ['../x.h5', '/etc/x.h5', 'a/b.h5', '.hidden.h5', 'x.txt'])
      await expect(small().loadWeights(write({ weight_map: { '/vars': name } }))).rejects.toThrow(
        /names of files beside it/,
      );
    await expect(small().loadWeights(write({ weight_map: { '/vars': 'gone.h5' } }))).rejects.toThrow(
      NotFoundError,
    );
    const shards = { maxShardSize: 30 / 2 ** 30 };
    await small().saveWeights(file('s.weights.json'), shards);
    const first = readFileSync(file('s_00000.weights.h5'));
    await small().saveWeights(file('s.weights.json'), shards);
    writeFileSync(file('s_00000.weights.h5'), first);
    await expect(small().loadWeights(file('s.weights.json'))).rejects.toThrow(/saved at another time/);
    await expect(small().saveWeights(file('s.weights.json'), { maxShardSize: 1 / 2 ** 30 })).rejects.toThrow(
      /more than maxShardSize/,
    );
  });
});

describe('files that would unpack to more than any memory', () => {
  test('archives', async () => {
    // A member of random bytes that says that it unpacks to some more than is permitted.
    const random = randomSource(SEED);
    const content = Uint8Array.from({ length: 2 ** 19 }, () => random() * 256);
    const bomb = (name: string): Uint8Array => {
      const bytes = zip([[name, content]], true);
      const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
      for (let at = 0; at + 46 < bytes.length; at++)
        if (view.getUint32(at, true) === 0x02014b50) view.setUint32(at + 24, 2 ** 28 + 1, true);
      return bytes;
    };
    const refused = /members too large: expected at most 268435456 bytes unpacked, got 268435457/;
    await expect(loadModel(bomb('config.json'))).rejects.toThrow(refused);
    const path = file('bomb.npz');
    writeFileSync(path, bomb('dense/kernel.npy'));
    await expect(small().loadWeights(path)).rejects.toThrow(refused);
  });

  test('arrays of HDF5 without elements, in the files of a list', async () => {
    const list = file('huge.weights.json');
    const model = small();
    await model.saveWeights(list, { maxShardSize: 1 });
    const before = values(model);
    const shard = file('huge_00000.weights.h5');
    const bytes = readFileSync(shard);
    const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
    const rows = 2 ** 27;
    // Of the kernel [3, 2]: its shape, and where its 24 bytes are, which is nowhere then.
    for (let at = 0; at + 18 <= bytes.length; at++) {
      if (view.getBigUint64(at, true) === 3n && view.getBigUint64(at + 8, true) === 2n)
        view.setBigUint64(at, BigInt(rows), true);
      if (view.getUint16(at, true) === 0x0103 && view.getBigUint64(at + 10, true) === 24n) {
        view.setBigUint64(at + 2, 2n ** 64n - 1n, true);
        view.setBigUint64(at + 10, BigInt(rows * 8), true);
      }
    }
    writeFileSync(shard, bytes);
    await expect(model.loadWeights(list)).rejects.toThrow(DataLossError);
    await expect(model.loadWeights(list)).rejects.toThrow(
      /huge_00000\.weights\.h5: the arrays would take more than 268435456 bytes/,
    );
    expect(values(model)).toEqual(before);
  });
});

describe('what is written', () => {
  test('paths and options that do not go together', async () => {
    const model = small();
    await expect(model.save(file('x.txt'))).rejects.toThrow(/must end in .keras/);
    await expect(model.save(file('x.weights.h5'))).rejects.toThrow(/saveWeights/);
    await expect(model.save(file('x.keras'), { zipped: false })).rejects.toThrow(/a folder's/);
    await expect(model.saveWeights(file('x.weights.json'))).rejects.toThrow(/with maxShardSize/);
    await expect(model.saveWeights(file('x.safetensors'), { maxShardSize: 1 })).rejects.toThrow(
      InvalidArgumentError,
    );
    await expect(model.loadWeights(file('x.safetensors'), { byName: true })).rejects.toThrow(
      /Keras's files only/,
    );
    writeFileSync(file('there.keras'), 'old');
    await expect(model.save(file('there.keras'), { overwrite: false })).rejects.toThrow(/overwrite is false/);
    expect(readFileSync(file('there.keras'), 'utf8')).toBe('old');
    // A folder of somebody else.
    await expect(model.save(own, { zipped: false })).rejects.toThrow(/is not replaced/);
  });

  test('a failure leaves the old file, and nothing else', async () => {
    class Broken extends layers.Dense {
      override saveOwnVariables(): void {
        throw new UnimplementedError('not this one');
      }
    }
    const path = file('whole.keras');
    await small().save(path);
    const before = readFileSync(path);
    const broken = new Sequential([new Broken(2, { inputShape: [3] })]);
    await expect(broken.save(path)).rejects.toThrow(/not this one/);
    expect(readFileSync(path)).toEqual(before);
    expect(readdirSync(own).filter((name) => name.startsWith('.'))).toEqual([]);
  });

  test('training that goes on leaves the file with the values of one moment', async () => {
    const model = small();
    const moments = [values(model)];
    let done = false;
    const saving = model.saveWeights(file('moment.weights.h5')).finally(() => {
      done = true;
    });
    while (!done) {
      model.trainOnBatch([[1, 2, 3]], [[1]]);
      moments.push(values(model));
      await new Promise((resolve) => setImmediate(resolve));
    }
    await saving;
    expect(moments.length).toBeGreaterThan(2);
    await model.loadWeights(file('moment.weights.h5'));
    expect(moments).toContainEqual(values(model));
  });
});
