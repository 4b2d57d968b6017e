import { InternalError } from '@eagre/backend';
import {
  type Expression,
  type FunctionDeclaration,
  type KernelModule,
  narrowFunctions,
  narrowOf,
  type Statement,
  type Type,
} from './syntax.ts';

type Scalar = 'f32' | 'i32' | 'u32' | 'bool';
type ValueType = Scalar | 'vec2u' | 'vec3u';

/** A value in registers: one for each of its parts. */
interface Value {
  readonly type: ValueType;
  readonly registers: readonly string[];
}
/** An integer without a type of its own, which takes that of what it stands beside. */
interface Whole {
  readonly type: 'whole';
  readonly value: number;
}
type Result = Value | Whole;

type Space = 'global' | 'shared' | 'local';
/** A place in memory: a register of 64 bits, and bytes behind it. */
interface Place {
  readonly space: Space;
  readonly base: string;
  readonly offset: number;
  readonly type: Type;
  readonly narrow: 'float16' | 'bfloat16' | undefined;
}

type Named =
  | { readonly kind: 'value'; readonly value: Value }
  | { readonly kind: 'memory'; readonly place: Place }
  | { readonly kind: 'uniform'; readonly fields: ReadonlyMap<string, { type: Scalar; offset: number }> }
  | { readonly kind: 'constant'; readonly type: Scalar; readonly expression: Expression };

const PARTS = { vec2u: ['x', 'y'], vec3u: ['x', 'y', 'z'] } as const;
/** The letter of the registers of a type. */
const LETTERS = { f32: 'f', i32: 'r', u32: 'r', bool: 'p' } as const;
const DECLARED = { f: '.f32', r: '.b32', p: '.pred', d: '.b64' } as const;
type Letter = keyof typeof DECLARED;

const BUILTIN_REGISTERS: Readonly<Record<string, string>> = {
  workgroup_id: '%ctaid',
  local_invocation_id: '%tid',
  num_workgroups: '%nctaid',
};

/** Arithmetic, with the rounding that keeps products from being contracted into sums. */
const ARITHMETIC: Readonly<Record<string, Readonly<Partial<Record<Scalar, string>>>>> = {
  '+': { f32: 'add.rn.f32', i32: 'add.s32', u32: 'add.u32' },
  '-': { f32: 'sub.rn.f32', i32: 'sub.s32', u32: 'sub.u32' },
  '*': { f32: 'mul.rn.f32', i32: 'mul.lo.s32', u32: 'mul.lo.u32' },
  '/': { f32: 'div.rn.f32', i32: 'div.s32', u32: 'div.u32' },
  '%': { i32: 'rem.s32', u32: 'rem.u32' },
  '&': { i32: 'and.b32', u32: 'and.b32', bool: 'and.pred' },
  '|': { i32: 'or.b32', u32: 'or.b32', bool: 'or.pred' },
  '^': { i32: 'xor.b32', u32: 'xor.b32', bool: 'xor.pred' },
  '<<': { i32: 'shl.b32', u32: 'shl.b32' },
  '>>': { i32: 'shr.s32', u32: 'shr.u32' },
};
/** Numbers that are NaN differ from all, and compare to none. */
const COMPARISONS: Readonly<Record<string, string>> = {
  '==': 'eq',
  '!=': 'ne',
  '<': 'lt',
  '<=': 'le',
  '>': 'gt',
  '>=': 'ge',
};
const ROUNDINGS: Readonly<Record<string, string>> = { floor: 'rmi', ceil: 'rpi', trunc: 'rzi', round: 'rni' };

/** The version of PTX that drivers of CUDA 10.1 and later take, and the newest GPU that it is for: later ones take it too. */
const VERSION = '6.4';
const NEWEST = 75;

/**
 * A kernel as PTX, the assembler that the driver itself compiles. Its parameters are a pointer for each storage buffer and the uniform block by value, in the
 * order of the bindings. It computes the same as what `printCuda` prints, and is slower where that is compiled with loops unrolled.
 * @param name of the entry.
 * @param capability the compute capability of the GPU: 90 for 9.0.
 */
