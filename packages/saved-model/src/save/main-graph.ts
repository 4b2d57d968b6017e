// The graph around the functions of a SavedModel: variables, signatures, and what saves and restores.
import type { DType } from '@eagre/backend';
import type { PartialShape, Tensor } from '@eagre/core';
import { type TableResource, viewOf } from '@eagre/core/internal';
import type { tensorflow } from '@eagre/formats';
import { Names } from '@eagre/graph/interchange';
import { shapeProto, typeOf } from './structured-value.ts';
import { constNode, exportNode, importNode, tableOp } from './tables.ts';

type AttrValue = tensorflow.AttrValue;

const RESOURCE = 20;
const STRING = 7;
const encoder = new TextEncoder();
const utf8 = (text: string): Uint8Array => encoder.encode(text);

/** A value of a graph or of a function: how others name it, and its type. */
export interface Value {
  readonly name: string;
  readonly type: number;
}

/** A variable of the graph, with the key of its value in the checkpoint. */
export interface SavedHandle {
  readonly handle: string;
  readonly dtype: DType;
  readonly key: string;
}

/** A table that functions change, with the key of its contents in the checkpoint. */
export interface SavedTable {
  readonly handle: string;
  readonly table: TableResource;
  readonly key: string;
}

/** Writes the nodes of the graph. */
export class MainGraph {
  readonly nodes: tensorflow.NodeDef[] = [];
  readonly #names = new Names();

  handle(wanted: string, dtype: DType, shape: PartialShape | null): string {
    return this.#add(wanted, 'VarHandleOp', [], (name) => ({
      dtype: { type: typeOf(dtype) },
      shape: { shape: shapeProto(shape) },
      shared_name: { s: utf8(name) },
      debug_name: { s: utf8(`${name}/`) },
      _output_shapes: { list: { shape: [{}] } },
    }));
  }

  /** The values of a large tensor are those of its memory: nothing is copied. */
  constant(wanted: string, tensor: Tensor): string {
    if (tensor.dtype === 'string') {
      const name = this.#names.take(wanted);
      this.nodes.push(constNode(name, tensor));
      return name;
    }
    const { buffer, byteOffset, byteLength } = viewOf(tensor);
    const tensor_shape = shapeProto(tensor.shape);
    return this.#add(wanted, 'Const', [], () => ({
      dtype: { type: typeOf(tensor.dtype) },
      value: {
        tensor: {
          dtype: typeOf(tensor.dtype),
          tensor_shape,
          tensor_content: new Uint8Array(buffer, byteOffset, byteLength),
        },
      },
      _output_shapes: { list: { shape: [tensor_shape] } },
    }));
  }

  placeholder(wanted: string, type: number, shape: tensorflow.TensorShapeProto): string {
    return this.#add(wanted, 'Placeholder', [], () => ({
      dtype: { type },
      shape: { shape },
      _output_shapes: { list: { shape: [shape] } },
    }));
  }

  /** A call of a function of the library. */
  call(
    fn: string,
    inputs: readonly Value[],
    outputs: readonly { readonly type: number; readonly shape: tensorflow.TensorShapeProto }[],
  ): string {
    return this.#add(
      'StatefulPartitionedCall',
      'StatefulPartitionedCall',
      inputs.map((i) => i.name),
      () => callAttrs(fn, inputs, outputs),
    );
  }

  /** A node that runs others. */
  noOp(control: readonly string[]): string {
    const inputs = control.map((name) => `^${name}`);
    return this.#add('NoOp', 'NoOp', inputs, () => ({}));
  }

  /** A table. @returns its name, by which it is shared. */
  table(table: TableResource): string {
    const { op, inputs } = tableOp(table, '');
    const given = inputs.map(({ name, value }) => {
      const taken = this.#names.take(name);
      this.nodes.push(constNode(taken, value));
      return taken;
    });
    return this.#add(table.name, op, given, (name) => ({
      ...tableOp(table, name).attrs,
      _output_shapes: { list: { shape: [{}] } },
    }));
  }

  #add(
    wanted: string,
    op: string,
    input: readonly string[],
    attrs: (name: string) => Readonly<Record<string, AttrValue>>,
  ): string {
    const name = this.#names.take(wanted);
    this.nodes.push({
      name,
      op,
      ...(input.length === 0 ? {} : { input }),
      attr: new Map(Object.entries(attrs(name)).sort(([a], [b]) => (a < b ? -1 : 1))),
    });
    return name;
  }
}

