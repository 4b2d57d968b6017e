// What exporting leaves over: transposes that cancel, copies, and nodes that nobody needs.
import type { onnx } from '@eagre/formats';

type Node = onnx.NodeProto;

const permOf = (node: Node): readonly number[] => (node.attribute?.[0]?.ints ?? []).map(Number);
const isTranspose = (node: Node | undefined): node is Node => node?.op_type === 'Transpose';

/** Ops of one input that do the same to every element, so that transposes may pass them. */
const PASSING = new Set(
  'Relu Sigmoid Tanh Elu Selu LeakyRelu Softplus Softsign HardSigmoid Gelu Mish Exp Log Sqrt Neg Abs Erf Cast Identity Reciprocal Floor Ceil Round'.split(
    ' ',
  ),
);

/**
 * The nodes of a graph without those that do nothing.
 *
 * @param outputs the names that stay.
 */
export function simplified(nodes: readonly Node[], outputs: readonly string[]): Node[] {
  let now = [...nodes];
  for (let before = -1; before !== now.length; ) {
    before = now.length;
    now = withoutUnused(joined(passed(now, outputs), outputs), outputs);
  }
  return now;
}

/** How often each name is used, in graphs inside too. */
function usesOf(nodes: readonly Node[], outputs: readonly string[]): Map<string, number> {
  const uses = new Map<string, number>();
  const use = (name: string): void => {
    uses.set(name, (uses.get(name) ?? 0) + 1);
  };
  const visit = (list: readonly Node[]): void => {
    for (const { input = [], attribute = [] } of list) {
      input.forEach(use);
      for (const { g } of attribute)
        if (g !== undefined) {
          visit(g.node ?? []);
          for (const { name = '' } of g.output ?? []) use(name);
        }
    }
  };
  visit(nodes);
  outputs.forEach(use);
  return uses;
}

/** Transpose → op as op → Transpose, where another transpose follows that the first one cancels. */
function passed(nodes: readonly Node[], outputs: readonly string[]): Node[] {
  const uses = usesOf(nodes, outputs);
  const made = new Map(nodes.flatMap((n) => (n.output ?? []).map((o) => [o, n] as const)));
  const users = new Map<string, Node>();
  for (const n of nodes) for (const i of n.input ?? []) users.set(i, n);
  const once = (name: string): boolean => uses.get(name) === 1;
  const result = [...nodes];
  for (let at = 0; at < result.length; at++) {
    const node = result[at] as Node;
    if (!PASSING.has(node.op_type ?? '') || node.input?.length !== 1) continue;
    const from = made.get(node.input[0] as string);
    const to = users.get(node.output?.[0] as string);
    if (
      !isTranspose(from) ||
      !isTranspose(to) ||
      !once(node.input[0] as string) ||
      !once(node.output?.[0] as string)
    )
      continue;
    // The op takes the place of the transpose, under the same names.
    const place = result.indexOf(from);
    if (place < 0) continue;
    const [x, between, y] = [
      from.input?.[0] as string,
      from.output?.[0] as string,
      node.output?.[0] as string,
    ];
    result[place] = { ...node, input: [x], output: [between] };
    result[at] = { ...from, input: [between], output: [y] };
    made.set(between, result[place] as Node);
    made.set(y, result[at] as Node);
  }
  return result;
}

/** Transposes of transposes become one, or none; copies are left out. */
function joined(nodes: readonly Node[], outputs: readonly string[]): Node[] {
  const made = new Map<string, Node>();
  const instead = new Map<string, string>();
  const kept = new Set(outputs);
  const result: Node[] = [];
  for (const given of nodes) {
    const node = renamed(given, instead);
    const [x, y] = [node.input?.[0] ?? '', node.output?.[0] ?? ''];
    if (node.op_type === 'Identity' && !kept.has(y)) {
      instead.set(y, x);
      continue;
    }
    let next = node;
    const before = made.get(x);
    if (isTranspose(node) && isTranspose(before)) {
      const [p, q] = [permOf(before), permOf(node)];
      const perm = q.map((i) => p[i] as number);
      const input = [before.input?.[0] as string];
      if (perm.every((axis, i) => axis === i)) {
        if (!kept.has(y)) {
          instead.set(y, input[0] as string);
          continue;
        }
        next = { ...node, op_type: 'Identity', input, attribute: [] };
      } else
        next = {
          ...node,
          input,
          attribute: [{ ...(node.attribute?.[0] as onnx.AttributeProto), ints: perm }],
        };
    }
    for (const name of next.output ?? []) made.set(name, next);
    result.push(next);
  }
  return result;
}

function renamed(node: Node, instead: ReadonlyMap<string, string>): Node {
  if (instead.size === 0) return node;
  const to = (name: string): string => instead.get(name) ?? name;
  const attribute = (node.attribute ?? []).map((a) => {
    if (a.g === undefined) return a;
    // The outputs of a graph inside have names of their own.
    return { ...a, g: { ...a.g, node: (a.g.node ?? []).map((n) => renamed(n, instead)) } };
  });
  return { ...node, input: (node.input ?? []).map(to), attribute };
}

function withoutUnused(nodes: readonly Node[], outputs: readonly string[]): Node[] {
  const needed = new Set(outputs);
  const result: Node[] = [];
  const need = (node: Node): void => {
    for (const name of node.input ?? []) needed.add(name);
    for (const { g } of node.attribute ?? [])
      if (g !== undefined) {
        (g.node ?? []).forEach(need);
        for (const { name = '' } of g.output ?? []) needed.add(name);
      }
  };
  for (let i = nodes.length - 1; i >= 0; i--) {
    const node = nodes[i] as Node;
    if (!(node.output ?? []).some((name) => needed.has(name))) continue;
    need(node);
    result.unshift(node);
  }
  return result;
}
