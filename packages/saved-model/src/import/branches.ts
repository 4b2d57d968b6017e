// Branches and loops over what nodes compute: tensors, lists, and resources, of which there is one in all of them.

import type { Tensor } from '@eagre/core';
import * as tf from '@eagre/core';
import { context, type Dim, dims, isLate, sameShape, toShape } from '@eagre/core/internal';
import { TensorArray, whileLoop } from '@eagre/graph';
import type { OpCall } from './op-call.ts';
import { type Composite, isResource, isVariant, type Resource, type Value, VariantTensor } from './values.ts';

/** Whether a value counts as true in a branch or loop: bools, numbers but 0, text but the empty one, and what has elements. */
export function truth(x: Tensor): Tensor | boolean {
  if (x.rank > 0 && x.size !== 1) return x.size > 0;
  if (x.dtype === 'string') return x.strings()[0] !== '';
  const scalar = x.rank === 0 ? x : tf.reshape(x, []);
  return x.dtype === 'bool' ? scalar : scalar.notEqual(0);
}

/** What one of several functions returns; resources are the same whichever it is. */
export function branch(
  c: OpCall,
  functions: readonly (() => readonly Value[])[],
  choose: (branches: (() => readonly Value[])[]) => unknown,
): Value[] {
  if (context.tracer === null) {
    // One runs, and may give what only nodes know.
    let own: (() => readonly Value[]) | undefined;
    choose(
      functions.map((fn) => () => {
        own = fn;
        return [];
      }),
    );
    return [...(own?.() ?? [])];
  }
  const forms = formsOfOptionals(c, functions, choose);
  let resources: ReadonlyMap<number, Resource> | undefined;
  let count = 0;
  const chosen = choose(
    functions.map((fn, at) => () => {
      const results = fn().flatMap((value, i) => forms.of.get(i)?.flat(value, at) ?? [value]);
      count = results.length;
      const own = resourcesIn(results);
      for (const [i, resource] of resources ?? own)
        if (own.get(i) !== resource) throw c.lacks(`result ${i} is another resource in each branch`);
      resources = own;
      return results.filter((value) => !isResource(value));
    }),
  ) as readonly Value[];
  return forms.packed(merged(chosen, resources ?? new Map(), count));
}

/** The arguments of branch `i` of a node: what a branch of the same selector left for it is that of branch `i`. */
export function argumentsOfBranch(c: OpCall, i: number): Value[] {
  const [selector, ...args] = c.inputs;
  return args.map((value) => {
    const item = optionalIn(value);
    if (item?.choices === undefined || item.choices.selector !== selector) return value;
    return new VariantTensor([{ kind: 'optional', values: item.choices.values[i] ?? null }], 0);
  });
}

type Optional = Extract<Composite, { readonly kind: 'optional' }>;
const optionalIn = (value: Value | undefined): Optional | undefined => {
  const [item] = value instanceof VariantTensor && value.rank === 0 ? value.items : [];
  return item?.kind === 'optional' ? item : undefined;
};

/** The tensors that a value of a branch consists of, which are zeros where the branch does not run. */
interface Leaves {
  readonly specs: readonly { readonly dtype: tf.DType; readonly shape: readonly Dim[] }[];
  of(value: Value): Tensor[];
  packed(flat: readonly Tensor[]): Value;
}
/** For each branch the leaves of its values; null where it has none. */
type Choices = (readonly Leaves[] | null)[];

/** How a result that may be none leaves a traced branch. */
interface OptionalForm {
  /** Whether it has values, and their leaves; those of each branch if their shapes differ. */
  flat(value: Value, branch: number): Tensor[];
  readonly width: number;
  packed(flat: readonly Value[]): VariantTensor;
}

/** The forms of a node's results that may be none. */
class OptionalForms {
  /** By the numbers of the results. */
  readonly of = new Map<number, OptionalForm>();
  /** Where values of branches are among the results: some choose a branch in the branch. */
  readonly places = new Map<
    Value,
    { readonly result: number; readonly branch: number; readonly at: number }
  >();

