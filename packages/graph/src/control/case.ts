import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import type { Tensor, Variable } from '@eagre/core';
import {
  type Attrs,
  execute,
  type GradContext,
  isFloating,
  showShape,
  symbolicTensor,
} from '@eagre/core/internal';
import type { Graph, GraphValue } from '../graph.ts';
import {
  ControlOp,
  copiedForward,
  copiedSaved,
  ForwardRecord,
  type Interpreter,
  type Saved,
  type Written,
} from './control-op.ts';
import { finishBody, gradientBody, orZeros } from './gradient-body.ts';
import {
  areAlike,
  assignAll,
  lastValues,
  shareArguments,
  showValues,
  type TracedBody,
  takenFromOutside,
  traceBody,
  writtenBy,
} from './traced-body.ts';

/**
 * Inputs: the selector, the values of `written`, and whatever else the branches use; all but the selector are the arguments of every
 * branch, behind which come those that `restored` names. Outputs: the results, and the new values of `written`.
 */
export interface CaseAttrs extends Attrs {
  readonly branches: readonly Graph[];
  /** The variables that change; none in a gradient, which computes with values alone. */
  readonly written: Written;
  /** By argument: the variable whose value it is, if a branch changes that. */
  readonly variables: ReadonlyArray<Variable | undefined>;
  readonly record: ForwardRecord;
  /** For a gradient: what it takes over from the branch that was taken. */
  readonly restored: Saved | null;
}

class CaseOp extends ControlOp {
  constructor(name: 'If' | 'Case', doc: string) {
    super(name, doc, (g, dy, ...more) => caseGradient(this, g, [dy, ...more]));
  }

  override bodies(attrs: Attrs): readonly Graph[] {
    return (attrs as CaseAttrs).branches;
  }

  protected override shapes(_: readonly Tensor[], attrs: Attrs): readonly Tensor[] {
    const [first] = (attrs as CaseAttrs).branches as readonly [Graph, ...Graph[]];
    return first.outputs.map(({ dtype, shape }) => symbolicTensor(dtype, shape));
  }

  protected override compute(
    [selector, ...inputs]: readonly [Tensor, ...Tensor[]],
    attrs: Attrs,
    interpreter: Interpreter,
  ): readonly Tensor[] {
    const { branches, record, restored } = attrs as CaseAttrs;
    const { histories } = interpreter;
    const value = Number(selector.item());
    const taken =
      selector.dtype === 'bool'
        ? 1 - value
        : value >= 0 && value < branches.length
          ? value
          : branches.length - 1;
    const branch = branches[taken] as Graph;
    const kept =
      restored === null ? [] : (histories.get(restored.of) as Map<Saved, readonly Tensor[]>).get(restored);
    const results = interpreter.run(branch, [...inputs, ...(kept ?? [])], record.valuesOf(taken));
    const count = branch.outputs.length;
    histories.set(record, record.split(taken, results.slice(count)));
    return results.slice(0, count);
  }

  protected override copied(attrs: Attrs, interpreter: Interpreter): Attrs {
    const { restored } = attrs as CaseAttrs;
    const copy: CaseAttrs = {
      ...copiedForward(attrs as CaseAttrs, interpreter),
      restored: restored === null ? null : copiedSaved(restored, interpreter),
    };
    return copy;
  }
}

/** One of two graphs runs: the first where a bool scalar is true. */
export const ifOp: ControlOp = new CaseOp('If', 'Runs one of two graphs.');
/** One of several graphs runs, selected by an int32 scalar; the last one where it is out of range. */
export const caseOp: ControlOp = new CaseOp('Case', 'Runs one of several graphs.');

function caseGradient(op: ControlOp, g: GradContext, dys: readonly (Tensor | null)[]): (Tensor | null)[] {
  const { branches, record, restored, variables } = g.attrs as CaseAttrs;
  const [selector, ...inputs] = g.inputs as readonly [Tensor, ...Tensor[]];
  const given = g.outputs.map((y, i) => dys[i] !== null && dys[i] !== undefined && isFloating(y.dtype));
  if (restored !== null)
    throw new UnimplementedError(
      'no gradient of a gradient passes through a branch that draws random numbers',
      op.name,
    );
  const wanted = inputs.map((x, i) => isFloating(x.dtype) && g.needs(i + 1));
  const bodies = branches.map((branch) => gradientBody(branch, given, wanted, (i) => variables[i]));
  const places = inputs.flatMap((_, i) => (bodies.some((b) => b.gradients[i] !== null) ? [i] : []));
  if (places.length === 0) return [];
  const saved = bodies.map((body) => {
    const values = [...body.kept];
    const results = body.tracer.run(() =>
      places.map((i) => orZeros(body.gradients[i] as Tensor | null, inputs[i] as Tensor)),
    );
    const stay = finishBody(
      body.tracer,
      [...body.arguments, ...body.dys.filter((dy): dy is Tensor => dy !== null)],
      values.map(([, argument]) => argument),
      results,
    );
    return stay.map((i) => (values[i] as [GraphValue, Tensor])[0]);
  });
  const attrs: CaseAttrs = {
    branches: bodies.map((b) => b.tracer.graph),
    written: [],
    variables,
    record: new ForwardRecord(),
    restored: saved.every((values) => values.length === 0) ? null : record.save(saved, op.name),
  };
  const results = execute(
    op,
    [selector, ...inputs, ...dys.filter((dy, i): dy is Tensor => dy !== null && given[i] === true)],
    attrs,
  );
  const gradients = new Array<Tensor | null>(g.inputs.length).fill(null);
  places.forEach((place, i) => {
    gradients[place + 1] = results[i] as Tensor;
  });
  return gradients;
}

/**
 * Adds a branch to the function that is being traced.
 * @param selector a bool scalar, which runs branch 0 where it is true and branch 1 where it is not; or an int32 scalar, which runs that
 *   branch, the last one where it is out of range.
 * @param branches return tensors of the same dtypes and shapes; they may read and change variables and call the host.
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
  for (const [i, { outputs }] of bodies.entries()) {
    if (!areAlike(outputs, expected)) {
      throw new InvalidArgumentError(
        `the branches return different tensors: ${showValues(expected)} from branch 0, ${showValues(outputs)} from branch ${i}`,
        name,
      );
    }
  }
  const written = writtenBy(bodies);
  const last = bodies.map((body) => lastValues(body, written));
  const from = shareArguments(bodies, written, 0);
  bodies.forEach(({ tracer, outputs }, i) => {
    tracer.graph.outputs = [...outputs, ...(last[i] as GraphValue[])];
  });
  const attrs: CaseAttrs = {
    branches: bodies.map((b) => b.tracer.graph),
    written,
    variables: written,
    record: new ForwardRecord(),
    restored: null,
  };
  const results = execute(name === 'If' ? ifOp : caseOp, [selector, ...takenFromOutside(from)], attrs);
  assignAll(written, results.slice(expected.length));
  return results.slice(0, expected.length);
}
