// The program of damaged-files.deep.test.ts: damages the files of models and uses what is left, in a process that may end.
import { cpSync, readdirSync, readFileSync, rmSync, writeFileSync, writeSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join, relative } from 'node:path';
import { context } from '@eagre/core/internal';
import { BundleReader, BundleWriter, unzip, zipParts } from '@eagre/formats';
import { readTable, writeTable } from '../../../formats/src/tensorflow/table.ts';
import { mutate, randomSource } from '../../../formats/src/testing/mutate.ts';
import { mutateJson, mutateProto, mutateWords } from '../../../formats/src/testing/mutate-structure.ts';
import * as tf from '../../src/index.ts';

type Random = () => number;
const pick = <T>(list: readonly T[], random: Random): T => list[Math.floor(random() * list.length)] as T;
const bytesOf = (text: string): Uint8Array => new TextEncoder().encode(text);

/** Of the processor's time: other programs may run meanwhile. */
const MOST_SECONDS = 4;
const MOST_MEGABYTES = 1000;
const MOST_FINDINGS = 20;

/** What damages the files of a model, and whether all that it changes is below a checksum. */
interface Damage {
  readonly files: readonly string[];
  readonly isSummed?: boolean;
  readonly act: (at: (file: string) => string, file: string, random: Random) => void;
}

const rewritten =
  (change: (bytes: Uint8Array, random: Random) => Uint8Array): Damage['act'] =>
  (at, file, random) =>
    writeFileSync(at(file), change(readFileSync(at(file)), random));
const bytes = (files: readonly string[], isSummed = false): Damage => ({
  files,
  isSummed,
  act: rewritten(mutate),
});
const words = (...files: string[]): Damage => ({ files, act: rewritten(mutateWords) });
const proto = (...files: string[]): Damage => ({ files, act: rewritten(mutateProto) });
const jsonOf = (content: Uint8Array, random: Random): Uint8Array =>
  bytesOf(mutateJson(Buffer.from(content).toString(), random));
const json = (...files: string[]): Damage => ({ files, act: rewritten(jsonOf) });

/** Parts of other files in the place of some of this one. */
const spliced = (...files: string[]): Damage => ({
  files,
  act: (at, file, random) => {
    const other = readFileSync(at(pick(files, random)));
    const own = readFileSync(at(file));
    const [cut, from] = [Math.floor(random() * own.length), Math.floor(random() * other.length)];
    const length = Math.floor(random() * 200);
    const rest = random() < 0.5 ? own.subarray(cut + length) : own.subarray(cut);
    writeFileSync(at(file), Buffer.concat([own.subarray(0, cut), other.subarray(from, from + length), rest]));
  },
});

/** An archive whose checksums are right, and whose members are not. */
const members: Damage = {
  files: ['model.keras'],
  act: rewritten((archive, random) => {
    const files = unzip(archive).map(({ name, bytes: content }) => [name, content] as [string, Uint8Array]);
    const chosen = pick(files, random);
    const change = Math.floor(random() * 12);
    if (change === 0) files.splice(files.indexOf(chosen), 1);
    else if (change === 1) files.push(chosen);
    else if (change === 2)
      chosen[0] = pick(
        ['../x', '/x', 'assets/', 'assets/x', '', 'CONFIG.JSON', ...files.map(([name]) => name)],
        random,
      );
    else if (change === 3) chosen[1] = pick(files, random)[1];
    else if (change < 8) {
      const config = files.find(([name]) => name === 'config.json') as [string, Uint8Array];
      config[1] = jsonOf(config[1], random);
    } else if (chosen[0].endsWith('.h5')) chosen[1] = mutateWords(chosen[1], random);
    else chosen[1] = mutate(chosen[1], random);
    return Uint8Array.from(Buffer.concat([...zipParts(files)]));
  }),
};

