// Models of ONNX: their weights, inputs, outputs and ops. Nothing of them has to be supported.
import { FormatError, onnx, readFileBytes } from '@eagre/formats';
import type { Contents, Item } from './contents.ts';

/** A model of ONNX: its constants, and what it takes, gives and is made of. @throws FormatError for a damaged one */
export async function inspectOnnx(path: string): Promise<Contents> {
  const model = onnx.ModelProto.decode(await readFileBytes(path), { file: path });
  const { graph } = model;
  if (graph === undefined)
    throw new FormatError({ format: 'ONNX', file: path, what: 'no model', got: 'no graph' });
  const weights = new Set((graph.initializer ?? []).map(({ name }) => name));
  const ops = new Map<string, number>();
  for (const { op_type: op = '' } of graph.node ?? []) ops.set(op, (ops.get(op) ?? 0) + 1);
  return {
    path,
    format: 'onnx',
    items: (graph.initializer ?? []).map(itemOf),
    about: {
      producer: [model.producer_name, model.producer_version].filter(Boolean).join(' ') || undefined,
      opsets: Object.fromEntries(
        (model.opset_import ?? []).map(({ domain = '', version = 0 }) => [
          domain || 'ai.onnx',
          Number(version),
        ]),
      ),
      inputs: (graph.input ?? []).filter(({ name }) => !weights.has(name)).map(valueText),
      outputs: (graph.output ?? []).map(valueText),
      ops: Object.fromEntries([...ops].sort(([a], [b]) => (a < b ? -1 : 1))),
    },
  };
}

const BITS: Readonly<Record<string, number>> = { bool: 8, complex64: 64, complex128: 128, string: 0 };

function itemOf({ name = '', dims = [], data_type = 0 }: onnx.TensorProto): Item {
  const dtype = onnx.onnxTypeName(data_type) ?? String(data_type);
  const shape = dims.map(Number);
  const bits = BITS[dtype] ?? Number(/\d+/.exec(dtype)?.[0] ?? 0);
  return { name, dtype, shape, bytes: Math.ceil((shape.reduce((n, size) => n * size, 1) * bits) / 8) };
}

/** `x float32 [batch, 3]`: a size without name or number is `?`. */
function valueText({ name = '', type }: onnx.ValueInfoProto): string {
  const tensor = type?.tensor_type;
  if (tensor === undefined) return name;
  const dtype = onnx.onnxTypeName(tensor.elem_type ?? 0) ?? String(tensor.elem_type);
  const sizes = tensor.shape?.dim?.map(({ dim_value: size, dim_param: text }) => size ?? (text || '?'));
  return `${name} ${dtype} ${sizes === undefined ? 'of any rank' : `[${sizes.join(', ')}]`}`;
}
