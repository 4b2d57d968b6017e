import { dtypeTraits, InternalError, type NumericDType, type ScalarOp, scalarOps } from '@eagre/backend';

/** Which dtypes a rule's x may have. */
export type RuleKind = 'any' | 'number' | 'signed' | 'float' | 'integer' | 'bool';

/** One rewrite: what the left side computes the right side computes too, to the last bit. */
export interface ScalarRule {
  readonly kind: RuleKind;
  /** As it stands in the table. */
  readonly text: string;
  readonly from: Application;
  readonly to: Term;
}

/** A side of a rule. */
export type Term = Application | Variable | { readonly number: number };

export interface Variable {
  /** Its place in `variables`. */
  readonly variable: number;
  /** Whether it stands for constants only. */
  readonly constant: boolean;
  /** Whether only for powers of two that have an inverse; of integers for positive ones. */
  readonly power: boolean;
}

/** The names that rules have for values. */
export const variables: readonly string[] = ['x', 'y', 'z', 'c', 'A', 'B', 'P'];

export interface Application {
  readonly op: ScalarOp;
  readonly args: readonly Term[];
}

/**
 * The rules. x, y, z, c stand for any value, one that occurs twice for the same; A and B for constants, P for a constant power of two
 * whose inverse is one too, of integers for one above zero. Operands of sums, products and the like may also be exchanged.
 *
 * What is not here would change some value: x · 0 (NaN, −0), x + 0 (−0), x − x (NaN), x == x (NaN), 0 − x (0), −(x − y) (0),
 * (x · A) · B (rounding), x / A for other A (rounding).
 */
const table: Readonly<Record<RuleKind, readonly string[]>> = {
  any: [
    'select(c, x, x) = x',
    'select(true, x, y) = x',
    'select(false, x, y) = y',
    'select(not(c), x, y) = select(c, y, x)',
    'select(c, select(c, x, y), z) = select(c, x, z)',
    'select(c, x, select(c, y, z)) = select(c, x, z)',
  ],
  number: [
    'neg(neg(x)) = x',
    'abs(abs(x)) = abs(x)',
    'sign(sign(x)) = sign(x)',
    'mul(x, 1) = x',
    'mul(neg(x), neg(y)) = mul(x, y)',
    'mul(abs(x), abs(x)) = mul(x, x)',
    'div(x, 1) = x',
    'add(x, neg(y)) = sub(x, y)',
    'sub(x, neg(y)) = add(x, y)',
    'pow(x, 1) = x',
    'pow(x, 0) = 1',
    'min(x, x) = x',
    'max(x, x) = x',
    'max(max(x, y), y) = max(x, y)',
    'max(x, max(x, y)) = max(x, y)',
    'min(min(x, y), y) = min(x, y)',
    'min(x, min(x, y)) = min(x, y)',
    'lt(x, x) = false',
    'gt(x, x) = false',
    'not(eq(x, y)) = ne(x, y)',
    'not(ne(x, y)) = eq(x, y)',
  ],
  signed: [
    'abs(neg(x)) = abs(x)',
    'mul(x, -1) = neg(x)',
    'mul(neg(x), A) = mul(x, neg(A))',
    'neg(mul(x, A)) = mul(x, neg(A))',
  ],
  float: [
    'abs(mul(x, x)) = mul(x, x)',
    'add(x, -0) = x',
    'sub(x, 0) = x',
    'sub(-0, x) = neg(x)',
    'div(x, -1) = neg(x)',
    'div(neg(x), neg(y)) = div(x, y)',
    'div(x, P) = mul(x, div(1, P))',
    'pow(x, 2) = mul(x, x)',
    'pow(x, -1) = div(1, x)',
    'floor(floor(x)) = floor(x)',
    'floor(ceil(x)) = ceil(x)',
    'floor(round(x)) = round(x)',
    'ceil(floor(x)) = floor(x)',
    'ceil(ceil(x)) = ceil(x)',
    'ceil(round(x)) = round(x)',
    'round(floor(x)) = floor(x)',
    'round(ceil(x)) = ceil(x)',
    'round(round(x)) = round(x)',
    'ne(x, x) = isNaN(x)',
    'isNaN(neg(x)) = isNaN(x)',
    'isNaN(abs(x)) = isNaN(x)',
    'isFinite(neg(x)) = isFinite(x)',
    'isFinite(abs(x)) = isFinite(x)',
    'isInf(neg(x)) = isInf(x)',
    'isInf(abs(x)) = isInf(x)',
  ],
  integer: [
    'add(x, 0) = x',
    'sub(x, 0) = x',
    'sub(0, x) = neg(x)',
    'sub(x, x) = 0',
    'sub(x, A) = add(x, neg(A))',
    'add(add(x, A), B) = add(x, add(A, B))',
    'mul(x, 0) = 0',
    'mul(mul(x, A), B) = mul(x, mul(A, B))',
    'pow(x, 2) = mul(x, x)',
    'floorDiv(x, 1) = x',
    'mod(x, 1) = 0',
    'mod(x, P) = bitAnd(x, sub(P, 1))',
    'eq(x, x) = true',
    'le(x, x) = true',
    'ge(x, x) = true',
    'ne(x, x) = false',
    'not(lt(x, y)) = ge(x, y)',
    'not(le(x, y)) = gt(x, y)',
    'not(gt(x, y)) = le(x, y)',
    'not(ge(x, y)) = lt(x, y)',
    'bitAnd(x, x) = x',
    'bitOr(x, x) = x',
    'bitXor(x, x) = 0',
    'bitAnd(x, 0) = 0',
    'bitOr(x, 0) = x',
    'bitXor(x, 0) = x',
    'bitNot(bitNot(x)) = x',
    'shiftLeft(x, 0) = x',
    'shiftRight(x, 0) = x',
  ],
  bool: [
    'not(not(x)) = x',
    'and(x, x) = x',
    'and(x, true) = x',
    'and(x, false) = false',
    'and(x, not(x)) = false',
    'and(x, or(x, y)) = x',
    'or(x, x) = x',
    'or(x, false) = x',
    'or(x, true) = true',
    'or(x, not(x)) = true',
    'or(x, and(x, y)) = x',
    'xor(x, x) = false',
    'xor(x, false) = x',
    'xor(x, true) = not(x)',
    'xor(not(x), not(y)) = xor(x, y)',
    'select(x, true, false) = x',
    'select(x, false, true) = not(x)',
  ],
};