const INDEX = 'variables/variables.index';
const DATA = 'variables/variables.data-00000-of-00001';
/** An index of variables whose checksums are right. */
const indexEntries: Damage = {
  files: [INDEX],
  act: rewritten((table, random) => {
    const entries = [...readTable(table)].map(([key, value]) => [key, value] as [Uint8Array, Uint8Array]);
    const chosen = pick(entries, random);
    const change = Math.floor(random() * 5);
    if (change === 0) entries.splice(entries.indexOf(chosen), 1);
    else if (change === 1)
      chosen[0] = random() < 0.5 ? bytesOf(`${chosen[0]}x`) : Buffer.concat([chosen[0], bytesOf('/x')]);
    else if (change === 2) chosen[1] = pick(entries, random)[1];
    else chosen[1] = mutateProto(chosen[1], random);
    const sorted = entries.sort(([a], [b]) => Buffer.compare(a, b));
    return writeTable(
      sorted.filter(([key], i) => i === 0 || Buffer.compare(key, sorted[i - 1]?.[0] as Uint8Array) !== 0),
    );
  }),
};
/** Values of variables, and the objects that have them, that are not those which the graph tells of. */
const variables: Damage = {
  files: [INDEX],
  act: (at, file, random) => {
    const prefix = at(file).replace(/\.index$/, '');
    const reader = BundleReader.openSync(prefix);
    const values = [...reader.entries()].map(([key, { dtype, shape }]) => ({
      key,
      dtype,
      shape,
      data: dtype === 'string' ? (reader.read(key).data as Uint8Array[]) : reader.readBytes(key),
    }));
    const chosen = pick(values, random);
    const graph = values.find(({ key }) => key === '_CHECKPOINTABLE_OBJECT_GRAPH');
    if (graph !== undefined && random() < 0.6)
      graph.data = [mutateProto((graph.data as Uint8Array[])[0] as Uint8Array, random)];
    else if (random() < 0.3) chosen.key += 'x';
    else if (random() < 0.5) chosen.shape = [...chosen.shape, 1];
    else if (chosen.data instanceof Uint8Array && chosen.data.length > 8)
      Object.assign(chosen, { dtype: 'uint8', shape: [chosen.data.length] });
    else chosen.shape = [1, ...chosen.shape];
    rmSync(at(DATA));
    const writer = new BundleWriter(prefix);
    for (const { key, dtype, shape, data } of values) writer.add(key, dtype, shape, data);
    writer.finish();
  },
};

/** The header of safetensors, with its length as it is. */
const header: Damage = {
  files: ['a/model-00001-of-00002.safetensors', 'a/model-00002-of-00002.safetensors'],
  act: rewritten((file, random) => {
    const length = Number(new DataView(file.buffer, file.byteOffset).getBigUint64(0, true));
    const text = jsonOf(file.subarray(8, 8 + length), random);
    const size = new Uint8Array(8);
    new DataView(size.buffer).setBigUint64(0, BigInt(text.length), true);
    return Buffer.concat([size, text, file.subarray(8 + length)]);
  }),
};

const numbersOf = (value: unknown): unknown => {
  if (value instanceof tf.Tensor)
    return value.dtype === 'string' ? value.strings() : [...(value.data() as Float32Array)].map(String);
  if (Array.isArray(value)) return value.map(numbersOf);
  if (typeof value === 'object' && value !== null)
    return Object.entries(value).map(([key, part]) => [key, numbersOf(part)]);
  return String(value);
};
/** Ones of the shapes and dtypes that a model asks for, if that is not much. */
const sample = (
  shape: readonly (number | null)[] | null | undefined,
  dtype: tf.DType | null = null,
): tf.Tensor => {
  const sizes = (shape ?? []).map((d) => d ?? 1);
  if (sizes.reduce((n, d) => n * d, 1) > 1e5)
    throw new tf.errors.InvalidArgumentError('too large for a sample');
  return tf.zeros(sizes, { dtype: dtype ?? 'float32' });
};

