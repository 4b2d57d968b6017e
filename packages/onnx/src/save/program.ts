// Scalar programs as nodes: how element-wise ops are written that ONNX has no op for.
import { type DType, dtypeOfValue, InternalError, type ScalarOp, type ScalarProgram } from '@eagre/backend';
import { dims, type Op, symbolically, symbolicTensor } from '@eagre/core/internal';
import type { GraphNode, GraphValue } from '@eagre/graph';
import type { Row } from './row.ts';
import { digamma, erf, erfc, erfinv, lgamma } from './special.ts';
import type { GraphWriter } from './writer.ts';

/** Writes an instruction for values of a dtype, that of its last argument. */
type Write = (w: GraphWriter, args: readonly string[], dtype: DType) => string;

const same =
  (op: string): Write =>
  (w, args) =>
    w.add(op, args);
const isFloat = (dtype: DType): boolean => dtype.startsWith('float');

const floorMod: Write = (w, [a, b], dtype) =>
  isFloat(dtype)
    ? w.add('Sub', [a as string, w.add('Mul', [b as string, floorDiv(w, [a as string, b as string], dtype)])])
    : w.add('Mod', [a as string, b as string]);
const floorDiv: Write = (w, [a, b], dtype) => {
  const [x, y] = [a as string, b as string];
  if (isFloat(dtype)) return w.add('Floor', [w.add('Div', [x, y])]);
  return w.add('Div', [w.add('Sub', [x, w.add('Mod', [x, y])]), y]);
};

/** The angle of (x, y). */
const angle: Write = (w, [y, x], dtype) => {
  const [b, a] = [y as string, x as string];
  const number = (value: number): string => w.scalar(value, dtype);
  const isZero = w.add('Equal', [a, number(0)]);
  const slope = w.add('Atan', [w.add('Div', [b, w.add('Where', [isZero, number(1), a])])]);
  const turn = w.add('Where', [w.add('Less', [b, number(0)]), number(-Math.PI), number(Math.PI)]);
  const turned = w.add('Where', [w.add('Less', [a, number(0)]), w.add('Add', [slope, turn]), slope]);
  return w.add('Where', [isZero, w.add('Mul', [w.add('Sign', [b]), number(Math.PI / 2)]), turned]);
};

/** ONNX shifts unsigned integers alone: those that are not negative are such, and −1 − x is one where x is negative. */
const shiftRight: Write = (w, [x, by], dtype) => {
  const [value, count] = [x as string, by as string];
  if (dtype.startsWith('u')) return w.add('BitShift', [value, count], { direction: 'RIGHT' });
  const negative = w.add('Less', [value, w.scalar(0, dtype)]);
  const mirrored = (of: string): string =>
    w.add('Where', [negative, w.add('Sub', [w.scalar(-1, dtype), of]), of]);
  const parts = [w.cast(mirrored(value), dtype, 'uint64'), w.cast(count, dtype, 'uint64')];
  return mirrored(w.cast(w.add('BitShift', parts, { direction: 'RIGHT' }), 'uint64', dtype));
};
const shiftLeft: Write = (w, [x, by], dtype) => {
  if (dtype.startsWith('u')) return w.add('BitShift', [x as string, by as string], { direction: 'LEFT' });
  const power = w.add('BitShift', [w.scalar(1, 'uint64'), w.cast(by as string, dtype, 'uint64')], {
    direction: 'LEFT',
  });
  return w.add('Mul', [x as string, w.cast(power, 'uint64', dtype)]);
};

/** Named alike but for the first letter. */
const alike =
  'abs sign floor ceil round sqrt exp log sin cos tan asin acos atan sinh cosh tanh asinh acosh atanh sigmoid softplus neg not add sub mul div pow and or xor';

