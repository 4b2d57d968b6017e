import { InternalError } from '@eagre/backend';
import { declaredIn } from './names.ts';
import { withReductions } from './reductions.ts';
import type {
  Binding,
  Expression,
  Field,
  FunctionDeclaration,
  KernelModule,
  Parameter,
  Statement,
  Type,
} from './syntax.ts';

const TOKEN =
  /\s+|\/\/[^\n]*|(0[xX][0-9a-fA-F]+[ui]?|(?:\d+\.\d*|\.\d+)(?:[eE][+-]?\d+)?f?|\d+[eE][+-]?\d+f?|\d+[uif]?)|([A-Za-z_]\w*)|(->|<<=|>>=|<<|>>|<=|>=|==|!=|&&|\|\||\+\+|--|[-+*/%&|^]=|[-+*/%=<>!&|^~:;,.(){}[\]@])/y;

const ATTRIBUTES = new Set(['binding', 'builtin', 'compute', 'group', 'workgroup_size']);

// Names of kernels that WGSL keeps for later, or that mean something in CUDA C++. With another such name a kernel is not compiled, which tests show.
const RESERVED = new Set(['filter', 'from', 'half', 'out']);

interface Token {
  readonly kind: 'number' | 'word' | 'sign' | 'end';
  readonly text: string;
}

function tokenize(text: string): Token[] {
  const tokens: Token[] = [];
  TOKEN.lastIndex = 0;
  for (let at = 0; at < text.length; at = TOKEN.lastIndex) {
    const match = TOKEN.exec(text);
    if (match === null) throw broken(`unexpected '${text.slice(at, at + 20)}'`);
    if (match[1] !== undefined) tokens.push({ kind: 'number', text: match[1] });
    else if (match[2] !== undefined) {
      const name = match[2];
      tokens.push({ kind: 'word', text: RESERVED.has(name) ? `${name}_` : name });
    } else if (match[3] !== undefined) tokens.push({ kind: 'sign', text: match[3] });
  }
  return tokens;
}

function broken(message: string): InternalError {
  return new InternalError(`a GPU kernel is not in the subset of WGSL: ${message}`);
}

// From the loosest to the tightest.
const LEVELS: readonly (readonly string[])[] = [
  ['||'],
  ['&&'],
  ['|'],
  ['^'],
  ['&'],
  ['==', '!='],
  ['<', '>', '<=', '>='],
  ['<<', '>>'],
  ['+', '-'],
  ['*', '/', '%'],
];
const ASSIGNMENTS = new Set(['=', '+=', '-=', '*=', '/=', '%=', '&=', '|=', '^=', '<<=', '>>=']);
/** What may be called with a type in angle brackets. */
const GENERIC = new Set(['bitcast']);

/**
 * Parses the text of a kernel.
 * @throws InternalError for text that is not in the subset, with the place.
 */
export function parseKernel(text: string): KernelModule {
  return new Parser(tokenize(text)).module();
}

class Parser {
  readonly #tokens: Token[];
  #at = 0;

  constructor(tokens: Token[]) {
    this.#tokens = tokens;
  }

