import {
  type AttrValue,
  dtypeTraits,
  type Plan,
  type PlanCall,
  type PlanTensor,
  type ScalarOp,
  Uses,
} from '@eagre/backend';
import { isScalarCall, numberAttr } from '../tensors.ts';
import { widthOf } from './reductions.ts';

/**
 * Makes one kernel of softmax, its logarithm, and layer and RMS normalisation that are written by hand over trailing axes, x standing
 * for rows:
 * - exp(x − max(x)) / sum(exp(x − max(x)))
 * - x − max(x) − log(sum(exp(x − max(x))))
 * - d · rsqrt(mean(d²) + ε) · γ + β with d = x − mean(x), or d = x; or d / sqrt(mean(d²) + ε); ε, γ and β may be absent, and mean(x)
 *   and mean(d²) may come from one call of Moments
 *
 * Only where nobody else reads what lies between; but normalisations also give the mean and the inverse deviation to others, and what
 * others need of d is computed as before. Without max(x) nothing is recognised, since it would overflow elsewhere.
 *
 * The kernels round otherwise than the separate calls, by a few units in the last place: they multiply by an inverse instead of
 * dividing, and some keep sums in float64. NaN and infinities are the same, unless d² overflows to an infinity.
 */
export function recogniseRows(plan: Plan): Plan {
  const rows = new Recogniser(plan);
  // From the end, so that γ and β are seen before what they belong to.
  for (let at = plan.calls.length - 1; at >= 0; at--) rows.visit(at);
  return rows.finish();
}

/** How a tensor lies over rows of elements: all of them, one for each row, one row for all, one element for all. */
type Role = 'full' | 'row' | 'column' | 'one';

/** What computes a value. */
interface Expression {
  readonly op: ScalarOp | 'Max' | 'Sum' | 'Mean' | 'Variance' | 'unknown';
  readonly args: readonly Term[];
  readonly value: number;
}

/** A value as rows see it, or one inside of a scalar program, which has no tensor. The same value is the same term. */
interface Term {
  readonly role: Role | undefined;
  readonly tensor: PlanTensor | undefined;
  /** The call that makes it. */
  readonly at: number;
  readonly expression: () => Expression;
}

const unknown: Expression = { op: 'unknown', args: [], value: 0 };

/** The terms of a plan, for rows of one width among tensors of one size. */
class Terms {
  readonly #plan: Plan;
  readonly #uses: Uses;
  readonly #size: number;
  readonly #width: number;
  readonly #known = new Map<string, Term>();

  constructor(plan: Plan, uses: Uses, size: number, width: number) {
    this.#plan = plan;
    this.#uses = uses;
    this.#size = size;
    this.#width = width;
  }

