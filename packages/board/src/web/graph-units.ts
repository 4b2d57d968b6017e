import type { GraphNode } from '../api.ts';

/** What is drawn as one box: a node, or a name scope with all that is inside. */
export interface Unit {
  readonly id: string;
  /** Null for a scope. */
  readonly node: GraphNode | null;
  /** How many nodes are in it. */
  readonly size: number;
}
export interface Edge {
  readonly from: string;
  readonly to: string;
  /** How many tensors. */
  readonly count: number;
  /** Only the order counts; no tensor goes along. */
  readonly control: boolean;
}

/** The graph with every scope closed that is not in `open`. */
export function unitsOf(
  nodes: readonly GraphNode[],
  open: ReadonlySet<string>,
): { readonly units: readonly Unit[]; readonly edges: readonly Edge[] } {
  const scopes = scopesOf(nodes);
  const units = new Map<string, { id: string; node: GraphNode | null; size: number }>();
  const unitOf = new Map<string, string>();
  for (const node of nodes) {
    const scope = closedScope(node.name, scopes, open);
    const id = scope ?? node.name;
    unitOf.set(node.name, id);
    const unit = units.get(id);
    if (unit === undefined) units.set(id, { id, node: scope === undefined ? node : null, size: 1 });
    else unit.size++;
  }
  const edges = new Map<string, { from: string; to: string; count: number; control: boolean }>();
  for (const node of nodes) {
    for (const input of node.inputs) {
      const control = input.startsWith('^');
      const from = unitOf.get(input.replace(/^\^/, '').replace(/:.*$/, ''));
      const to = unitOf.get(node.name);
      if (from === undefined || to === undefined || from === to) continue;
      const key = `${from}\n${to}\n${control}`;
      const edge = edges.get(key);
      if (edge === undefined) edges.set(key, { from, to, count: 1, control });
      else edge.count++;
    }
  }
  return { units: [...units.values()], edges: [...edges.values()] };
}

/** The scopes that hold everything else: a drawing of one box tells nothing. */
export function outermost(nodes: readonly GraphNode[]): ReadonlySet<string> {
  const open = new Set<string>();
  for (;;) {
    const { units } = unitsOf(nodes, open);
    const [only] = units;
    if (units.length !== 1 || only === undefined || only.node !== null) return open;
    open.add(only.id);
  }
}

/** Scopes with more than one node: one by itself is not worth a box to open. */
function scopesOf(nodes: readonly GraphNode[]): ReadonlySet<string> {
  const counts = new Map<string, number>();
  for (const { name } of nodes)
    for (let at = name.indexOf('/'); at > 0; at = name.indexOf('/', at + 1)) {
      const scope = name.slice(0, at);
      counts.set(scope, (counts.get(scope) ?? 0) + 1);
    }
  return new Set([...counts].filter(([, count]) => count > 1).map(([scope]) => scope));
}

function closedScope(
  name: string,
  scopes: ReadonlySet<string>,
  open: ReadonlySet<string>,
): string | undefined {
  for (let at = name.indexOf('/'); at > 0; at = name.indexOf('/', at + 1)) {
    const scope = name.slice(0, at);
    if (scopes.has(scope) && !open.has(scope)) return scope;
  }
  return undefined;
}
