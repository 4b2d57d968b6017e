// Functions of loaded models in a new library: as they were, under names of their own.
import type { tensorflow } from '@eagre/formats';
import type { ImportedLibrary } from '../imported.ts';

type AttrValue = tensorflow.AttrValue;
type NodeDef = tensorflow.NodeDef;
type FunctionDef = tensorflow.FunctionDef;

const GRADIENT = '_gradient_op_type';
const CALLS: ReadonlySet<string> = new Set(['PartitionedCall', 'StatefulPartitionedCall']);
const encoder = new TextEncoder();
const decoder = new TextDecoder();

/** Where copies go. */
export interface CopyTarget {
  /** A name that no other function has. */
  unique(called: string): string;
  push(fn: FunctionDef): void;
  /** A name for another gradient. */
  gradientType(): string;
}

/** Copies functions with those that they call, each once. */
export class FunctionCopier {
  /** The gradients of what was copied, with the names that they had. */
  readonly gradients: {
    readonly gradient_func: string;
    readonly registered_op_type: string;
    readonly from: string;
  }[] = [];
  readonly #target: CopyTarget;
  readonly #names = new Map<ImportedLibrary, Map<string, string>>();
  readonly #types = new Map<ImportedLibrary, Map<string, string>>();

  constructor(target: CopyTarget) {
    this.#target = target;
  }

  /** @returns the name of the copy. */
  copy(library: ImportedLibrary, name: string): string {
    let names = this.#names.get(library);
    if (names === undefined) this.#names.set(library, (names = new Map()));
    // A list and no recursion: functions may call each other in a circle.
    const waiting: FunctionDef[] = [];
    const nameOf = (wanted: string): string => {
      const known = names.get(wanted);
      if (known !== undefined) return known;
      const def = library.definition(wanted);
      // An op, or the name of what is not in the file.
      if (def === undefined) return wanted;
      const copied = this.#target.unique(plainName(wanted));
      names.set(wanted, copied);
      waiting.push(def);
      return copied;
    };
    const copied = nameOf(name);
    for (let def = waiting.pop(); def !== undefined; def = waiting.pop())
      this.#target.push(this.#copied(def, library, nameOf));
    return copied;
  }

  #copied(def: FunctionDef, library: ImportedLibrary, nameOf: (name: string) => string): FunctionDef {
    const { signature = {}, node_def: nodes = [] } = def;
    return {
      ...def,
      signature: { ...signature, name: nameOf(signature.name ?? '') },
      node_def: nodes.map((node) => this.#node(node, library, nameOf)),
    };
  }

  #node(node: NodeDef, library: ImportedLibrary, nameOf: (name: string) => string): NodeDef {
    const { op = '', attr } = node;
    if (attr === undefined) return { ...node, op: nameOf(op) };
    const attrs = new Map([...attr].map(([key, value]) => [key, renamed(value, nameOf)]));
    const type = CALLS.has(op) ? undefined : attr.get(GRADIENT)?.s;
    if (type !== undefined) {
      const own = this.#gradientType(decoder.decode(type), library, nameOf);
      attrs.set(GRADIENT, { s: encoder.encode(own) });
    }
    return { ...node, op: nameOf(op), attr: attrs };
  }

  /** Gradients are found by a name that two files may share. */
  #gradientType(type: string, library: ImportedLibrary, nameOf: (name: string) => string): string {
    let types = this.#types.get(library);
    if (types === undefined) this.#types.set(library, (types = new Map()));
    let own = types.get(type);
    const gradient = library.gradientOf(type);
    if (own !== undefined || gradient === undefined) return own ?? type;
    types.set(type, (own = this.#target.gradientType()));
    this.gradients.push({ gradient_func: nameOf(gradient), registered_op_type: own, from: gradient });
    return own;
  }
}

/** `__inference_f_123` is `f`. */
const plainName = (name: string): string => /^(?:__inference_)?(.*?)(?:_\d+)?$/.exec(name)?.[1] || 'function';

/** An attribute with the functions that it names under their new names. */
function renamed(value: AttrValue, nameOf: (name: string) => string): AttrValue {
  const rename = (func: tensorflow.NameAttrList): tensorflow.NameAttrList => ({
    ...func,
    name: nameOf(func.name ?? ''),
  });
  if (value.func !== undefined) return { func: rename(value.func) };
  if (value.list?.func !== undefined) return { list: { ...value.list, func: value.list.func.map(rename) } };
  return value;
}
