// `tf.io.decodeProto` and `tf.io.encodeProto` against TensorFlow.
import '@eagre/backend-js';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { constant, EagreError, InvalidArgumentError, NotFoundError, type Tensor } from '@eagre/core';
import { bytesOf, textOf } from '@eagre/core/internal';
import { tfFunction } from '@eagre/graph';
import { describe, expect, test } from 'vitest';
import { mutate, randomSource } from '../../../formats/src/testing/mutate.ts';
import { decodeProto, encodeProto } from './proto.ts';
import type { DecodeProtoOptions } from './proto-options.ts';

interface Values {
  readonly dtype: string;
  readonly shape: readonly number[];
  readonly values: readonly unknown[];
}
interface Case {
  readonly op: 'decodeProto' | 'encodeProto';
  readonly bytes: Values;
  readonly sizes: Values;
  readonly values: readonly Values[];
  readonly message: string;
  readonly names: readonly string[];
  readonly types: readonly string[];
  readonly options: DecodeProtoOptions;
  readonly result?: Values | readonly Values[];
  readonly error?: string;
}
// What TensorFlow does: tools/golden/protos.py.
const golden = JSON.parse(readFileSync(new URL('../../golden/protos.json', import.meta.url), 'utf8')) as {
  readonly descriptors: Readonly<Record<string, string>>;
  readonly cases: readonly Case[];
};
const descriptors = (name: string): Uint8Array =>
  new Uint8Array(Buffer.from(golden.descriptors[name] as string, 'hex'));

function decoded({ dtype, shape, values }: Values): Tensor {
  const isWide = dtype === 'int64' || dtype === 'uint64';
  const plain = values.map((v) => {
    const { big, float } = (typeof v === 'object' ? v : {}) as { big?: string; float?: string };
    const value = big ?? float?.replace('inf', 'Infinity') ?? v;
    return isWide ? BigInt(value as string) : float === undefined ? value : Number(value);
  });
  return constant(plain as never, dtype as never, { shape });
}
const plain = (x: Tensor): unknown => [x.dtype, x.shape, x.reshape([-1]).array()];

function run(c: Case): unknown {
  const descriptorSource = descriptors(c.message.charAt(0));
  if (c.op === 'encodeProto')
    return plain(
      encodeProto(decoded(c.sizes), c.values.map(decoded), c.names, c.message, { descriptorSource }),
    );
  const options = { ...c.options, descriptorSource };
  const { sizes, values } = decodeProto(decoded(c.bytes), c.message, c.names, c.types as never, options);
  return [sizes, ...values].map(plain);
}

test.each(['decodeProto', 'encodeProto'] as const)('%s gives what TensorFlow gives', (op) => {
  const different: unknown[] = [];
  let refused = 0;
  for (const c of golden.cases.filter((own) => own.op === op)) {
    const wanted =
      c.result === undefined
        ? c.error
        : Array.isArray(c.result)
          ? (c.result as readonly Values[]).map((v) => plain(decoded(v)))
          : plain(decoded(c.result as Values));
    let got: unknown;
    try {
      got = run(c);
    } catch (error) {
      got = error instanceof EagreError ? error.name : error;
      refused++;
    }
    try {
      expect(got).toEqual(wanted);
    } catch {
      different.push(JSON.stringify([c.bytes, c.message, c.names, c.options, got, wanted]));
    }
  }
  expect(different).toEqual([]);
  expect(refused).toBeGreaterThan(5);
});

