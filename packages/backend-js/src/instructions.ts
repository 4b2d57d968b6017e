import {
  type BigArray,
  castNumber,
  dtypeTraits,
  InternalError,
  InvalidArgumentError,
  isBig,
  type NumericDType,
  type ScalarOp,
  saturateBig,
} from '@eagre/backend';
import { bigToFloat32, maxBig, minBig, wrap } from './numeric.ts';
import {
  digamma,
  erf,
  erfc,
  erfinv,
  floorMod,
  lgamma,
  power,
  roundHalfEven,
  sigmoid,
  softplus,
} from './special.ts';

/** Some hundred values of one variable of a scalar program: 64 bit integers as they are, all else in float64. */
export type Tile = Float64Array | BigArray;

/** Runs one instruction over the first `n` values of its tiles. */
export type Step = (n: number) => void;

type Loop = (y: Float64Array, n: number, a: Float64Array, b: Float64Array) => void;

/** Calls `f` for every value: good enough where `f` itself costs more than a call. */
function each1(f: (x: number) => number): Loop {
  return (y, n, a) => {
    for (let i = 0; i < n; i++) y[i] = f(a[i]);
  };
}

function each2(f: (x: number, y: number) => number): Loop {
  return (y, n, a, b) => {
    for (let i = 0; i < n; i++) y[i] = f(a[i], b[i]);
  };
}

// The cheap and frequent have a loop of their own, so that each compiles to straight code.

/** For every dtype. */
const comparisons: Partial<Record<ScalarOp, Loop>> = {
  eq: (y, n, a, b) => {
    for (let i = 0; i < n; i++) y[i] = a[i] === b[i] ? 1 : 0;
  },
  ne: (y, n, a, b) => {
    for (let i = 0; i < n; i++) y[i] = a[i] !== b[i] ? 1 : 0;
  },
  lt: (y, n, a, b) => {
    for (let i = 0; i < n; i++) y[i] = a[i] < b[i] ? 1 : 0;
  },
  le: (y, n, a, b) => {
    for (let i = 0; i < n; i++) y[i] = a[i] <= b[i] ? 1 : 0;
  },
  gt: (y, n, a, b) => {
    for (let i = 0; i < n; i++) y[i] = a[i] > b[i] ? 1 : 0;
  },
  ge: (y, n, a, b) => {
    for (let i = 0; i < n; i++) y[i] = a[i] >= b[i] ? 1 : 0;
  },
  isNaN: each1((x) => (Number.isNaN(x) ? 1 : 0)),
  isInf: each1((x) => (Math.abs(x) === Infinity ? 1 : 0)),
  isFinite: each1((x) => (Number.isFinite(x) ? 1 : 0)),
};

/** For numbers. */
const arithmetic: Partial<Record<ScalarOp, Loop>> = {
  neg: (y, n, a) => {
    for (let i = 0; i < n; i++) y[i] = -a[i];
  },
  abs: (y, n, a) => {
    for (let i = 0; i < n; i++) y[i] = Math.abs(a[i]);
  },
  sqrt: (y, n, a) => {
    for (let i = 0; i < n; i++) y[i] = Math.sqrt(a[i]);
  },
  rsqrt: (y, n, a) => {
    for (let i = 0; i < n; i++) y[i] = 1 / Math.sqrt(a[i]);
  },
  add: (y, n, a, b) => {
    for (let i = 0; i < n; i++) y[i] = a[i] + b[i];
  },
  sub: (y, n, a, b) => {
    for (let i = 0; i < n; i++) y[i] = a[i] - b[i];
  },
  mul: (y, n, a, b) => {
    for (let i = 0; i < n; i++) y[i] = a[i] * b[i];
  },
  div: (y, n, a, b) => {
    for (let i = 0; i < n; i++) y[i] = a[i] / b[i];
  },
  min: (y, n, a, b) => {
    for (let i = 0; i < n; i++) y[i] = Math.min(a[i], b[i]);
  },
  max: (y, n, a, b) => {
    for (let i = 0; i < n; i++) y[i] = Math.max(a[i], b[i]);
  },
  sign: each1(Math.sign),
  floor: each1(Math.floor),
  ceil: each1(Math.ceil),
  round: each1(roundHalfEven),
};

const floatLoops: Partial<Record<ScalarOp, Loop>> = {
  exp: each1(Math.exp),
  expm1: each1(Math.expm1),
  log: each1(Math.log),
  log1p: each1(Math.log1p),
  sin: each1(Math.sin),
  cos: each1(Math.cos),
  tan: each1(Math.tan),
  asin: each1(Math.asin),
  acos: each1(Math.acos),
  atan: each1(Math.atan),
  sinh: each1(Math.sinh),
  cosh: each1(Math.cosh),
  tanh: each1(Math.tanh),
  asinh: each1(Math.asinh),
  acosh: each1(Math.acosh),
  atanh: each1(Math.atanh),
  sigmoid: each1(sigmoid),
  softplus: each1(softplus),
  erf: each1(erf),
  erfc: each1(erfc),
  erfinv: each1(erfinv),
  lgamma: each1(lgamma),
  digamma: each1(digamma),
  floorDiv: each2((x, y) => Math.floor(x / y)),
  mod: each2(floorMod),
  pow: each2(power),
  atan2: each2(Math.atan2),
};

