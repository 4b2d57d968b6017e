// Values as text, as Node prints them: tensors, layers and shapes say themselves what they are.

const CUSTOM = Symbol.for('nodejs.util.inspect.custom');
const WIDTH = 76;
const MOST = 100;

interface Options {
  /** How many levels of objects are shown; null for all. */
  readonly depth?: number | null;
}

/** What `console.log` prints for its arguments. */
export function printed(args: readonly unknown[]): string {
  let rest = args;
  let start = '';
  const [first] = args;
  if (typeof first === 'string' && args.length > 1 && /%[sdifoOj%]/.test(first)) {
    const values = args.slice(1);
    start = first.replace(/%([sdifoOj%])/g, (whole, kind: string) => {
      if (kind === '%') return '%';
      if (values.length === 0) return whole;
      const value = values.shift();
      if (kind === 's') return typeof value === 'string' ? value : inspect(value, { depth: 0 });
      if (kind === 'd') return String(Number(value));
      if (kind === 'i') return String(Number.parseInt(String(value), 10));
      if (kind === 'f') return String(Number.parseFloat(String(value)));
      return kind === 'j' ? String(JSON.stringify(value)) : inspect(value);
    });
    rest = values;
  }
  const texts = rest.map((one) => (typeof one === 'string' ? one : inspect(one)));
  return [...(rest === args ? [] : [start]), ...texts].join(' ');
}

export function inspect(value: unknown, { depth = 2 }: Options = {}): string {
  return show(value, depth ?? Number.POSITIVE_INFINITY, []);
}

function show(value: unknown, depth: number, outer: readonly object[]): string {
  if (typeof value === 'string') return quoted(value);
  if (typeof value === 'bigint') return `${value}n`;
  if (Object.is(value, -0)) return '-0';
  if ((typeof value !== 'object' && typeof value !== 'function') || value === null) return String(value);
  if (outer.includes(value)) return '[Circular *1]';
  const custom = (value as Readonly<Record<symbol, unknown>>)[CUSTOM];
  if (typeof custom === 'function') {
    const said: unknown = custom.call(value, depth, { depth }, inspect);
    if (said !== value) return typeof said === 'string' ? said : show(said, depth, outer);
  }
  return showObject(value, depth, outer);
}

function showObject(value: object, depth: number, outer: readonly object[]): string {
  const name = nameOf(value);
  if (typeof value === 'function')
    return /^class\b/.test(Function.prototype.toString.call(value))
      ? `[class ${value.name || '(anonymous)'}]`
      : `[Function${value.name === '' ? ' (anonymous)' : `: ${value.name}`}]`;
  if (value instanceof Error) return value.stack ?? `${value.name}: ${value.message}`;
  if (value instanceof RegExp) return String(value);
  if (value instanceof Date) return value.toISOString();
  if (value instanceof Promise) return 'Promise { … }';
  const isList = Array.isArray(value) || (ArrayBuffer.isView(value) && !(value instanceof DataView));
  if (depth < 0) return isList ? '[Array]' : `[${name || 'Object'}]`;
  const inside = (one: unknown): string => show(one, depth - 1, [...outer, value]);
  if (isList) {
    const list = value as unknown as ArrayLike<unknown>;
    const texts = some(
      Array.from({ length: Math.min(list.length, MOST) }, (_, i) => inside(list[i])),
      list.length,
    );
    return `${name === 'Array' ? '' : `${name}(${list.length}) `}${around('[', texts, ']')}`;
  }
  if (value instanceof Map) {
    const entries = [...value].slice(0, MOST).map(([key, one]) => `${inside(key)} => ${inside(one)}`);
    return `Map(${value.size}) ${around('{', some(entries, value.size), '}')}`;
  }
  if (value instanceof Set)
    return `Set(${value.size}) ${around('{', some([...value].slice(0, MOST).map(inside), value.size), '}')}`;
  const keys = Object.keys(value);
  const texts = keys.slice(0, MOST).map((key) => {
    const { get, value: one } = Object.getOwnPropertyDescriptor(value, key) as PropertyDescriptor;
    return `${/^[A-Za-z_$][\w$]*$/.test(key) ? key : quoted(key)}: ${get ? '[Getter]' : inside(one)}`;
  });
  return `${name === 'Object' ? '' : `${name} `}${around('{', some(texts, keys.length), '}')}`;
}

function nameOf(value: object): string {
  const made = Object.getPrototypeOf(value)?.constructor?.name;
  return typeof made === 'string' ? made : '[Object: null prototype]';
}

const quoted = (text: string): string =>
  text.includes("'") && !text.includes('"')
    ? `"${text}"`
    : `'${text.replaceAll("'", "\\'").replaceAll('\n', '\\n')}'`;

const some = (texts: readonly string[], count: number): readonly string[] =>
  count > texts.length ? [...texts, `... ${count - texts.length} more items`] : texts;

/** In one line where that is not too long; else numbers fill lines, and what is longer has lines of its own. */
function around(open: string, texts: readonly string[], close: string): string {
  if (texts.length === 0) return open + close;
  const line = texts.join(', ');
  if (line.length <= WIDTH - 4 && !line.includes('\n')) return `${open} ${line} ${close}`;
  const lines: string[] = [];
  // All but what says how many more there are.
  const isShort = texts.every((text) => /^\.\.\. /.test(text) || (text.length <= 16 && !text.includes('\n')));
  for (const text of texts) {
    const last = lines.at(-1);
    if (isShort && last !== undefined && last.length + text.length + 2 <= WIDTH && !/^\.\.\. /.test(text))
      lines[lines.length - 1] = `${last}, ${text}`;
    else lines.push(text.replaceAll('\n', '\n  '));
  }
  return `${open}\n  ${lines.join(',\n  ')}\n${close}`;
}
