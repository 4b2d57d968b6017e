// Files, folders, and the messages of examples.
import '@eagre/backend-js';
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import {
  constant,
  EagreError,
  NotFoundError,
  type RaggedTensor,
  type SparseTensor,
  Tensor,
} from '@eagre/core';
import { bytesOf, byteTensor } from '@eagre/core/internal';
import { encodeExample } from '@eagre/formats';
import { tfFunction } from '@eagre/graph';
import { afterEach, beforeEach, describe, expect, test } from 'vitest';
import { decodePng, encodePng } from '../images/decode-image.ts';
import { Dataset } from '../pipeline/dataset.ts';
import { FixedLenFeature, FixedLenSequenceFeature, VarLenFeature } from '../readers/features.ts';
import { TFRecordDataset } from '../readers/file-datasets.ts';
import { parseExample, parseSingleExample } from '../readers/parse-example.ts';
import { parseSequenceExample, parseSingleSequenceExample } from '../readers/parse-sequence-example.ts';
import { type FeaturePartition, RaggedFeature } from '../readers/ragged-feature.ts';
import { TFRecordOptions, TFRecordWriter } from '../readers/record-writer.ts';
import { decodeJsonExample } from './decode-json-example.ts';
import * as train from './example-messages.ts';
import { matchingFiles, readFile, writeFile } from './files.ts';
import * as gfile from './gfile.ts';
import { decodeCompressed } from './raw.ts';
import { parseTensor, serializeTensor } from './tensors.ts';

let folder: string;
const at = (...names: string[]): string => join(folder, ...names);
beforeEach(() => {
  folder = mkdtempSync(join(tmpdir(), 'eagre-io-'));
});
afterEach(() => rmSync(folder, { recursive: true, force: true }));

describe('whole files', () => {
  test('keep any bytes', () => {
    writeFile(at('new', 'f.bin'), Uint8Array.of(0xff, 0, 0x61));
    expect(gfile.isdir(at('new', 'f.bin', 'x'))).toBe(false);
    const contents = readFile(at('new', 'f.bin'));
    expect(contents.strings()).toEqual(['\udcff\0a']);
    writeFile(constant(at('new', 'g.bin')), contents);
    expect([...readFileSync(at('new', 'g.bin'))]).toEqual([0xff, 0, 0x61]);
    expect(() => readFile(at('none'))).toThrow(NotFoundError);
    expect(() => readFile(folder)).toThrow(EagreError);
    expect(matchingFiles(at('new', '*')).strings()).toEqual([at('new', 'f.bin'), at('new', 'g.bin')]);
    expect(matchingFiles([at('new', 'f*'), at('no*')]).strings()).toEqual([at('new', 'f.bin')]);
    expect(matchingFiles(at('no*')).shape).toEqual([0]);
  });
  test('are read in pipelines, and not while a function is traced', () => {
    const image = constant([[[1, 2, 3]]], 'uint8');
    for (const name of ['a.png', 'b.png']) writeFile(at(name), encodePng(image));
    const images = Dataset.listFiles(at('*.png')).map((path: Tensor) => decodePng(readFile(path)));
    expect([...images].map((x) => (x as Tensor).array())).toEqual([image.array(), image.array()]);
    const f = tfFunction((path: Tensor) => readFile(path));
    expect(() => f(constant(at('a.png')))).toThrow('outside of traced functions');
  });
});

