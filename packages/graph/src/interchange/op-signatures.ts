// What TensorFlow's ops take and give.
import { OP_DEFS } from './op-defs.ts';

/** A named argument or result; a list has any number of tensors. */
export interface OpArgument {
  readonly name: string;
  readonly isList: boolean;
}

export interface OpAttribute {
  readonly name: string;
  /** Whether nodes must have it. */
  readonly isRequired: boolean;
  /** The least that an integer may be, and the least length of a list; 0 where nothing says so. */
  readonly least: number;
  /** The numbers of the dtypes that it may have; null for any, and for attributes that are no types. */
  readonly dtypes: ReadonlySet<number> | null;
}

/** An op of TensorFlow. */
export interface OpSignature {
  readonly name: string;
  readonly inputs: readonly OpArgument[];
  readonly outputs: readonly OpArgument[];
  readonly attrs: ReadonlyMap<string, OpAttribute>;
  readonly isStateful: boolean;
}

let lines: Map<string, string> | undefined;
const known = new Map<string, OpSignature>();

/** The signature of one of TensorFlow's ops; null where it has none of that name, or none that graphs are written in. */
export function signatureOf(op: string): OpSignature | null {
  lines ??= new Map(
    OP_DEFS.trim()
      .split('\n')
      .map((line) => [line.slice(0, line.indexOf('|')), line]),
  );
  const found = known.get(op);
  const line = lines.get(op);
  if (found !== undefined || line === undefined) return found ?? null;
  const [name = '', inputs = '', outputs = '', attrs = '', stateful] = line.split('|');
  const words = (text: string): string[] => text.split(' ').filter((word) => word !== '');
  const signature: OpSignature = {
    name,
    inputs: words(inputs).map(argument),
    outputs: words(outputs).map(argument),
    attrs: new Map(words(attrs).map((word) => [/^\w+/.exec(word)?.[0] ?? '', attribute(word)])),
    isStateful: stateful === 's',
  };
  known.set(op, signature);
  return signature;
}

function argument(word: string): OpArgument {
  const isList = word.endsWith('*');
  return { name: isList ? word.slice(0, -1) : word, isList };
}

function attribute(word: string): OpAttribute {
  const [, name = '', required, least = '0', dtypes] = /^(\w+)(!?)(?:>(\d+))?(?:=(.*))?$/.exec(word) ?? [];
  return {
    name,
    isRequired: required === '!',
    least: Number(least),
    dtypes: dtypes === undefined ? null : new Set(dtypes.split(',').map(Number)),
  };
}

/** How a node of a function names one of the outputs of another: `product:0`. Several lists are as long as each other; of one `total` need not be known. */
export function outputName(op: string, index: number, total: number = Number.POSITIVE_INFINITY): string {
  const outputs = signatureOf(op)?.outputs ?? [];
  const lists = outputs.filter(({ isList }) => isList).length;
  const length = (total - (outputs.length - lists)) / Math.max(1, lists);
  let place = index;
  for (const { name, isList } of outputs) {
    const n = isList ? length : 1;
    if (place < n) return `${name}:${place}`;
    place -= n;
  }
  return `output:${index}`;
}
