// The names of the function that a graph is being made of.
import { type HostNames, hostNames, listNames, ownNames } from './host-analysis.ts';
import { type Assigned, pushedName } from './names.ts';
import { type Func, type Node, walk } from './syntax.ts';

const NONE: ReadonlySet<string> = new Set();

export class Scope {
  readonly #ag: string;
  readonly #at: (node: Node) => string;
  /** The names that the function being converted declares. */
  locals: ReadonlySet<string> = new Set();
  /** Those of them that are declared in converted statements. */
  inner: Set<string> = new Set();
  /** Names of values that never become tensors. */
  hosts: HostNames = new Set();
  /** Names of lists that `push` may fill in loops of a graph. */
  lists: ReadonlySet<string> = new Set();
  /** Names of lists that keep their length, whose elements may be assigned where a tensor decides. */
  fixed: ReadonlySet<string> = new Set();

  /** @param ag what the helpers are called. @param at where a node stands, as a literal. */
  constructor(ag: string, at: (node: Node) => string) {
    this.#ag = ag;
    this.#at = at;
  }

  /** Makes code of a function, with its names. */
  in<T>(fn: Func, make: () => T): T {
    const { locals, inner, hosts, lists, fixed } = this;
    this.inner = new Set();
    this.locals = ownNames(fn);
    this.hosts = hostNames(fn, 'constants');
    const all = listNames(fn);
    const pushed = all.size === 0 || fn.body === null ? NONE : pushedIn(fn.body);
    this.lists = all;
    this.fixed = new Set([...all].filter((name) => !pushed.has(name)));
    const done = make();
    Object.assign(this, { locals, inner, hosts, lists, fixed });
    return done;
  }

  /**
   * Code for the state of a statement: how to read and write it, its names, how many of them end with the function, which are lists, and
   * which are in `first`.
   * @param first what each turn of a loop assigns to before it is read.
   */
  state(parts: readonly Assigned[], declared: readonly string[], first: ReadonlySet<string> = NONE): string {
    const names = new Set<string>();
    const members = new Map<string, Node>();
    const changed = new Set<string>();
    for (const part of parts) {
      for (const name of part.names) if (!declared.includes(name)) names.add(name);
      for (const name of part.pushed) if (this.lists.has(name) && !declared.includes(name)) names.add(name);
      for (const name of part.elements)
        if (this.fixed.has(name) && !declared.includes(name)) changed.add(name);
      for (const [text, { root, node }] of part.members)
        if (!declared.includes(root)) members.set(text, node);
    }
    const own = [...names].filter((n) => this.locals.has(n));
    const whole = [...own, ...[...names].filter((n) => !this.locals.has(n)), ...members.keys()];
    // Lists of which elements are assigned: copied when they are read, filled when they are written.
    const all = [...whole, ...[...changed].filter((n) => !names.has(n))];
    const isFilled = (i: number): boolean => i >= whole.length;
    if (all.length === 0) return 'null';
    /** Whether the object of a member is assigned, too: it may not be there before. */
    const depends = (text: string): boolean => all.some((other) => text.startsWith(`${other}.`));
    const lists = whole.flatMap((name, i) => (this.lists.has(name) ? [i] : []));
    const anew = all.flatMap((name, i) => (first.has(name) ? [i] : []));
    const last =
      lists.length === 0 && anew.length === 0
        ? ''
        : `, [${lists.join(', ')}]${anew.length === 0 ? '' : `, [${anew.join(', ')}]`}`;
    const reads = all.map((text, i) =>
      isFilled(i)
        ? `[...${text}]`
        : this.#read(depends(text) ? text.replaceAll('.', '?.') : text, members.get(text)),
    );
    const value = `${this.#ag}v`;
    const later = all.flatMap((text, i) =>
      isFilled(i)
        ? [` ${this.#ag}.refill(${text}, ${value}[${i}]);`]
        : depends(text)
          ? [` if (${parentOf(text)} != null) ${text} = ${value}[${i}];`]
          : [],
    );
    const writes = `[${all.map((text, i) => (isFilled(i) || depends(text) ? '' : text)).join(', ')}] = ${value};${later.join('')}`;
    return `[() => [${reads.join(', ')}], (${this.#ag}v) => { ${writes} }, ${JSON.stringify(all)}, ${own.length}${last}]`;
  }

  /** How a variable or member is read. @param node where a member is assigned to. */
  #read(text: string, node: Node | undefined): string {
    const [, object, key] = /^(.*[^?])\??\.([^.#]+)$/.exec(text) ?? [];
    if (node === undefined || object === undefined || key === undefined || /^super\b/.test(text)) return text;
    return `${this.#ag}.member(${object}, ${JSON.stringify(key)}, ${this.#at(node)}${key === 'length' ? `, ${JSON.stringify(object)}` : ''})`;
  }
}

/** Names whose `push` or `pop` is called, in functions in the code too. */
function pushedIn(body: Node): ReadonlySet<string> {
  const found = new Set<string>();
  walk(body, (node) => {
    const name = node.type === 'CallExpression' ? pushedName(node.callee) : null;
    if (name !== null) found.add(name);
    return true;
  });
  return found;
}

const parentOf = (text: string): string => text.slice(0, text.lastIndexOf('.'));
