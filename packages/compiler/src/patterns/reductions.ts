import {
  dtypeTraits,
  encodeScalarProgram,
  mapReductions,
  type Plan,
  type PlanCall,
  type PlanTensor,
  scalarProgramLimits,
  Uses,
} from '@eagre/backend';
import { isScalarCall, listAttr, type ScalarCall } from '../tensors.ts';

const kinds: readonly unknown[] = mapReductions;
// A run costs about as much as reducing this many elements; so few of them are less than a call.
const MIN_WIDTH = 16;
const FEW_RUNS = 8;
// An input that repeats within less than this is faster in a program by itself, which has ways for that.
const MIN_REPEATED = 16;

/**
 * Reduces what a scalar program makes in the same sweep, by MapReduce: over trailing axes, or all. Values that nobody else reads then
 * never reach memory; those that others read are written, but not read once more.
 *
 * The reduction moves to the place of the program, over no call that touches a state which it writes. A program that writes over its
 * inputs stays as it is. MapReduce keeps every bit.
 */
export function fuseReductions(plan: Plan): Plan {
  const fusion = new Reductions(plan);
  // One program has runs of one width: what makes values vanish may choose it.
  plan.calls.forEach((_, at) => fusion.take(at, true));
  plan.calls.forEach((_, at) => fusion.take(at, false));
  return { ...plan, calls: fusion.calls() };
}

/** One output of a MapReduce. */
interface Result {
  /** Which output of the program. */
  readonly from: number;
  /** A place in `mapReductions`. */
  readonly reduction: number;
  readonly tensor: PlanTensor;
}

/** A program that reduces. */
interface Sweep {
  readonly width: number;
  readonly results: readonly Result[];
  readonly names: readonly string[];
}

class Reductions {
  readonly #plan: Plan;
  readonly #uses: Uses;
  /** By the place of the program. */
  readonly #sweeps = new Map<number, Sweep>();
  /** Places of reductions that programs took in. */
  readonly #taken = new Set<number>();

  constructor(plan: Plan) {
    this.#plan = plan;
    this.#uses = new Uses(plan);
  }

  calls(): PlanCall[] {
    return this.#plan.calls.flatMap((call, at) => {
      if (this.#taken.has(at)) return [];
      const sweep = this.#sweeps.get(at);
      return sweep === undefined || !isScalarCall(call) ? [call] : [mapReduce(call, sweep)];
    });
  }

  /** Lets a program take in the reduction at that place, if that is one that can be; `vanishing` if only together with its input. */
  take(at: number, vanishing: boolean): void {
    const call = this.#plan.calls[at];
    const reduction = kinds.indexOf(call.kernel);
    if (reduction < 1 || this.#taken.has(at)) return;
    const [input] = call.inputs;
    const [output] = call.outputs;
    const width = widthOf(call);
    if (width === undefined || input.size === 0 || (reduction === 2 && !dtypeTraits[input.dtype].floating))
      return;
    if (width < MIN_WIDTH && input.size / width > FEW_RUNS) return;
    const source = this.#uses.writers[input.value].findLast((writer) => writer < at);
    if (source === undefined) return;
    const program = this.#plan.calls[source];
    if (!isScalarCall(program) || !this.#mayReduce(program)) return;
    const from = program.outputs.findIndex(({ value }) => value === input.value);
    const made = program.outputs[from];
    if (made.size !== input.size || made.dtype !== input.dtype) return;
    if (!this.#mayMove(output.value, program, source, at)) return;

    const sweep = this.#sweeps.get(source) ?? started(program, width);
    if (sweep.width !== width) return;
    const others = this.#uses.readers[input.value].filter(
      (reader) => reader !== at && !this.#taken.has(reader),
    );
    const vanishes = this.#uses.isTemporary(input.value) && others.length === 0;
    if (vanishing && !vanishes) return;
    const kept = sweep.results.filter((result) => !vanishes || result.from !== from || result.reduction > 0);
    if (kept.length >= scalarProgramLimits.outputs) return;
    this.#taken.add(at);
    this.#sweeps.set(source, {
      width,
      results: [...kept, { from, reduction, tensor: output }],
      names: [...sweep.names, call.name],
    });
  }

  #mayReduce({ inputs, outputs }: ScalarCall): boolean {
    return (
      outputs.every(({ value }) => inputs.every((input) => input.value !== value)) &&
      inputs.every((input) => repeatsLong(input, outputs[0]))
    );
  }

  /** Whether a value may be written by the program at `source` instead of the reduction at `at`. */
  #mayMove(value: number, program: PlanCall, source: number, at: number): boolean {
    const { readers, writers } = this.#uses;
    const between = (call: number): boolean => call > source && call < at;
    return (
      !readers[value].some(between) &&
      !writers[value].some(between) &&
      ![...program.inputs, ...program.outputs].some((tensor) => tensor.value === value)
    );
  }
}

function started(program: ScalarCall, width: number): Sweep {
  const results = program.outputs.map((tensor, from) => ({ from, reduction: 0, tensor }));
  return { width, results, names: [program.name] };
}

function mapReduce(call: ScalarCall, { width, results, names }: Sweep): PlanCall {
  const outputs = results.map(({ from }) => call.kernel.outputs[from]);
  return {
    kernel: 'MapReduce',
    inputs: call.inputs,
    outputs: results.map(({ tensor }) => tensor),
    attrs: {
      program: encodeScalarProgram({ ...call.kernel, outputs }),
      shape: call.outputs[0].shape,
      width,
      reductions: results.map(({ reduction }) => reduction),
    },
    name: names.join('+'),
  };
}

/** How many neighbouring elements a reduction makes one of; undefined where they are no neighbours. */
export function widthOf({ inputs: [{ shape }], attrs }: PlanCall): number | undefined {
  const axes = listAttr(attrs['axes']);
  if (axes === undefined) return undefined;
  let width = 1;
  let kept = false;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (shape[axis] === 1) continue;
    if (!axes.includes(axis)) kept = true;
    else if (kept) return undefined;
    else width *= shape[axis];
  }
  return width;
}

/** Whether a program that makes `made` finds inputs in long rows of one element, or of neighbours, each. */
export function repeatsLong(input: PlanTensor, { shape, size }: PlanTensor): boolean {
  if (input.size === size || input.size === 1) return true;
  const skipped = shape.length - input.shape.length;
  let run = 1;
  let repeated: boolean | undefined;
  for (let axis = shape.length - 1; axis >= 0; axis--) {
    if (shape[axis] === 1) continue;
    const here = axis < skipped || input.shape[axis - skipped] === 1;
    if (repeated !== undefined && repeated !== here) break;
    repeated = here;
    run *= shape[axis];
  }
  return run >= MIN_REPEATED;
}
