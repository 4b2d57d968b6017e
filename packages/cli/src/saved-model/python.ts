// Values as Python prints them, which TensorFlow's tools show.
import { tensorflow } from '@eagre/formats';

type StructuredValue = tensorflow.StructuredValue;

/** The names of dtypes in Python: `tf.float32`. */
function dtypeText(dtype: number): string {
  const name =
    Object.entries(tensorflow.DataType).find(([, number]) => number === dtype)?.[0] ?? 'DT_INVALID';
  const known: Readonly<Record<string, string>> = {
    DT_FLOAT: 'float32',
    DT_DOUBLE: 'float64',
    DT_HALF: 'float16',
  };
  return `tf.${known[name] ?? name.slice('DT_'.length).toLowerCase()}`;
}

/** A shape: `(None, 3)`. */
function shapeText({ dim = [], unknown_rank = false }: tensorflow.TensorShapeProto): string {
  if (unknown_rank) return '<unknown>';
  return tupleText(dim.map(({ size = 0 }) => (Number(size) < 0 ? 'None' : String(size))));
}

const tupleText = (items: readonly string[]): string =>
  items.length === 1 ? `(${items[0]},)` : `(${items.join(', ')})`;

/** A text in quotes. */
export function quoted(text: string): string {
  const quote = text.includes("'") && !text.includes('"') ? '"' : "'";
  const escaped = text
    .replace(/[\\\n\r\t]/g, (sign) => ESCAPES[sign] ?? sign)
    .replaceAll(quote, `\\${quote}`);
  return `${quote}${escaped}${quote}`;
}
const ESCAPES: Readonly<Record<string, string>> = { '\\': '\\\\', '\n': '\\n', '\r': '\\r', '\t': '\\t' };

/** A float: 2.0, 1e-07. */
export function floatText(value: number): string {
  if (Number.isNaN(value)) return 'nan';
  if (!Number.isFinite(value)) return value > 0 ? 'inf' : '-inf';
  const size = Math.abs(value);
  if (size !== 0 && (size < 1e-4 || size >= 1e16))
    return value.toExponential().replace(/e([+-])(\d)$/, 'e$10$2');
  const text = String(value);
  return /[.e]/.test(text) ? text : `${text}.0`;
}

/** What `repr` gives. */
export function reprOf(value: StructuredValue): string {
  const { tensor_spec_value: spec, list_value, tuple_value, dict_value } = value;
  if (spec !== undefined) return specText(spec);
  if (list_value !== undefined) return `[${(list_value.values ?? []).map(reprOf).join(', ')}]`;
  if (tuple_value !== undefined) return tupleText((tuple_value.values ?? []).map(reprOf));
  if (dict_value !== undefined)
    return `{${[...(dict_value.fields ?? [])].map(([key, item]) => `${quoted(key)}: ${reprOf(item)}`).join(', ')}}`;
  if (value.string_value !== undefined) return quoted(value.string_value);
  if (value.bool_value !== undefined) return value.bool_value ? 'True' : 'False';
  if (value.int64_value !== undefined) return String(value.int64_value);
  if (value.float64_value !== undefined) return floatText(value.float64_value);
  if (value.tensor_dtype_value !== undefined) return dtypeText(value.tensor_dtype_value);
  if (value.tensor_shape_value !== undefined)
    return `TensorShape(${shapeText(value.tensor_shape_value).replace(/^\(|,?\)$/g, (b) => (b === '(' ? '[' : ']'))})`;
  if (value.type_spec_value !== undefined) return value.type_spec_value.type_spec_class_name ?? 'TypeSpec';
  return 'None';
}

export function specText({ name, shape = {}, dtype = 0 }: tensorflow.TensorSpecProto): string {
  const called = name === undefined || name === '' ? 'None' : quoted(name);
  return `TensorSpec(shape=${shapeText(shape)}, dtype=${dtypeText(dtype)}, name=${called})`;
}

/** The name of a value's type. */
export function typeName(value: StructuredValue): string {
  if (value.list_value !== undefined) return 'list';
  if (value.tuple_value !== undefined) return 'tuple';
  if (value.dict_value !== undefined) return 'dict';
  if (value.bool_value !== undefined) return 'bool';
  if (value.int64_value !== undefined) return 'int';
  if (value.float64_value !== undefined) return 'float';
  if (value.tensor_dtype_value !== undefined) return 'DType';
  if (value.tensor_shape_value !== undefined) return 'TensorShape';
  if (value.type_spec_value !== undefined) return value.type_spec_value.type_spec_class_name ?? 'TypeSpec';
  return 'NoneType';
}