  /** Results with those that may be none in one value each. */
  packed(flat: readonly Value[]): Value[] {
    const results: Value[] = [];
    for (let at = 0; at < flat.length; ) {
      const form = this.of.get(results.length);
      results.push(form === undefined ? (flat[at] as Value) : form.packed(flat.slice(at, at + form.width)));
      at += form?.width ?? 1;
    }
    return this.of.size === 0 ? results : results.map((value) => this.#chosenHere(value, results));
  }

  /** An optional value with what chooses inside of it as it is among the results, not in the branch. */
  #chosenHere(value: Value, results: readonly Value[]): Value {
    const item = optionalIn(value);
    if (item === undefined) return value;
    const inside = (values: readonly Value[] | null): Value[] | null =>
      values?.map((x) => this.#chosenHere(x, results)) ?? null;
    const { choices } = item;
    if (choices === undefined) return new VariantTensor([{ ...item, values: inside(item.values) }], 0);
    const place = this.places.get(choices.selector);
    const from = place && optionalIn(results[place.result]);
    const selector = place && (from?.choices?.values[place.branch] ?? from?.values)?.[place.at];
    const values = choices.values.map(inside);
    return new VariantTensor([{ ...item, choices: { selector: selector ?? choices.selector, values } }], 0);
  }
}

/** Ends the tracing of a branch whose results alone are wanted. */
class ResultsFound extends Error {
  override readonly name = 'ResultsFound';
}

/**
 * The forms of results that may be none, by their numbers: what the gradient of a branch needs of it, which another branch does not have.
 * Each branch is traced once by itself for the dtypes and the sizes.
 * @throws UnimplementedError for values whose sizes a branch computes, and for lists.
 */
function formsOfOptionals(
  c: OpCall,
  functions: readonly (() => readonly Value[])[],
  choose: (branches: (() => readonly Value[])[]) => unknown,
): OptionalForms {
  const forms = new OptionalForms();
  if (!functionsOfNode(c).some((name) => givesVariants(c, name))) return forms;
  const found = new Map<number, Choices>();
  for (const [branch, fn] of functions.entries()) {
    const probe = (): never => {
      for (const [i, value] of fn().entries()) {
        const values = optionalIn(value)?.values;
        if (values === undefined) continue;
        const choices = found.get(i) ?? functions.map(() => null);
        choices[branch] = values?.map((x) => leavesOf(c, x)) ?? null;
        values?.forEach((x, at) => forms.places.set(x, { result: i, branch, at }));
        found.set(i, choices);
      }
      throw new ResultsFound();
    };
    try {
      choose(functions.map(() => probe));
    } catch (error) {
      if (!(error instanceof ResultsFound)) throw error;
    }
  }
  for (const [i, choices] of found) forms.of.set(i, formOf(c, choices));
  return forms;
}

const functionsOfNode = (c: OpCall): string[] =>
  [...(c.node.attr?.values() ?? [])].flatMap(({ func, list }) =>
    [func, ...(list?.func ?? [])].flatMap((one) => (one?.name === undefined ? [] : [one.name])),
  );
const DT_VARIANT = 21;
const givesVariants = (c: OpCall, name: string): boolean =>
  (c.runtime.definition(name)?.signature?.output_arg ?? []).some(({ type }) => type === DT_VARIANT);

/** The leaves of a value of a branch. @throws UnimplementedError for lists, text, and sizes that the branch computes */
function leavesOf(c: OpCall, x: Value): Leaves {
  const lacks = (why: string): never => {
    throw c.lacks(
      `what the gradient of a branch needs of it has no form in a traced function, so call it outside of one: ${why}`,
    );
  };
  const item = optionalIn(x);
  if (item !== undefined) return leavesOfOptional(c, item);
  if (!(x instanceof tf.Tensor)) return lacks('it is no tensor');
  const { dtype } = x;
  const shape = [...dims(x)];
  if (shape.some(isLate)) return lacks('its size is only known when the branch runs');
  if (dtype === 'string') return lacks('it is text');
  return { specs: [{ dtype, shape }], of: (value) => [value as Tensor], packed: ([only]) => only as Tensor };
}

/** What a branch inside of a branch left. */
function leavesOfOptional(c: OpCall, { values, choices }: Optional): Leaves {
  const groups = (choices?.values ?? [values]).map((group) => group?.map((x) => leavesOf(c, x)) ?? null);
  const all = groups.flatMap((group) => group ?? []);
  const flat = ({ values, choices }: Optional): Value[] =>
    (choices?.values ?? [values]).flatMap((group) => group ?? []);
  return {
    specs: [{ dtype: 'bool', shape: [] }, ...all.flatMap(({ specs }) => specs)],
    of: (value) => {
      const own = optionalIn(value) as Optional;
      const parts = flat(own);
      return [hasOf(own), ...all.flatMap((leaves, i) => leaves.of(parts[i] as Value))];
    },
    packed: ([has, ...rest]) => {
      const parts = packedGroups(groups, rest);
      const own = { kind: 'optional', has: has as Tensor } as const;
      const item: Optional =
        choices === undefined
          ? { ...own, values: parts[0] ?? null }
          : { ...own, values: null, choices: { ...choices, values: parts } };
      return new VariantTensor([item], 0);
    },
  };
}

const hasOf = ({ has, values }: Optional): Tensor => has ?? tf.constant(values !== null);
const widthOf = (leaves: readonly Leaves[] | null): number =>
  (leaves ?? []).reduce((sum, { specs }) => sum + specs.length, 0);

/** The values of groups from their leaves, one behind the other. */
function packedGroups(groups: Choices, flat: readonly Tensor[]): (Value[] | null)[] {
  let at = 0;
  return groups.map(
    (group) =>
      group?.map(({ specs, packed }) => {
        at += specs.length;
        return packed(flat.slice(at - specs.length, at));
      }) ?? null,
  );
}

function formOf(c: OpCall, choices: Choices): OptionalForm {
  const given = choices.filter((group) => group !== null);
  const [first = []] = given;
  const specsOf = (group: readonly Leaves[] | null): Leaves['specs'] =>
    (group ?? []).flatMap(({ specs }) => specs);
  // One group will do where the tensors of all branches are alike.
  const alike = given.every((group) => {
    const [own, others] = [specsOf(group), specsOf(first)];
    const isPlain = group.every(({ specs }) => specs.length === 1);
    return (
      (group === first || isPlain) &&
      own.length === others.length &&
      own.every((x, i) => x.dtype === others[i]?.dtype && sameShape(x.shape, others[i].shape))
    );
  });
  const groups: Choices = alike ? [first] : choices;
  const zeros = (group: readonly Leaves[] | null): Tensor[] =>
    specsOf(group).map(({ dtype, shape }) => tf.zeros(toShape(shape) as number[], dtype));
  return {
    width: 1 + groups.reduce((sum, group) => sum + widthOf(group), 0),
    flat: (value, branch) => {
      const item = optionalIn(value);
      if (item === undefined) throw c.wrong('a result may be none in one branch and is a tensor in another');
      const { values } = item;
      const leaves = groups.flatMap((group, i) =>
        values !== null && group !== null && (alike || i === branch)
          ? group.flatMap((own, at) => own.of(values[at] as Value))
          : zeros(group),
      );
      return [hasOf(item), ...leaves];
    },
    packed: ([has, ...rest]) => {
      const parts = packedGroups(groups, rest as Tensor[]);
      const own = { kind: 'optional', has: has as Tensor } as const;
      const selector = c.inputs[0] as Value;
      const item: Optional = alike
        ? { ...own, values: parts[0] as Value[] }
        : { ...own, values: null, choices: { selector, values: parts } };
      return new VariantTensor([item], 0);
    },
  };
}

function resourcesIn(values: readonly Value[]): Map<number, Resource> {
  return new Map(values.flatMap((value, i) => (isResource(value) ? [[i, value] as const] : [])));
}

/** Values with resources in their places between them. */
function merged(values: readonly Value[], resources: ReadonlyMap<number, Resource>, count: number): Value[] {
  let next = 0;
  return Array.from({ length: count }, (_, i) => resources.get(i) ?? (values[next++] as Value));
}

/**
 * A loop over values, some of which may be resources.
 * @param shapes what the graph says of the shapes in all turns.
 */
export function loop(
  c: OpCall,
  initial: readonly Value[],
  condition: (values: readonly Value[]) => Tensor,
  body: (values: readonly Value[]) => readonly Value[],
  shapes: readonly (readonly (number | null)[] | null)[],
): Value[] {
  const resources = resourcesIn(initial);
  const all = (values: readonly Value[]): Value[] => merged(values, resources, initial.length);
  const own = initial.filter((value) => !isResource(value)) as (Tensor | TensorArray)[];
  if (initial.some(isVariant)) return hostLoop(c, initial, condition, body);
  // A condition without loop variables is the same in each turn; a counter makes the loop one all the same.
  const none = own.length === 0;
  const start: readonly unknown[] = none ? [tf.constant(0, 'int32')] : own;
  const given = (values: readonly unknown[]): Value[] => all(none ? [] : (values as Value[]));
  const run = (shapeInvariants: unknown): Value[] => {
    const results = whileLoop(
      ((...values: readonly Value[]) => truth(condition(given(values)))) as never,
      ((...values: readonly Value[]) => {
        const next = body(given(values));
        for (const [i, resource] of resources)
          if (next[i] !== resource) throw c.lacks(`loop variable ${i} becomes another resource`);
        const rest = next.filter((_, i) => !resources.has(i));
        return none ? values : rest.length === 1 ? rest[0] : rest;
      }) as never,
      start as never,
      shapeInvariants === undefined ? null : ({ shapeInvariants } as never),
    ) as unknown as Value[];
    return given(results);
  };
  const invariants = shapes
    .filter((_, i) => !resources.has(i))
    .map((shape, i) => (own[i] instanceof TensorArray ? null : changing(own[i] as Tensor, shape)));
  try {
    return run(undefined);
  } catch (error) {
    // Sizes that the graph does not know may change from turn to turn. Few do, and others are better known.
    if (!(error instanceof tf.InvalidArgumentError) || none || invariants.every((shape) => shape === null))
      throw error;
    return run(invariants);
  }
}

/** A loop over variants, which no trace has a form for, turn by turn. */
function hostLoop(
  c: OpCall,
  initial: readonly Value[],
  condition: (values: readonly Value[]) => Tensor,
  body: (values: readonly Value[]) => readonly Value[],
): Value[] {
  if (context.tracer !== null)
    throw c.lacks(
      'lists of ragged or sparse tensors have no form in a traced function: call it outside of one',
    );
  let values = [...initial];
  for (;;) {
    const goes = truth(condition(values));
    if (!(typeof goes === 'boolean' ? goes : goes.item<boolean>())) return values;
    values = [...body(values)];
  }
}

/** The shape of a loop variable where the graph knows less than the first value: null where it does not. */
function changing(
  x: Tensor,
  shape: readonly (number | null)[] | null | undefined,
): readonly (number | null)[] | null {
  return shape?.includes(null) && shape.length === x.rank ? shape : null;
}