export function printPtx(module: KernelModule, name: string, capability: number): string {
  return new PtxPrinter(module).print(name, Math.min(capability, NEWEST));
}

/** Where `break`, `continue` and `return` go. */
interface Target {
  readonly label: string;
  readonly result: Value | undefined;
}

class PtxPrinter {
  readonly #module: KernelModule;
  readonly #functions: ReadonlyMap<string, FunctionDeclaration>;
  readonly #lines: string[] = [];
  readonly #memory: string[] = [];
  readonly #counts = { f: 0, r: 0, p: 0, d: 0 };
  #labels = 0;
  #scopes: Map<string, Named>[] = [new Map()];
  #loops: { readonly end: string; readonly step: string }[] = [];
  #return: Target = { label: 'END', result: undefined };

  constructor(module: KernelModule) {
    this.#module = module;
    this.#functions = new Map(module.functions.map((f) => [f.name, f]));
  }

  print(name: string, target: number): string {
    const { bindings, shared, constants, entry, workgroup } = this.#module;
    const [top] = this.#scopes;
    for (const { name: own, type, value } of constants)
      top.set(own, { kind: 'constant', type: scalarOf(type), expression: value });
    this.#scopes.push(new Map());
    const parameters = bindings.map((binding, i) => {
      if (binding.space === 'uniform') {
        const fields = this.#fields(binding.type);
        this.#set(binding.name, { kind: 'uniform', fields });
        return `.param .align 4 .b8 uniforms[${4 * fields.size}]`;
      }
      const base = this.#new('d');
      this.#add(`ld.param.u64 ${base}, [buffer${i}]`);
      this.#add(`cvta.to.global.u64 ${base}, ${base}`);
      const place = {
        space: 'global',
        base,
        offset: 0,
        type: binding.type,
        narrow: narrowOf(binding),
      } as const;
      this.#set(binding.name, { kind: 'memory', place });
      return `.param .u64 buffer${i}`;
    });
    for (const { name: own, type } of shared)
      this.#set(own, { kind: 'memory', place: this.#reserve('shared', type) });
    for (const { name: own, builtin = '' } of entry.parameters)
      this.#set(own, { kind: 'value', value: this.#builtin(builtin) });
    this.#statements(entry.body);
    const registers = (Object.keys(DECLARED) as Letter[])
      .filter((letter) => this.#counts[letter] > 0)
      .map((letter) => `.reg ${DECLARED[letter]} %${letter}<${this.#counts[letter]}>;`);
    return `.version ${VERSION}
.target sm_${target}
.address_size 64
.visible .entry ${name}(
${parameters.join(',\n')}
)
.maxntid ${workgroup.join(', ')}
{
${[...registers, ...this.#memory, ...this.#lines].join('\n')}
END:
ret;
}
`;
  }

  #fields(type: Type): ReadonlyMap<string, { type: Scalar; offset: number }> {
    const block = this.#module.structs.find(({ name }) => type.kind === 'name' && name === type.name);
    if (block === undefined) throw broken('a uniform block is no struct');
    return new Map(
      block.fields.map(({ name, type: of }, i) => [name, { type: scalarOf(of), offset: 4 * i }]),
    );
  }