function callAttrs(
  fn: string,
  inputs: readonly Value[],
  outputs: readonly { readonly type: number; readonly shape: tensorflow.TensorShapeProto }[],
): Readonly<Record<string, AttrValue>> {
  return {
    f: { func: { name: fn } },
    Tin: { list: { type: inputs.map((i) => i.type) } },
    Tout: { list: { type: outputs.map((o) => o.type) } },
    _collective_manager_ids: { list: {} },
    _read_only_resource_inputs: { list: {} },
    config_proto: { s: new Uint8Array() },
    _output_shapes: { list: { shape: outputs.map((o) => o.shape) } },
  };
}

/** What a wrapped function takes and gives. */
interface Wrapped {
  readonly fn: string;
  readonly inputs: readonly Value[];
  /** The same in the order in which the other function takes them. */
  readonly passed: readonly Value[];
  readonly outputs: readonly (Value & { readonly shape: tensorflow.TensorShapeProto })[];
}

/** A function that calls another one under names of its own for what that gives. */
export function wrapperFunction(
  name: string,
  { fn, inputs, passed, outputs }: Wrapped,
): tensorflow.FunctionDef {
  const call = 'StatefulPartitionedCall';
  // Names of a function have letters, digits and underscores; the results' own are in its signature.
  const names = new Names();
  const results = outputs.map((output, i) => ({
    name: names.take(output.name.replace(/\W/g, '_')),
    type: output.type,
    from: `${call}:output:${i}`,
  }));
  return {
    signature: {
      name,
      input_arg: inputs,
      output_arg: results.map(({ name: arg, type }) => ({ name: arg, type })),
      is_stateful: true,
      control_output: [call],
    },
    node_def: [
      {
        name: call,
        op: call,
        input: passed.map((i) => i.name),
        attr: new Map(Object.entries(callAttrs(fn, passed, outputs))),
      },
    ],
    ret: new Map(results.map((r) => [r.name, r.from])),
    control_ret: new Map([[call, call]]),
    arg_attr: inputs.map(({ name: arg }, key) => ({
      key,
      value: { attr: new Map([['_user_specified_name', { s: utf8(arg) }]]) },
    })),
  };
}

const stringConst = (
  name: string,
  texts: readonly (string | Uint8Array)[],
  shape: readonly number[],
): tensorflow.NodeDef => ({
  name,
  op: 'Const',
  attr: new Map<string, AttrValue>([
    ['dtype', { type: STRING }],
    [
      'value',
      {
        tensor: {
          dtype: STRING,
          tensor_shape: shapeProto(shape),
          string_val: texts.map((t) => (typeof t === 'string' ? utf8(t) : t)),
        },
      },
    ],
  ]),
});

const handleArgs = (handles: readonly SavedHandle[], tables: readonly SavedTable[]): Value[] => [
  ...handles.map((_, i) => ({ name: `variable_${i}`, type: RESOURCE })),
  ...tables.map((_, i) => ({ name: `table_${i}`, type: RESOURCE })),
];

/** The keys and dtypes of all tensors of a checkpoint, in their order. */
function tensorsOf(
  handles: readonly SavedHandle[],
  tables: readonly SavedTable[],
): readonly { readonly key: string; readonly dtype: DType }[] {
  return [
    ...handles,
    ...tables.flatMap(({ table: { keyDtype, valueDtype }, key }) => [
      { key: `${key}-keys`, dtype: keyDtype },
      { key: `${key}-values`, dtype: valueDtype },
    ]),
  ];
}

