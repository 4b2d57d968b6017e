/** What converted code calls. No promise is made to anyone else: names here change without notice. */
export { afterJump, and, block, ifExp, ifStmt, or } from './runtime/choice.ts';
export { made, own, thrown } from './runtime/frames.ts';
export { doStmt, forOf, range, whileStmt } from './runtime/loop.ts';
export {
  add,
  before,
  change,
  changeAfter,
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
  pow,
  rem,
  sub,
} from './runtime/operators.ts';
export { BREAK, CONTINUE, returned, value } from './runtime/signal.ts';
export { asks, host, hostIterable, hostValue } from './runtime/truth.ts';