  #builtin(name: string): Value {
    const parts = (register: string): string[] =>
      PARTS.vec3u.map((part) => {
        const to = this.#new('r');
        this.#add(`mov.u32 ${to}, ${register}.${part}`);
        return to;
      });
    const known = BUILTIN_REGISTERS[name];
    if (known !== undefined) return { type: 'vec3u', registers: parts(known) };
    const [place, size, group] = [parts('%tid'), parts('%ntid'), parts('%ctaid')];
    const sum = (a: string, b: string, c: string): string => {
      const to = this.#new('r');
      this.#add(`mad.lo.u32 ${to}, ${a}, ${b}, ${c}`);
      return to;
    };
    if (name === 'global_invocation_id')
      return { type: 'vec3u', registers: place.map((own, i) => sum(group[i], size[i], own)) };
    if (name === 'local_invocation_index')
      return { type: 'u32', registers: [sum(sum(place[2], size[1], place[1]), size[0], place[0])] };
    throw new InternalError(`there is no builtin ${name}`);
  }

  #add(line: string): void {
    this.#lines.push(`${line};`);
  }
  #new(letter: Letter): string {
    return `%${letter}${this.#counts[letter]++}`;
  }
  #newOf(type: ValueType): Value {
    const count = type === 'vec2u' ? 2 : type === 'vec3u' ? 3 : 1;
    const letter = count > 1 ? 'r' : LETTERS[type as Scalar];
    return { type, registers: Array.from({ length: count }, () => this.#new(letter)) };
  }
  #label(): string {
    return `L${this.#labels++}`;
  }
  #put(label: string): void {
    this.#lines.push(`${label}:`);
  }
  #set(name: string, named: Named): void {
    this.#scopes[this.#scopes.length - 1].set(name, named);
  }
  #find(name: string): Named {
    for (let i = this.#scopes.length - 1; i >= 0; i--) {
      const found = this.#scopes[i].get(name);
      if (found !== undefined) return found;
    }
    throw broken(`there is no ${name}`);
  }

  /** Memory of a block or a thread. */
  #reserve(space: 'shared' | 'local', type: Type): Place {
    const name = `memory${this.#memory.length}`;
    this.#memory.push(`.${space} .align 8 .b8 ${name}[${this.#bytes(type)}];`);
    const base = this.#new('d');
    this.#add(`mov.u64 ${base}, ${name}`);
    return { space, base, offset: 0, type, narrow: undefined };
  }

  #bytes(type: Type): number {
    if (type.kind === 'array') {
      if (type.length === undefined) throw broken('an array has no length');
      return this.#number(type.length) * this.#bytes(type.of);
    }
    if (type.kind === 'name' && type.name === 'vec2u') return 8;
    if (scalarOf(type) === 'bool') throw broken('memory of bools');
    return 4;
  }

  /** A number that is known here. */
  #number(e: Expression): number {
    if (e.kind === 'number') return Number(e.text.replace(/[ui]$/, ''));
    if (e.kind === 'name') {
      const found = this.#find(e.name);
      if (found.kind === 'constant') return this.#number(found.expression);
    }
    if (e.kind === 'binary') {
      const made = folded(e.op, this.#number(e.left), this.#number(e.right));
      if (made !== undefined) return made;
    }
    throw broken('the length of an array is no constant');
  }

  // Statements.

  #statements(list: readonly Statement[]): void {
    this.#scopes.push(new Map());
    for (const each of list) this.#statement(each);
    this.#scopes.pop();
  }

  #statement(s: Statement): void {
    switch (s.kind) {
      case 'declare':
        this.#declare(s);
        return;
      case 'assign':
        this.#assign(s);
        return;
      case 'call':
        this.#called(s.call as Expression & { kind: 'call' });
        return;
      case 'if': {
        const [other, end] = [this.#label(), this.#label()];
        this.#add(`@!${this.#test(s.test)} bra ${other}`);
        this.#statements(s.then);
        if (s.else !== undefined) this.#add(`bra ${end}`);
        this.#put(other);
        if (s.else === undefined) return;
        this.#statements(s.else);
        this.#put(end);
        return;
      }
      case 'for': {
        const [test, step, end] = [this.#label(), this.#label(), this.#label()];
        this.#scopes.push(new Map());
        if (s.init !== undefined) this.#statement(s.init);
        this.#put(test);
        if (s.test !== undefined) this.#add(`@!${this.#test(s.test)} bra ${end}`);
        this.#loops.push({ end, step });
        this.#statements(s.body);
        this.#loops.pop();
        this.#put(step);
        if (s.step !== undefined) this.#statement(s.step);
        this.#add(`bra ${test}`);
        this.#put(end);
        this.#scopes.pop();
        return;
      }
      case 'break':
      case 'continue': {
        const loop = this.#loops.at(-1);
        if (loop === undefined) throw broken(`a ${s.kind} is in no loop`);
        this.#add(`bra ${s.kind === 'break' ? loop.end : loop.step}`);
        return;
      }
      case 'return': {
        const { label, result } = this.#return;
        if (s.value !== undefined) {
          if (result === undefined) throw broken('a value is returned to nobody');
          this.#move(result, this.#as(this.#expression(s.value), result.type));
        }
        this.#add(`bra ${label}`);
        return;
      }
    }
  }

  #declare({ name, type, value }: Statement & { kind: 'declare' }): void {
    if (type?.kind === 'array') {
      if (value !== undefined) throw broken(`the array ${name} has a value`);
      const place = this.#reserve('local', type);
      // As WGSL has it: all zeros, each time anew.
      const zero = this.#constant('u32', 0);
      for (let at = 0; at < this.#bytes(type); at += 4)
        this.#add(`st.local.u32 [${place.base}+${at}], ${zero.registers[0]}`);
      this.#set(name, { kind: 'memory', place });
      return;
    }
    const wanted = type === undefined ? undefined : valueTypeOf(type);
    let from: Value;
    if (value !== undefined) from = this.#as(this.#expression(value), wanted);
    else if (wanted !== undefined) from = this.#zero(wanted);
    else throw broken(`${name} has neither type nor value`);
    // A copy: the other may change.
    const own = this.#newOf(from.type);
    this.#move(own, from);
    this.#set(name, { kind: 'value', value: own });
  }

  #zero(type: ValueType): Value {
    const part = this.#constant(type === 'vec2u' || type === 'vec3u' ? 'u32' : type, 0);
    return { type, registers: this.#newOf(type).registers.map(() => part.registers[0]) };
  }

  #assign({ to, op, value }: Statement & { kind: 'assign' }): void {
    if (to.kind === 'name' || to.kind === 'member') {
      const own = this.#variable(to);
      if (own !== undefined) {
        this.#move(own, this.#as(this.#changed(op, own, value), own.type));
        return;
      }
    }
    const place = this.#place(to);
    this.#store(place, this.#changed(op, op === '=' ? undefined : this.#load(place), value));
  }

  #changed(op: string, before: Value | undefined, value: Expression): Result {
    const by = this.#expression(value);
    return op === '=' || before === undefined ? by : this.#binary(op.slice(0, -1), before, by);
  }

  /** The registers of a variable or of a part of one; undefined where it is memory. */
  #variable(e: Expression): Value | undefined {
    if (e.kind === 'name') {
      const found = this.#find(e.name);
      return found.kind === 'value' ? found.value : undefined;
    }
    const of = e.kind === 'member' ? this.#variable(e.of) : undefined;
    return e.kind === 'member' && of !== undefined ? part(of, e.name) : undefined;
  }

  #move(to: Value, from: Value): void {
    if (to.type !== from.type) throw broken(`a ${to.type} becomes a ${from.type}`);
    const kind = to.type === 'f32' ? 'f32' : to.type === 'bool' ? 'pred' : 'u32';
    // Parts of one may be parts of the other.
    const held = from.registers.map((register) => {
      if (to.registers.length === 1 || !to.registers.includes(register)) return register;
      const copy = this.#new('r');
      this.#add(`mov.u32 ${copy}, ${register}`);
      return copy;
    });
    to.registers.forEach((register, i) => {
      this.#add(`mov.${kind} ${register}, ${held[i]}`);
    });
  }

  // Memory.

  #place(e: Expression): Place {
    if (e.kind === 'name') {
      const found = this.#find(e.name);
      if (found.kind !== 'memory') throw broken(`${e.name} is no memory`);
      return found.place;
    }
    if (e.kind === 'member') {
      const of = this.#place(e.of);
      const at = PARTS.vec2u.indexOf(e.name as 'x');
      if (of.type.kind !== 'name' || of.type.name !== 'vec2u' || at < 0)
        throw broken(`there is no .${e.name}`);
      return { ...of, offset: of.offset + 4 * at, type: { kind: 'name', name: 'u32' } };
    }
    if (e.kind !== 'index') throw broken(`a ${e.kind} is no place`);
    const array = this.#place(e.of);
    if (array.type.kind !== 'array') throw broken('what is no array has no elements');
    const type = array.type.of;
    const size = array.narrow === undefined ? this.#bytes(type) : 2;
    const at = this.#expression(e.at);
    if (at.type === 'whole') return { ...array, type, offset: array.offset + size * at.value };
    if (at.type !== 'u32' && at.type !== 'i32') throw broken(`a place is a ${at.type}`);
    const [far, base] = [this.#new('d'), this.#new('d')];
    this.#add(`mul.wide.${at.type === 'u32' ? 'u32' : 's32'} ${far}, ${at.registers[0]}, ${size}`);
    this.#add(`add.s64 ${base}, ${array.base}, ${far}`);
    return { ...array, type, base };
  }

  #load({ space, base, offset, type, narrow }: Place): Value {
    const at = `[${base}+${offset}]`;
    if (narrow !== undefined) {
      const bits = this.#newOf('u32');
      this.#add(`ld.${space}.u16 ${bits.registers[0]}, ${at}`);
      return this.#run(narrowFunctions[narrow].load, [bits]) as Value;
    }
    const made = this.#newOf(valueTypeOf(type));
    if (made.type === 'vec2u') this.#add(`ld.${space}.v2.u32 {${made.registers.join(', ')}}, ${at}`);
    else this.#add(`ld.${space}.${made.type === 'f32' ? 'f32' : 'u32'} ${made.registers[0]}, ${at}`);
    return made;
  }

  #store({ space, base, offset, type, narrow }: Place, given: Result): void {
    const at = `[${base}+${offset}]`;
    if (narrow !== undefined) {
      const bits = this.#run(narrowFunctions[narrow].store, [this.#as(given, 'f32')]) as Value;
      this.#add(`st.${space}.u16 ${at}, ${bits.registers[0]}`);
      return;
    }
    const value = this.#as(given, valueTypeOf(type));
    if (value.type === 'vec2u') this.#add(`st.${space}.v2.u32 ${at}, {${value.registers.join(', ')}}`);
    else this.#add(`st.${space}.${value.type === 'f32' ? 'f32' : 'u32'} ${at}, ${value.registers[0]}`);
  }

  // Expressions.

  /** A value of a type, or of its own where none is wanted. */
  #as(value: Result, wanted?: ValueType): Value {
    if (value.type === 'whole') {
      const type = wanted ?? 'i32';
      if (type === 'bool' || type === 'vec2u' || type === 'vec3u') throw broken(`a number is a ${type}`);
      return this.#constant(type, value.value);
    }
    if (wanted !== undefined && value.type !== wanted) throw broken(`a ${value.type} is a ${wanted}`);
    return value;
  }

  #constant(type: Scalar, value: number): Value {
    const made = this.#newOf(type);
    const [to] = made.registers;
    if (type === 'bool') this.#add(`mov.pred ${to}, ${value === 0 ? 0 : -1}`);
    else this.#add(type === 'f32' ? `mov.f32 ${to}, ${floatText(value)}` : `mov.b32 ${to}, ${value >>> 0}`);
    return made;
  }

  #test(e: Expression): string {
    return this.#as(this.#expression(e), 'bool').registers[0];
  }

  #expression(e: Expression): Result {
    switch (e.kind) {
      case 'number':
        return this.#literal(e.text);
      case 'bool':
        return this.#constant('bool', e.value ? 1 : 0);
      case 'name': {
        const found = this.#find(e.name);
        if (found.kind === 'value') return found.value;
        if (found.kind === 'constant') return this.#as(this.#expression(found.expression), found.type);
        if (found.kind === 'memory') return this.#load(found.place);
        throw broken(`${e.name} is a block`);
      }
      case 'unary':
        return this.#unary(e.op, e.of);
      case 'binary':
        if (e.op === '&&' || e.op === '||') return this.#logical(e.op, e.left, e.right);
        return this.#binary(e.op, this.#expression(e.left), this.#expression(e.right));
      case 'index':
        return this.#load(this.#place(e));
      case 'member':
        return this.#member(e);
      case 'call': {
        const made = this.#called(e);
        if (made === undefined) throw broken(`${e.name} gives no value`);
        return made;
      }
    }
  }

  #literal(text: string): Result {
    if (/^0[xX]/.test(text)) {
      const value = Number(text.replace(/[ui]$/, ''));
      return text.endsWith('u') ? this.#constant('u32', value) : { type: 'whole', value };
    }
    if (/[.eEf]/.test(text)) return this.#constant('f32', Number(text.replace(/f$/, '')));
    const value = Number(text.replace(/[ui]$/, ''));
    if (text.endsWith('u')) return this.#constant('u32', value);
    return text.endsWith('i') ? this.#constant('i32', value) : { type: 'whole', value };
  }

  #member({ of, name }: Expression & { kind: 'member' }): Value {
    if (of.kind === 'name') {
      const found = this.#find(of.name);
      if (found.kind === 'uniform') {
        const field = found.fields.get(name);
        if (field === undefined) throw broken(`there is no field ${name}`);
        const made = this.#newOf(field.type);
        this.#add(
          `ld.param.${field.type === 'f32' ? 'f32' : 'u32'} ${made.registers[0]}, [uniforms+${field.offset}]`,
        );
        return made;
      }
    }
    return part(this.#as(this.#expression(of)), name);
  }

  #unary(op: string, of: Expression): Result {
    const value = this.#expression(of);
    if (value.type === 'whole') {
      if (op === '-') return { type: 'whole', value: -value.value };
      if (op === '~') return { type: 'whole', value: ~value.value };
      throw broken(`${op} of a number`);
    }
    const names: Partial<Record<ValueType, string>> =
      op === '-'
        ? { f32: 'neg.f32', i32: 'neg.s32' }
        : op === '!'
          ? { bool: 'not.pred' }
          : op === '~'
            ? { i32: 'not.b32', u32: 'not.b32' }
            : {};
    return this.#operation(names[value.type], value.type, value);
  }

  /** An instruction of some values. */
  #operation(name: string | undefined, type: ValueType, ...from: readonly Value[]): Value {
    if (name === undefined) throw broken(`an operation of ${from.map((value) => value.type).join(' and ')}`);
    const made = this.#newOf(type);
    this.#add(`${name} ${[made, ...from].map(({ registers }) => registers[0]).join(', ')}`);
    return made;
  }

  #logical(op: '&&' | '||', left: Expression, right: Expression): Value {
    const a = this.#as(this.#expression(left), 'bool');
    const name = op === '&&' ? 'and.pred' : 'or.pred';
    if (!readsMemory(right))
      return this.#operation(name, 'bool', a, this.#as(this.#expression(right), 'bool'));
    // What the left side guards is not read.
    const made = this.#newOf('bool');
    const end = this.#label();
    this.#move(made, a);
    this.#add(`@${op === '&&' ? '!' : ''}${made.registers[0]} bra ${end}`);
    this.#move(made, this.#as(this.#expression(right), 'bool'));
    this.#put(end);
    return made;
  }

  #binary(op: string, left: Result, right: Result): Result {
    if (left.type === 'whole' && right.type === 'whole') {
      const value = folded(op, left.value, right.value);
      if (value !== undefined) return { type: 'whole', value };
    }
    if (op === '<<' || op === '>>') {
      const a = this.#as(left);
      const by = right.type === 'i32' ? right : this.#as(right, 'u32');
      return this.#operation(ARITHMETIC[op][a.type as Scalar], a.type, a, by);
    }
    const [a, b] = this.#alike(left, right);
    const compared = COMPARISONS[op];
    if (compared === undefined) return this.#operation(ARITHMETIC[op]?.[a.type as Scalar], a.type, a, b);
    if (a.type === 'bool') {
      const differs = this.#operation('xor.pred', 'bool', a, b);
      if (op === '!=') return differs;
      return this.#operation(op === '==' ? 'not.pred' : undefined, 'bool', differs);
    }
    const suffix = { f32: 'f32', i32: 's32', u32: 'u32' }[a.type as string];
    if (suffix === undefined) throw broken(`a comparison of ${a.type}`);
    const name = a.type === 'f32' && op === '!=' ? 'neu' : compared;
    return this.#operation(`setp.${name}.${suffix}`, 'bool', a, b);
  }

  /** Two values of one type. */
  #alike(left: Result, right: Result): readonly [Value, Value] {
    const type = left.type !== 'whole' ? left.type : right.type !== 'whole' ? right.type : 'i32';
    return [this.#as(left, type), this.#as(right, type)];
  }

  // Calls.

  #called({ name, type, args }: Expression & { kind: 'call' }): Result | undefined {
    if (name === 'workgroupBarrier') {
      this.#add('bar.sync 0');
      return undefined;
    }
    if (name === 'deviceFence') {
      this.#add('membar.gl');
      return undefined;
    }
    if (name === 'atomicMax' || name === 'atomicAdd') {
      const [target, by] = args;
      if (target.kind !== 'unary' || target.op !== '&') throw broken(`${name} of no address`);
      const place = this.#place(target.of);
      if (scalarOf(place.type) !== 'u32') throw broken(`${name} of other than u32`);
      const before = this.#newOf('u32');
      const value = this.#as(this.#expression(by), 'u32');
      this.#add(
        `atom.${place.space}.${name === 'atomicMax' ? 'max' : 'add'}.u32 ${before.registers[0]}, [${place.base}+${place.offset}], ${value.registers[0]}`,
      );
      return before;
    }
    const given = args.map((arg) => this.#expression(arg));
    if (this.#functions.has(name)) return this.#run(name, given);
    if (name === 'vec2u' || name === 'vec3u')
      return { type: name, registers: given.map((each) => this.#as(each, 'u32').registers[0]) };
    if (name === 'bitcast') return this.#bitcast(scalarOf(type as Type), this.#as(given[0]));
    if (name === 'f32' || name === 'i32' || name === 'u32' || name === 'bool')
      return this.#cast(name, given[0]);
    return this.#builtinCall(name, given);
  }

  #builtinCall(name: string, given: readonly Result[]): Value {
    if (name in ROUNDINGS)
      return this.#operation(`cvt.${ROUNDINGS[name]}.f32.f32`, 'f32', this.#as(given[0], 'f32'));
    switch (name) {
      case 'select':
        return this.#select(...this.#alike(given[0], given[1]), this.#as(given[2], 'bool'));
      case 'min':
      case 'max': {
        const [a, b] = this.#alike(given[0], given[1]);
        return this.#select(
          a,
          b,
          this.#binary('<', ...((name === 'min' ? [b, a] : [a, b]) as [Value, Value])) as Value,
        );
      }
      case 'clamp':
        return this.#builtinCall('min', [this.#builtinCall('max', [given[0], given[1]]), given[2]]);
      case 'abs': {
        const value = this.#as(given[0]);
        if (value.type === 'f32') return this.#operation('abs.f32', 'f32', value);
        const zero = this.#constant('i32', 0);
        const other = this.#binary('-', zero, value) as Value;
        return this.#select(value, other, this.#binary('<', value, zero) as Value);
      }
      case 'sqrt':
        return this.#operation('sqrt.rn.f32', 'f32', this.#as(given[0], 'f32'));
      case 'inverseSqrt':
        return this.#operation('rcp.rn.f32', 'f32', this.#builtinCall('sqrt', given));
      case 'fma':
        return this.#operation('fma.rn.f32', 'f32', ...given.map((each) => this.#as(each, 'f32')));
      default:
        throw broken(`function ${name}`);
    }
  }

  #select(otherwise: Value, then: Value, test: Value): Value {
    const made = this.#newOf(then.type);
    if (then.type === 'bool') {
      // There is no selection between predicates.
      const yes = this.#operation('and.pred', 'bool', test, then);
      const no = this.#operation('and.pred', 'bool', this.#operation('not.pred', 'bool', test), otherwise);
      return this.#operation('or.pred', 'bool', yes, no);
    }
    made.registers.forEach((to, i) => {
      this.#add(
        `selp.${then.type === 'f32' ? 'f32' : 'b32'} ${to}, ${then.registers[i]}, ${otherwise.registers[i]}, ${test.registers[0]}`,
      );
    });
    return made;
  }

  #bitcast(to: Scalar, from: Value): Value {
    return this.#operation('mov.b32', to, from);
  }

  #cast(to: Scalar, given: Result): Value {
    if (given.type === 'whole' && to !== 'bool') return this.#constant(to, given.value);
    const from = this.#as(given);
    if (from.type === to) return from;
    if (from.type === 'bool') return this.#select(this.#constant(to, 0), this.#constant(to, 1), from);
    if (to === 'bool') return this.#binary('!=', from, { type: 'whole', value: 0 }) as Value;
    if (from.type === 'f32') return this.#operation(`cvt.rzi.${to === 'i32' ? 's32' : 'u32'}.f32`, to, from);
    if (to === 'f32') return this.#operation(`cvt.rn.f32.${from.type === 'i32' ? 's32' : 'u32'}`, to, from);
    return this.#bitcast(to, from);
  }

  /** A function of the kernel, in its place. */
  #run(name: string, given: readonly Result[]): Value | undefined {
    const f = this.#functions.get(name);
    if (f === undefined) throw broken(`there is no function ${name}`);
    const result = f.result === undefined ? undefined : this.#newOf(valueTypeOf(f.result));
    const before = { scopes: this.#scopes, loops: this.#loops, target: this.#return };
    const own = new Map<string, Named>();
    f.parameters.forEach((parameter, i) => {
      own.set(parameter.name, { kind: 'value', value: this.#as(given[i], valueTypeOf(parameter.type)) });
    });
    this.#scopes = [before.scopes[0], own];
    this.#loops = [];
    this.#return = { label: this.#label(), result };
    this.#statements(f.body);
    this.#put(this.#return.label);
    this.#scopes = before.scopes;
    this.#loops = before.loops;
    this.#return = before.target;
    return result;
  }
}

function broken(message: string): InternalError {
  return new InternalError(`a GPU kernel is not in the subset of WGSL: ${message}`);
}

function scalarOf(type: Type): Scalar {
  const made = valueTypeOf(type);
  if (made === 'vec2u' || made === 'vec3u') throw broken(`a ${made} is no scalar`);
  return made;
}

function valueTypeOf(type: Type): ValueType {
  if (type.kind === 'atomic') return type.of;
  if (type.kind === 'name')
    switch (type.name) {
      case 'f32':
      case 'i32':
      case 'u32':
      case 'bool':
      case 'vec2u':
      case 'vec3u':
        return type.name;
    }
  throw broken(`type ${type.kind === 'name' ? type.name : type.kind}`);
}

function part({ type, registers }: Value, name: string): Value {
  const at = type === 'vec2u' || type === 'vec3u' ? (PARTS[type] as readonly string[]).indexOf(name) : -1;
  if (at < 0) throw broken(`a ${type} has no .${name}`);
  return { type: 'u32', registers: [registers[at]] };
}

/** Two numbers of no type of their own as one. */
function folded(op: string, a: number, b: number): number | undefined {
  switch (op) {
    case '+':
      return a + b;
    case '-':
      return a - b;
    case '*':
      return a * b;
    case '/':
      return Math.trunc(a / b);
    default:
      return undefined;
  }
}

/** Only the entry point reads memory, and only by an index. */
function readsMemory(e: Expression): boolean {
  switch (e.kind) {
    case 'index':
      return true;
    case 'unary':
    case 'member':
      return readsMemory(e.of);
    case 'binary':
      return readsMemory(e.left) || readsMemory(e.right);
    case 'call':
      return e.args.some(readsMemory);
    default:
      return false;
  }
}

/** The bits of a float32. */
function floatText(value: number): string {
  const [bits] = new Uint32Array(Float32Array.of(value).buffer);
  return `0f${bits.toString(16).toUpperCase().padStart(8, '0')}`;
}
