// Ops that compute element by element.
import type { DType } from '@eagre/backend';
import { UnimplementedError } from '@eagre/backend';
import type { GraphNode } from '@eagre/graph';
import { typeNumber } from '../../tensors.ts';
import { attr, type Row, type Rows } from '../row.ts';
import { type GraphWriter, real } from '../writer.ts';

/** An op that ONNX has under this name. */
const same =
  (op: string): Row =>
  (w, _, inputs) =>
    w.add(op, inputs);
const widened =
  (op: string): Row =>
  (w, node, inputs) =>
    w.widened(op, [], inputs, dtypeOf(node));
const dtypeOf = (node: GraphNode): DType =>
  (node.inputs[0] ?? (node.outputs[0] as never as { dtype: DType })).dtype;
const isFloat = (dtype: DType): boolean => dtype.includes('float');
const number = (w: GraphWriter, node: GraphNode, value: number): string => w.scalar(value, dtypeOf(node));

type Unary = (w: GraphWriter, x: string, node: GraphNode) => string;
const unary =
  (fn: Unary): Row =>
  (w, node, [x]) =>
    fn(w, x as string, node);
type Binary = (w: GraphWriter, a: string, b: string, node: GraphNode) => string;
const binary =
  (fn: Binary): Row =>
  (w, node, [a, b]) =>
    fn(w, a as string, b as string, node);

/** `value` where `b` is 0, else what `fn` makes of it and of what is not 0. */
const unlessZero = (w: GraphWriter, node: GraphNode, test: string, fn: (safe: string) => string): string => {
  const zero = number(w, node, 0);
  const isZero = w.add('Equal', [test, zero]);
  return w.add('Where', [isZero, zero, fn(w.add('Where', [isZero, number(w, node, 1), test]))]);
};

const floorMod: Binary = (w, a, b, node) => {
  if (!isFloat(dtypeOf(node))) return w.add('Mod', [a, b]);
  return w.add('Sub', [a, w.add('Mul', [b, w.add('Floor', [w.add('Div', [a, b])])])]);
};
const floorDiv: Binary = (w, a, b, node) => {
  if (isFloat(dtypeOf(node))) return w.add('Floor', [w.add('Div', [a, b])]);
  return w.add('Div', [w.add('Sub', [a, w.add('Mod', [a, b])]), b]);
};

const gelu: Unary = (w, x, node) => {
  if (w.opset >= 20) return w.add('Gelu', [x]);
  const erf = w.add('Erf', [w.add('Mul', [x, number(w, node, Math.SQRT1_2)])]);
  return w.add('Mul', [w.add('Mul', [x, number(w, node, 0.5)]), w.add('Add', [erf, number(w, node, 1)])]);
};
const geluTanh: Unary = (w, x, node) => {
  if (w.opset >= 20) return w.add('Gelu', [x], { approximate: 'tanh' });
  const cube = w.add('Mul', [w.add('Mul', [w.add('Mul', [x, x]), x]), number(w, node, 0.044715)]);
  const inner = w.add('Mul', [w.add('Add', [x, cube]), number(w, node, Math.sqrt(2 / Math.PI))]);
  return w.add('Mul', [
    w.add('Mul', [x, number(w, node, 0.5)]),
    w.add('Add', [w.add('Tanh', [inner]), number(w, node, 1)]),
  ]);
};
const mish: Unary = (w, x) =>
  w.opset >= 18 ? w.add('Mish', [x]) : w.add('Mul', [x, w.add('Tanh', [w.add('Softplus', [x])])]);
const hardSigmoid = (w: GraphWriter, x: string): string =>
  w.add('HardSigmoid', [x], { alpha: real(1 / 6), beta: real(0.5) });

/** Min and Max of integers of all widths; of bools none. */
const clip: Row = (w, _, [x, low, high]) =>
  w.add('Max', [w.add('Min', [x as string, high as string]), low as string]);

