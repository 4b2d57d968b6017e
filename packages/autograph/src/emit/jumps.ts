// How control leaves statements.
import { children, isClass, isFunction, type Node } from '../analysis/syntax.ts';

const JUMPS: unique symbol = Symbol('jumps');
type Keeper = Node & { [JUMPS]?: Jumps };

/** The ways in which control leaves a statement other than at its end. */
export interface Jumps {
  readonly return: boolean;
  readonly break: boolean;
  readonly continue: boolean;
  /** By a label. */
  readonly label: boolean;
}

const NO_JUMPS: Jumps = { return: false, break: false, continue: false, label: false };
const RETURN: Jumps = { ...NO_JUMPS, return: true };
const BREAK: Jumps = { ...NO_JUMPS, break: true };
const CONTINUE: Jumps = { ...NO_JUMPS, continue: true };
const LABEL: Jumps = { ...NO_JUMPS, label: true };

export function jumpsOf(node: Node): Jumps {
  if (isFunction(node) || isClass(node)) return NO_JUMPS;
  if (node.type === 'BreakStatement') return node.label ? LABEL : BREAK;
  if (node.type === 'ContinueStatement') return node.label ? LABEL : CONTINUE;
  if (!(node.type.endsWith('Statement') || node.type === 'SwitchCase' || node.type === 'CatchClause'))
    return NO_JUMPS;
  const keeper = node as Keeper;
  const known = keeper[JUMPS];
  if (known !== undefined) return known;
  let found = node.type === 'ReturnStatement' ? RETURN : NO_JUMPS;
  for (const child of children(node)) {
    const inner = jumpsOf(child);
    if (inner !== NO_JUMPS)
      found = {
        return: found.return || inner.return,
        break: found.break || inner.break,
        continue: found.continue || inner.continue,
        label: found.label || inner.label,
      };
  }
  if (LOOPS.has(node.type)) found = { ...found, break: false, continue: false };
  else if (node.type === 'SwitchStatement') found = { ...found, break: false };
  keeper[JUMPS] = found;
  return found;
}

const LOOPS = new Set([
  'WhileStatement',
  'DoWhileStatement',
  'ForStatement',
  'ForOfStatement',
  'ForInStatement',
]);

/** Whether control never reaches what follows a statement, whatever its conditions give. */
export function alwaysJumps(statement: Node | null): boolean {
  if (statement === null) return false;
  switch (statement.type) {
    case 'ReturnStatement':
    case 'ThrowStatement':
    case 'BreakStatement':
    case 'ContinueStatement':
      return true;
    case 'BlockStatement':
      return statement.body.some(alwaysJumps);
    case 'IfStatement':
      return alwaysJumps(statement.consequent) && alwaysJumps(statement.alternate);
    default:
      return false;
  }
}