const WRITTEN: Readonly<Partial<Record<ScalarOp, Write>>> = {
  ...Object.fromEntries(
    alike.split(' ').map((op) => [op, same(`${(op[0] as string).toUpperCase()}${op.slice(1)}`)]),
  ),
  rsqrt: (w, args) => w.add('Reciprocal', [w.add('Sqrt', args)]),
  expm1: (w, args, dtype) => w.add('Sub', [w.add('Exp', args), w.scalar(1, dtype)]),
  log1p: (w, [x], dtype) => w.add('Log', [w.add('Add', [x as string, w.scalar(1, dtype)])]),
  erf: (w, [x], dtype) => erf(w, x as string, dtype),
  erfc: (w, [x], dtype) => erfc(w, x as string, dtype),
  erfinv: (w, [x], dtype) => erfinv(w, x as string, dtype),
  lgamma: (w, [x], dtype) => lgamma(w, x as string, dtype),
  digamma: (w, [x], dtype) => digamma(w, x as string, dtype),
  isNaN: same('IsNaN'),
  isInf: same('IsInf'),
  isFinite: (w, args) => w.add('Not', [w.add('Or', [w.add('IsNaN', args), w.add('IsInf', args)])]),
  floorDiv,
  mod: floorMod,
  atan2: angle,
  eq: same('Equal'),
  ne: (w, args) => w.add('Not', [w.add('Equal', args)]),
  lt: same('Less'),
  le: same('LessOrEqual'),
  gt: same('Greater'),
  ge: same('GreaterOrEqual'),
  bitAnd: same('BitwiseAnd'),
  bitOr: same('BitwiseOr'),
  bitXor: same('BitwiseXor'),
  bitNot: same('BitwiseNot'),
  shiftLeft,
  shiftRight,
  min: (w, args, dtype) => w.widened('Min', [], args, dtype),
  max: (w, args, dtype) => w.widened('Max', [], args, dtype),
  select: (w, [test, ...values], dtype) => w.widened('Where', [test as string], values, dtype),
};

/** The program of a node's op, and which of the node's inputs it takes. */
function programOf(node: GraphNode, op: Op): { program: ScalarProgram; inputs: readonly number[] } {
  const given = node.inputs.map((v) => symbolicTensor(v.dtype, dims(v)));
  let found: { program: ScalarProgram; inputs: readonly number[] } | undefined;
  symbolically(
    {
      call: (program, inputs) => {
        if (typeof program !== 'string')
          found = { program, inputs: inputs.map((x) => given.indexOf(x as (typeof given)[number])) };
      },
      capture: (x) => x,
    },
    () => op.evaluate(given, node.attrs as never),
  );
  if (found === undefined || found.inputs.includes(-1))
    throw new InternalError(`${node.type} has no scalar program`, 'tf.onnx.save');
  return found;
}

/** The inputs that a value of a program is made of. */
function usedBy({ inputs, instrs }: ScalarProgram): (value: number) => ReadonlySet<number> {
  const sets: ReadonlySet<number>[] = inputs.map((_, i) => new Set([i]));
  for (const { args } of instrs) sets.push(new Set(args.flatMap((at) => [...(sets[at] ?? [])])));
  return (value) => sets[value] as ReadonlySet<number>;
}

/** Writes an element-wise op by the instructions of its program. */
export const writeProgram =
  (op: Op): Row =>
  (w, node, names) => {
    const { program, inputs } = programOf(node, op);
    const values = inputs.map((i) => names[i] as string);
    program.instrs.forEach(({ op: name, dtype, args, value }) => {
      const given = args.map((at) => values[at] as string);
      const [first = 0] = args;
      const last = args.at(-1) ?? 0;
      if (name === 'const') values.push(w.scalar(value, dtype));
      else if (name === 'cast') values.push(w.cast(given[0] as string, dtypeOfValue(program, first), dtype));
      else values.push((WRITTEN[name] as Write)(w, given, dtypeOfValue(program, last)));
    });
    const used = usedBy(program);
    return program.outputs.map((at, i) => {
      const whole = program.inputs.every((_, input) => used(at).has(input));
      // A result that an input has no part in does not have its sizes.
      return whole
        ? (values[at] as string)
        : w.add('Expand', [values[at] as string, w.shape(dims(node.outputs[i] as GraphValue))]);
    });
  };