describe('gfile', () => {
  test('folders', () => {
    gfile.makedirs(at('x', 'y', 'z'));
    gfile.makedirs(at('x', 'y', 'z'));
    gfile.mkdir(at('a'));
    gfile.mkdir(at('a'));
    expect(() => gfile.mkdir(at('no', 'b'))).toThrow(NotFoundError);
    writeFile(at('a', 'f.txt'), 'one\ntwo\n');
    expect([gfile.exists(at('a')), gfile.exists(at('b')), gfile.isdir(at('a', 'f.txt'))]).toEqual([
      true,
      false,
      false,
    ]);
    expect(gfile.listdir(folder)).toEqual(['a', 'x']);
    expect(() => gfile.listdir(at('a', 'f.txt'))).toThrow(NotFoundError);
    expect(gfile.glob([at('a', '*.txt'), at('x*')])).toEqual([at('a', 'f.txt'), at('x')]);
    expect(gfile.glob(at('x', '*', 'z'))).toEqual([at('x', 'y', 'z')]);
    expect(
      [...gfile.walk(folder)].map(([path, folders, files]) => [path.slice(folder.length), folders, files]),
    ).toEqual([
      ['', ['a', 'x'], []],
      ['/a', [], ['f.txt']],
      ['/x', ['y'], []],
      ['/x/y', ['z'], []],
      ['/x/y/z', [], []],
    ]);
    expect([...gfile.walk(at('x'), { topdown: false })].map(([path]) => path.slice(folder.length))).toEqual([
      '/x/y/z',
      '/x/y',
      '/x',
    ]);
    const errors: unknown[] = [];
    expect([...gfile.walk(at('none'), { onerror: (error) => errors.push(error) })]).toEqual([]);
    expect(errors[0]).toBeInstanceOf(NotFoundError);
    gfile.copy(at('a', 'f.txt'), at('a', 'g.txt'));
    expect(() => gfile.copy(at('a', 'f.txt'), at('a', 'g.txt'))).toThrow('exists already');
    gfile.copy(at('a', 'f.txt'), at('a', 'g.txt'), { overwrite: true });
    gfile.rename(at('a', 'g.txt'), at('a', 'h.txt'));
    expect(() => gfile.rename(at('a', 'h.txt'), at('a', 'f.txt'))).toThrow('exists already');
    expect(() => gfile.copy(at('none'), at('q'))).toThrow(NotFoundError);
    expect(() => gfile.copy(at('a'), at('q'))).toThrow('is a folder');
    expect(() => gfile.remove(at('a'))).toThrow('use rmtree');
    gfile.remove(at('a', 'h.txt'));
    expect(gfile.stat(at('a', 'f.txt'))).toMatchObject({ length: 8, isDirectory: false });
    gfile.rmtree(at('x'));
    expect(gfile.exists(at('x'))).toBe(false);
    expect(() => gfile.rmtree(at('x'))).toThrow(NotFoundError);
    expect([gfile.join('a', 'b'), gfile.join('a', '/b'), gfile.join('a/', 'b'), gfile.join('a')]).toEqual([
      'a/b',
      '/b',
      'a/b',
      'a',
    ]);
    expect(() => gfile.exists('gs://bucket/x')).toThrow('files of gs://');
  });
  test('open files', () => {
    writeFile(at('f.txt'), 'one\ntwo\n');
    const f = new gfile.GFile(at('f.txt'));
    expect([f.size(), f.tell(), f.read(2), f.tell(), f.readline(), f.read()]).toEqual([
      8,
      0,
      'on',
      2,
      'e\n',
      'two\n',
    ]);
    f.seek(1);
    expect(f.readlines()).toEqual(['ne\n', 'two\n']);
    f.seek(-4, 2);
    expect(f.readline()).toBe('two\n');
    expect(() => f.write('x')).toThrow('not open for writing');
    f.close();
    const bytes = new gfile.GFile(at('f.txt'), 'rb');
    expect(bytes.read(3)).toEqual(bytesOf('one'));
    expect([...bytes]).toEqual(['\n', 'two\n'].map(bytesOf));
    bytes.close();
    const w = new gfile.GFile(at('w.txt'), 'w');
    w.write('héy');
    w.flush();
    expect([w.tell(), w.size()]).toEqual([4, 4]);
    expect(() => w.read()).toThrow('not open for reading');
    w.close();
    w.close();
    const a = new gfile.GFile(at('w.txt'), 'a');
    a.write('more');
    a.close();
    expect(readFileSync(at('w.txt'), 'utf8')).toBe('héymore');
    writeFile(at('b.dat'), Uint8Array.of(0xff));
    expect(() => new gfile.GFile(at('b.dat')).read()).toThrow("mode 'rb'");
    expect(() => new gfile.GFile(at('none')).read()).toThrow(NotFoundError);
    expect(() => new gfile.GFile(at('f.txt'), 'q' as 'r')).toThrow(EagreError);
  });
});

