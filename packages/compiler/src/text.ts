import {
  type AttrValue,
  decodeScalarProgram,
  mapReductions,
  type Plan,
  type PlanCall,
  type PlanState,
  type PlanTensor,
  type ScalarInstr,
  type ScalarOp,
  type ScalarProgram,
} from '@eagre/backend';
import { isScalarCall, listAttr, numberAttr } from './tensors.ts';

const infix: Partial<Record<ScalarOp, string>> = {
  add: '+',
  sub: '-',
  mul: '*',
  div: '/',
  floorDiv: '//',
  mod: '%',
  pow: '**',
  eq: '==',
  ne: '!=',
  lt: '<',
  le: '<=',
  gt: '>',
  ge: '>=',
  and: '&&',
  or: '||',
  xor: '^^',
  bitAnd: '&',
  bitOr: '|',
  bitXor: '^',
  shiftLeft: '<<',
  shiftRight: '>>',
};

/**
 * A plan for people: its inputs, states, stacks and outputs, a line for each call, then totals. `%3` is the value of that number; scalar
 * programs are written out, with names t0, t1, … for what they use several times.
 *
 * The bodies of a call follow it, further to the right. They number their values by themselves: `%2=%7` is a state 2 of the body that
 * is value 7 of the plan around it.
 */
export function planToString(plan: Plan): string {
  const { calls, inner, bytes } = totals(plan);
  return [
    header(plan, undefined),
    ...plan.calls.flatMap((call) => showCall(plan, call)),
    `${calls} calls${inner > 0 ? ` and ${inner} in bodies` : ''}, ${bytes} bytes of temporaries`,
  ].join('\n');
}

/** How many calls a plan has, and how many its bodies, and the bytes of all temporaries. */
function totals(plan: Plan): { calls: number; inner: number; bytes: number } {
  const own = new Set([...plan.inputs, ...plan.outputs, ...plan.states.map(({ value }) => value)]);
  const made = new Set(plan.calls.flatMap((call) => call.outputs.map(({ value }) => value)));
  let bytes = 0;
  for (const value of made) if (!own.has(value)) bytes += plan.bytes[value];
  let inner = 0;
  for (const body of plan.calls.flatMap((call) => call.bodies ?? [])) {
    const below = totals(body);
    inner += below.calls + below.inner;
    bytes += below.bytes;
  }
  return { calls: plan.calls.length, inner, bytes };
}

function header(plan: Plan, around: Plan | undefined): string {
  const list = (values: readonly string[]): string => values.join(', ') || 'none';
  const numbers = (values: readonly number[]): string => list(values.map((value) => `%${value}`));
  const state = ({ value, source }: PlanState): string => {
    const outside = around?.states.find((other) => other.source === source);
    return outside === undefined ? `%${value}` : `%${value}=%${outside.value}`;
  };
  const states = plan.states.filter(({ memory }) => memory !== null).map(state);
  const stacks = plan.states.filter(({ memory }) => memory === null).map(state);
  return [
    `inputs ${numbers(plan.inputs)}`,
    `states ${list(states)}`,
    ...(stacks.length > 0 ? [`stacks ${list(stacks)}`] : []),
    `outputs ${numbers(plan.outputs)}`,
  ].join('; ');
}

function showCall(plan: Plan, call: PlanCall): string[] {
  const outputs = call.outputs.map((output) => `%${output.value} ${showType(output)}`).join(', ');
  const line = `${outputs === '' ? '' : `${outputs} = `}${showWork(call)}  # ${call.name}`;
  const nested = (call.bodies ?? []).flatMap((inner, i) => [
    `  ${bodyName(call, i)}: ${header(inner, plan)}`,
    ...inner.calls.flatMap((below) => showCall(inner, below)).map((text) => `    ${text}`),
  ]);
  return [line, ...nested];
}