/** The function that writes a checkpoint of the variables: of a path and the variables. It gives the path. */
export function saveFunction(
  name: string,
  handles: readonly SavedHandle[],
  tables: readonly SavedTable[],
  objectGraph: readonly [key: string, value: Uint8Array],
): tensorflow.FunctionDef {
  const args = handleArgs(handles, tables);
  const tensors = tensorsOf(handles, tables);
  const exports = tables.map(({ table }, i) => exportNode(`Export_${i}`, `table_${i}`, table));
  const reads = handles.map(
    ({ dtype }, i): tensorflow.NodeDef => ({
      name: `Read_${i}`,
      op: 'ReadVariableOp',
      input: [`variable_${i}`],
      attr: new Map([['dtype', { type: typeOf(dtype) }]]),
    }),
  );
  const keys = [...tensors.map((t) => t.key), objectGraph[0]];
  return {
    signature: {
      name,
      input_arg: [{ name: 'file_prefix', type: STRING }, ...args],
      output_arg: [{ name: 'identity', type: STRING }],
      is_stateful: true,
      control_output: ['SaveV2'],
    },
    node_def: [
      ...reads,
      ...exports,
      stringConst('SaveV2/tensor_names', keys, [keys.length]),
      stringConst(
        'SaveV2/shape_and_slices',
        keys.map(() => ''),
        [keys.length],
      ),
      stringConst('ObjectGraph', [objectGraph[1]], []),
      {
        name: 'SaveV2',
        op: 'SaveV2',
        input: [
          'file_prefix',
          'SaveV2/tensor_names:output:0',
          'SaveV2/shape_and_slices:output:0',
          ...reads.map((r) => `${r.name}:value:0`),
          ...exports.flatMap((e) => [`${e.name}:keys:0`, `${e.name}:values:0`]),
          'ObjectGraph:output:0',
        ],
        attr: new Map([['dtypes', { list: { type: [...tensors.map((t) => typeOf(t.dtype)), STRING] } }]]),
      },
      identity('Identity', 'file_prefix', '^SaveV2'),
    ],
    ret: new Map([['identity', 'Identity:output:0']]),
    control_ret: new Map([['SaveV2', 'SaveV2']]),
  };
}

/** The function that reads a checkpoint into the variables. */
export function restoreFunction(
  name: string,
  handles: readonly SavedHandle[],
  tables: readonly SavedTable[],
): tensorflow.FunctionDef {
  const args = handleArgs(handles, tables);
  const tensors = tensorsOf(handles, tables);
  const keys = tensors.map((t) => t.key);
  const imports = tables.map(({ table }, i) => {
    const at = handles.length + 2 * i;
    const [own, values] = [`RestoreV2:tensors:${at}`, `RestoreV2:tensors:${at + 1}`];
    return importNode(`Import_${i}`, `table_${i}`, table, own, values);
  });
  const assigned = handles.map(
    ({ dtype }, i): tensorflow.NodeDef => ({
      name: `AssignVariableOp_${i}`,
      op: 'AssignVariableOp',
      input: [`variable_${i}`, `RestoreV2:tensors:${i}`],
      attr: new Map<string, AttrValue>([
        ['dtype', { type: typeOf(dtype) }],
        ['validate_shape', { b: false }],
      ]),
    }),
  );
  const assigns = [...assigned, ...imports];
  const restore: tensorflow.NodeDef[] =
    tensors.length === 0
      ? []
      : [
          stringConst('RestoreV2/tensor_names', keys, [keys.length]),
          stringConst(
            'RestoreV2/shape_and_slices',
            keys.map(() => ''),
            [keys.length],
          ),
          {
            name: 'RestoreV2',
            op: 'RestoreV2',
            input: ['file_prefix', 'RestoreV2/tensor_names:output:0', 'RestoreV2/shape_and_slices:output:0'],
            attr: new Map([['dtypes', { list: { type: tensors.map((t) => typeOf(t.dtype)) } }]]),
          },
        ];
  const done = assigns.map((a) => a.name as string);
  return {
    signature: {
      name,
      input_arg: [{ name: 'file_prefix', type: STRING }, ...args],
      output_arg: [{ name: 'identity', type: STRING }],
      is_stateful: true,
      ...(done.length === 0 ? {} : { control_output: done }),
    },
    node_def: [...restore, ...assigns, identity('Identity', 'file_prefix', ...done.map((d) => `^${d}`))],
    ret: new Map([['identity', 'Identity:output:0']]),
    ...(done.length === 0 ? {} : { control_ret: new Map(done.map((d) => [d, d])) }),
  };
}

const identity = (name: string, ...input: readonly string[]): tensorflow.NodeDef => ({
  name,
  op: 'Identity',
  input,
  attr: new Map([['T', { type: STRING }]]),
});
