// Steps of optimizers, in place, variable by variable. The numbers that may change from step to step are float64 scalars in memory.
import type { KernelAttrs } from '@eagre/backend';
import { cudaForms } from './cuda-forms.ts';
import {
  type Call,
  type Dispatch,
  fits,
  type GpuKernels,
  type GpuProgram,
  groups,
  head,
  type Lowered,
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

/** Types of elements: of a variable with what is kept of it, and of its gradient, which may have fewer bits. */
interface Types {
  readonly own: string;
  readonly gradient: string;
}

/** Statements that step a variable's elements from `first` on. */
function stepText({ slots, body }: Step): string {
  const many = Array.from({ length: AT_ONCE }, (_, k) => k);
  // Each element has variables of its own.
  const names = new RegExp(`(?<![.\\w])(${[...slots, 'grad', ...LOCALS].join('|')})\\b`, 'g');
  const of = (k: number): string => body.replaceAll(names, `$1${k}`);
  const load = (k: number): string =>
    `let e${k} = e + ${k * GROUP}u; let grad${k} = grads[e${k}]; ${slots.map((name) => `var ${name}${k} = ${name}s[e${k}];`).join(' ')}`;
  const use = (k: number): string =>
    `${of(k)} ${slots.map((name) => `${name}s[e${k}] = ${name}${k};`).join(' ')}`;
  return `if (first + ${GROUP * (AT_ONCE - 1)}u < p.size) { let e = first; ${many.map(load).join(' ')} ${many.map(use).join('\n')} }
  else { for (var e = first; e < p.size; e += ${GROUP}u) { ${load(0)} ${use(0)} } }`;
}

function stepProgram(step: Step, { own, gradient }: Types): GpuProgram {
  const { slots, scalars, params } = step;
  const buffers = Object.fromEntries([
    ...slots.map((name) => [`${name}s`, `mut ${own}`]),
    ['grads', gradient],
    ...scalars.map((name) => [`${name}s`, 'u32']),
  ]) as Record<string, string>;
  const fields = Object.fromEntries(Object.keys(params).map((name) => [name, 'f32' as const]));
  return programOf(`${head(buffers, { ...fields, size: 'u32' })}
@compute @workgroup_size(${GROUP})
fn main(@builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) all: vec3u, @builtin(local_invocation_index) t: u32) {
  let first = (group.y * all.x + group.x) * ${GROUP * AT_ONCE}u + t;
  ${scalars.map((name) => `let ${name} = doubleToF(${name}s[0], ${name}s[1]);`).join(' ')}
  ${stepText(step)}
}`);
}

const made = new Map<string, GpuProgram>();

/** The program of steps of a variable, made once. */
function known(step: Step, types: Types): GpuProgram {
  const { slots, scalars, params, body } = step;
  const key = [types.own, types.gradient, slots, scalars, Object.keys(params), body].join(' ');
  let program = made.get(key);
  if (program === undefined) made.set(key, (program = stepProgram(step, types)));
  return program;
}

function steps({ inputs, attrs }: Call, step: Step): Lowered | undefined {
  const { scalars, params } = step;
  const count = attrs.count as number;
  const each = (inputs.length - scalars.length) / count;
  if (!fits(...inputs)) return undefined;
  const own = floatType(inputs[0].dtype);
  const rates = scalars.map((_, k) => count * each + k);
  const dispatches: Dispatch[] = [];
  for (let i = 0; i < count; i++) {
    const { size } = inputs[i * each];
    if (size === 0) continue;
    const gradient = floatType(inputs[i * each + each - 1].dtype);
    dispatches.push({
      program: known(step, { own, gradient }),
      operands: [...Array.from({ length: each }, (_, k) => i * each + k), ...rates],
      params: [...Object.values(params), size],
      workgroups: groups(Math.ceil(size / (GROUP * AT_ONCE))),
    });
  }
  const joined = cudaForms()?.sideBySide;
  const cuda = joined && perCapability(() => ({ dispatches: joined(dispatches), scratch: 0 }));
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
