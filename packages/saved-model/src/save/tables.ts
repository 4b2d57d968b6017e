// Tables of a SavedModel: resources with functions that make them, fill them, and take them to checkpoints and back.
import { constant, type Tensor } from '@eagre/core';
import { bytesIn, bytesOf, type TableResource, viewOf } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import { shapeProto, typeOf } from './structured-value.ts';

type NodeDef = tensorflow.NodeDef;
type AttrValue = tensorflow.AttrValue;
type FunctionDef = tensorflow.FunctionDef;

const RESOURCE = 20;
const INT32 = 3;
const STRING = 7;

/** An op that makes a table, with the constants that it takes. */
export interface TableOp {
  readonly op: string;
  readonly inputs: readonly { readonly name: string; readonly value: Tensor }[];
  readonly attrs: Readonly<Record<string, AttrValue>>;
}

/** What makes a table. @param sharedName which tables are one */
export function tableOp(table: TableResource, sharedName: string): TableOp {
  const { keyDtype, valueDtype, valueShape, isMutable, reserved } = table;
  const attrs = {
    key_dtype: { type: typeOf(keyDtype) },
    value_dtype: { type: typeOf(valueDtype) },
    shared_name: { s: bytesOf(sharedName) },
  };
  const shaped = { ...attrs, value_shape: { shape: shapeProto(valueShape) } };
  if (reserved !== null) {
    const [empty, deleted] = reserved;
    const inputs = [
      { name: 'empty_key', value: empty },
      { name: 'deleted_key', value: deleted },
    ];
    return { op: 'MutableDenseHashTableV2', inputs, attrs: shaped };
  }
  if (!isMutable) return { op: 'HashTableV2', inputs: [], attrs };
  return valueShape.length === 0
    ? { op: 'MutableHashTableV2', inputs: [], attrs }
    : { op: 'MutableHashTableOfTensorsV2', inputs: [], attrs: shaped };
}

const attrsOf = (attrs: Readonly<Record<string, AttrValue>>): Map<string, AttrValue> =>
  new Map(Object.entries(attrs).sort(([a], [b]) => (a < b ? -1 : 1)));

/** A constant node. */
export function constNode(name: string, tensor: Tensor): NodeDef {
  const head = { dtype: typeOf(tensor.dtype), tensor_shape: shapeProto(tensor.shape) };
  let value: tensorflow.TensorProto;
  if (tensor.dtype === 'string') value = { ...head, string_val: bytesIn(tensor) };
  else {
    const { buffer, byteOffset, byteLength } = viewOf(tensor);
    value = { ...head, tensor_content: new Uint8Array(buffer, byteOffset, byteLength).slice() };
  }
  return { name, op: 'Const', attr: attrsOf({ dtype: { type: head.dtype }, value: { tensor: value } }) };
}

const identity = (name: string, type: number, ...input: readonly string[]): NodeDef => ({
  name,
  op: 'Identity',
  input,
  attr: new Map([['T', { type }]]),
});
const one: NodeDef = {
  name: 'Const',
  op: 'Const',
  attr: attrsOf({
    dtype: { type: INT32 },
    value: { tensor: { dtype: INT32, tensor_shape: {}, int_val: [1] } },
  }),
};

/** A function with one result, `identity`, whose effects are those of a node. */
function functionDef(
  name: string,
  args: readonly tensorflow.ArgDef[],
  type: number,
  nodes: readonly NodeDef[],
  effect: string | null,
): FunctionDef {
  return {
    signature: {
      name,
      ...(args.length === 0 ? {} : { input_arg: args }),
      output_arg: [{ name: 'identity', type }],
      ...(effect === null ? {} : { is_stateful: true, control_output: [effect] }),
    },
    node_def: nodes,
    ret: new Map([['identity', 'Identity:output:0']]),
    ...(effect === null ? {} : { control_ret: new Map([[effect, effect]]) }),
  };
}

/** The function that makes a table. */
export function creator(name: string, { op, inputs, attrs }: TableOp): FunctionDef {
  const made: NodeDef = {
    name: 'table',
    op,
    ...(inputs.length === 0 ? {} : { input: inputs.map((i) => `${i.name}:output:0`) }),
    attr: attrsOf(attrs),
  };
  const nodes = [
    ...inputs.map((i) => constNode(i.name, i.value)),
    made,
    identity('Identity', RESOURCE, 'table:table_handle:0'),
  ];
  return functionDef(name, [], RESOURCE, nodes, 'table');
}