/** The quotient is rounded to float32 before it is rounded down, as it is where a float32 division makes it. */
const floorDivFloat32: Loop = each2((x, y) => Math.floor(Math.fround(x / y)));

function divisor<T extends number | bigint>(op: ScalarOp, y: T): T {
  if (y) return y;
  throw new InvalidArgumentError('integer division by zero', op);
}

function exponent<T extends number | bigint>(y: T): T {
  if (y >= 0) return y;
  throw new InvalidArgumentError(`an integer to the power ${y}: the exponent must not be negative`, 'pow');
}

function integerPower(x: number, y: number): number {
  let result = 1;
  for (let rest = exponent(y); rest > 0; rest >>= 1) {
    if (rest & 1) result = Math.imul(result, x);
    x = Math.imul(x, x);
  }
  return result;
}

function bigPower(x: bigint, y: bigint): bigint {
  let result = 1n;
  for (let rest = exponent(y); rest > 0n; rest >>= 1n) {
    if (rest & 1n) result = BigInt.asIntN(64, result * x);
    x = BigInt.asIntN(64, x * x);
  }
  return result;
}

function floorDivBig(x: bigint, y: bigint): bigint {
  const quotient = x / divisor('floorDiv', y);
  return x % y !== 0n && x < 0n !== y < 0n ? quotient - 1n : quotient;
}

function modBig(x: bigint, y: bigint): bigint {
  const rest = x % divisor('mod', y);
  return rest !== 0n && rest < 0n !== y < 0n ? rest + y : rest;
}

const clamp = (shift: number, bits: number): number => Math.min(Math.max(shift, 0), bits - 1);

/** int32 and uint8, whose results wrap when rounded; a shift is by 0 to the width less 1, other counts meaning the nearest. */
const integerLoops = (bits: 8 | 32): Partial<Record<ScalarOp, Loop>> => ({
  mul: each2(Math.imul),
  div: each2((x, y) => Math.trunc(x / divisor('div', y))),
  floorDiv: each2((x, y) => Math.floor(x / divisor('floorDiv', y))),
  mod: each2((x, y) => floorMod(x, divisor('mod', y))),
  pow: each2(integerPower),
  bitAnd: each2((x, y) => x & y),
  bitOr: each2((x, y) => x | y),
  bitXor: each2((x, y) => x ^ y),
  bitNot: each1((x) => ~x),
  shiftLeft: each2((x, y) => x << clamp(y, bits)),
  shiftRight: each2((x, y) => x >> clamp(y, bits)),
});

const boolLoops: Partial<Record<ScalarOp, Loop>> = {
  not: each1((x) => 1 - x),
  and: each2((x, y) => x & y),
  or: each2((x, y) => x | y),
  xor: each2((x, y) => x ^ y),
};

const tables: { readonly [dtype in NumericDType]?: Partial<Record<ScalarOp, Loop>> } = {
  float32: { ...comparisons, ...arithmetic, ...floatLoops, floorDiv: floorDivFloat32 },
  float64: { ...comparisons, ...arithmetic, ...floatLoops },
  int32: { ...comparisons, ...arithmetic, ...integerLoops(32) },
  uint8: { ...comparisons, ...arithmetic, ...integerLoops(8) },
  bool: { ...comparisons, ...boolLoops },
};

const bigShift = (y: bigint): bigint => (y < 0n ? 0n : y > 63n ? 63n : y);

/** Of 64 bit integers; what leaves the 64 bits wraps when it is stored. */
const bigFunctions: Partial<Record<ScalarOp, (x: bigint, y: bigint) => bigint>> = {
  neg: (x) => -x,
  abs: (x) => (x < 0n ? -x : x),
  sign: (x) => (x < 0n ? -1n : x > 0n ? 1n : 0n),
  floor: (x) => x,
  ceil: (x) => x,
  round: (x) => x,
  add: (x, y) => x + y,
  sub: (x, y) => x - y,
  mul: (x, y) => x * y,
  div: (x, y) => x / divisor('div', y),
  floorDiv: floorDivBig,
  mod: modBig,
  pow: bigPower,
  min: minBig,
  max: maxBig,
  bitAnd: (x, y) => x & y,
  bitOr: (x, y) => x | y,
  bitXor: (x, y) => x ^ y,
  bitNot: (x) => ~x,
  shiftLeft: (x, y) => x << bigShift(y),
  shiftRight: (x, y) => x >> bigShift(y),
};