function bodyName({ kernel, inputs: [selector] }: PlanCall, i: number): string {
  if (kernel === 'While') return i === 0 ? 'while' : 'do';
  if (selector?.dtype === 'bool') return i === 0 ? 'true' : 'false';
  return `case ${i}`;
}

function showType({ dtype, shape }: PlanTensor): string {
  return `${dtype}[${shape.join(',')}]`;
}

function showWork(call: PlanCall): string {
  if (isScalarCall(call)) {
    const { text, types } = showProgram(call.kernel, call.inputs);
    return `${text}  (${types})`;
  }
  return call.kernel === 'MapReduce' ? showMapReduce(call) : showKernel(call);
}

function showMapReduce({ inputs, attrs }: PlanCall): string {
  const program = decodeScalarProgram(listAttr(attrs['program']) ?? []);
  const reductions = (listAttr(attrs['reductions']) ?? []).map(
    (number) => mapReductions[number] ?? undefined,
  );
  const { text, types } = showProgram(program, inputs, reductions);
  const shape = listAttr(attrs['shape']) ?? [];
  return `MapReduce([${shape.join(',')}] by ${numberAttr(attrs['width'])}: ${text})  (${types})`;
}

function showKernel({ kernel, own, inputs, attrs }: PlanCall): string {
  const read = inputs.map((input) => `%${input.value} ${showType(input)}`);
  const set = Object.entries(attrs).map(([name, value]) => `${name}: ${showAttr(value)}`);
  return `${own?.title ?? String(kernel)}(${[...read, ...set].join(', ')})`;
}

function showAttr(value: AttrValue): string {
  return typeof value === 'object' ? `[${value.join(',')}]` : showNumber(value);
}

function showNumber(value: number | boolean): string {
  return Object.is(value, -0) ? '-0' : String(value);
}

/** What a program computes, each result within the name that `around` has for it, and its inputs with their types. */
function showProgram(
  { inputs, instrs, outputs }: ScalarProgram,
  tensors: readonly PlanTensor[],
  around: readonly (string | undefined)[] = [],
): { readonly text: string; readonly types: string } {
  const first = inputs.length;
  const uses = new Uint32Array(first + instrs.length);
  for (const { args } of instrs) for (const arg of args) uses[arg]++;
  for (const id of outputs) uses[id]++;
  const texts = tensors.map(({ value }) => `%${value}`);
  const named: string[] = [];
  instrs.forEach((instr, i) => {
    const text = showInstr(instr, texts);
    if (instr.op === 'const' || uses[first + i] < 2) texts.push(text);
    else {
      texts.push(`t${named.length}`);
      named.push(`t${named.length} = ${outermost(text)}`);
    }
  });
  const results = outputs.map((id, i) => {
    const text = outermost(texts[id]);
    return around[i] === undefined ? text : `${around[i]}(${text})`;
  });
  const types = tensors.map((tensor) => `%${tensor.value} ${showType(tensor)}`).join(', ');
  return { text: [...named, results.join(', ')].join('; '), types };
}

function showInstr({ op, dtype, args, value }: ScalarInstr, texts: readonly string[]): string {
  const operands = args.map((arg) => texts[arg]);
  const [a, b, c] = operands;
  const sign = infix[op];
  if (op === 'const') return showNumber(value);
  if (op === 'neg') return `-${a}`;
  if (op === 'not') return `!${a}`;
  if (op === 'cast') return `${dtype}(${outermost(a)})`;
  if (op === 'select') return `(${a} ? ${b} : ${c})`;
  return sign === undefined ? `${op}(${operands.map(outermost).join(', ')})` : `(${a} ${sign} ${b})`;
}

/** Without parentheses around all of it. */
function outermost(text: string): string {
  if (!text.startsWith('(')) return text;
  let depth = 0;
  for (let i = 0; i < text.length; i++) {
    if (text[i] === '(') depth++;
    else if (text[i] === ')' && --depth === 0) return i === text.length - 1 ? text.slice(1, -1) : text;
  }
  return text;
}
