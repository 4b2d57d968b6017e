// Steps of optimizers, in place, variable by variable. The numbers that may change from step to step are float64 scalars in memory.
import type { KernelAttrs } from '@eagre/backend';
import {
  type Call,
  type Dispatch,
  fits,
  type GpuKernels,
  type GpuProgram,
  groups,
  head,
  type Lowered,
  lowered,
  perCapability,
  programOf,
} from './kernel.ts';
import { floats, floatType } from './scalar-program.ts';

/** What an optimizer keeps of a variable, and what it does with one element. */
interface Step {
  /** Names of a variable's inputs, the variable first, without its gradient. */
  readonly slots: readonly string[];
  /** Names of the scalars at the end. */
  readonly scalars: readonly string[];
  readonly params: Readonly<Record<string, number>>;
  /** Statements on `grad`, the slots' variables and `p`, which may declare `square`, `scale` and `step`. */
  readonly body: string;
}

const GROUP = 256;
/** Elements of a thread, whose loads it issues before it uses the first. */
const AT_ONCE = 4;

/** The variables that the body of a step may declare. */
const LOCALS = ['square', 'scale', 'step'];

/** Variables that GPUs of NVIDIA, which bind any number of buffers, step in one dispatch, and how few are worth one. */
const TOGETHER = 16;
const FEW = 4;

/** Types of elements: of a variable with what is kept of it, and of its gradient, which may have fewer bits. */
interface Types {
  readonly own: string;
  readonly gradient: string;
}

/** The buffers of a variable, of which there are several. */
function buffersOf({ slots }: Step, { own, gradient }: Types, number: number | ''): Record<string, string> {
  const buffers: Record<string, string> = {};
  for (const name of slots) buffers[`${name}s${number}`] = `mut ${own}`;
  buffers[`grads${number}`] = gradient;
  return buffers;
}

/** Statements that step a variable's elements from `first` on, below `size`. */
function stepText({ slots, body }: Step, number: number | '', size: string): string {
  const many = Array.from({ length: AT_ONCE }, (_, k) => k);
  // Each element has variables of its own.
  const names = new RegExp(`(?<![.\\w])(${[...slots, 'grad', ...LOCALS].join('|')})\\b`, 'g');
  const of = (k: number): string => body.replaceAll(names, `$1${k}`);
  const load = (k: number): string =>
    `let e${k} = e + ${k * GROUP}u; let grad${k} = grads${number}[e${k}]; ${slots.map((name) => `var ${name}${k} = ${name}s${number}[e${k}];`).join(' ')}`;
  const use = (k: number): string =>
    `${of(k)} ${slots.map((name) => `${name}s${number}[e${k}] = ${name}${k};`).join(' ')}`;
  return `if (first + ${GROUP * (AT_ONCE - 1)}u < ${size}) { let e = first; ${many.map(load).join(' ')} ${many.map(use).join('\n')} }
  else { for (var e = first; e < ${size}; e += ${GROUP}u) { ${load(0)} ${use(0)} } }`;
}

function programOfSteps(
  step: Step,
  buffers: Readonly<Record<string, string>>,
  numbers: readonly string[],
  text: string,
): GpuProgram {
  const { scalars, params } = step;
  const read = Object.fromEntries(scalars.map((name) => [`${name}s`, 'u32']));
  const fields = Object.fromEntries(Object.keys(params).map((name) => [name, 'f32' as const]));
  const more = Object.fromEntries(numbers.map((name) => [name, 'u32' as const]));
  return programOf(`${head({ ...buffers, ...read }, { ...fields, ...more })}
@compute @workgroup_size(${GROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) t: u32) {
  let block = group.y * all.x + group.x;
  ${scalars.map((name) => `let ${name} = doubleToF(${name}s[0], ${name}s[1]);`).join(' ')}
  ${text}
}`);
}

const stepProgram = (step: Step, types: Types): GpuProgram =>
  programOfSteps(
    step,
    buffersOf(step, types, ''),
    ['size'],
    `let first = block * ${GROUP * AT_ONCE}u + t; ${stepText(step, '', 'p.size')}`,
  );

/** Several variables, whose workgroups follow each other: those of variable i end before `end`i. */
function togetherProgram(step: Step, types: Types): GpuProgram {
  const all = Array.from({ length: TOGETHER }, (_, i) => i);
  const start = (i: number): string => (i === 0 ? '0u' : `p.end${i - 1}`);
  const text = all.map(
    (i) =>
      `if (block < p.end${i}) { let first = (block - ${start(i)}) * ${GROUP * AT_ONCE}u + t; ${stepText(step, i, `p.size${i}`)} }`,
  );
  return programOfSteps(
    step,
    Object.assign({}, ...all.map((i) => buffersOf(step, types, i))),
    all.flatMap((i) => [`end${i}`, `size${i}`]),
    text.join(' else '),
  );
}

const made = new Map<string, GpuProgram>();