  of(tensor: PlanTensor, role: Role | undefined): Term {
    const key = `${tensor.value} ${tensor.dtype} ${role}`;
    let term = this.#known.get(key);
    if (term === undefined) {
      // A state may be another value elsewhere.
      const at = this.#uses.states.has(tensor.value) ? -1 : (this.#uses.writers[tensor.value][0] ?? -1);
      let expression: Expression | undefined;
      const expand = (): Expression => (expression ??= at < 0 ? unknown : this.#made(tensor, role, at));
      this.#known.set(key, (term = { role, tensor, at, expression: expand }));
    }
    return term;
  }

  #made(tensor: PlanTensor, role: Role | undefined, at: number): Expression {
    const call = this.#plan.calls[at];
    if (isScalarCall(call)) {
      const output = call.outputs.findIndex(({ value }) => value === tensor.value);
      if (call.outputs[output].size !== tensor.size) return unknown;
      return this.#results(call, role, at)[output].expression();
    }
    const { kernel, inputs, attrs } = call;
    if (kernel === 'Fill') {
      const value = numberAttr(attrs['value']);
      return value === undefined ? unknown : { op: 'const', args: [], value };
    }
    let op: Expression['op'];
    if (kernel === 'Moments') op = tensor.value === call.outputs[0].value ? 'Mean' : 'Variance';
    else if (kernel === 'Max' || kernel === 'Sum' || kernel === 'Mean') op = kernel;
    else return unknown;
    if (role !== 'row' || inputs[0].size !== this.#size || widthOf(call) !== this.#width) return unknown;
    return { op, args: [this.of(inputs[0], 'full')], value: 0 };
  }

  #results(call: PlanCall, role: Role | undefined, at: number): Term[] {
    if (!isScalarCall(call)) return [];
    const { instrs, outputs } = call.kernel;
    const terms = call.inputs.map((input) =>
      this.of(input, this.#roleOf(input, call.outputs[0].shape, role)),
    );
    for (const { op, args, value } of instrs) {
      const expression = { op, args: args.map((arg) => terms[arg]), value };
      terms.push({ role, tensor: undefined, at, expression: () => expression });
    }
    return outputs.map((id) => terms[id]);
  }

  /** The role of an input of a scalar program that makes tensors of the given shape, which have the role `made`. */
  #roleOf({ size, shape }: PlanTensor, over: readonly number[], made: Role | undefined): Role | undefined {
    const rows = this.#size / this.#width;
    if (size === 1) return rows === 1 ? 'row' : 'one';
    if (made === 'row') return size === rows ? 'row' : undefined;
    if (made !== 'full') return undefined;
    if (size === this.#size) return 'full';
    // The axes from `first` on are a row.
    let first = over.length;
    let width = 1;
    while (width < this.#width && first > 0) width *= over[--first];
    if (width !== this.#width) return undefined;
    const skipped = over.length - shape.length;
    const reads = (axis: number): boolean => axis >= skipped && shape[axis - skipped] !== 1;
    const axes = over.map((_, axis) => axis);
    if (size === rows && !axes.slice(first).some(reads)) return 'row';
    return size === this.#width && !axes.slice(0, first).some(reads) ? 'column' : undefined;
  }
}

/** What was recognised. */
interface Pattern {
  readonly kernel: 'Softmax' | 'LogSoftmax' | 'LayerNorm' | 'RMSNorm';
  readonly x: PlanTensor;
  readonly gamma?: PlanTensor | undefined;
  readonly beta?: PlanTensor | undefined;
  readonly epsilon?: number;
  /** Terms that the kernel makes as well, if they are values. */
  readonly mean?: Term;
  readonly inverse?: Term | undefined;
  /** What must not be needed any more: the kernel would save nothing. */
  readonly saved: Term;
}

class Recogniser {
  readonly #plan: Plan;
  readonly #uses: Uses;
  readonly #bytes: number[];
  readonly #widths = new Map<number, Set<number>>();
  readonly #terms = new Map<string, Terms>();
  /** By place: what stands there instead; before it where the call itself stays. */
  readonly #kernels = new Map<number, PlanCall>();
  readonly #removed = new Set<number>();
  /** Calls of a pattern, which are part of no other. */
  readonly #taken = new Set<number>();

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#uses = new Uses(plan);
    this.#bytes = [...plan.bytes];
    for (const call of plan.calls) {
      if (call.kernel !== 'Max' && call.kernel !== 'Mean' && call.kernel !== 'Moments') continue;
      const [{ size }] = call.inputs;
      const width = widthOf(call);
      if (width === undefined || width < 2 || size === 0) continue;
      const widths = this.#widths.get(size);
      if (widths === undefined) this.#widths.set(size, new Set([width]));
      else widths.add(width);
    }
  }

  finish(): Plan {
    if (this.#kernels.size === 0) return this.#plan;
    const calls = this.#plan.calls.flatMap((call, at) => {
      const kernel = this.#kernels.get(at);
      const kept = this.#removed.has(at) ? [] : [call];
      return kernel === undefined ? kept : [kernel, ...kept];
    });
    return { ...this.#plan, bytes: this.#bytes, calls };
  }

  /** Looks for a pattern whose result the call at that place makes. */
  visit(at: number): void {
    const call = this.#plan.calls[at];
    if (!isScalarCall(call) || call.outputs.length !== 1 || this.#taken.has(at)) return;
    const [output] = call.outputs;
    if (!dtypeTraits[output.dtype].floating || this.#uses.states.has(output.value)) return;
    for (const width of this.#widths.get(output.size) ?? []) {
      const key = `${output.size} ${width}`;
      let terms = this.#terms.get(key);
      if (terms === undefined)
        this.#terms.set(key, (terms = new Terms(this.#plan, this.#uses, output.size, width)));
      const pattern = recognise(terms.of(output, 'full'));
      if (pattern !== undefined && this.#replace(at, pattern, width)) return;
    }
  }

  #replace(at: number, pattern: Pattern, width: number): boolean {
    const { x, gamma, beta, mean, inverse, saved } = pattern;
    const given = [x, gamma, beta].filter((tensor) => tensor !== undefined);
    const inner = this.#inner(at, new Set(given.map(({ value }) => value)));
    const places = [...inner].sort((a, b) => a - b);
    if (places.some((place) => this.#taken.has(place))) return false;
    const made = [this.#plan.calls[at].outputs[0], mean?.tensor, inverse?.tensor].filter(
      (tensor) => tensor !== undefined,
    );
    const values = new Set(made.map(({ value }) => value));
    const needed = this.#needed(inner, values);
    if (needed.has(saved.at)) return false;
    // Who writes one of them has no other results that somebody needs.
    const writes = (place: number): boolean =>
      this.#plan.calls[place].outputs.some(({ value }) => values.has(value));
    if ([...needed].some(writes)) return false;
    // As early as its results may be read; at the end where it only makes the last of them.
    const others = made.slice(1).some(({ value }) => this.#uses.readers[value].some((r) => !inner.has(r)));
    const place = needed.size > 0 || others ? Math.min(saved.at, mean?.at ?? saved.at) : at;
    if (!given.every((tensor) => this.#mayRead(tensor, places[0], place, at))) return false;
    for (const inside of inner) {
      this.#taken.add(inside);
      if (!needed.has(inside)) this.#removed.add(inside);
    }
    this.#kernels.set(place, this.#call(at, pattern, width));
    return true;
  }

  /** The calls that compute the result of the one at `at` from these values. */
  #inner(at: number, given: ReadonlySet<number>): Set<number> {
    const found = new Set([at]);
    for (const place of found) {
      for (const { value } of this.#plan.calls[place].inputs) {
        const [writer] = this.#uses.states.has(value) ? [] : this.#uses.writers[value];
        if (!given.has(value) && writer !== undefined) found.add(writer);
      }
    }
    return found;
  }

  /** Which of the calls must stay, since others read what they write, where these values are written by somebody else. */
  #needed(inner: ReadonlySet<number>, made: ReadonlySet<number>): Set<number> {
    const needed = new Set<number>();
    const isNeeded = (place: number): boolean =>
      this.#plan.calls[place].outputs.some(
        ({ value }) =>
          !made.has(value) &&
          (!this.#uses.isTemporary(value) ||
            this.#uses.readers[value].some((reader) => !inner.has(reader) || needed.has(reader))),
      );
    for (const place of [...inner].sort((a, b) => b - a)) if (isNeeded(place)) needed.add(place);
    return needed;
  }

  /** Whether a value can be read at `place` as it was read between `first` and `last`. */
  #mayRead({ value }: PlanTensor, first: number, place: number, last: number): boolean {
    const { states, writers } = this.#uses;
    if (states.has(value)) return !this.#uses.writtenWithin(value, first - 1, last);
    return (writers[value][0] ?? -1) < place;
  }

  #call(at: number, pattern: Pattern, width: number): PlanCall {
    const { kernel, x, gamma, beta, epsilon, mean, inverse } = pattern;
    const { outputs, name } = this.#plan.calls[at];
    const rows = x.size / width;
    const over = (tensor: PlanTensor): PlanTensor => ({ ...tensor, shape: [rows, width] });
    const perRow = (tensor: PlanTensor | undefined): PlanTensor => {
      const bytes = rows * dtypeTraits[x.dtype].bytes;
      const value = tensor?.value ?? this.#bytes.push(bytes) - 1;
      return { value, dtype: x.dtype, shape: [rows], size: rows };
    };
    const scales = [gamma, beta].filter((tensor) => tensor !== undefined);
    const results = [over(outputs[0])];
    if (kernel === 'LayerNorm') results.push(perRow(mean?.tensor));
    if (epsilon !== undefined) results.push(perRow(inverse?.tensor));
    const attrs: Record<string, AttrValue> = {};
    if (epsilon !== undefined) Object.assign(attrs, { epsilon, scaled: gamma !== undefined });
    if (kernel === 'LayerNorm') attrs['shifted'] = beta !== undefined;
    return {
      kernel,
      inputs: [over(x), ...scales.map((tensor) => ({ ...tensor, shape: [width] }))],
      outputs: results,
      attrs,
      name,
    };
  }
}

function recognise(result: Term): Pattern | undefined {
  return softmax(result) ?? logSoftmax(result) ?? norm(result);
}

/** The operands of a term that is made by the operation; none otherwise. */
function operands(term: Term | undefined, op: Expression['op']): readonly Term[] {
  const expression = term?.expression();
  return expression?.op === op ? expression.args : [];
}

/** Both orders of the operands of such a term. */
function orders(term: Term | undefined, op: 'add' | 'mul'): (readonly Term[])[] {
  const both = operands(term, op);
  return both.length === 0 ? [] : [both, both.toReversed()];
}

/** Whether two are the same value, or the same difference in two programs. */
function same(a: Term | undefined, b: Term | undefined): boolean {
  if (a === undefined || b === undefined || a === b) return a === b;
  const [x, y] = operands(a, 'sub');
  const [z, w] = operands(b, 'sub');
  return x !== undefined && x === z && y === w;
}

/** x, where the term is x − max(x). */
function shifted(term: Term | undefined): Term | undefined {
  const [x, most] = operands(term, 'sub');
  const [maximised] = operands(most, 'Max');
  return x !== undefined && x === maximised ? x : undefined;
}

function softmax(result: Term): Pattern | undefined {
  const [exponentials, sum] = operands(result, 'div');
  const [summed] = operands(sum, 'Sum');
  const x = shifted(operands(exponentials, 'exp')[0])?.tensor;
  if (x === undefined || summed !== exponentials) return undefined;
  return { kernel: 'Softmax', x, saved: exponentials };
}

function logSoftmax(result: Term): Pattern | undefined {
  const [difference, log] = operands(result, 'sub');
  const [exponentials] = operands(operands(log, 'log')[0], 'Sum');
  const x = shifted(difference)?.tensor;
  if (x === undefined || !same(operands(exponentials, 'exp')[0], difference)) return undefined;
  return { kernel: 'LogSoftmax', x, saved: exponentials };
}

function norm(result: Term): Pattern | undefined {
  for (const [rest, beta] of [[result, undefined] as const, ...columns(result, 'add')]) {
    for (const [core, gamma] of [[rest, undefined] as const, ...columns(rest, 'mul')]) {
      const found = normalised(core);
      // RMSNorm has no offset.
      if (found === undefined || (found.kernel === 'RMSNorm' && beta !== undefined)) continue;
      return { ...found, gamma, beta };
    }
  }
  return undefined;
}

/** The ways to see a term as something with one row for all rows added or multiplied. */
function columns(term: Term, op: 'add' | 'mul'): (readonly [Term, PlanTensor])[] {
  return orders(term, op).flatMap(([rest, { role, tensor }]) =>
    role === 'column' && tensor !== undefined ? [[rest, tensor] as const] : [],
  );
}

/** d · rsqrt(mean(d²) + ε) and what means the same. */
function normalised(term: Term): Pattern | undefined {
  for (const { d, under, inverse } of inverted(term)) {
    for (const [variance, epsilon] of withConstant(under)) {
      const [x, mean] = operands(d, 'sub');
      const [averaged] = operands(mean, 'Mean');
      const [spread] = operands(variance, 'Variance');
      if (x?.tensor !== undefined && averaged === x && spread === x)
        return { kernel: 'LayerNorm', x: x.tensor, mean, epsilon, inverse, saved: variance };
      const [square] = operands(variance, 'Mean');
      const [a, b] = operands(square, 'mul');
      if (square === undefined || !same(a, d) || !same(b, d)) continue;
      const parts = { epsilon, inverse, saved: square };
      if (x?.tensor !== undefined && averaged === x)
        return { kernel: 'LayerNorm', x: x.tensor, mean, ...parts };
      if (d.tensor !== undefined && d.role === 'full') return { kernel: 'RMSNorm', x: d.tensor, ...parts };
    }
  }
  return undefined;
}

interface Inverted {
  readonly d: Term;
  /** What stands under the root. */
  readonly under: Term;
  /** One over the root, where it is a value for each row. */
  readonly inverse: Term | undefined;
}

/** The ways to see a term as d over a root. */
function inverted(term: Term): Inverted[] {
  const ways = orders(term, 'mul').flatMap(([d, factor]) => {
    const [one, root] = operands(factor, 'div');
    const [under] = isConstant(one, 1) ? operands(root, 'sqrt') : operands(factor, 'rsqrt');
    const inverse = factor.role === 'row' && factor.tensor !== undefined ? factor : undefined;
    return under === undefined ? [] : [{ d, under, inverse }];
  });
  const [d, divisor] = operands(term, 'div');
  const [under] = operands(divisor, 'sqrt');
  return under === undefined ? ways : [...ways, { d, under, inverse: undefined }];
}

function isConstant(term: Term | undefined, value: number): boolean {
  const expression = term?.expression();
  return expression?.op === 'const' && expression.value === value;
}

/** A term as a term and a constant that is added to it. */
function withConstant(term: Term): (readonly [Term, number])[] {
  const sums = orders(term, 'add').flatMap(([rest, constant]) => {
    const { op, value } = constant.expression();
    return op === 'const' ? [[rest, value] as const] : [];
  });
  return [...sums, [term, 0] as const];
}