  module(): KernelModule {
    const structs: { name: string; fields: Field[] }[] = [];
    const constants: { name: string; type: Type; value: Expression }[] = [];
    const bindings: Binding[] = [];
    const shared: Field[] = [];
    const functions: FunctionDeclaration[] = [];
    let entry: FunctionDeclaration | undefined;
    let workgroup: readonly [number, number, number] = [1, 1, 1];
    while (this.#peek().kind !== 'end') {
      if (this.#take(';')) continue;
      const attributes = this.#attributes();
      if (this.#take('struct')) structs.push(this.#struct());
      else if (this.#take('const')) constants.push(this.#constant());
      else if (this.#take('var')) this.#variable(attributes, bindings, shared);
      else if (this.#take('fn')) {
        const made = this.#function();
        if (!attributes.has('compute')) {
          functions.push(made);
          continue;
        }
        if (entry !== undefined) throw broken('it has two entry points');
        entry = made;
        const [x = 1, y = 1, z = 1] = (attributes.get('workgroup_size') ?? []).map(Number);
        workgroup = [x, y, z];
      } else throw this.#unexpected();
    }
    if (entry === undefined) throw broken('it has no entry point');
    bindings.sort((a, b) => a.number - b.number);
    bindings.forEach(({ number }, i) => {
      if (number !== i) throw broken(`binding ${i} is missing`);
    });
    // Printers give these other names.
    const buffers = new Set(bindings.map(({ name }) => name));
    const hidden = declaredIn(entry.body).find((name) => buffers.has(name));
    if (hidden !== undefined) throw broken(`a variable of the entry point hides the buffer ${hidden}`);
    const module = { structs, constants, bindings, shared, functions, entry, workgroup };
    return withReductions(module, (text) => new Parser(tokenize(`{${text}}`)).#block());
  }

  #struct(): { name: string; fields: Field[] } {
    const name = this.#word();
    this.#expect('{');
    const fields: Field[] = [];
    while (!this.#take('}')) {
      const field = this.#word();
      this.#expect(':');
      fields.push({ name: field, type: this.#type() });
      this.#take(',');
    }
    return { name, fields };
  }

  #constant(): { name: string; type: Type; value: Expression } {
    const name = this.#word();
    this.#expect(':');
    const type = this.#type();
    this.#expect('=');
    const value = this.#expression();
    this.#expect(';');
    return { name, type, value };
  }

  #variable(attributes: Map<string, string[]>, bindings: Binding[], shared: Field[]): void {
    this.#expect('<');
    const space = this.#word();
    const mode = this.#take(',') ? this.#word() : 'read';
    this.#expect('>');
    const name = this.#word();
    this.#expect(':');
    const type = this.#type();
    this.#expect(';');
    if (space === 'workgroup') shared.push({ name, type });
    else if (space === 'storage' || space === 'uniform') {
      const number = Number(attributes.get('binding')?.[0]);
      if (!Number.isInteger(number)) throw broken(`${name} has no binding`);
      bindings.push({ number, name, type, space, written: mode === 'read_write' });
    } else throw broken(`there is no address space ${space}`);
  }

  #function(): FunctionDeclaration {
    const name = this.#word();
    this.#expect('(');
    const parameters: Parameter[] = [];
    while (!this.#take(')')) {
      const builtin = this.#attributes().get('builtin')?.[0];
      const parameter = this.#word();
      this.#expect(':');
      parameters.push({ name: parameter, type: this.#type(), builtin });
      this.#take(',');
    }
    const result = this.#take('->') ? this.#type() : undefined;
    return { name, parameters, result, body: this.#block() };
  }

  #attributes(): Map<string, string[]> {
    const found = new Map<string, string[]>();
    while (this.#take('@')) {
      const name = this.#word();
      const args: string[] = [];
      if (this.#take('(')) while (!this.#take(')')) if (!this.#take(',')) args.push(this.#next().text);
      // Misspelt, one would count as absent: a workgroup of one thread.
      if (!ATTRIBUTES.has(name)) throw broken(`there is no attribute @${name}`);
      found.set(name, args);
    }
    return found;
  }

  #type(): Type {
    const name = this.#word();
    if (name === 'atomic') {
      this.#expect('<');
      const of = this.#word();
      this.#closeType();
      if (of !== 'u32' && of !== 'i32') throw broken(`there is no atomic ${of}`);
      return { kind: 'atomic', of };
    }
    if (name !== 'array') return { kind: 'name', name };
    this.#expect('<');
    const of = this.#type();
    // Its length must not take the bracket that ends the type.
    const length = this.#take(',') ? this.#binary(8) : undefined;
    this.#closeType();
    return { kind: 'array', of, length };
  }

  /** The end of a type in brackets, which may look like a shift where two end. */
  #closeType(): void {
    if (this.#peek().text === '>>') this.#tokens[this.#at] = { kind: 'sign', text: '>' };
    else this.#expect('>');
  }

  #block(): Statement[] {
    this.#expect('{');
    const statements: Statement[] = [];
    while (!this.#take('}')) if (!this.#take(';')) statements.push(this.#statement());
    return statements;
  }

  #statement(): Statement {
    if (this.#take('if')) return this.#if();
    if (this.#take('for')) return this.#for();
    if (this.#take('return')) {
      const value = this.#peek().text === ';' ? undefined : this.#expression();
      this.#expect(';');
      return { kind: 'return', value };
    }
    if (this.#take('break')) {
      this.#expect(';');
      return { kind: 'break' };
    }
    if (this.#take('continue')) {
      this.#expect(';');
      return { kind: 'continue' };
    }
    const simple = this.#simple();
    this.#expect(';');
    return simple;
  }

  #if(): Statement {
    const test = this.#parenthesized();
    const then = this.#block();
    if (!this.#take('else')) return { kind: 'if', test, then, else: undefined };
    return { kind: 'if', test, then, else: this.#take('if') ? [this.#if()] : this.#block() };
  }

  #for(): Statement {
    this.#expect('(');
    const init = this.#peek().text === ';' ? undefined : this.#simple();
    this.#expect(';');
    const test = this.#peek().text === ';' ? undefined : this.#expression();
    this.#expect(';');
    const step = this.#peek().text === ')' ? undefined : this.#simple();
    this.#expect(')');
    return { kind: 'for', init, test, step, body: this.#block() };
  }

  /** What may stand in the head of a loop. */
  #simple(): Statement {
    for (const word of ['let', 'const', 'var']) {
      if (!this.#take(word)) continue;
      const name = this.#word();
      const type = this.#take(':') ? this.#type() : undefined;
      const value = this.#take('=') ? this.#expression() : undefined;
      if (word !== 'var' && value === undefined) throw broken(`${name} has no value`);
      return { kind: 'declare', mutable: word === 'var', name, type, value };
    }
    const to = this.#unary();
    const { text } = this.#peek();
    if (text === '++' || text === '--') {
      this.#at++;
      return { kind: 'assign', to, op: text === '++' ? '+=' : '-=', value: { kind: 'number', text: '1' } };
    }
    if (ASSIGNMENTS.has(text)) {
      this.#at++;
      return { kind: 'assign', to, op: text, value: this.#expression() };
    }
    if (to.kind !== 'call') throw this.#unexpected();
    return { kind: 'call', call: to };
  }

  #parenthesized(): Expression {
    this.#expect('(');
    const inner = this.#expression();
    this.#expect(')');
    return inner;
  }

  #expression(): Expression {
    return this.#binary(0);
  }

  #binary(level: number): Expression {
    if (level === LEVELS.length) return this.#unary();
    let left = this.#binary(level + 1);
    for (;;) {
      const { kind, text: op } = this.#peek();
      if (kind !== 'sign' || !LEVELS[level].includes(op)) return left;
      this.#at++;
      left = { kind: 'binary', op, left, right: this.#binary(level + 1) };
    }
  }

  #unary(): Expression {
    for (const op of ['-', '!', '~', '&'] as const)
      if (this.#take(op)) return { kind: 'unary', op, of: this.#unary() };
    return this.#postfix(this.#primary());
  }

  #postfix(of: Expression): Expression {
    if (this.#take('[')) {
      const at = this.#expression();
      this.#expect(']');
      return this.#postfix({ kind: 'index', of, at });
    }
    if (this.#take('.')) return this.#postfix({ kind: 'member', of, name: this.#word() });
    return of;
  }

  #primary(): Expression {
    const token = this.#next();
    if (token.kind === 'number') return { kind: 'number', text: token.text };
    if (token.text === '(') {
      const inner = this.#expression();
      this.#expect(')');
      return inner;
    }
    if (token.kind !== 'word') throw this.#unexpected(-1);
    const name = token.text;
    if (name === 'true' || name === 'false') return { kind: 'bool', value: name === 'true' };
    let type: Type | undefined;
    if (GENERIC.has(name)) {
      this.#expect('<');
      type = this.#type();
      this.#expect('>');
    }
    if (!this.#take('(')) return { kind: 'name', name };
    const args: Expression[] = [];
    while (!this.#take(')')) {
      args.push(this.#expression());
      if (this.#peek().text !== ')') this.#expect(',');
    }
    return { kind: 'call', name, type, args };
  }

  #peek(): Token {
    return this.#tokens[this.#at] ?? { kind: 'end', text: 'the end' };
  }
  #next(): Token {
    const token = this.#peek();
    this.#at++;
    return token;
  }
  #take(text: string): boolean {
    const token = this.#peek();
    if (token.kind === 'end' || token.text !== text) return false;
    this.#at++;
    return true;
  }
  #expect(text: string): void {
    if (!this.#take(text)) throw this.#unexpected(0, text);
  }
  #word(): string {
    const token = this.#next();
    if (token.kind !== 'word') throw this.#unexpected(-1, 'a name');
    return token.text;
  }
  #unexpected(from = 0, wanted?: string): InternalError {
    const at = this.#at + from;
    const around = this.#tokens
      .slice(Math.max(0, at - 6), at + 4)
      .map(({ text }) => text)
      .join(' ');
    const found = this.#tokens[at]?.text ?? 'the end';
    return broken(`${wanted === undefined ? '' : `expected ${wanted}, `}found ${found} near '${around}'`);
  }
}
