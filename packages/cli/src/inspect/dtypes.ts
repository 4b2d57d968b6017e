const KINDS: Readonly<Record<string, string>> = { f: 'float', i: 'int', u: 'uint', c: 'complex' };
const NAMED: Readonly<Record<string, string>> = {
  b: 'bool',
  S: 'bytes',
  U: 'text',
  O: 'object',
  V: 'void',
  M: 'datetime64',
  m: 'timedelta64',
};

/** The name of one of NumPy's dtypes, such as `<f4`, and the bytes of an element; 0 where it has no size. */
export function numpyDType(descr: string): { readonly dtype: string; readonly bytes: number } {
  const [, kind = '', digits = ''] = descr.match(/^[<>|=]?([a-zA-Z?])(\d*)/) ?? [];
  const size = Number(digits || (kind === 'b' || kind === '?' ? 1 : 0));
  if (kind in KINDS) return { dtype: `${KINDS[kind]}${8 * size}`, bytes: size };
  if (kind === '?') return { dtype: 'bool', bytes: 1 };
  // Texts are four bytes a sign.
  return { dtype: NAMED[kind] ?? descr, bytes: kind === 'U' ? 4 * size : size };
}