const bigPredicates: Partial<Record<ScalarOp, (x: bigint, y: bigint) => boolean>> = {
  eq: (x, y) => x === y,
  ne: (x, y) => x !== y,
  lt: (x, y) => x < y,
  le: (x, y) => x <= y,
  gt: (x, y) => x > y,
  ge: (x, y) => x >= y,
  isNaN: () => false,
  isInf: () => false,
  isFinite: () => true,
};

/** Brings the float64 results of an instruction into the range and precision of its dtype. */
function rounding(dtype: NumericDType, y: Float64Array): Step | undefined {
  switch (dtype) {
    case 'float32':
      return (n) => {
        for (let i = 0; i < n; i++) y[i] = Math.fround(y[i]);
      };
    case 'int32':
      return (n) => {
        for (let i = 0; i < n; i++) y[i] |= 0;
      };
    case 'uint8':
      return (n) => {
        for (let i = 0; i < n; i++) y[i] &= 255;
      };
    default:
      return undefined;
  }
}

function castFromBig(to: NumericDType, y: Float64Array, x: BigArray): Step {
  const { integer, kind, bytes } = dtypeTraits[to];
  const bits = 8 * bytes;
  let f: (v: bigint) => number = (v) => (v === 0n ? 0 : 1);
  if (integer)
    f = kind === 'int' ? (v) => Number(BigInt.asIntN(bits, v)) : (v) => Number(BigInt.asUintN(bits, v));
  else if (to === 'float32') f = bigToFloat32;
  else if (to === 'float64') f = Number;
  return (n) => {
    for (let i = 0; i < n; i++) y[i] = f(x[i]);
  };
}

function castToBig(from: NumericDType, to: NumericDType, y: BigArray, x: Float64Array): Step {
  const f = dtypeTraits[from].floating
    ? (v: number): bigint => saturateBig(v, to)
    : (v: number): bigint => BigInt(v);
  return (n) => {
    for (let i = 0; i < n; i++) y[i] = f(x[i]);
  };
}

/** A cast among the dtypes that live in float64 tiles; integers wrap, floats saturate. */
function castFloat(from: NumericDType, to: NumericDType, y: Float64Array, x: Float64Array): Step {
  const wraps = dtypeTraits[to].integer && !dtypeTraits[from].floating;
  const f = wraps ? (v: number): number => wrap(v, to) : (v: number): number => castNumber(v, to);
  return (n) => {
    for (let i = 0; i < n; i++) y[i] = f(x[i]);
  };
}

function select<T extends Tile>(y: T, condition: Float64Array, a: T, b: T): Step {
  return (n) => {
    for (let i = 0; i < n; i++) y[i] = condition[i] !== 0 ? a[i] : b[i];
  };
}

function bigStep(op: ScalarOp, y: Tile, a: BigArray, b: BigArray): Step | undefined {
  const f = bigFunctions[op];
  if (f !== undefined) {
    return (n) => {
      for (let i = 0; i < n; i++) (y as BigArray)[i] = f(a[i], b[i]);
    };
  }
  const test = bigPredicates[op];
  if (test === undefined) return undefined;
  return (n) => {
    for (let i = 0; i < n; i++) (y as Float64Array)[i] = test(a[i], b[i]) ? 1 : 0;
  };
}

/**
 * The step of one instruction other than `const`: from the tiles of its arguments, of dtype `from` (that of `select` being
 * the condition's), to tile `y` of dtype `to`.
 */
export function instruction(
  op: ScalarOp,
  from: NumericDType,
  to: NumericDType,
  y: Tile,
  args: readonly Tile[],
): Step {
  // One tile where the instruction takes two does no harm.
  const [a, b = a, c = a] = args;
  if (op === 'select') {
    return isBig(to)
      ? select(y as BigArray, a as Float64Array, b as BigArray, c as BigArray)
      : select(y as Float64Array, a as Float64Array, b as Float64Array, c as Float64Array);
  }
  if (op === 'cast' && from !== to) {
    // Between those with a sign and those without, bits stay: storing them wraps.
    if (isBig(from) && isBig(to)) return (n) => y.set(a.subarray(0, n) as never);
    if (isBig(from)) return castFromBig(to, y as Float64Array, a as BigArray);
    if (isBig(to)) return castToBig(from, to, y as BigArray, a as Float64Array);
    return castFloat(from, to, y as Float64Array, a as Float64Array);
  }
  if (op === 'cast') return (n) => y.set((a as Float64Array).subarray(0, n) as never);
  if (isBig(from)) {
    const step = bigStep(op, y, a as BigArray, b as BigArray);
    if (step !== undefined) return step;
  } else {
    const loop = tables[from]?.[op];
    if (loop !== undefined) {
      const finish = rounding(to, y as Float64Array);
      return (n) => {
        loop(y as Float64Array, n, a as Float64Array, b as Float64Array);
        finish?.(n);
      };
    }
  }
  throw new InternalError(`no instruction '${op}' for ${from}`);
}
