// Optimizers as Keras 2's newer ones keep their state: in lists, in the order of the variables that they were built for.
import { UnimplementedError } from '@eagre/core';
import type { tensorflow } from '@eagre/formats';
import type { View } from './view.ts';

type Graph = tensorflow.TrackableObjectGraph;
type Node = tensorflow.TrackableObject;

/** All variables of such an optimizer beside each other; each has a place of its own, too. */
const ALL = '_variables';

/** An object with its lists in the place of slots. @throws UnimplementedError for an optimizer that has none. */
export function asLists(object: object, view: View): View {
  if (view.listed.length > 0) return { ...view, children: view.listed, slots: [] };
  if (view.slots.length > 0) {
    throw new UnimplementedError(
      `the state of ${object.constructor.name} cannot be written as lists that Keras 2 reads; use optimizerState: 'slots'`,
      'Checkpoint.write',
    );
  }
  return view;
}

const isOptimizer = ({ children = [] }: Node): boolean =>
  [ALL, '_iterations'].every((name) => children.some(({ local_name }) => local_name === name));

const isList = (node: Node | undefined): boolean => node?.children?.[0]?.local_name === '0';

/** An object with its slots among its children: as lists, or by the names of slots and their places. */
export function withoutSlots(object: object, view: View): View {
  if (view.slots.length === 0) return view;
  if (view.listed.length > 0) return asLists(object, view);
  const slots = view.slots.map(({ name, slot }, i) => [`${name}_${i}`, slot] as const);
  return { ...view, children: [...view.children, ...slots], slots: [] };
}

/**
 * The same graph without the lists of all variables: other optimizers count other variables there, and what a state is for tells its own
 * list.
 */
export function withoutCombinedLists(graph: Graph): Graph {
  if (!(graph.nodes ?? []).some(isOptimizer)) return graph;
  const without = (node: Node): Node =>
    isOptimizer(node)
      ? { ...node, children: (node.children ?? []).filter(({ local_name }) => local_name !== ALL) }
      : node;
  return { ...graph, nodes: (graph.nodes ?? []).map(without) };
}

/** The nodes that hold the state of optimizers for variables. */
export function slotNodes({ nodes = [] }: Graph): Set<number> {
  const slots = new Set<number>();
  for (const { slot_variables = [], children = [] } of nodes) {
    for (const { slot_variable_node_id = 0 } of slot_variables) slots.add(slot_variable_node_id);
    if (!children.some(({ local_name }) => local_name === '_iterations')) continue;
    for (const { node_id = 0 } of children)
      if (isList(nodes[node_id]))
        for (const item of nodes[node_id]?.children ?? []) slots.add(item.node_id ?? 0);
  }
  return slots;
}
