import { InternalError, InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import { type Tensor, Variable } from '@eagre/core';
import {
  type Attrs,
  context,
  execute,
  type GradContext,
  isFloating,
  sameShape,
  showShape,
  symbolicTensor,
} from '@eagre/core/internal';
import type { Graph, GraphValue } from '../graph.ts';
import { FunctionTracer } from '../tracer.ts';
import {
  ControlOp,
  copiedSaved,
  ForwardRecord,
  type Interpreter,
  type Saved,
  type Written,
} from './control-op.ts';
import { finishBody, gradientBody, orZeros } from './gradient-body.ts';

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
    const wanted = record.saved.flatMap(({ values }) => values[taken] as readonly GraphValue[]);
    const results = interpreter.run(branch, [...inputs, ...(kept ?? [])], wanted);
    const history = new Map<Saved, readonly Tensor[]>();
    let first = branch.outputs.length;
    for (const saved of record.saved) {
      const end = first + (saved.values[taken] as readonly GraphValue[]).length;
      history.set(saved, results.slice(first, end));
      first = end;
    }
    histories.set(record, history);
    return results.slice(0, branch.outputs.length);
  }

  protected override copied(attrs: Attrs, interpreter: Interpreter): Attrs {
    const { record, restored } = attrs as CaseAttrs;
    const own = new ForwardRecord();
    interpreter.histories.set(record, own);
    const copy: CaseAttrs = {
      ...(attrs as CaseAttrs),
      ...(interpreter.effects ? {} : { written: [] }),
      record: own,
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
    restored: saved.every((values) => values.length === 0) ? null : restoring(record, saved, op.name),
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

/** What a gradient restores of the node that it belongs to. @throws UnimplementedError where the two are not in one graph. */
export function restoring(
  record: ForwardRecord,
  values: readonly (readonly GraphValue[])[],
  op: string,
): Saved {
  if (record.tracer !== context.tracer) {
    throw new UnimplementedError(
      'the gradient has to be taken in the function, branch or loop that the op stands in, not in one inside of that',
      op,
    );
  }
  return record.save(values);
}

/** Body and results of a traced branch or loop. */
export interface TracedBody {
  readonly tracer: FunctionTracer;
  readonly outputs: readonly GraphValue[];
}

/** Traces a body of a branch or loop of the function that is being traced. */
export function traceBody(name: string, fn: (tracer: FunctionTracer) => readonly Tensor[]): TracedBody {
  const tracer = new FunctionTracer(name, false, currentTracer());
  return tracer.run(() => {
    const outputs = fn(tracer).map((t) => tracer.valueOf(t));
    return { tracer, outputs };
  });
}

/** @throws InternalError when no function is traced. */
export function currentTracer(): FunctionTracer {
  const { tracer } = context;
  if (!(tracer instanceof FunctionTracer)) throw new InternalError('no function is being traced');
  return tracer;
}

/**
 * Makes bodies take the same arguments: the values of variables that one of them changes, then all else that any uses.
 * @param first how many arguments each has already, which stay in front.
 * @returns what the arguments behind those are outside.
 */
export function shareArguments(
  bodies: readonly TracedBody[],
  written: Written,
  first: number,
): readonly (Tensor | Variable)[] {
  const from = new Set<Tensor | Variable>(written);
  for (const { tracer } of bodies) for (const outside of tracer.outside) from.add(outside.from);
  for (const { tracer } of bodies) {
    const { graph } = tracer;
    const known = new Map(tracer.outside.map((o) => [o.from, o.argument]));
    const rest = [...from].map((f) => {
      const argument = known.get(f);
      if (argument !== undefined) return argument;
      const { dtype, shape } = f;
      return graph.add('Placeholder', { kind: 'argument' }, [], { dtype, shape }, [f], { name: 'unused' })
        .outputs[0] as GraphValue;
    });
    graph.arguments.splice(first, graph.arguments.length - first, ...rest);
  }
  return [...from];
}

/** The values of what bodies use of outside, told to tapes there. */
export function takenFromOutside(from: readonly (Tensor | Variable)[]): Tensor[] {
  return from.map((f) => (f instanceof Variable ? f.taken() : f));
}

/** The variables that any of the bodies changes. */
export function writtenBy(bodies: readonly TracedBody[]): Variable[] {
  return [...new Set(bodies.flatMap(({ tracer }) => tracer.assigned().map((a) => a.variable)))];
}

/** What a variable is at the end of a body. */
export function lastValues({ tracer }: TracedBody, written: Written): GraphValue[] {
  return tracer.run(() => written.map((v) => tracer.valueOf(tracer.read(v))));
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
    if (
      outputs.length !== expected.length ||
      !outputs.every((v, k) => v.dtype === expected[k]?.dtype && sameShape(v.shape, expected[k].shape))
    ) {
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
  written.forEach((variable, i) => {
    variable.assign(results[expected.length + i] as Tensor);
  });
  return results.slice(0, expected.length);
}

/** `float32 [2,3], int32 []`, for messages. */
export function showValues(values: readonly (GraphValue | Tensor)[]): string {
  return values.length === 0 ? 'none' : values.map((v) => `${v.dtype} ${showShape(v.shape)}`).join(', ');
}
