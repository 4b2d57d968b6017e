// The variables of a model of TensorFlow 1, restored without running its graph.
import type { tensorflow } from '@eagre/formats';
import type { Body, Node, Ref } from '../import/body.ts';
import { constantOf } from '../import/constants.ts';
import type { Runtime } from '../import/runtime.ts';
import { VariableHandle } from '../import/values.ts';
import { restoredVariables, type SavedValues } from './variables.ts';

/** A variable of the graph, and the key of its value. */
interface Restored {
  readonly name: string;
  readonly def: tensorflow.NodeDef;
  readonly key: string;
}

const HANDLES: ReadonlySet<string> = new Set(['VarHandleOp', 'Variable', 'VariableV2']);
const ASSIGNS: ReadonlySet<string> = new Set(['AssignVariableOp', 'Assign']);
/** What may stand beside these without doing anything. */
const IDLE: ReadonlySet<string> = new Set(['NoOp', 'Identity', 'Const', 'RestoreV2']);

/**
 * Reads values into the memory of new variables, where all that the operation does is to give variables whole values of the checkpoint. They
 * become the resources of the graph.
 * @returns false where the operation does something else: then it has to be run.
 */
export async function restoreDirectly(
  runtime: Runtime,
  operation: number,
  prefix: number,
  values: SavedValues,
): Promise<boolean> {
  const { graph, surroundings } = runtime;
  const found = assignments(graph, operation, prefix);
  if (found === null || found.some(({ key }) => values.entry(key) === undefined)) return false;
  const nodes = found.map(({ name, def, key }) => ({
    saved: {
      name,
      dtype: def.attr?.get('dtype')?.type ?? 0,
      shape: def.attr?.get('shape')?.shape ?? {},
      trainable: surroundings.isTrainable(name),
    },
    key,
  }));
  const variables = await restoredVariables(nodes, values, false);
  for (const [i, variable] of variables.entries())
    surroundings.resources.set((found[i] as Restored).name, new VariableHandle(variable));
  return true;
}

/** The variables that an operation restores; null where it does more than that. */
function assignments(graph: Body, operation: number, prefix: number): Restored[] | null {
  const found = new Map<string, Restored>();
  for (const node of graph.order([operation], new Set([prefix]))) {
    const { def, id } = node;
    const op = def.op ?? '';
    if (graph.macro(id) !== undefined) return null;
    if (HANDLES.has(op) || IDLE.has(op)) continue;
    const restored = ASSIGNS.has(op) ? assigned(graph, node, prefix) : null;
    if (restored === null || found.has(restored.name)) return null;
    found.set(restored.name, restored);
  }
  return [...found.values()];
}

function assigned(graph: Body, { inputs }: Node, prefix: number): Restored | null {
  const [target, value] = inputs.map((ref) => behindIdentities(graph, ref));
  if (target === undefined || value === undefined) return null;
  const { def } = graph.node(target.node);
  const source = graph.node(value.node);
  if (!HANDLES.has(def.op ?? '') || source.def.op !== 'RestoreV2') return null;
  const [file, keys, slices] = source.inputs;
  if (file?.node !== prefix) return null;
  const [key, slice] = [textAt(graph, keys, value.output), textAt(graph, slices, value.output)];
  if (key === null || slice !== '') return null;
  const shared = new TextDecoder().decode(def.attr?.get('shared_name')?.s);
  return { name: shared || (def.name ?? ''), def, key };
}

function behindIdentities(graph: Body, ref: Ref): Ref {
  let at = ref;
  for (let node = graph.node(at.node); node.def.op === 'Identity'; node = graph.node(at.node)) {
    const [input] = node.inputs;
    if (input === undefined) break;
    at = input;
  }
  return at;
}

/** A text of a constant. */
function textAt(graph: Body, ref: Ref | undefined, index: number): string | null {
  const def = ref === undefined ? undefined : graph.defs[ref.node];
  if (def?.op !== 'Const') return null;
  const tensor = constantOf(def);
  return tensor.dtype === 'string' ? (tensor.strings()[index] ?? null) : null;
}
