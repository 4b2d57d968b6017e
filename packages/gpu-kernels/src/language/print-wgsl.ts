import { InternalError } from '@eagre/backend';
import type { Expression, KernelModule, Statement, Type } from './syntax.ts';

export interface WgslOptions {
  /**
   * By binding: the first binding that looks at the same memory. WebGPU refuses a dispatch in which two bindings show the same bytes and one
   * may write, so such bindings become one variable.
   */
  readonly sameAs?: readonly number[];
  /** Whether all buffers are bound for writing: WebGPU also refuses a buffer that is bound for reading and, elsewhere, for writing. */
  readonly allWritable?: boolean;
}

/** A kernel as WGSL, without white space that means nothing. */
export function printWgsl(module: KernelModule, options: WgslOptions = {}): string {
  const { sameAs, allWritable = false } = options;
  const names = new Map<string, string>();
  const parts: string[] = [];
  for (const { name, fields } of module.structs)
    parts.push(`struct ${name}{${fields.map((f) => `${f.name}:${type(f.type)}`).join(',')}}`);
  for (const { name, type: t, value } of module.constants)
    parts.push(`const ${name}:${type(t)}=${expression(value, names)};`);
  for (const binding of module.bindings) {
    const first = sameAs?.[binding.number] ?? binding.number;
    if (first !== binding.number) {
      const whole = module.bindings[first];
      if (type(whole.type) !== type(binding.type))
        throw new InternalError(`${whole.name} and ${binding.name} share memory, but not their type`);
      names.set(binding.name, whole.name);
      continue;
    }
    const written = module.bindings.some((b) => b.written && (sameAs?.[b.number] ?? b.number) === first);
    const mode = allWritable || written ? 'read_write' : 'read';
    const space = binding.space === 'uniform' ? 'uniform' : `storage,${mode}`;
    parts.push(`@group(0)@binding(${binding.number})var<${space}>${binding.name}:${type(binding.type)};`);
  }
  for (const { name, type: t } of module.shared) parts.push(`var<workgroup>${name}:${type(t)};`);
  for (const { name, parameters, result, body } of module.functions) {
    const list = parameters.map((p) => `${p.name}:${type(p.type)}`).join(',');
    // They see no buffers, and may have parameters of such names.
    parts.push(
      `fn ${name}(${list})${result === undefined ? '' : `->${type(result)}`}{${statements(body, new Map())}}`,
    );
  }
  const { entry, workgroup } = module;
  const list = entry.parameters.map((p) => `@builtin(${p.builtin})${p.name}:${type(p.type)}`).join(',');
  parts.push(
    `@compute@workgroup_size(${workgroup.join(',')})fn ${entry.name}(${list}){${statements(entry.body, names)}}`,
  );
  return parts.join('\n');
}

/** Whether two bindings may become one variable. */
export function shareType(module: KernelModule, a: number, b: number): boolean {
  return type(module.bindings[a].type) === type(module.bindings[b].type);
}

type Names = ReadonlyMap<string, string>;

function type(t: Type): string {
  if (t.kind === 'name') return t.name;
  if (t.kind === 'atomic') return `atomic<${t.of}>`;
  return `array<${type(t.of)}${t.length === undefined ? '' : `,${expression(t.length, new Map())}`}>`;
}

function statements(list: readonly Statement[], names: Names): string {
  return list.map((s) => statement(s, names)).join('');
}

function statement(s: Statement, names: Names): string {
  switch (s.kind) {
    case 'if': {
      const rest = s.else === undefined ? '' : `else{${statements(s.else, names)}}`;
      return `if(${expression(s.test, names)}){${statements(s.then, names)}}${rest}`;
    }
    case 'for': {
      const part = (inner: Statement | undefined): string =>
        inner === undefined ? '' : simple(inner, names);
      const test = s.test === undefined ? '' : expression(s.test, names);
      return `for(${part(s.init)};${test};${part(s.step)}){${statements(s.body, names)}}`;
    }
    case 'return':
      return s.value === undefined ? 'return;' : `return ${expression(s.value, names)};`;
    case 'break':
    case 'continue':
      return `${s.kind};`;
    default:
      return `${simple(s, names)};`;
  }
}

function simple(s: Statement, names: Names): string {
  if (s.kind === 'declare') {
    const typed = s.type === undefined ? '' : `:${type(s.type)}`;
    const value = s.value === undefined ? '' : `=${expression(s.value, names)}`;
    return `${s.mutable ? 'var' : 'let'} ${s.name}${typed}${value}`;
  }
  if (s.kind === 'assign') return `${expression(s.to, names)}${s.op}${expression(s.value, names)}`;
  if (s.kind === 'call') return expression(s.call, names);
  throw new InternalError(`a ${s.kind} stands where only simple statements may`);
}

function expression(e: Expression, names: Names): string {
  switch (e.kind) {
    case 'number':
      return e.text;
    case 'bool':
      return String(e.value);
    case 'name':
      return names.get(e.name) ?? e.name;
    case 'unary':
      return `${e.op}${operand(e.of, names)}`;
    case 'binary':
      // WGSL wants parentheses between some operators, so all nested ones get them. The space keeps `a - -b` apart.
      return `${operand(e.left, names)}${e.op} ${operand(e.right, names)}`;
    case 'index':
      return `${operand(e.of, names)}[${expression(e.at, names)}]`;
    case 'member':
      return `${operand(e.of, names)}.${e.name}`;
    case 'call': {
      const args = e.args.map((arg) => expression(arg, names)).join(',');
      return `${e.name}${e.type === undefined ? '' : `<${type(e.type)}>`}(${args})`;
    }
  }
}

function operand(e: Expression, names: Names): string {
  const text = expression(e, names);
  return e.kind === 'binary' || e.kind === 'unary' ? `(${text})` : text;
}
