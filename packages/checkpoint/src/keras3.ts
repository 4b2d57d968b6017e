// Object graphs that Keras 3 has made, under the names that Keras 2 and Eagre have for the same things.
import type { tensorflow } from '@eagre/formats';

type Graph = tensorflow.TrackableObjectGraph;
type Node = tensorflow.TrackableObject;
type Reference = tensorflow.ObjectReference;
type Slot = tensorflow.SlotVariableReference;

// Its optimizers keep their state in lists, in the order of the variables. What a state is called depends on the optimizer, of which the file does
// not tell the class: those of the program's that fit are taken.
const STATES: Readonly<Record<string, readonly string[]>> = {
  momentums: ['momentum'],
  _momentums: ['m', 'momentum'],
  _velocities: ['v', 'rms', 'velocity'],
  _velocity_hats: ['vhat'],
  _average_gradients: ['mg'],
  _accumulators: ['accumulator'],
  _accumulated_grads: ['accum_grad'],
  _accumulated_delta_vars: ['accum_var'],
  _linears: ['linear'],
  _m: ['m'],
  _u: ['v'],
  _model_variables_moving_average: ['average'],
  _accumulated_gradients: ['gradient_accumulator'],
};

// Optimizers of which a list that is there is empty in the file: their states are among all variables, those of each variable together.
const IN_ORDER: readonly { readonly list: string; readonly states: readonly string[] }[] = [
  { list: '_r', states: ['r', 'c', 'velocity'] },
  { list: 'adam_velocities', states: ['momentum', 'velocity'] },
];

const childOf = (node: Node | undefined, name: string): number | undefined =>
  node?.children?.find((child) => child.local_name === name)?.node_id;

const numbered = (node: Node | undefined): number[] =>
  [...(node?.children ?? [])]
    .sort((a, b) => Number(a.local_name) - Number(b.local_name))
    .map(({ node_id = 0 }) => node_id);

/** The states of optimizers in `IN_ORDER`. */
function statesInOrder(node: Node, nodes: readonly Node[]): Slot[] {
  const kind = IN_ORDER.find(({ list }) => childOf(node, list) !== undefined);
  const all = nodes[childOf(node, '_variables') ?? -1];
  if (kind === undefined || all === undefined) return [];
  const others = new Set<number | undefined>(
    ['_iterations', '_learning_rate'].map((name) => childOf(node, name)),
  );
  for (const list of Object.keys(STATES))
    for (const id of numbered(nodes[childOf(node, list) ?? -1])) others.add(id);
  const states = numbered(all).filter((id) => !others.has(id));
  const slots: Slot[] = [];
  for (const variable of numbered(nodes[childOf(node, '_trainable_variables') ?? -1]))
    for (const slot_name of kind.states) {
      const id = states[0];
      const name = nodes[id ?? -1]?.attributes?.[0]?.full_name ?? '';
      // Muon's matrices have none.
      if (id === undefined || (slot_name === 'velocity' && !name.endsWith('_velocity'))) continue;
      states.shift();
      slots.push({ original_variable_node_id: variable, slot_name, slot_variable_node_id: id });
    }
  return slots;
}

const isValue = ({ name }: { readonly name?: string }): boolean => name === 'VARIABLE_VALUE';

/**
 * With the weights of stacked cells where the layers have them: Keras 3 does not look into their list, so that only an optimizer knows them. What
 * they are called tells the layer, the cell and the weight: `rnn/stacked_rnn_cells/lstm_cell/kernel`.
 */
function withStackedCells(nodes: readonly Node[]): readonly Node[] {
  const lists = nodes.flatMap((node) => childOf(node, '_trainable_variables') ?? []);
  const elsewhere = new Set(
    nodes.flatMap(({ children = [] }, i) => (lists.includes(i) ? [] : children.map((c) => c.node_id))),
  );
  const layers = new Map<string, Map<string, Reference[]>>();
  for (const list of lists)
    for (const node_id of numbered(nodes[list])) {
      const { attributes = [] } = nodes[node_id] ?? {};
      const path = attributes.find(isValue)?.full_name?.split('/') ?? [];
      if (elsewhere.has(node_id) || path.length < 4) continue;
      const [local_name, cell] = [path.pop(), path.pop() as string];
      const cells = layers.get(path.join('/')) ?? new Map<string, Reference[]>();
      layers.set(path.join('/'), cells.set(cell, [...(cells.get(cell) ?? []), { local_name, node_id }]));
    }
  const empty = nodes.flatMap((node) => {
    const cell = childOf(node, 'cell');
    return cell === undefined || (nodes[cell]?.children ?? []).length > 0 ? [] : [cell];
  });
  if (layers.size === 0 || empty.length !== layers.size) return nodes;
  const all = [...nodes];
  const add = (children: Reference[]): number => all.push({ children }) - 1;
  [...layers.values()].forEach((cells, i) => {
    const each = [...cells.values()].map((weights, k) => ({ local_name: `${k}`, node_id: add(weights) }));
    const stack = empty[i] as number;
    all[stack] = { ...all[stack], children: [{ local_name: 'cells', node_id: add(each) }] };
  });
  return all;
}

