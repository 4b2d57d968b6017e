import { GradientTape } from '@eagre/autodiff';
import { InternalError, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { identity, type PartialShape, type Shape, type Tensor, type Variable, zerosLike } from '@eagre/core';
import {
  type Attrs,
  execute,
  type GradContext,
  hasGradient,
  isCompatible,
  sameShape,
  symbolicTensor,
} from '@eagre/core/internal';
import { GraphInterpreter } from '../function/interpret.ts';
import type { Graph, GraphValue } from '../ir/graph.ts';
import { refuseStrings } from '../tracing/strings.ts';
import { FunctionTracer } from '../tracing/tracer.ts';
import {
  ControlOp,
  copiedSaved,
  ForwardRecord,
  type Interpreter,
  type Saved,
  type Written,
} from './control-op.ts';
import {
  type ChangedVariable,
  finishBody,
  gradientBody,
  onlyOnce,
  orZeros,
  watchArguments,
} from './gradient-body.ts';
import { withoutHost } from './replay.ts';
import {
  areAlike,
  assignAll,
  checkRanks,
  lastValues,
  shareArguments,
  showValues,
  takenFromOutside,
  traceBody,
  writtenBy,
} from './traced-body.ts';

/**
 * Inputs: the loop variables, the values of `written`, and what else the graphs use; all are the arguments of both graphs. Outputs: the
 * loop variables and the values of `written` at the end, which are the outputs of the body.
 */
export interface WhileAttrs extends Attrs {
  readonly condition: Graph;
  readonly body: Graph;
  /** The variables that change; none in a gradient, which computes with values alone. */
  readonly written: Written;
  /** By argument: the variable whose value it is, if the body changes that. */
  readonly variables: ReadonlyArray<Variable | undefined>;
  readonly record: ForwardRecord;
  /** By loop variable and by `written`: its shape where sizes change from turn to turn, null for these. */
  readonly invariants: ReadonlyArray<PartialShape | undefined>;
}

/**
 * The loop backwards. Inputs: the carried gradients (those of floating loop variables), the sums (gradients of floating values that stay
 * the same), and the inputs of the loop that it belongs to. The body's arguments: carried gradients, sums, those of the loop's inputs
 * that stay the same, and what is restored of each turn. Outputs: the gradients and the sums.
 */
export interface WhileGradAttrs extends Attrs {
  readonly body: Graph;
  readonly restored: Saved;
  readonly forward: WhileAttrs;
  /** The loop's inputs whose gradients are carried, and those whose gradients are summed. */
  readonly carried: readonly number[];
  readonly summed: readonly number[];
}

/** By turn: what each gradient takes over. */
type Turns = ReadonlyMap<Saved, readonly Tensor[]>[];

class WhileOp extends ControlOp {
  constructor() {
    super('While', whileGradient);
  }

  override bodies(attrs: Attrs): readonly Graph[] {
    const { condition, body } = attrs as WhileAttrs;
    return [condition, body];
  }

  override isOpen(attrs: Attrs, output: number, axis: number): boolean {
    return (attrs as WhileAttrs).invariants[output]?.[axis] === null;
  }

  protected override shapes(_: readonly Tensor[], attrs: Attrs): readonly Tensor[] {
    return (attrs as WhileAttrs).body.outputs.map(({ dtype, shape }) => symbolicTensor(dtype, shape));
  }

  protected override compute(
    inputs: readonly Tensor[],
    attrs: Attrs,
    interpreter: Interpreter,
  ): readonly Tensor[] {
    const { condition, body, record } = attrs as WhileAttrs;
    const wanted = record.values;
    const turns: Turns = [];
    const same = inputs.slice(body.outputs.length);
    let carried = inputs.slice(0, body.outputs.length);
    while (interpreter.run(condition, [...carried, ...same])[0].item()) {
      const results = interpreter.run(body, [...carried, ...same], wanted);
      carried = results.slice(0, carried.length);
      turns.push(record.split(results.slice(carried.length)));
    }
    interpreter.histories.set(record, turns);
    return carried;
  }

  protected override copied(attrs: Attrs, { effects, histories }: Interpreter): Attrs {
    const before = attrs as WhileAttrs;
    const record = new ForwardRecord();
    histories.set(before.record, record);
    if (effects) return { ...before, record };
    return { ...before, ...withoutEffects(before), record };
  }
}

class WhileGradOp extends ControlOp {
  constructor() {
    super('WhileGrad', whileGradGradient);
  }

  override bodies(attrs: Attrs): readonly Graph[] {
    return [(attrs as WhileGradAttrs).body];
  }

  /** Those of what they are the gradients of. */
  protected override shapes(inputs: readonly Tensor[], attrs: Attrs): readonly Tensor[] {
    const { carried, summed } = attrs as WhileGradAttrs;
    const first = carried.length + summed.length;
    return [...carried, ...summed].map((place) => {
      const { dtype, shape } = inputs[first + place];
      return symbolicTensor(dtype, shape);
    });
  }

  protected override compute(
    inputs: readonly Tensor[],
    attrs: Attrs,
    interpreter: Interpreter,
  ): readonly Tensor[] {
    const { body, restored, forward } = attrs as WhileGradAttrs;
    const turns = interpreter.histories.get(restored.of) as Turns | undefined;
    if (turns === undefined) throw new InternalError('a loop kept nothing for its gradient');
    const same = inputs.slice(body.outputs.length + forward.body.outputs.length);
    let carried = inputs.slice(0, body.outputs.length);
    for (const turn of turns.toReversed()) {
      const kept = turn.get(restored) as readonly Tensor[];
      carried = [...interpreter.run(body, [...carried, ...same, ...kept])];
    }
    return carried;
  }

  protected override copied(attrs: Attrs, interpreter: Interpreter): Attrs {
    const before = attrs as WhileGradAttrs;
    const restored = copiedSaved(before.restored, interpreter);
    const forward: WhileAttrs = { ...before.forward, record: restored.of };
    const copy: WhileGradAttrs = { ...before, restored, forward };
    return copy;
  }
}

function changedBy({ variables }: WhileAttrs): ChangedVariable {
  return (argument) => variables[argument];
}

export const whileOp: ControlOp = new WhileOp();
export const whileGradOp: ControlOp = new WhileGradOp();

function whileGradient(g: GradContext, dy: Tensor, ...more: (Tensor | null)[]): (Tensor | null)[] {
  const forward = loopHere(g);
  const { body, record, variables } = forward;
  const count = body.outputs.length;
  const floating = g.inputs.map((x) => hasGradient(x.dtype));
  const passes = (i: number): boolean => i < count && variables[i] === undefined;
  const carried = g.inputs.flatMap((_, i) => (passes(i) && floating[i] === true ? [i] : []));
  // No gradient passes through an assignment, so that what each turn reads of a variable adds up.
  const summed = g.inputs.flatMap((_, i) => (!passes(i) && floating[i] === true && g.needs(i) ? [i] : []));
  const wanted = g.inputs.map((_, i) => carried.includes(i) || summed.includes(i));
  const given = body.outputs.map((_, i) => passes(i) && floating[i] === true);
  const traced = gradientBody(body, given, wanted, changedBy(forward));
  const { tracer } = traced;
  const stand = traced.arguments;
  const { sums, results } = tracer.run(() => {
    const sums = summed.map((i) => {
      const { dtype, shape } = stand[i];
      return tracer.argument(dtype, shape, `sum_${i}`);
    });
    const gradients = carried.map((i) => orZeros(traced.gradients[i], stand[i]));
    const added = summed.map((i, k) => {
      const gradient = traced.gradients[i];
      return gradient === null ? sums[k] : sums[k].add(gradient);
    });
    return { sums, results: [...gradients, ...added] };
  });
  // The gradient of a turn needs what the loop variables were before it, as far as it reads them.
  const once = [...traced.kept];
  const before = stand.slice(0, count);
  const dys = carried.map((i) => traced.dys[i] as Tensor);
  const stay = finishBody(
    tracer,
    [...dys, ...sums, ...stand.slice(count)],
    [...before, ...once.map(([, argument]) => argument)],
    results,
  );
  const values = stay.map((i) => (i < count ? body.arguments[i] : once[i - count][0]));
  const all = [dy, ...more];
  const attrs: WhileGradAttrs = {
    body: tracer.graph,
    restored: record.save(values, 'While'),
    forward,
    carried,
    summed,
  };
  const inputs = [
    ...carried.map((i) => all[i] ?? zerosLike(g.outputs[i])),
    ...summed.map((i) => zerosLike(g.inputs[i])),
    ...g.inputs,
  ];
  const outputs = execute(whileGradOp, inputs, attrs);
  const gradients = new Array<Tensor | null>(g.inputs.length).fill(null);
  [...carried, ...summed].forEach((place, i) => {
    gradients[place] = outputs[i];
  });
  return gradients;
}

/**
 * The loop whose gradient is computed: the node itself or, in a nested function, branch or loop, such as the passes of a jacobian, another
 * one in there that computes the same again, as the values of its turns are kept where it is alone.
 */
function loopHere({ attrs, inputs }: GradContext): WhileAttrs {
  const loop = attrs as WhileAttrs;
  if (loop.record.isHere) return loop;
  if (onlyOnce(loop.body).length > 0)
    throw new UnimplementedError(
      'the gradient of a loop that draws random numbers or calls the host must be computed in the function, branch or loop that contains the loop, not in a nested one',
      'While',
    );
  const again: WhileAttrs = { ...loop, ...withoutEffects(loop), record: new ForwardRecord() };
  execute(whileOp, inputs, again);
  return again;
}

/** What computes the values of a loop alone. */
const withoutEffects = ({
  condition,
  body,
}: WhileAttrs): Pick<WhileAttrs, 'condition' | 'body' | 'written'> => ({
  condition: withoutHost(condition),
  body: withoutHost(body),
  written: [],
});

/**
 * The gradient of a loop's gradient, for cotangents u of its outputs. The gradient is v ↦ vᵀJ, linear in v, so that of v is Ju: what a
 * loop gives that carries tangents along; and that of the loop's inputs is the gradient of vᵀ(Ju), which is the gradient of that loop.
 */
function whileGradGradient(g: GradContext, dy: Tensor, ...more: (Tensor | null)[]): (Tensor | null)[] {
  const { forward, carried, summed } = g.attrs as WhileGradAttrs;
  const count = forward.body.outputs.length;
  const seeds = g.inputs.slice(0, carried.length);
  // One tensor may be several inputs; each has a gradient of its own.
  const inputs = g.inputs
    .slice(carried.length + summed.length)
    .map((x) => (hasGradient(x.dtype) ? identity(x) : x));
  const cotangents = [dy, ...more].map((u, i) => u ?? zerosLike(g.outputs[i]));
  if (onlyOnce(forward.body).length > 0) {
    throw new UnimplementedError(
      'a loop that draws random numbers or calls the host has no second gradient: do that before the loop, for all iterations at once, and take one row in each',
      'While',
    );
  }
  const { condition, body } = tangentLoop(forward, carried, summed);
  const moving = carried.map((_, i) => cotangents[i]);
  const staying = summed.map((_, i) => cotangents[carried.length + i]);
  const wanted = inputs.flatMap((x, i) => (hasGradient(x.dtype) ? [i] : []));
  const tape = new GradientTape({ watchAccessedVariables: false });
  tape.watch(wanted.map((i) => inputs[i]));
  const attrs: WhileAttrs = {
    condition,
    body,
    written: [],
    variables: [
      ...forward.variables.slice(0, count),
      ...moving.map(() => undefined),
      ...forward.variables.slice(count),
    ],
    record: new ForwardRecord(),
    invariants: [...forward.invariants.slice(0, count), ...carried.map((i) => forward.invariants[i])],
  };
  const outputs = execute(
    whileOp,
    [...inputs.slice(0, count), ...moving, ...inputs.slice(count), ...staying],
    attrs,
  );
  const tangents = outputs.slice(count);
  const found = tape.denseGradient(
    tangents,
    wanted.map((i) => inputs[i]),
    { outputGradients: seeds },
  ) as readonly (Tensor | null)[];
  const gradients: (Tensor | null)[] = [
    ...tangents,
    // The sums start at zeros that nobody else sees.
    ...summed.map(() => null),
    ...inputs.map(() => null),
  ];
  wanted.forEach((place, i) => {
    gradients[carried.length + summed.length + place] = found[i] ?? null;
  });
  return gradients;
}

/** A loop with the tangents of `carried` behind its variables, and those of `summed` behind what stays the same. */
function tangentLoop(
  forward: WhileAttrs,
  carried: readonly number[],
  summed: readonly number[],
): { readonly condition: Graph; readonly body: Graph } {
  const { condition, body } = forward;
  const count = body.outputs.length;
  const trace = (
    graph: Graph,
    make: (args: readonly Tensor[], tangents: readonly Tensor[]) => readonly Tensor[],
  ): Graph => {
    const tracer = new FunctionTracer(`${graph.name}_tangent`, false);
    tracer.run(() => {
      const argument = ({ dtype, shape, node }: GraphValue): Tensor =>
        tracer.argument(dtype, shape, node.name);
      const tangent = (i: number): Tensor => argument(graph.arguments[i]);
      const moving = graph.arguments.slice(0, count).map(argument);
      const movingTangents = carried.map(tangent);
      const same = graph.arguments.slice(count).map(argument);
      const sameTangents = summed.map(tangent);
      tracer.finish(make([...moving, ...same], [...movingTangents, ...sameTangents]));
    });
    tracer.graph.assignments = [];
    return tracer.graph;
  };
  return {
    condition: trace(condition, (args) => new GraphInterpreter(false).run(condition, args)),
    body: trace(body, (args, tangents) => {
      const inner = new GradientTape({ watchAccessedVariables: false });
      const outer = new GradientTape({ watchAccessedVariables: false });
      const sources = watchArguments(inner, args, [...carried, ...summed], changedBy(forward));
      const outputs = new GraphInterpreter(false).run(body, args);
      const targets = carried.map((i) => outputs[i]);
      // vᵀJ is linear in v: whatever v is, its gradient along the tangents is J times them.
      const v = targets.map((t) => zerosLike(t));
      outer.watch(v);
      const products = inner.denseGradient(targets, sources, {
        outputGradients: v,
      }) as readonly (Tensor | null)[];
      const known = products.flatMap((p, i) => (p === null ? [] : [{ p, t: tangents[i] }]));
      const moved = outer.denseGradient(
        known.map(({ p }) => p),
        v,
        { outputGradients: known.map(({ t }) => t) },
      ) as readonly (Tensor | null)[];
      return [...outputs, ...moved.map((t, i) => orZeros(t, v[i]))];
    }),
  };
}

/**
 * Adds a loop to the function that is being traced.
 * @param condition gets the loop variables and returns a bool scalar; it must not change variables.
 * @param body gets them and returns the next ones, of the same dtypes and shapes; it may read and change variables and call the host.
 * @param invariants by loop variable: its shape where sizes change from turn to turn, null for these.
 * @returns the loop variables at the end.
 * @throws InvalidArgumentError where they do not.
 */
export function tracedWhile(
  condition: (vars: readonly Tensor[]) => Tensor,
  body: (vars: readonly Tensor[]) => readonly Tensor[],
  initial: readonly Tensor[],
  invariants: ReadonlyArray<PartialShape | undefined> = [],
): readonly Tensor[] {
  const count = initial.length;
  refuseStrings(initial, 'While');
  const places = (tracer: FunctionTracer): Tensor[] =>
    initial.map(({ dtype, shape }, i) => tracer.openArgument(dtype, invariants[i] ?? shape, `var_${i}`));
  const test = traceBody('while_condition', (tracer) => [condition(places(tracer))]);
  const [flag] = test.outputs as readonly [GraphValue];
  if (flag.dtype !== 'bool' || flag.shape.length !== 0)
    throw new InvalidArgumentError(`the condition is ${showValues([flag])}, expected bool []`, 'While');
  const turn = traceBody('while_body', (tracer) => body(places(tracer)));
  const agree = (a: Shape, b: Shape, i: number): boolean => {
    const open = invariants[i];
    return open === undefined ? sameShape(a, b) : isCompatible(a, open);
  };
  if (!areAlike(turn.outputs, initial, agree)) {
    throw new InvalidArgumentError(
      `the body returns ${showValues(turn.outputs)} for the loop variables ${showValues(initial)}; dtypes and shapes must stay the same`,
      'While',
    );
  }
  if (writtenBy([test]).length > 0)
    throw new InvalidArgumentError('the condition of a loop must not assign to variables', 'While');
  const bodies = [test, turn];
  const written = writtenBy(bodies);
  const last = lastValues(turn, written);
  // Those that keep their shape need none.
  const shapes = written.map((v) => (v.hasOneShape ? undefined : turn.tracer.shapesOf(v)));
  checkRanks(written, [shapes.map((shape, i) => shape ?? last[i].shape), last.map((v) => v.shape)], 'While');
  const from = shareArguments(bodies, written, count);
  test.tracer.graph.outputs = test.outputs;
  turn.tracer.graph.outputs = [...turn.outputs, ...last];
  const attrs: WhileAttrs = {
    condition: test.tracer.graph,
    body: turn.tracer.graph,
    written,
    variables: [...initial.map(() => undefined), ...written],
    record: new ForwardRecord(),
    invariants: [...initial.map((_, i) => invariants[i]), ...shapes],
  };
  const results = execute(whileOp, [...initial, ...takenFromOutside(from)], attrs);
  assignAll(written, results.slice(count));
  return results.slice(0, count);
}