describe('descriptors', () => {
  const message = encodeProto([[1]], [[[7]]], ['i'], 'q.N', { descriptorSource: descriptors('q') });
  const read = (descriptorSource?: string | Uint8Array): unknown =>
    decodeProto(message, 'q.N', ['i'], ['int32'], {
      descriptorSource: descriptorSource as string,
    }).values[0]?.array();

  test('come as bytes, as text of bytes, and in files', () => {
    const folder = mkdtempSync(join(tmpdir(), 'eagre-protos-'));
    try {
      const file = join(folder, 'q.pb');
      writeFileSync(file, descriptors('q'));
      for (const source of [descriptors('q'), `bytes://${textOf(descriptors('q'))}`, file])
        expect(read(source)).toEqual([[7]]);
      expect(() => read(join(folder, 'none.pb'))).toThrow(NotFoundError);
    } finally {
      rmSync(folder, { recursive: true });
    }
  });
  test('that are wrong are refused', () => {
    for (const source of [undefined, '', 'local://'])
      expect(() => read(source)).toThrow(/give a FileDescriptorSet/);
    for (const source of ['bytes://xxx', 'bytes://', new Uint8Array(0), 3 as never])
      expect(() => read(source)).toThrow(InvalidArgumentError);
    // A message whose field has a type that is not described; two fields of one number; a field 0.
    const set = (...fields: readonly string[]): Uint8Array => {
      const body = fields.map((f) => `12${hex(f.length / 2)}${f}`).join('');
      const inner = `0a014e${body}`;
      const file = `22${hex(inner.length / 2)}${inner}12017162067072 6f746f33`.replaceAll(' ', '');
      return new Uint8Array(Buffer.from(`0a${hex(file.length / 2)}${file}`, 'hex'));
    };
    const hex = (n: number): string => n.toString(16).padStart(2, '0');
    expect(read(set('0a0169180120012805'))).toEqual([[7]]);
    expect(() => read(set('0a016918012001280b32022e58'))).toThrow('is not described');
    expect(() => read(set('0a0169180120012805', '0a016a180120012805'))).toThrow('two fields');
    expect(() => read(set('0a016920012805'))).toThrow('has the number 0');
    expect(() => read(set('0a01691801200128053a0178'))).toThrow("the default 'x'");
  });
  test('that are damaged, and damaged messages, give typed errors or values', () => {
    const random = randomSource(11);
    const source = descriptors('p');
    const { bytes } = golden.cases[0] as Case;
    const whole = bytesOf(bytes.values[0] as string);
    const names = ['int32', 'r_m', 'packed', 'grp', 'string'];
    const types = ['int32', 'string', 'int32', 'string', 'string'] as const;
    let refused = 0;
    for (let i = 0; i < 600; i++) {
      const descriptorSource = i % 2 === 0 ? source : mutate(source, random);
      const messages = i % 2 === 0 ? mutate(whole, random) : whole;
      const options = { descriptorSource, sanitize: i % 3 === 0 };
      try {
        decodeProto(messages, 'p.M', names, types, options);
      } catch (error) {
        if (!(error instanceof EagreError)) throw new Error(`run ${i}`, { cause: error });
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(50);
    expect(refused).toBeLessThan(600);
  });
});

test('hostile messages are refused soon', () => {
  const descriptorSource = descriptors('q');
  const deep = (levels: number): string => 'n {'.repeat(levels) + '}'.repeat(levels);
  const text = (value: string): unknown =>
    decodeProto(value, 'q.N', ['i'], ['int32'], { descriptorSource, messageFormat: 'text' });
  text(deep(90));
  expect(() => text(deep(10000))).toThrow('more than 100 levels');
  const groups = new Uint8Array(100000).fill(0xd3).map((v, i) => (i % 2 === 0 ? v : 2));
  expect(() => decodeProto(groups, 'q.N', ['i'], ['int32'], { descriptorSource })).toThrow('levels');
  // One long list beside many empty messages.
  const long = encodeProto(
    [[1e5]],
    [constant(new Int32Array(1e5), 'int32', { shape: [1, 1e5] })],
    ['r'],
    'q.N',
    {
      descriptorSource,
    },
  );
  const many = [long.strings()[0] as string, ...new Array<string>(1000).fill('')];
  expect(() => decodeProto(many, 'q.N', ['r'], ['int32'], { descriptorSource })).toThrow('too many');
});

test('wrong arguments are refused', () => {
  const options = { descriptorSource: descriptors('q') };
  expect(() => decodeProto('', 'q.N', ['i', 'i'], ['int32', 'int32'], options)).toThrow('twice');
  expect(() => decodeProto('', 3 as never, ['i'], ['int32'], options)).toThrow('messageType');
  expect(() => decodeProto('', 'q.N', 'i' as never, ['int32'], options)).toThrow('fieldNames');
  expect(() => encodeProto([[-1]], [[[1]]], ['i'], 'q.N', options)).toThrow('-1 values');
  expect(() => encodeProto([], [], [], 'q.N', options)).toThrow('one at least');
});

test('a traced function reads and writes messages that it knows', () => {
  const options = { descriptorSource: descriptors('q') };
  const sum = tfFunction((x: Tensor) => {
    const written = encodeProto([[2]], [[[3, 4]]], ['r'], 'q.N', options);
    return decodeProto(written, 'q.N', ['r'], ['int32'], options).values[0]?.sum().add(x) as Tensor;
  });
  expect(sum(constant(1, 'int32')).item()).toBe(8);
  const later = tfFunction((x: Tensor) => encodeProto([[1]], [x], ['i'], 'q.N', options));
  expect(() => later(constant([[1]], 'int32'))).toThrow('traced function');
});
