// Nodes joined as TensorFlow.js's converter joins them: a product, what is added to it, and an activation are one op there.
import type { tensorflow } from '@eagre/formats';

type NodeDef = tensorflow.NodeDef;
type AttrValue = tensorflow.AttrValue;

/** What the joined op is called. */
const JOINED: ReadonlyMap<string, string> = new Map([
  ['MatMul', '_FusedMatMul'],
  ['Conv2D', '_FusedConv2D'],
  ['DepthwiseConv2dNative', 'FusedDepthwiseConv2dNative'],
]);
const ACTIVATIONS: ReadonlySet<string> = new Set(['Relu', 'Relu6', 'Elu', 'Sigmoid', 'LeakyRelu']);
const ADDITIONS: ReadonlySet<string> = new Set(['BiasAdd', 'Add', 'AddV2']);

const utf8 = (text: string): Uint8Array => new TextEncoder().encode(text);

/**
 * Nodes of which those that belong together are one.
 * @param channels how many numbers a constant vector holds; undefined for what is none.
 * @param width the last size of a value, where it is known.
 */
export function fused(
  nodes: readonly NodeDef[],
  channels: (name: string) => number | undefined,
  width: (name: string) => number | undefined,
): readonly NodeDef[] {
  const uses = new Map<string, number>();
  for (const { input = [] } of nodes) for (const name of input) uses.set(name, (uses.get(name) ?? 0) + 1);
  const byName = new Map(nodes.map((node) => [node.name ?? '', node]));
  /** What stands for the last node of each joined one, and the others, which are gone. */
  const made = new Map<string, NodeDef>();
  const gone = new Set<string>();
  const isOnlyUse = (name: string): boolean => uses.get(name) === 1;
  for (const sum of nodes) {
    if (!ADDITIONS.has(sum.op ?? '') || sum.input?.length !== 2) continue;
    const [a, b] = sum.input as readonly [string, string];
    const isSwapped = !JOINED.has(byName.get(a)?.op ?? '') && sum.op !== 'BiasAdd';
    const [product, bias] = isSwapped ? [b, a] : [a, b];
    const first = byName.get(product);
    const op = JOINED.get(first?.op ?? '');
    const count = channels(bias);
    // A vector of one number would be added to all.
    if (
      first === undefined ||
      op === undefined ||
      !isOnlyUse(product) ||
      count === undefined ||
      count !== width(product)
    )
      continue;
    gone.add(product);
    made.set(sum.name ?? '', {
      ...first,
      name: sum.name ?? '',
      op,
      input: [...(first.input ?? []), bias],
      attr: new Map<string, AttrValue>([
        ...(first.attr ?? []),
        ['num_args', { i: 1 }],
        ['fused_ops', { list: { s: [utf8('BiasAdd')] } }],
        ['epsilon', { f: 0 }],
      ]),
    });
  }
  for (const { name = '', op = '', input = [], attr } of nodes) {
    const joined = made.get(input[0] ?? '');
    if (!ACTIVATIONS.has(op) || joined === undefined || !isOnlyUse(joined.name ?? '')) continue;
    made.delete(joined.name ?? '');
    gone.add(joined.name ?? '');
    const alpha = attr?.get('alpha');
    made.set(name, {
      ...joined,
      name,
      attr: new Map<string, AttrValue>([
        ...(joined.attr ?? []),
        ['fused_ops', { list: { s: [utf8('BiasAdd'), utf8(op)] } }],
        ...(alpha === undefined ? [] : ([['leakyrelu_alpha', alpha]] as const)),
      ]),
    });
  }
  return nodes.filter(({ name = '' }) => !gone.has(name)).map((node) => made.get(node.name ?? '') ?? node);
}
