import { InvalidArgumentError } from '@eagre/backend';
import { type Shape, type Tensor, type Variable, zeros } from '@eagre/core';
import {
  type Attrs,
  context,
  type Dims,
  dims,
  equalDims,
  execute,
  type GradContext,
  hasGradient,
  hintOf,
  identicalDims,
  isLate,
  showShape,
  subDims,
  symbolicTensor,
  toShape,
} from '@eagre/core/internal';
import type { Graph, GraphValue } from '../ir/graph.ts';
import { refuseStrings } from '../tracing/strings.ts';
import { ControlOp, type Interpreter, type Written } from './control-op.ts';
import { drawnIn, finishBody, gradientBody, orZeros } from './gradient-body.ts';
import { replayed, withoutHost } from './replay.ts';
import {
  areAlike,
  assignAll,
  checkRanks,
  lastValues,
  sameRank,
  shareArguments,
  showValues,
  type TracedBody,
  takenFromOutside,
  traceBody,
  writtenBy,
} from './traced-body.ts';

/**
 * Inputs: the selector, the values of `written`, and whatever else the branches use; all but the selector are the arguments of every
 * branch. Outputs: the results, the new values of `written`, and for each branch what it draws at random or gets from the host, which
 * is zeros if another branch was taken: a gradient needs just these values.
 */
export interface CaseAttrs extends Attrs {
  readonly branches: readonly Graph[];
  /** The variables that change; none in a gradient, which computes with values alone. */
  readonly written: Written;
  /** By argument: the variable whose value it is, if a branch changes that. */
  readonly variables: ReadonlyArray<Variable | undefined>;
  /** By branch: how many of the last outputs are what it draws. */
  readonly drawn: readonly number[];
  /** By result: the axes whose sizes are others in each branch. A run tells them. */
  readonly open?: OpenAxes;
}

class CaseOp extends ControlOp {
  constructor(name: 'If' | 'Case') {
    super(name, (g, dy, ...more) => caseGradient(this, g, [dy, ...more]));
  }

  override bodies(attrs: Attrs): readonly Graph[] {
    return (attrs as CaseAttrs).branches;
  }

  protected override shapes(_: readonly Tensor[], attrs: Attrs): readonly Tensor[] {
    const [first] = (attrs as CaseAttrs).branches as readonly [Graph, ...Graph[]];
    return first.outputs.map(({ dtype, shape }) => symbolicTensor(dtype, shape));
  }

  override isOpen(attrs: Attrs, output: number, axis: number): boolean {
    const { branches, written, drawn, open = [] } = attrs as CaseAttrs;
    const sizes = branches.map((b) => dims(b.outputs[output])[axis]);
    const results = branches[0].outputs.length - written.length - drawn.reduce((a, b) => a + b, 0);
    if (output < results && open[output]?.includes(axis) === true) return true;
    const isOpen = written[output - results]?.hasOneShape === false;
    return (isOpen || sizes.some(isLate)) && !sizes.every((d) => identicalDims(d, sizes[0]));
  }

  override drawn(attrs: Attrs): number {
    return (attrs as CaseAttrs).drawn.reduce((a, b) => a + b, 0);
  }

  protected override compute(
    [selector, ...inputs]: readonly [Tensor, ...Tensor[]],
    attrs: Attrs,
    interpreter: Interpreter,
  ): readonly Tensor[] {
    const { branches } = attrs as CaseAttrs;
    const value = Number(selector.item());
    const taken =
      selector.dtype === 'bool'
        ? 1 - value
        : value >= 0 && value < branches.length
          ? value
          : branches.length - 1;
    return interpreter.run(branches[taken], inputs);
  }

  protected override copied(attrs: Attrs, { effects }: Interpreter): Attrs {
    if (effects) return attrs;
    const copy: CaseAttrs = {
      ...(attrs as CaseAttrs),
      branches: (attrs as CaseAttrs).branches.map(withoutHost),
      written: [],
    };
    return copy;
  }

  override interpret(
    inputs: readonly Tensor[],
    attrs: Attrs,
    interpreter: Interpreter,
    drawn: readonly Tensor[],
  ): readonly Tensor[] {
    if (drawn.length === 0 || context.tracer === null)
      return super.interpret(inputs, attrs, interpreter, drawn);
    const { branches, variables, open } = attrs as CaseAttrs;
    const again: CaseAttrs = {
      ...(open === undefined ? {} : { open }),
      branches: branches.map((branch, b) => {
        const count = branch.outputs.length - drawn.length;
        return replayed(branch, drawn, drawnValues(attrs as CaseAttrs, b), count);
      }),
      written: [],
      variables,
      drawn: branches.map(() => 0),
    };
    return [...execute(this, [...inputs, ...drawn], again), ...drawn];
  }
}

const withoutLate = (value: GraphValue): Shape => toShape(dims(value).map((d) => (isLate(d) ? 0 : d)));

/** For each of the last outputs: the value of the branch that it is; null for those of other branches. */
function drawnValues({ branches, drawn }: CaseAttrs, branch: number): (GraphValue | null)[] {
  const { outputs } = branches[branch];
  let next = outputs.length - drawn.reduce((a, b) => a + b, 0);
  return drawn.flatMap((count, b) =>
    outputs.slice(next, (next += count)).map((value) => (b === branch ? value : null)),
  );
}

type OpenAxes = readonly (readonly number[])[];