/** The function that fills a table: of the table, or of the path of its file and the table; of nothing where nothing is to be done. */
export function initializer(name: string, table: TableResource): FunctionDef {
  if (table.isMutable) return destroyer(name);
  const handle = { name: 'table_handle', type: RESOURCE };
  const done = identity('Identity', INT32, 'Const:output:0', '^initialize');
  const { file } = table;
  if (file !== null) {
    const attrs = {
      key_index: { i: file.keyIndex },
      value_index: { i: file.valueIndex },
      vocab_size: { i: file.vocabSize ?? -1 },
      delimiter: { s: bytesOf(file.delimiter) },
      offset: { i: file.offset },
    };
    const node: NodeDef = {
      name: 'initialize',
      op: 'InitializeTableFromTextFileV2',
      input: ['table_handle', 'filename'],
      attr: attrsOf(attrs),
    };
    const args = [{ name: 'filename', type: STRING }, handle];
    return functionDef(name, args, INT32, [node, one, done], 'initialize');
  }
  const [keys, values] = table.contents();
  const node = importNode('initialize', 'table_handle', table, 'keys:output:0', 'values:output:0');
  const nodes = [constNode('keys', keys), constNode('values', values), node, one, done];
  return functionDef(name, [handle], INT32, nodes, 'initialize');
}

/** The function that is called at the end, for which there is nothing to do. */
export function destroyer(name: string): FunctionDef {
  return functionDef(name, [], INT32, [one, identity('Identity', INT32, 'Const:output:0')], null);
}

/** The node that takes the contents of a table. */
export function exportNode(name: string, handle: string, table: TableResource): NodeDef {
  return {
    name,
    op: 'LookupTableExportV2',
    input: [handle],
    attr: attrsOf({
      Tkeys: { type: typeOf(table.keyDtype) },
      Tvalues: { type: typeOf(table.valueDtype) },
    }),
  };
}

/** The node that gives a table other contents. */
export function importNode(
  name: string,
  handle: string,
  table: TableResource,
  keys: string,
  values: string,
): NodeDef {
  return {
    name,
    op: 'LookupTableImportV2',
    input: [handle, keys, values],
    attr: attrsOf({ Tin: { type: typeOf(table.keyDtype) }, Tout: { type: typeOf(table.valueDtype) } }),
  };
}

const text = (name: string, value: string): NodeDef => constNode(name, constant(value));

/** The function by which a table goes into a checkpoint: for keys and for values a name, a slice, and what is saved. */
export function saveTable(name: string, table: TableResource): FunctionDef {
  const types = [STRING, STRING, typeOf(table.keyDtype), STRING, STRING, typeOf(table.valueDtype)];
  const nodes: NodeDef[] = [exportNode('export', 'table_handle', table), text('slice', '')];
  const from: string[] = [];
  for (const part of ['keys', 'values']) {
    nodes.push(text(`${part}_suffix`, `-${part}`), {
      name: `${part}_name`,
      op: 'Add',
      input: ['checkpoint_key', `${part}_suffix:output:0`],
      attr: attrsOf({ T: { type: STRING } }),
    });
    from.push(`${part}_name:z:0`, 'slice:output:0', `export:${part}:0`);
  }
  const outputs = types.map((type, i) => ({ name: i === 0 ? 'identity' : `identity_${i}`, type }));
  nodes.push(...types.map((type, i) => identity(i === 0 ? 'Identity' : `Identity_${i}`, type, from[i])));
  return {
    signature: {
      name,
      input_arg: [
        { name: 'checkpoint_key', type: STRING },
        { name: 'table_handle', type: RESOURCE },
      ],
      output_arg: outputs,
      is_stateful: true,
      control_output: ['export'],
    },
    node_def: nodes,
    ret: new Map(outputs.map((o, i) => [o.name, `${i === 0 ? 'Identity' : `Identity_${i}`}:output:0`])),
    control_ret: new Map([['export', 'export']]),
  };
}

/** The function by which a table comes out of a checkpoint: of keys and values. */
export function restoreTable(name: string, table: TableResource): FunctionDef {
  const args = [
    { name: 'restored_tensors_0', type: typeOf(table.keyDtype) },
    { name: 'restored_tensors_1', type: typeOf(table.valueDtype) },
    { name: 'table_handle', type: RESOURCE },
  ];
  const nodes = [
    importNode('import', 'table_handle', table, 'restored_tensors_0', 'restored_tensors_1'),
    one,
    identity('Identity', INT32, 'Const:output:0', '^import'),
  ];
  return functionDef(name, args, INT32, nodes, 'import');
}