const cast: Row = (w, node, [x]) => {
  const to = attr<DType>(node, 'dtype');
  return w.cast(x as string, dtypeOf(node), to);
};

const RANGES: Readonly<Partial<Record<DType, readonly [number, number]>>> = {
  int8: [-128, 127],
  uint8: [0, 255],
  int16: [-32768, 32767],
  uint16: [0, 65535],
  int32: [-2147483648, 2147483647],
};
const saturate: Row = (w, node, [x]) => {
  const to = attr<DType>(node, 'dtype');
  const range = RANGES[to];
  if (range === undefined)
    throw new UnimplementedError(
      `a saturating cast to ${to} ('${node.name}') is not written`,
      'tf.onnx.save',
    );
  const wide = w.add('Cast', [x as string], { to: typeNumber('float64') });
  const [low, high] = range.map((n) => w.scalar(n, 'float64')) as [string, string];
  return w.add('Cast', [w.add('Max', [w.add('Min', [wide, high]), low])], { to: typeNumber(to) });
};

const bitwise =
  (op: string): Row =>
  (w, node, inputs) => {
    if (w.opset >= 18) return w.add(op, inputs);
    throw new UnimplementedError(`${op} ('${node.name}') needs opset 18`, 'tf.onnx.save');
  };
/** Where a product with 0 is 0, whatever the other factor is. */
const times = (w: GraphWriter, node: GraphNode, x: string, other: string): string => {
  const zero = number(w, node, 0);
  return w.add('Where', [w.add('Equal', [x, zero]), zero, w.add('Mul', [x, other])]);
};

const direct =
  'Abs Acos Acosh Asin Asinh Atan Atanh Ceil Cos Cosh Exp Floor Log Neg Reciprocal Round Sigmoid Sign Sin Sinh Softplus Softsign Sqrt Tan Tanh Selu Identity';