/** Operations whose result is the same for exchanged operands; `min` and `max` are not, where both are zeros. */
export const commutative: ReadonlySet<ScalarOp> = new Set<ScalarOp>([
  'add',
  'mul',
  'eq',
  'ne',
  'and',
  'or',
  'xor',
  'bitAnd',
  'bitOr',
  'bitXor',
]);

const comparisons: ReadonlySet<ScalarOp> = new Set<ScalarOp>([
  'eq',
  'ne',
  'lt',
  'le',
  'gt',
  'ge',
  'isNaN',
  'isInf',
  'isFinite',
]);

let parsed: readonly ScalarRule[] | undefined;

/** Every rule, in the order of the table. Read from it on first use, not on every import. */
export function scalarRules(): readonly ScalarRule[] {
  parsed ??= Object.entries(table).flatMap(([kind, texts]) =>
    texts.map((text) => parseRule(kind as RuleKind, text)),
  );
  return parsed;
}

/** Whether the x of a rule of that kind may have the dtype. */
export function isOfKind(kind: RuleKind, dtype: NumericDType): boolean {
  const { floating, kind: numbers } = dtypeTraits[dtype];
  if (kind === 'any') return true;
  if (kind === 'bool' || dtype === 'bool') return kind === 'bool' && dtype === 'bool';
  if (kind === 'number') return true;
  return kind === 'signed' ? numbers !== 'uint' : (kind === 'float') === floating;
}

/** The instructions of a program that is being written; nodes are meant by their numbers. */
export interface ProgramNodes {
  at(node: number): {
    readonly op: ScalarOp | 'input';
    readonly dtype: NumericDType;
    readonly args: readonly number[];
  };
  /** The number that a node always is, or undefined. */
  constantOf(node: number): number | undefined;
  constant(dtype: NumericDType, value: number): number;
  /** The constant that an operation makes of constants; undefined where it makes none. */
  fold(op: ScalarOp, dtype: NumericDType, args: readonly number[]): number | undefined;
  /** A node for an operation, as simple as the rules make it. */
  apply(op: ScalarOp, dtype: NumericDType, args: readonly number[]): number;
}

let byOp: Map<ScalarOp, ScalarRule[]> | undefined;

function rulesOf(op: ScalarOp): readonly ScalarRule[] {
  if (byOp === undefined) {
    byOp = new Map();
    for (const rule of scalarRules()) {
      const list = byOp.get(rule.from.op);
      if (list === undefined) byOp.set(rule.from.op, [rule]);
      else list.push(rule);
    }
  }
  return byOp.get(op) ?? [];
}

/** The node that computes the same as an operation on nodes by the first rule that fits; undefined where none does. */
export function rewritten(
  nodes: ProgramNodes,
  op: ScalarOp,
  dtype: NumericDType,
  args: readonly number[],
): number | undefined {
  for (const rule of rulesOf(op)) {
    bound.fill(-1);
    if (!matchArgs(nodes, rule.from, args)) continue;
    const x = bound[X];
    if (!isOfKind(rule.kind, nodes.at(x).dtype)) continue;
    // `select(x, true, false)` chooses truths, and not the numbers 1 and 0.
    if (rule.kind === 'bool' && dtype !== 'bool') continue;
    // Building applies rules in turn.
    const node = build(nodes, rule.to, dtype, nodes.at(x).dtype, [...bound]);
    if (node !== undefined) return node;
  }
  return undefined;
}