/** The program of steps of one variable or several, made once. */
function known(count: 1 | typeof TOGETHER, step: Step, types: Types): GpuProgram {
  const key = [
    count,
    types.own,
    types.gradient,
    step.slots,
    step.scalars,
    Object.keys(step.params),
    step.body,
  ].join(' ');
  let program = made.get(key);
  if (program === undefined)
    made.set(key, (program = (count === 1 ? stepProgram : togetherProgram)(step, types)));
  return program;
}

const groupsOf = (size: number): number => Math.ceil(size / (GROUP * AT_ONCE));

function steps({ inputs, attrs }: Call, step: Step): Lowered | undefined {
  const { scalars, params } = step;
  const count = attrs.count as number;
  const each = (inputs.length - scalars.length) / count;
  if (!fits(...inputs)) return undefined;
  const own = floatType(inputs[0].dtype);
  const variables = Array.from({ length: count }, (_, i) => ({
    size: inputs[i * each].size,
    gradient: floatType(inputs[i * each + each - 1].dtype),
    operands: Array.from({ length: each }, (_, k) => i * each + k),
  })).filter(({ size }) => size > 0);
  const rates = scalars.map((_, k) => count * each + k);
  const numbers = Object.values(params);
  const alone = ({ size, gradient, operands }: (typeof variables)[number]): Dispatch => ({
    program: known(1, step, { own, gradient }),
    operands: [...operands, ...rates],
    params: [...numbers, size],
    workgroups: groups(groupsOf(size)),
  });
  const dispatches = variables.map(alone);
  if (variables.length < FEW) return lowered(...dispatches);
  const together = (some: typeof variables): Dispatch => {
    let end = 0;
    // The last one fills the places that are left, without elements.
    const missing = Array.from({ length: TOGETHER - some.length }, () => some[some.length - 1]);
    const ends = some
      .flatMap(({ size }) => [(end += groupsOf(size)), size])
      .concat(missing.flatMap(() => [end, 0]));
    return {
      program: known(TOGETHER, step, { own, gradient: some[0].gradient }),
      operands: [...[...some, ...missing].flatMap(({ operands }) => operands), ...rates],
      params: [...numbers, ...ends],
      workgroups: groups(end),
    };
  };
  const cuda = perCapability(() => {
    const dispatches: Dispatch[] = [];
    for (const type of new Set(variables.map(({ gradient }) => gradient))) {
      const alike = variables.filter(({ gradient }) => gradient === type);
      for (let done = 0; done < alike.length; done += TOGETHER) {
        const some = alike.slice(done, done + TOGETHER);
        dispatches.push(...(some.length < FEW ? some.map(alone) : [together(some)]));
      }
    }
    return { dispatches, scratch: 0 };
  });
  return { dispatches, scratch: [], cuda };
}

const numbersOf = (attrs: KernelAttrs): Record<string, number> =>
  Object.fromEntries(Object.entries(attrs).map(([name, value]) => [name, Number(value)]));

export const kernels: GpuKernels = {
  ApplyGradientDescent: {
    dtypes: floats,
    lower: (call) =>
      steps(call, { slots: ['weight'], scalars: ['lr'], params: {}, body: 'weight = weight - lr * grad;' }),
  },
  ApplyMomentum: {
    dtypes: floats,
    lower: (call) => {
      const { momentum, nesterov } = numbersOf(call.attrs);
      return steps(call, {
        slots: ['weight', 'm'],
        scalars: ['lr'],
        params: { momentum },
        body: `m = p.momentum * m - lr * grad; weight = weight + ${nesterov ? '(p.momentum * m - lr * grad)' : 'm'};`,
      });
    },
  },
  ApplyRMSProp: {
    dtypes: floats,
    lower: (call) => {
      const { rho, momentum, epsilon, centered } = numbersOf(call.attrs);
      return steps(call, {
        slots: ['weight', 'rms', ...(centered ? ['mg'] : []), ...(momentum > 0 ? ['mom'] : [])],
        scalars: ['lr'],
        params: { rho, rest: 1 - rho, momentum, epsilon },
        body: `rms = p.rho * rms + p.rest * grad * grad; var square = rms;
          ${centered ? 'mg = p.rho * mg + p.rest * grad; square = square - mg * mg;' : ''}
          let step = fDiv(lr * grad, fSqrt(square + p.epsilon));
          ${momentum > 0 ? 'mom = p.momentum * mom + step; weight = weight - mom;' : 'weight = weight - step;'}`,
      });
    },
  },
  ApplyAdam: {
    dtypes: floats,
    lower: (call) => {
      const { beta1, beta2, epsilon, weightDecay, amsgrad } = numbersOf(call.attrs);
      return steps(call, {
        slots: ['weight', 'm', 'v', ...(amsgrad ? ['vhat'] : [])],
        scalars: ['alpha', 'lr'],
        params: { rest1: 1 - beta1, rest2: 1 - beta2, epsilon, weightDecay },
        body: `m = m + (grad - m) * p.rest1; v = v + (grad * grad - v) * p.rest2;
          ${amsgrad ? 'vhat = fMax(vhat, v);' : ''} let scale = fSqrt(${amsgrad ? 'vhat' : 'v'}) + p.epsilon;
          weight = (weight - weight * p.weightDecay * lr) - fDiv(alpha * m, scale);`,
      });
    },
  },
};
