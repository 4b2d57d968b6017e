// `tf.test.assertEqualGraphDef`: whether two graphs of TensorFlow are one.
import { InvalidArgumentError } from '@eagre/core';
import { defineFunction, kind, type NamedFunction, shown } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import { decodeGraphDef } from './decode-graph-def.ts';

const OP = 'test.assertEqualGraphDef';

/** The bytes of a `GraphDef`, as `graph.asGraphDef()` gives them, or the message itself. */
export type GraphDefLike = Uint8Array | tensorflow.GraphDef;

/**
 * That two graphs have nodes of the same names, ops, inputs, devices and attributes, in any order. Attributes whose names begin with `_` are left out.
 * @throws InvalidArgumentError that names the first difference; also for what is no graph
 */
export const assertEqualGraphDef: NamedFunction<
  [expected: GraphDefLike, actual: GraphDefLike],
  ['expected', 'actual'],
  unknown,
  void
> = /* @__PURE__ */ defineFunction(
  OP,
  { expected: kind.structure, actual: kind.structure },
  {},
  (expected, actual) => {
    const [one, two] = [nodesOf(expected, 'expected'), nodesOf(actual, 'actual')];
    for (const [name, node] of one) {
      const other = two.get(name);
      if (other === undefined)
        throw new InvalidArgumentError(`node '${name}' is expected, and not there`, OP);
      for (const [what, text] of Object.entries(node))
        if (other[what] !== text)
          throw new InvalidArgumentError(`node '${name}' has ${what} ${other[what]}, expected ${text}`, OP);
    }
    for (const name of two.keys())
      if (!one.has(name)) throw new InvalidArgumentError(`node '${name}' is there, and not expected`, OP);
  },
);

function nodesOf(graph: GraphDefLike, what: string): Map<string, Record<string, string>> {
  const { node = [] } = messageOf(graph, what);
  return new Map(
    node.map(({ name = '', op = '', input = [], device = '', attr }) => [
      name,
      {
        op,
        // What a node only runs after has no order.
        inputs: [
          ...input.filter((x) => !x.startsWith('^')),
          ...input.filter((x) => x.startsWith('^')).sort(),
        ].join(', '),
        device,
        attributes: attributesOf(attr),
      },
    ]),
  );
}

function messageOf(graph: GraphDefLike, what: string): tensorflow.GraphDef {
  if (!(graph instanceof Uint8Array)) {
    if (Array.isArray((graph as Partial<tensorflow.GraphDef> | null)?.node)) return graph;
    throw new InvalidArgumentError(`${what} must be a GraphDef or its bytes, got ${shown(graph)}`, OP);
  }
  return decodeGraphDef(graph, what, OP);
}

function attributesOf(attr: unknown): string {
  const entries = attr instanceof Map ? [...attr] : Object.entries((attr ?? {}) as object);
  const own = entries.filter(([name]) => !String(name).startsWith('_')).sort(([a], [b]) => (a < b ? -1 : 1));
  return JSON.stringify(own, (_, value: unknown) => {
    if (typeof value === 'bigint') return Number(value);
    if (value instanceof Map) return [...value];
    return ArrayBuffer.isView(value) ? Array.from(value as Uint8Array, Number) : value;
  });
}