const X = variables.indexOf('x');
/** By variable: the node that the rule at hand has it stand for, or -1. */
const bound: number[] = variables.map(() => -1);

function matchArgs(nodes: ProgramNodes, { op, args: terms }: Application, args: readonly number[]): boolean {
  return inOrder(nodes, terms, args, false) || (commutative.has(op) && inOrder(nodes, terms, args, true));
}

function inOrder(
  nodes: ProgramNodes,
  terms: readonly Term[],
  args: readonly number[],
  exchanged: boolean,
): boolean {
  // Most rules fail here, before anything is bound.
  for (let i = 0; i < terms.length; i++)
    if (!isLike(nodes, terms[i], args[exchanged ? 1 - i : i])) return false;
  const before = bound.slice();
  let i = 0;
  while (i < terms.length && matches(nodes, terms[i], args[exchanged ? 1 - i : i])) i++;
  if (i === terms.length) return true;
  for (let v = 0; v < before.length; v++) bound[v] = before[v];
  return false;
}

function isLike(nodes: ProgramNodes, term: Term, node: number): boolean {
  if ('number' in term) return isNumber(nodes.constantOf(node), term.number);
  if ('op' in term) return nodes.at(node).op === term.op;
  const { constant, variable } = term;
  return (
    (!constant || nodes.constantOf(node) !== undefined) && (bound[variable] < 0 || bound[variable] === node)
  );
}

/** Whether a term that a node is like fits in all its parts. */
function matches(nodes: ProgramNodes, term: Term, node: number): boolean {
  if ('number' in term) return true;
  if ('op' in term) return matchArgs(nodes, term, nodes.at(node).args);
  const known = bound[term.variable];
  if (known >= 0) return known === node;
  if (term.power && !isPower(nodes.at(node).dtype, nodes.constantOf(node) ?? 0)) return false;
  bound[term.variable] = node;
  return true;
}

function isNumber(found: number | undefined, wanted: number): boolean {
  return found !== undefined && Object.is(found, wanted);
}

/** Whether it is a power of two: a float with an inverse that is a normal number, an integer above zero. */
function isPower(dtype: NumericDType, value: number): boolean {
  if (!dtypeTraits[dtype].floating && value < 1) return false;
  const exponent = Math.log2(Math.abs(value));
  return Number.isInteger(exponent) && Math.abs(exponent) <= (dtype === 'float32' ? 126 : 1022);
}

function build(
  nodes: ProgramNodes,
  term: Term,
  dtype: NumericDType,
  inner: NumericDType,
  given: readonly number[],
): number | undefined {
  if ('number' in term) return nodes.constant(dtype, term.number);
  if ('variable' in term) return given[term.variable];
  const args: number[] = [];
  for (const arg of term.args) {
    const compares = 'op' in arg && comparisons.has(arg.op);
    const node = build(nodes, arg, compares ? 'bool' : inner, inner, given);
    if (node === undefined) return undefined;
    args.push(node);
  }
  // A rule that computes with constants does no good where backends may differ in what they make of them.
  if (args.every((arg) => nodes.constantOf(arg) !== undefined)) return nodes.fold(term.op, dtype, args);
  return nodes.apply(term.op, dtype, args);
}

function parseRule(kind: RuleKind, text: string): ScalarRule {
  const [left, right] = text.split(' = ');
  const from = parseTerm(left);
  if (!('op' in from)) throw new InternalError(`the rule '${text}' has no operation on its left side`);
  return { kind, text, from, to: parseTerm(right) };
}

/** `name(term, …)`, a number, `true`, `false`, or a variable of one letter. */
function parseTerm(text: string): Term {
  const tokens = text.match(/[A-Za-z]\w*|-?\d+|[(),]/g) ?? [];
  let at = 0;
  const term = (): Term => {
    const token = tokens[at++] ?? '';
    if (/^-?\d/.test(token)) return { number: Number(token) };
    if (token === 'true' || token === 'false') return { number: token === 'true' ? 1 : 0 };
    if (tokens[at] !== '(') {
      const variable = variables.indexOf(token);
      if (variable < 0) throw new InternalError(`'${text}' has a variable ${token}`);
      return { variable, constant: /[ABP]/.test(token), power: token === 'P' };
    }
    const args: Term[] = [];
    do {
      at++;
      args.push(term());
    } while (tokens[at] === ',');
    at++;
    const op = scalarOps.find((name) => name === token);
    if (op === undefined) throw new InternalError(`no scalar operation is called ${token}`);
    return { op, args };
  };
  return term();
}