describe('messages', () => {
  const golden = JSON.parse(
    readFileSync(new URL('../../golden/sequence-examples.json', import.meta.url), 'utf8'),
  );
  const examples = (golden.examples as string[]).map(bytesOf);
  const { Example, Feature, Features, Int64List, FloatList, BytesList } = train;

  test('have the bytes of TensorFlow', () => {
    const example = new Example({
      features: new Features({
        feature: {
          a: new Feature({ int64List: new Int64List({ value: [1, -2n] }) }),
          b: new Feature({ floatList: new FloatList([1.5]) }),
          c: new Feature({ bytesList: new BytesList(['t', Uint8Array.of(0xff)]) }),
          d: new Feature(),
        },
      }),
    });
    expect(example.serializeToString()).toEqual(bytesOf(golden.example));
    const read = Example.fromString(bytesOf(golden.example));
    expect(read).toEqual(example);
    expect(read.features.feature.get('a')?.int64List?.value).toEqual([1n, -2n]);
    expect(read.features.feature.get('d')?.whichOneof()).toBeNull();
    for (const bytes of examples) {
      const sequence = train.SequenceExample.fromString(bytes);
      expect(train.SequenceExample.fromString(sequence.serializeToString())).toEqual(sequence);
    }
    const wrong: (() => unknown)[] = [
      () => new Int64List({ value: [1.5] }),
      () => new Int64List({ value: [2n ** 63n] }),
      () => new BytesList({ value: Uint8Array.of(1) as never }),
      () => new FloatList({ value: ['a'] as never }),
      () => new Feature({ int64List: new Int64List([1]), floatList: new FloatList([1]) }),
      () => new Feature({ int64List: [1] as never }),
      () => new Features({ feature: { a: 1 as never } }),
      () => Example.fromString(Uint8Array.of(10, 5, 1)),
      () => Example.fromString('x' as never),
      () => new Example({ feature: 1 } as never),
    ];
    for (const call of wrong) expect(call, String(call)).toThrow(EagreError);
  });

  const shown = (x: Tensor | RaggedTensor | SparseTensor): unknown =>
    JSON.parse(
      JSON.stringify(
        x instanceof Tensor
          ? { dtype: x.dtype, shape: x.shape, values: x.reshape([-1]).array() }
          : { ragged: (x as RaggedTensor).toList(), dtype: x.dtype },
        (_, v) => (typeof v === 'bigint' ? Number(v) : v),
      ),
    );
  const all = (of: Record<string, Tensor | RaggedTensor | SparseTensor>): unknown =>
    Object.fromEntries(Object.entries(of).map(([name, x]) => [name, shown(x)]));

  test('of sequences are parsed as TensorFlow does', () => {
    const contexts = { id: new FixedLenFeature([], 'int64'), tags: new RaggedFeature('string') };
    const sequences = {
      points: new FixedLenSequenceFeature([2], 'float32'),
      words: new RaggedFeature('string'),
    };
    const [context, lists, lengths] = parseSequenceExample(examples, contexts, sequences);
    expect(all(context)).toEqual(golden.context);
    expect(all(lists)).toEqual(golden.sequences);
    expect(lengths['points']?.array()).toEqual((golden.lengths.points as number[]).map(BigInt));
    examples.forEach((bytes, i) => {
      const [one, steps] = parseSingleSequenceExample(bytes, contexts, sequences);
      expect([all(one), all(steps)]).toEqual(golden.single[i]);
    });
    const [, padded] = parseSequenceExample(constant(golden.examples as string[]), null, {
      words: new VarLenFeature('string'),
    });
    expect((padded['words'] as Tensor).array()).toEqual([
      [
        ['x', ''],
        ['y', 'z'],
      ],
      [
        ['', ''],
        ['', ''],
      ],
      [
        ['', ''],
        ['w', ''],
      ],
    ]);
    const ragged = parseExample([bytesOf(golden.example)], { a: new RaggedFeature('int64') });
    expect(all(ragged)).toEqual(golden.ragged);
    expect(() => parseSingleSequenceExample(examples[0] as Uint8Array, {})).toThrow('give contextFeatures');
    expect(() =>
      parseSingleSequenceExample(examples[0] as Uint8Array, null, {
        none: new FixedLenSequenceFeature([], 'int64'),
      }),
    ).toThrow('is missing');
    expect(() => parseSingleSequenceExample(Uint8Array.of(10, 5), contexts)).toThrow(EagreError);
  });

  interface PartitionCase {
    readonly partitions: readonly (readonly [
      'RowSplits' | 'RowLengths' | 'RowStarts' | 'RowLimits' | 'ValueRowIds' | 'UniformRowLength',
      string | number,
    ])[];
    readonly examples: readonly string[];
    readonly sequences: readonly string[];
    readonly single: unknown;
    readonly batch: unknown;
    readonly steps: unknown;
    readonly lists: unknown;
  }
  test('partitions of ragged features are those of TensorFlow', () => {
    for (const of of golden.partitions as PartitionCase[]) {
      const partitions = of.partitions.map(([kind, by]) =>
        kind === 'UniformRowLength'
          ? new RaggedFeature.UniformRowLength(by as number)
          : new RaggedFeature[kind](by as string),
      );
      const f = new RaggedFeature('int64', 'v', partitions, { rowSplitsDtype: 'int64' });
      const name = JSON.stringify(of.partitions);
      expect(all(parseSingleExample(bytesOf(of.examples[0] as string), { f })), name).toEqual(of.single);
      expect(all(parseExample(of.examples.map(bytesOf), { features: { f } })), name).toEqual(of.batch);
      const [, steps] = parseSingleSequenceExample(bytesOf(of.sequences[0] as string), null, { f });
      expect(all(steps), name).toEqual(of.steps);
      expect(all(parseSequenceExample(of.sequences.map(bytesOf), null, { f })[1]), name).toEqual(of.lists);
    }
  });

  test('partitions that do not fit are refused', () => {
    const { RowSplits, RowLengths, RowStarts, ValueRowIds, UniformRowLength } = RaggedFeature;
    const message = bytesOf(
      (golden.partitions as PartitionCase[]).find((of) => of.examples.length === 2)?.examples[0] as string,
    );
    const of = (...partitions: FeaturePartition[]): (() => unknown) => {
      const f = new RaggedFeature({ dtype: 'int64', valueKey: 'v', partitions, validate: true });
      return () => parseSingleExample(message, { f });
    };
    // v has 5 values, 1 to 5; none of these are ends, lengths or ids of their rows.
    for (const wrong of [RowSplits, RowLengths, RowStarts]) expect(of(new wrong('v'))).toThrow("of 'v'");
    expect(of(new RowLengths('none'))).toThrow('rows of 5 values');
    expect(of(new UniformRowLength(2))).toThrow('rows of 2');
    expect(of(new ValueRowIds('splits2'))).toThrow(EagreError);
    expect(of(new ValueRowIds('starts2'), new ValueRowIds('ids1'))).toThrow(EagreError);
    expect(() => new UniformRowLength(0)).toThrow('length');
    expect(() => new RowSplits(1 as never)).toThrow('key');
    expect(() => new RaggedFeature('int64', 'v', ['rows'] as never)).toThrow('partitions must hold');
    const huge = encodeExample({ v: [1n, 2n], ids: [0n, 10n ** 15n] });
    const f = new RaggedFeature('int64', 'v', [new ValueRowIds('ids')]);
    expect(() => parseSingleExample(huge, { f })).toThrow(EagreError);
  });

  test('default values have the dtype of the feature', () => {
    expect(() => new FixedLenFeature([], 'int64', 1.5)).toThrow('defaultValue');
    expect(() => new FixedLenFeature([2], 'string', ['a', 0])).toThrow('defaultValue');
    expect(() => new VarLenFeature('float32', { defaultValue: 'x' })).toThrow('defaultValue');
    expect(() => new FixedLenSequenceFeature([], 'int64', true, 'x')).toThrow('defaultValue');
  });

  test('are read from JSON', () => {
    const json =
      '{"features":{"feature":{"a":{"int64List":{"value":["1",2]}},"b":{"bytes_list":{"value":["YWJj"]}},"c":{"floatList":{"value":[1.5,"NaN"]}}}}}';
    const [text] = decodeJsonExample(constant([json])).strings();
    const { feature } = Example.fromString(bytesOf(text as string)).features;
    expect(feature.get('a')?.int64List?.value).toEqual([1n, 2n]);
    expect(feature.get('b')?.bytesList?.value).toEqual([bytesOf('abc')]);
    expect(feature.get('c')?.floatList?.value).toEqual([1.5, Number.NaN]);
    for (const wrong of [
      'x',
      '{"z":1}',
      '[]',
      '{"features":{"feature":{"a":{"int64List":{"value":[1.5]}}}}}',
    ])
      expect(() => decodeJsonExample(wrong)).toThrow(EagreError);
  });

  test('are written with options', () => {
    const writer = new TFRecordWriter(at('r.gz'), new TFRecordOptions('GZIP'));
    writer.write(Uint8Array.of(1, 2));
    writer.close();
    expect([...new TFRecordDataset(at('r.gz'), { compressionType: 'GZIP' })].map((x) => x.array())).toEqual([
      [1, 2],
    ]);
    const texts = new TFRecordWriter(at('texts'));
    texts.write('é');
    texts.write(serializeTensor(constant([1, 2])));
    expect(() => texts.write(constant(['a']))).toThrow('a scalar of dtype string');
    expect(() => texts.write(constant(1))).toThrow('a scalar of dtype string');
    texts.close();
    const [text, tensor] = [...new TFRecordDataset(at('texts'))].map((x) => x.data() as Uint8Array);
    expect([...(text as Uint8Array)]).toEqual([195, 169]);
    expect(parseTensor(byteTensor([tensor as Uint8Array], []), 'float32').array()).toEqual([1, 2]);
    expect(() => new TFRecordOptions('LZ4' as never)).toThrow(EagreError);
    expect(() => new TFRecordWriter(at('q'), 'ZIP' as never)).toThrow(EagreError);
    expect(gfile.exists(at('q'))).toBe(false);
  });
});

test('what is read, decoded and written again is never made a text', () => {
  const isText = (x: Tensor): boolean => Array.isArray(x.storage.strings);
  const picture = constant([[[1, 2, 250]]], 'uint8');
  const png = encodePng(picture);
  writeFile(at('p.png'), png);
  const read = readFile(at('p.png'));
  expect(decodePng(read).array()).toEqual(picture.array());
  expect([isText(png), isText(read)]).toEqual([false, false]);
  expect(read.strings()).toEqual(png.strings());
});

test('bytes of others are copied', () => {
  const own = Uint8Array.of(1, 2);
  const kept = decodeCompressed(own);
  own[0] = 9;
  expect(kept.strings()).toEqual(['\x01\x02']);
});