export const elementwise: Rows = {
  ...Object.fromEntries(direct.split(' ').map((op) => [op, same(op)])),
  Relu: same('Relu'),
  AddV2: same('Add'),
  Sub: same('Sub'),
  Mul: same('Mul'),
  RealDiv: same('Div'),
  Pow: same('Pow'),
  Maximum: widened('Max'),
  Minimum: widened('Min'),
  FloorDiv: binary(floorDiv),
  FloorMod: binary(floorMod),
  Equal: same('Equal'),
  NotEqual: binary((w, a, b) => w.add('Not', [w.add('Equal', [a, b])])),
  Less: same('Less'),
  LessEqual: same('LessOrEqual'),
  Greater: same('Greater'),
  GreaterEqual: same('GreaterOrEqual'),
  LogicalAnd: same('And'),
  LogicalOr: same('Or'),
  LogicalXor: same('Xor'),
  LogicalNot: same('Not'),
  BitwiseAnd: bitwise('BitwiseAnd'),
  BitwiseOr: bitwise('BitwiseOr'),
  BitwiseXor: bitwise('BitwiseXor'),
  Invert: bitwise('BitwiseNot'),
  SelectV2: (w, node, [test, ...values]) =>
    w.widened('Where', [test as string], values, (node.inputs[1] as { dtype: DType }).dtype),
  ClipByValue: clip,
  Cast: cast,
  SaturateCast: saturate,
  StopGradient: same('Identity'),
  AddN: (w, _, inputs) => inputs.reduce((a, b) => w.add('Add', [a, b])),

  Square: unary((w, x) => w.add('Mul', [x, x])),
  SquaredDifference: binary((w, a, b) => {
    const d = w.add('Sub', [a, b]);
    return w.add('Mul', [d, d]);
  }),
  Rsqrt: unary((w, x) => w.add('Reciprocal', [w.add('Sqrt', [x])])),
  Expm1: unary((w, x, node) => w.add('Sub', [w.add('Exp', [x]), number(w, node, 1)])),
  Log1p: unary((w, x, node) => w.add('Log', [w.add('Add', [x, number(w, node, 1)])])),
  Log2: unary((w, x, node) => w.add('Mul', [w.add('Log', [x]), number(w, node, Math.LOG2E)])),
  IsNan: same('IsNaN'),
  IsInf: same('IsInf'),
  IsFinite: unary((w, x) => w.add('Not', [w.add('Or', [w.add('IsNaN', [x]), w.add('IsInf', [x])])])),
  DivNoNan: binary((w, a, b, node) => unlessZero(w, node, b, (safe) => w.add('Div', [a, safe]))),
  MulNoNan: binary((w, a, b, node) => times(w, node, b, a)),
  Xlogy: binary((w, x, y, node) => times(w, node, x, w.add('Log', [y]))),
  Xlog1py: binary((w, x, y, node) =>
    times(w, node, x, w.add('Log', [w.add('Add', [y, number(w, node, 1)])])),
  ),
  Xdivy: binary((w, x, y, node) => times(w, node, x, w.add('Reciprocal', [y]))),
  Atan2: binary((w, y, x, node) => {
    const [zero, half] = [number(w, node, 0), number(w, node, Math.PI / 2)];
    const isZero = w.add('Equal', [x, zero]);
    const angle = w.add('Atan', [w.add('Div', [y, w.add('Where', [isZero, number(w, node, 1), x])])]);
    const turn = w.add('Where', [
      w.add('Less', [y, zero]),
      number(w, node, -Math.PI),
      number(w, node, Math.PI),
    ]);
    const turned = w.add('Where', [w.add('Less', [x, zero]), w.add('Add', [angle, turn]), angle]);
    return w.add('Where', [isZero, w.add('Mul', [w.add('Sign', [y]), half]), turned]);
  }),
  Lerp: (w, _, [start, end, weight]) =>
    w.add('Add', [
      start as string,
      w.add('Mul', [weight as string, w.add('Sub', [end as string, start as string])]),
    ]),

  // As in the op's own program: nothing overflows.
  SigmoidCrossEntropyWithLogits: binary((w, x, z, node) => {
    const top = w.add('Sub', [w.add('Max', [x, number(w, node, 0)]), w.add('Mul', [x, z])]);
    const small = w.add('Exp', [w.add('Neg', [w.add('Abs', [x])])]);
    return w.add('Add', [top, w.add('Log', [w.add('Add', [small, number(w, node, 1)])])]);
  }),
  Relu6: unary((w, x, node) => w.add('Clip', [x, number(w, node, 0), number(w, node, 6)])),
  LeakyRelu: (w, node, inputs) => w.add('LeakyRelu', inputs, { alpha: real(attr(node, 'alpha')) }),
  Elu: (w, node, inputs) => w.add('Elu', inputs, { alpha: real(attr(node, 'alpha')) }),
  LogSigmoid: unary((w, x) => w.add('Neg', [w.add('Softplus', [w.add('Neg', [x])])])),
  HardSigmoid: unary(hardSigmoid),
  HardSilu: unary((w, x) => w.add('Mul', [x, hardSigmoid(w, x)])),
  Silu: unary((w, x) => w.add('Mul', [x, w.add('Sigmoid', [x])])),
  Mish: unary(mish),
  Gelu: unary(gelu),
  GeluTanh: unary(geluTanh),
  Dropout: (w, node, [x, noise]) => {
    const rate = attr<number>(node, 'rate');
    const { dtype } = node.inputs[0] as { dtype: DType };
    const kept = w.add('GreaterOrEqual', [
      noise as string,
      w.scalar(rate, (node.inputs[1] as { dtype: DType }).dtype),
    ]);
    return w.add('Where', [
      kept,
      w.add('Mul', [x as string, w.scalar(1 / (1 - rate), dtype)]),
      w.scalar(0, dtype),
    ]);
  },
};