async function useSavedModel(path: string, run: number): Promise<unknown> {
  const model = await tf.savedModel.load(path, { lazy: run % 2 === 1 });
  return Object.entries(model.signatures).map(([name, call]) => {
    const specs = Object.entries(call.structuredInputSignature[1] as Record<string, tf.TensorSpec>);
    const inputs = specs.map(([key, { shape, dtype }]) => [key, sample(shape, dtype)]);
    return [name, numbersOf(call(Object.fromEntries(inputs)))];
  });
}
async function useModel(path: string): Promise<unknown> {
  const model = (await tf.keras.models.loadModel(path)) as tf.Model;
  const inputs = model.inputs.map(({ shape, dtype }) => sample(shape, dtype));
  return numbersOf(model(inputs.length === 1 ? (inputs[0] as tf.Tensor) : inputs));
}
/** Reads weights into one model again and again, which keeps them whole. */
function weightsInto(
  path: string,
  load: (model: tf.Model, file: string) => Promise<unknown>,
): (file: string) => Promise<unknown> {
  let model: tf.Model | undefined;
  const values = (): string =>
    JSON.stringify(
      [...(model as tf.Model).weights, ...((model as tf.Model).optimizer?.variables ?? [])].map(
        numbersOfVariable,
      ),
    );
  return async (file) => {
    model ??= (await tf.keras.models.loadModel(path)) as tf.Model;
    const before = values();
    try {
      await load(model, file);
    } catch (error) {
      if (values() !== before) throw new Error(`half of the values were read: ${error}`, { cause: error });
      throw error;
    }
    return values();
  };
}
const numbersOfVariable = (variable: tf.Variable): unknown => numbersOf(variable.value());
async function useOnnx(path: string): Promise<unknown> {
  const model = await tf.onnx.load(path);
  const inputs = model.inputs.map(({ shape, dtype }) =>
    sample(
      shape?.map((d) => (typeof d === 'number' ? d : 1)),
      dtype,
    ),
  );
  return numbersOf(model(...inputs));
}
async function useGraphDef(path: string): Promise<unknown> {
  const graph = await tf.savedModel.loadGraphDef(path);
  return numbersOf(graph.prune('x:0', `${graph.nodeNames.at(-1)}:0`)(tf.ones([1, 6, 2])));
}

/** What damages a kind of models, and what reads and calls those that lie where `at` says. */
interface Kind {
  readonly damage: readonly Damage[];
  readonly use: (at: (file: string) => string) => (run: number) => Promise<unknown>;
}
const kinds: Readonly<Record<string, Kind>> = (() => {
  const reading =
    (file: string, load: (model: tf.Model, file: string) => Promise<unknown>): Kind['use'] =>
    (at) => {
      const read = weightsInto(at('model.keras'), load);
      return () => read(at(file));
    };
  const unpacked = ['folder/config.json', 'folder/metadata.json', 'folder/model.weights.h5'];
  const shards = [...header.files];
  return {
    'saved-model': {
      damage: [
        proto('saved_model.pb'),
        bytes(['saved_model.pb']),
        proto('saved_model.pb'),
        bytes([INDEX, DATA], true),
        indexEntries,
        variables,
        proto('saved_model.pb'),
        spliced('saved_model.pb', INDEX, DATA),
      ],
      use: (at) => (run) => useSavedModel(at('.'), run),
    },
    keras: {
      damage: [members, bytes(['model.keras'], true), members, spliced('model.keras'), members],
      use: (at) => () => useModel(at('model.keras')),
    },
    'keras-folder': {
      damage: [
        json('folder/config.json'),
        words('folder/model.weights.h5'),
        bytes(unpacked),
        spliced(...unpacked),
      ],
      use: (at) => () => useModel(at('folder')),
    },
    h5: {
      damage: [words('model.h5'), bytes(['model.h5']), spliced('model.h5')],
      use: (at) => () => useModel(at('model.h5')),
    },
    'weights-h5': {
      damage: [words('x.weights.h5'), bytes(['x.weights.h5']), spliced('x.weights.h5')],
      use: reading('x.weights.h5', (model, file) => model.loadWeights(file)),
    },
    npz: {
      damage: [bytes(['x.npz']), words('x.npz')],
      use: reading('x.npz', (model, file) => model.loadWeights(file)),
    },
    safetensors: {
      damage: [
        json('a/model.safetensors.index.json'),
        header,
        bytes(['a/model.safetensors.index.json', ...shards]),
        spliced(...shards),
        words(...shards),
      ],
      use: reading('a', (model, file) => tf.keras.saving.loadSafetensors(model, file)),
    },
    onnx: {
      damage: [proto('model.onnx'), bytes(['model.onnx']), proto('model.onnx'), spliced('model.onnx')],
      use: (at) => () => useOnnx(at('model.onnx')),
    },
    'onnx-nodes': {
      damage: [proto('model.onnx'), proto('model.onnx'), bytes(['model.onnx'])],
      use: (at) => () => useOnnx(at('model.onnx')),
    },
    'onnx-external': {
      damage: [proto('external.onnx'), bytes(['external.onnx'])],
      use: (at) => () => useOnnx(at('external.onnx')),
    },
    'graph-def': {
      damage: [proto('graph.pb'), bytes(['graph.pb']), spliced('graph.pb')],
      use: (at) => () => useGraphDef(at('graph.pb')),
    },
  };
})();