/** Whether Keras 3 wrote the graph: from its private names. */
function isKeras3(graph: Graph): boolean {
  return (graph.nodes ?? []).some((node) =>
    ['_kernel', '_embeddings', '_operations', '_trainable_variables_indices'].some(
      (name) => childOf(node, name) !== undefined,
    ),
  );
}

/** Whether it is of `model.export` of Keras 3, which tells variables by numbers only. */
export function isKeras3Export(graph: Graph): boolean {
  return childOf(graph.nodes?.[0], '_all_variables') !== undefined;
}

/** The same objects, with the names of Eagre beside those of Keras 3; other graphs as they are. */
export function withKeras2Names(graph: Graph): Graph {
  if (!isKeras3(graph)) return graph;
  const nodes = withStackedCells(graph.nodes ?? []);
  const withWeights = new Map<number, boolean>();
  const hasWeights = (id: number): boolean => {
    const known = withWeights.get(id);
    if (known !== undefined) return known;
    // In a circle no weight is found a second time.
    withWeights.set(id, false);
    const { attributes = [], children = [] } = nodes[id] ?? {};
    const found = attributes.some(isValue) || children.some(({ node_id = 0 }) => hasWeights(node_id));
    withWeights.set(id, found);
    return found;
  };
  /**
   * The layers of a model by their places, see `numberedLayers`. Not by those among layers with weights: of some the file has none, such as those
   * of stacked cells without an optimizer.
   */
  const layersIn = (operations: number, isSequential: boolean): Reference[] => {
    const references: Reference[] = [];
    // A sequence does not count its input.
    let layer = isSequential && !hasWeights(childOf(nodes[operations], '0') ?? -1) ? -1 : 0;
    const { children = [] } = nodes[operations] ?? {};
    for (const { node_id = 0 } of [...children].sort((a, b) => Number(a.local_name) - Number(b.local_name))) {
      if (layer >= 0) references.push({ node_id, local_name: `layer-${layer}` });
      layer++;
    }
    return references;
  };
  return {
    ...graph,
    nodes: nodes.map((node): Node => {
      const { children = [] } = node;
      const names = new Set(children.map((child) => child.local_name));
      const more: Reference[] = [];
      const functional = childOf(node, '_functional');
      const operations = childOf(functional === undefined ? node : nodes[functional], '_operations');
      if (operations !== undefined) more.push(...layersIn(operations, functional !== undefined));
      for (const { local_name = '', node_id = 0 } of children) {
        const name = local_name === '_iterations' ? 'iter' : local_name.slice(1);
        if (local_name.startsWith('_') && !names.has(name) && hasWeights(node_id))
          more.push({ node_id, local_name: name });
      }
      const variables = nodes[childOf(node, '_trainable_variables') ?? -1]?.children ?? [];
      const slots: Slot[] = Object.entries(STATES).flatMap(([list, slotNames]) =>
        (nodes[childOf(node, list) ?? -1]?.children ?? []).flatMap(({ local_name, node_id = 0 }) => {
          const variable = variables.find((v) => v.local_name === local_name)?.node_id;
          if (variable === undefined) return [];
          return slotNames.map((slot_name) => ({
            original_variable_node_id: variable,
            slot_name,
            slot_variable_node_id: node_id,
          }));
        }),
      );
      slots.push(...statesInOrder(node, nodes));
      // Keras 2 would take these lists in the order of the program's variables; here the file says which are meant.
      const kept =
        variables.length === 0
          ? children
          : children.filter(({ node_id = 0 }) => childOf(nodes[node_id], '0') === undefined);
      return {
        ...node,
        children: [...kept, ...more],
        ...(slots.length > 0 && { slot_variables: [...(node.slot_variables ?? []), ...slots] }),
      };
    }),
  };
}
