import { readFileSync } from 'node:fs';
import { FormatError } from '@eagre/formats';
import fc from 'fast-check';
import { expect, test } from 'vitest';
import { kerasNodes } from './keras-graph.ts';

const golden: { models: { json: string; nodes: Record<string, string[]> }[] } = JSON.parse(
  readFileSync(new URL('../../golden/keras-graphs.json', import.meta.url), 'utf8'),
);

test("the nodes are TensorBoard's", () => {
  for (const { json, nodes } of golden.models) {
    const found = kerasNodes(json).map(({ name, inputs }) => [name, [...inputs].sort()]);
    // TensorBoard loses what goes into a functional model inside of another.
    const missing = { 'outer/block/a': ['outer/x'], 'outer/block/b': ['outer/y'] };
    const expected = 'outer/block/a' in nodes ? { ...nodes, ...missing } : nodes;
    expect(Object.fromEntries(found)).toEqual(expected);
  }
});

test('nodes say what their layers are', () => {
  const [, dense] = kerasNodes(golden.models[0]?.json ?? '');
  expect(dense).toMatchObject({
    op: 'Dense',
    attributes: { units: '4', activation: 'relu', dtype: 'float32' },
  });
});

test('layers without a name, of Keras 2, shared, and inputs that nobody made', () => {
  const layer = (name: string, inbound_nodes: unknown) => ({
    class_name: 'Dense',
    config: { name },
    inbound_nodes,
  });
  const json = JSON.stringify({
    config: {
      name: 'm',
      input_layers: [['x', 0, 0]],
      output_layers: [['b', 0, 0]],
      layers: [
        layer('x', []),
        layer('a', [[['x', 0, 0, {}]], [['gone', 0, 0, {}]]]),
        layer('b', [
          [
            ['a', 0, 0, {}],
            ['a', 1, 0, {}],
          ],
        ]),
        { class_name: 'Flatten' },
      ],
    },
  });
  expect(kerasNodes(json).map(({ name, inputs }) => [name, inputs])).toEqual([
    ['m/x', []],
    ['m/a', ['m/x', 'm/gone']],
    ['m/b', ['m/a']],
    ['m/Flatten', []],
  ]);
});

test('anything else is nodes or a typed error', () => {
  let deep = '{"config":{"name":"a"}}';
  for (let i = 0; i < 100; i++) deep = `{"config":{"name":"a","layers":[${deep}]}}`;
  for (const text of ['', '[]', '{}', '1', deep]) expect(() => kerasNodes(text)).toThrow(FormatError);
  fc.assert(
    fc.property(fc.integer({ min: 0, max: 2 }), fc.nat(), fc.string(), (which, at, change) => {
      const { json } = golden.models[which] as { json: string };
      const place = at % json.length;
      try {
        expect(
          Array.isArray(kerasNodes(json.slice(0, place) + change + json.slice(place + change.length))),
        ).toBe(true);
      } catch (error) {
        expect(error).toBeInstanceOf(FormatError);
      }
    }),
    { numRuns: 500 },
  );
});
