import type { Expression, Statement } from './syntax.ts';

export type Call = Expression & { readonly kind: 'call' };

/** What takes the place of parts of a tree; undefined leaves them. */
export interface Substitution {
  readonly name: (name: string) => Expression | undefined;
  /** Its arguments are as they were. */
  readonly call: (call: Call) => Expression | undefined;
  readonly statement?: (call: Call) => readonly Statement[] | undefined;
}

/** Statements in which parts are others; names that they declare are replaced by names. */
export function substituted(list: readonly Statement[], by: Substitution): Statement[] {
  const maybe = <T>(s: T | undefined, map: (s: T) => T): T | undefined => (s === undefined ? s : map(s));
  const inside = (e: Expression): Expression => substitutedIn(e, by);
  const one = (s: Statement): Statement => {
    switch (s.kind) {
      case 'declare': {
        const name = by.name(s.name);
        const own = name?.kind === 'name' ? name.name : s.name;
        return { ...s, name: own, value: maybe(s.value, inside) };
      }
      case 'assign':
        return { ...s, to: inside(s.to), value: inside(s.value) };
      case 'call':
        return { ...s, call: inside(s.call) };
      case 'if': {
        const then = substituted(s.then, by);
        return { ...s, test: inside(s.test), then, else: maybe(s.else, (rest) => substituted(rest, by)) };
      }
      case 'for':
        return {
          ...s,
          init: maybe(s.init, one),
          test: maybe(s.test, inside),
          step: maybe(s.step, one),
          body: substituted(s.body, by),
        };
      case 'return':
        return { ...s, value: maybe(s.value, inside) };
      default:
        return s;
    }
  };
  return list.flatMap((s) => {
    const others = s.kind === 'call' && s.call.kind === 'call' ? by.statement?.(s.call) : undefined;
    return others ?? [one(s)];
  });
}

export function substitutedIn(e: Expression, by: Substitution): Expression {
  const inside = (inner: Expression): Expression => substitutedIn(inner, by);
  switch (e.kind) {
    case 'name':
      return by.name(e.name) ?? e;
    case 'unary':
    case 'member':
      return { ...e, of: inside(e.of) };
    case 'binary':
      return { ...e, left: inside(e.left), right: inside(e.right) };
    case 'index':
      return { ...e, of: inside(e.of), at: inside(e.at) };
    case 'call':
      return by.call(e) ?? { ...e, args: e.args.map(inside) };
    default:
      return e;
  }
}
