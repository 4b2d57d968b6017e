/** What converted code calls. No promise is made to anyone else: names here change without notice. */
export { conversion, enterConversion, leaveConversion } from '@eagre/graph';
export { type Parser, useParser } from './analysis/parser.ts';
export { afterJump, and, block, ifExp, ifStmt, or } from './runtime/choice.ts';
export { caught, fresh, made, member, own, ownArray, ownKeyed, thrown } from './runtime/frames.ts';
export { forOf, items, range } from './runtime/iteration.ts';
export { list, refill } from './runtime/lists.ts';
export { element, key, length, lengthOf, native, sameValue, search, text } from './runtime/lookup.ts';
export { doStmt, whileStmt } from './runtime/loop.ts';
export { areLoopOptions } from './runtime/loop-options.ts';
export {
  add,
  before,
  bitAnd,
  bitNot,
  bitOr,
  bitXor,
  dec,
  div,
  eq,
  ge,
  gt,
  inc,
  le,
  looseEq,
  looseNe,
  lt,
  mul,
  ne,
  neg,
  not,
  plus,
  pow,
  rem,
  shiftLeft,
  shiftRight,
  shiftUnsigned,
  sub,
} from './runtime/operators.ts';
export { BREAK, CONTINUE, returned, value } from './runtime/signal.ts';
export { asks, asserted, bool, host, hostIterable, hostValue, is, spread, tracing } from './runtime/truth.ts';