const tell = (text: string): void => void writeSync(1, `${text}\n`);

/** All that a call may leave behind in the process. */
const state = (): string =>
  JSON.stringify([
    context.tracer === undefined,
    context.tapes.length,
    context.tracker === undefined,
    context.nameScope,
    readdirSync(tmpdir()),
  ]);

/** The files below a folder, by their names. */
const filesIn = (folder: string): Map<string, Uint8Array> =>
  new Map(
    readdirSync(folder, { recursive: true, withFileTypes: true })
      .filter((entry) => entry.isFile())
      .map((entry) => join(entry.parentPath, entry.name))
      .map((path) => [relative(folder, path), readFileSync(path)]),
  );

/** A model whose files are damaged in turn. */
interface Subject {
  readonly folder: string;
  readonly files: ReadonlyMap<string, Uint8Array>;
  readonly use: (run: number) => Promise<unknown>;
  /** What it gives when nothing is damaged; undefined where it refuses what it is called with here. */
  readonly right: string | undefined;
}

async function subjectIn(folder: string, use: Kind['use']): Promise<Subject> {
  const own = use((file) => join(folder, file));
  const files = filesIn(folder);
  try {
    return { folder, files, use: own, right: JSON.stringify(await own(0)) };
  } catch (error) {
    if (error instanceof tf.errors.EagreError) return { folder, files, use: own, right: undefined };
    throw error;
  }
}

async function main([kind, work, seed, from, to]: readonly string[]): Promise<void> {
  const { damage, use } = kinds[kind as string] as Kind;
  console.warn = () => undefined;
  const subjects: Subject[] = [];
  for (const name of readdirSync(work as string))
    subjects.push(await subjectIn(join(work as string, name), use));
  const before = state();
  let [refused, used, findings, slowest] = [0, 0, 0, 0];
  for (let run = Number(from); run < Number(to) && findings < MOST_FINDINGS; run++) {
    tell(`run ${run}`);
    const random = randomSource(Number(seed) * 1_000_003 + run);
    const subject = pick(subjects, random);
    const { files, act, isSummed } = damage[run % damage.length] as Damage;
    const file = pick(files, random);
    act((name) => join(subject.folder, name), file, random);
    // What ended the process, or never ended.
    const kept = process.env['EAGRE_FUZZ_KEEP'];
    if (kept !== undefined) cpSync(subject.folder, kept, { recursive: true });
    const problem = (what: string, error?: unknown): void => {
      findings++;
      const cause = error === undefined ? '' : ` ${(error as Error)?.stack ?? error}`;
      tell(`problem ${JSON.stringify(`run ${run}, ${subject.folder}/${file}: ${what}${cause}`)}`);
    };
    const start = process.cpuUsage();
    try {
      const result = JSON.stringify(await subject.use(run));
      if (isSummed && subject.right !== undefined && result !== subject.right)
        problem('other values below a checksum');
      used++;
    } catch (error) {
      if (!(error instanceof tf.errors.EagreError) || error.code === 'INTERNAL')
        problem('no typed error:', error);
      refused++;
    }
    const { user, system } = process.cpuUsage(start);
    const seconds = (user + system) / 1e6;
    slowest = Math.max(slowest, seconds);
    if (seconds > MOST_SECONDS) problem(`took ${seconds} s`);
    if (state() !== before) problem(`left something behind: ${state()}, before ${before}`);
    for (const [name, content] of subject.files) writeFileSync(join(subject.folder, name), content);
    const peak = process.resourceUsage().maxRSS / 2 ** 10;
    // What was the most remains the most: another process goes on.
    if (peak > MOST_MEGABYTES) {
      problem(`took ${peak} MB`);
      break;
    }
  }
  tell(`done ${refused} ${used} ${slowest}`);
}

await main(process.argv.slice(2));
