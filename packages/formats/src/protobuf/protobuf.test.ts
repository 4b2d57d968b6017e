import { describe, expect, it } from 'vitest';
import { FormatError } from '../errors.ts';
import { mutate, randomSource } from '../testing/mutate.ts';
import * as tensorflow from './messages.ts';
import { int32s, type MessageType, message, nested, text } from './protobuf.ts';

// Serialised by TensorFlow 2.21 (with map keys in order).
const golden = Buffer.from(
  'CjsKAXgSC1BsYWNlaG9sZGVyKgsKBWR0eXBlEgIwASocCgVzaGFwZRITOhESCwj///////////8BEgIIAwqlAQoBYxIFQ29uc3QaAl54KhIKA2Jp' +
    'ZxILGICAgICAgICAgAEqFwoCZm4SEVIPCgRib2R5EgcKAVQSAjADKgoKAWYSBSUAAIA+KhkKBGludHMSEQoPGg0B////////////AawCKgkKA29m' +
    'ZhICKAAqCwoBcxIGEgRTQU1FKh0KBXZhbHVlEhRCEggBEgQSAggCIggAAMA/AAAAwCoKCgR6ZXJvEgIYABIzCjEKDQoEYm9keRIFCgFhGAEaEgoD' +
    'QWRkEgVBZGRWMhoBYRoBYSIMCgF5EgdBZGQ6ejowIgUIqhMQDA==',
  'base64',
);

describe("TensorFlow's GraphDef", () => {
  it('is read', () => {
    const { node, library, versions } = tensorflow.GraphDef.decode(golden);
    expect(node?.map((n) => [n.name, n.op, n.input])).toEqual([
      ['x', 'Placeholder', undefined],
      ['c', 'Const', ['^x']],
    ]);
    expect(node?.[0]?.attr?.get('shape')?.shape?.dim).toEqual([{ size: -1 }, { size: 3 }]);
    const attr = node?.[1]?.attr;
    expect(attr?.get('big')).toEqual({ i: -(2n ** 63n) });
    expect(attr?.get('zero')).toEqual({ i: 0 });
    expect(attr?.get('off')).toEqual({ b: false });
    expect(attr?.get('ints')).toEqual({ list: { i: [1, -1, 300] } });
    expect(attr?.get('f')).toEqual({ f: 0.25 });
    expect(attr?.get('fn')).toEqual({ func: { name: 'body', attr: new Map([['T', { type: 3 }]]) } });
    const tensor = attr?.get('value')?.tensor;
    expect(tensor?.dtype).toBe(tensorflow.DataType.DT_FLOAT);
    expect(Buffer.from(tensor?.tensor_content ?? [])).toEqual(
      Buffer.from(new Float32Array([1.5, -2]).buffer),
    );
    expect(library?.function?.[0]?.ret).toEqual(new Map([['y', 'Add:z:0']]));
    expect(versions).toEqual({ producer: 2474, min_consumer: 12 });
  });

  it('comes out in the same bytes', () => {
    expect(Buffer.from(tensorflow.GraphDef.encode(tensorflow.GraphDef.decode(golden)))).toEqual(golden);
  });

  it('that is damaged is refused by a FormatError, or read', () => {
    const random = randomSource(5);
    let refused = 0;
    for (let run = 0; run < 3000; run++) {
      const bytes = mutate(golden, random);
      try {
        tensorflow.GraphDef.encode(tensorflow.GraphDef.decode(bytes));
      } catch (error) {
        if (!(error instanceof FormatError)) throw new Error(`run ${run}`, { cause: error });
        expect(error.message).not.toContain('undefined');
        refused++;
      }
    }
    expect(refused).toBeGreaterThan(1000);
    const cut = golden.subarray(0, 50);
    expect(() => tensorflow.GraphDef.decode(cut, { file: 'graph.pb' })).toThrow(/^graph\.pb: length/);
  });
});

describe('messages', () => {
  it('hold text of every kind', () => {
    const tag = 'a é € \u{10000} \u{1f600} \u{20000} \u{10ffff}';
    const bytes = tensorflow.SummaryValue.encode({ tag });
    expect(Buffer.from(bytes.subarray(2)).toString()).toBe(tag);
    expect(tensorflow.SummaryValue.decode(bytes).tag).toBe(tag);
  });

  interface Tree {
    readonly name?: string;
    readonly inner?: Tree;
    readonly numbers?: readonly number[];
  }
  const Tree: MessageType<Tree> = message('Tree', () => ({
    name: text(1),
    inner: nested(2, () => Tree),
    numbers: int32s(3),
  }));

  it('hold themselves, but not endlessly', () => {
    const deep = (levels: number): Tree => (levels === 0 ? { name: 'leaf' } : { inner: deep(levels - 1) });
    expect(Tree.decode(Tree.encode(deep(50)))).toEqual(deep(50));
    expect(() => Tree.decode(Tree.encode(deep(200)))).toThrow('at most 100 levels');
  });

  it('are read whether lists are packed or not, and whatever else they hold', () => {
    expect(Tree.decode(Uint8Array.of(0x18, 1, 0x1a, 2, 2, 3, 0x18, 4)).numbers).toEqual([1, 2, 3, 4]);
    // Field 9 of text, and field 1 as a number.
    expect(Tree.decode(Uint8Array.of(0x4a, 1, 65, 0x08, 7, 0x0a, 1, 66))).toEqual({ name: 'B' });
  });

  it('keep 64-bit integers, and refuse numbers that are not exact', () => {
    for (const i of [0, -1, 2 ** 53 - 1, -(2 ** 53 - 1), 2n ** 62n, -(2n ** 62n), 2n ** 63n - 1n])
      expect(tensorflow.AttrValue.decode(tensorflow.AttrValue.encode({ i }))).toEqual({ i });
    expect(() => tensorflow.AttrValue.encode({ i: 0.5 })).toThrow(FormatError);
  });
});
