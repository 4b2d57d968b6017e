// Keys, arguments of JavaScript's own functions, and texts become calls of helpers where a tensor may be among them.
import type { Unit } from '../analysis/source-unit.ts';
import { asItIs, isBoolean, within } from '../analysis/source-unit.ts';
import { bare, type Node } from '../analysis/syntax.ts';
import { type Code, code } from './code-fragments.ts';

/** Methods that look for their first argument. */
const SEARCHING = new Set(['get', 'has', 'includes', 'indexOf', 'lastIndexOf']);
/** Functions of numbers that take no object for one. */
const STRICT = new Set(['isFinite', 'isInteger', 'isNaN', 'isSafeInteger']);
const NATIVE = new Set(['BigInt', 'Number', 'String', 'isFinite', 'isNaN', 'parseFloat', 'parseInt']);
const ARRAYS = /^(?:Array|(?:Big)?(?:Int|Uint|Float)\d+(?:Clamped)?Array)$/;

/** How code around asks for what is in an expression. */
interface Parts {
  readonly unit: Unit;
  /** Code for a part. */
  readonly part: (node: Node) => Code;
  readonly isHost: (node: Node) => boolean;
  /** Whether it is for graphs; else for known values, where what JavaScript makes of a tensor by itself is left to it. */
  readonly graph: boolean;
}

/** Code for an expression that looks something up, or for a call that takes values of JavaScript; null for others. */
export function lookup(node: Node, parts: Parts): Code | null {
  const { unit, part, isHost, graph } = parts;
  const { ag } = unit;
  switch (node.type) {
    case 'CallExpression':
    case 'NewExpression':
      return called(node, parts);
    case 'BinaryExpression': {
      const { left, operator } = node;
      if (operator !== 'in' || left.type === 'PrivateIdentifier' || isHost(left)) return null;
      return within(node, (child) => (child === left ? keyOf(child, parts) : part(child)));
    }
    case 'TemplateLiteral':
      if (!graph) return null;
      return within(node, (child) =>
        child.type === 'TemplateElement'
          ? asItIs(child)
          : isHost(child)
            ? part(child)
            : code`${ag}.text(${part(child)}, ${unit.at(child)})`,
      );
    case 'MemberExpression': {
      const { object, property, computed } = node;
      if (isLength(node) && graph && !isHost(object))
        return code`${ag}.lengthOf(${part(object)}, ${unit.at(node)})`;
      if (!computed || isText(property)) return null;
      if (!graph && isHost(property)) return null;
      if (!graph || object.type === 'Super' || isOptional(node)) return memberOf(node, parts);
      return code`${ag}.element(${part(object)}, ${part(property)}, ${unit.at(node)})`;
    }
    default:
      return null;
  }
}

/** Whether it reads the length of something that has to be there. */
export function isLength(node: Node): node is Node & { type: 'MemberExpression' } {
  if (node.type !== 'MemberExpression' || node.computed || isOptional(node)) return false;
  return node.object.type !== 'Super' && node.property.name === 'length';
}

/** A member as a place: with its object, for a call, or to be written. */
export function memberOf(
  node: Node & { type: 'MemberExpression' },
  parts: Parts,
  object: (node: Node) => Code = parts.part,
): Code {
  return within(node, (child) =>
    child === node.object ? object(child) : node.computed ? keyOf(child, parts) : parts.part(child),
  );
}

/** A key in brackets, or of `in`. */
export function keyOf(node: Node, { unit, part, isHost, graph }: Parts): Code {
  const to = bare(node);
  const { ag } = unit;
  if (isHost(to)) return part(node);
  if (!graph && to.type === 'Identifier')
    return [`(typeof ${to.name} === 'object' ? ${ag}.key(${to.name}, ${unit.at(node)}) : ${to.name})`];
  return code`${ag}.key(${part(node)}, ${unit.at(node)})`;
}

function called(
  node: Node & { type: 'CallExpression' | 'NewExpression' },
  { unit, part, isHost, graph }: Parts,
): Code | null {
  const { callee, arguments: args } = node;
  const { ag } = unit;
  const [first, second] = args;
  if (first === undefined || (node.type === 'CallExpression' && isOptional(node))) return null;
  const taken = (child: Node): boolean =>
    args.includes(child as never) && child.type !== 'SpreadElement' && !isHost(child);
  if (callee.type === 'Identifier') {
    const { name } = callee;
    // An object, which counts as true whatever it holds.
    if (node.type === 'NewExpression' && isBoolean(callee) && taken(first))
      return within(node, (child) =>
        child === first ? code`${ag}.host(${part(child)}, ${unit.at(node)})` : part(child),
      );
    if (ARRAYS.test(name) && args.length === 1 && taken(first))
      return within(node, (child) =>
        child === first ? code`${ag}.length(${part(child)}, ${name}, ${unit.at(child)})` : part(child),
      );
    if (!graph || !NATIVE.has(name)) return null;
    return within(node, (child) =>
      taken(child)
        ? code`${ag}.native(${part(child)}, ${name}, ${JSON.stringify(name)}, ${unit.at(child)})`
        : part(child),
    );
  }
  if (node.type === 'NewExpression' || callee.type !== 'MemberExpression' || callee.computed) return null;
  const { object, property } = callee;
  if (property.type !== 'Identifier') return null;
  const { name } = property;
  const owner = object.type === 'Identifier' ? object.name : '';
  if (SEARCHING.has(name) && object.type !== 'Super' && taken(first)) {
    const given = args.flatMap((arg): Code => [', ', ...part(arg)]);
    return code`${ag}.search(${part(object)}, ${JSON.stringify(name)}, ${unit.at(node)}${given})`;
  }
  if (
    owner === 'Object' &&
    name === 'is' &&
    second !== undefined &&
    args.every((arg) => arg.type !== 'SpreadElement')
  )
    return code`${ag}.sameValue(Object.is, ${part(first)}, ${part(second)}, ${unit.at(node)})`;
  const strict = owner === 'Number' && STRICT.has(name);
  if (!strict && !(graph && (owner === 'Math' || owner === 'Number'))) return null;
  return within(node, (child) =>
    taken(child)
      ? code`${ag}.native(${part(child)}, ${owner}, ${JSON.stringify(`${owner}.${name}`)}, ${unit.at(child)}${strict ? ', true' : ''})`
      : child === callee
        ? asItIs(child)
        : part(child),
  );
}

const isText = (node: Node): boolean => {
  const to = bare(node);
  return to.type === 'Literal' && typeof to.value === 'string';
};

/** Whether an expression ends early where a part of it is nothing. */
export function isOptional(node: Node): boolean {
  if (node.type === 'MemberExpression') return node.optional || isOptional(node.object);
  return node.type === 'CallExpression' && (node.optional || isOptional(node.callee));
}