/** By result: the axes whose sizes are not the same in all branches of the call that is traced. The trace serves calls with the same ones only. */
function openAxes(bodies: readonly TracedBody[]): OpenAxes {
  const [{ outputs: first }] = bodies as [TracedBody, ...TracedBody[]];
  return first.map((_, output) => {
    const [own, ...others] = bodies.map(({ outputs }) => dims(outputs[output])) as [Dims, ...Dims[]];
    return own.flatMap((size, axis) => {
      const rest = others.map((other) => other[axis]);
      // Late sizes are compared where they are told.
      const known = [size, ...rest].some(isLate) ? [] : rest;
      const alike = known.every((d) => hintOf(subDims(size, d)) === 0);
      return alike && known.every((d) => equalDims(size, d)) ? [] : [axis];
    });
  });
}

/** One of two graphs runs: the first where a bool scalar is true. */
export const ifOp: ControlOp = new CaseOp('If');
/** One of several graphs runs, selected by an int32 scalar; the last one where it is out of range. */
export const caseOp: ControlOp = new CaseOp('Case');

function caseGradient(op: ControlOp, g: GradContext, dys: readonly (Tensor | null)[]): (Tensor | null)[] {
  const { branches, variables } = g.attrs as CaseAttrs;
  const [selector, ...inputs] = g.inputs as readonly [Tensor, ...Tensor[]];
  const given = g.outputs.map((y, i) => dys[i] !== null && dys[i] !== undefined && hasGradient(y.dtype));
  const wanted = inputs.map((x, i) => hasGradient(x.dtype) && g.needs(i + 1));
  const bodies = branches.map((branch) =>
    gradientBody(branch, given, wanted, (i) => variables[i], g.outputs),
  );
  const places = inputs.flatMap((_, i) => (bodies.some((b) => b.gradients[i] !== null) ? [i] : []));
  if (places.length === 0) return [];
  const drawn = g.outputs.slice(g.outputs.length - op.drawn(g.attrs));
  bodies.forEach(({ tracer, arguments: args, dys: seeds, gradients, kept }, b) => {
    const values = drawnValues(g.attrs as CaseAttrs, b);
    const [results, stand] = tracer.run(() => [
      places.map((i) => orZeros(gradients[i], inputs[i])),
      drawn.map(({ dtype, shape }, i) => {
        const value = values[i] ?? null;
        return (value && kept.get(value)) ?? tracer.argument(dtype, shape, 'unused');
      }),
    ]);
    finishBody(tracer, [...args, ...seeds.filter((dy): dy is Tensor => dy !== null), ...stand], [], results);
  });
  const attrs: CaseAttrs = {
    branches: bodies.map((b) => b.tracer.graph),
    written: [],
    variables,
    drawn: branches.map(() => 0),
  };
  const results = execute(
    op,
    [selector, ...inputs, ...dys.filter((dy, i): dy is Tensor => dy !== null && given[i] === true), ...drawn],
    attrs,
  );
  const gradients = new Array<Tensor | null>(g.inputs.length).fill(null);
  places.forEach((place, i) => {
    gradients[place + 1] = results[i];
  });
  return gradients;
}

/**
 * Adds a branch to the function that is being traced.
 * @param selector a bool scalar, which runs branch 0 where it is true and branch 1 where it is not; or an int32 scalar, which runs that
 *   branch, the last one where it is out of range.
 * @param branches return tensors of the same dtypes and ranks; they may read and change variables and call the host. Where their sizes
 *   differ, a run tells that of the result.
 * @throws InvalidArgumentError when they do not.
 */
export function tracedCase(
  name: 'If' | 'Case',
  selector: Tensor,
  branches: readonly (() => readonly Tensor[])[],
): readonly Tensor[] {
  if (selector.size !== 1 || selector.rank !== 0 || selector.dtype !== (name === 'If' ? 'bool' : 'int32')) {
    throw new InvalidArgumentError(
      `the selector is ${selector.dtype} ${showShape(selector.shape)}, expected ${name === 'If' ? 'bool' : 'int32'} []`,
      name,
    );
  }
  const bodies = branches.map((fn, i) => traceBody(`${name.toLowerCase()}_branch_${i}`, () => fn()));
  const [{ outputs: expected }] = bodies as [TracedBody, ...TracedBody[]];
  refuseStrings(expected, name);
  for (const [i, { outputs }] of bodies.entries()) {
    if (!areAlike(outputs, expected, sameRank)) {
      throw new InvalidArgumentError(
        `the branches return different tensors: ${showValues(expected)} from branch 0, ${showValues(outputs)} from branch ${i}`,
        name,
      );
    }
  }
  const open = openAxes(bodies);
  const written = writtenBy(bodies);
  const last = bodies.map((body) => lastValues(body, written));
  checkRanks(
    written,
    last.map((values) => values.map((v) => v.shape)),
    name,
  );
  const from = shareArguments(bodies, written, 0);
  bodies.forEach(({ tracer, outputs }, i) => {
    tracer.graph.outputs = [...outputs, ...last[i]];
  });
  const drawn = bodies.map(({ tracer }) => drawnIn(tracer.graph));
  bodies.forEach(({ tracer }, i) => {
    const all = tracer.run(() =>
      drawn.flatMap((list, b) =>
        // Nobody reads those of another branch, whose sizes may not be known.
        list.map((v) => (b === i ? v : tracer.valueOf(zeros(withoutLate(v), { dtype: v.dtype })))),
      ),
    );
    tracer.graph.outputs = [...tracer.graph.outputs, ...all];
  });
  const attrs: CaseAttrs = {
    branches: bodies.map((b) => b.tracer.graph),
    written,
    variables: written,
    drawn: drawn.map((list) => list.length),
    ...(open.some((axes) => axes.length > 0) ? { open } : {}),
  };
  const results = execute(name === 'If' ? ifOp : caseOp, [selector, ...takenFromOutside(from)], attrs);
  assignAll(written, results.slice(expected.length, expected.length + written.length));
  return results.slice(0, expected.length);
}
