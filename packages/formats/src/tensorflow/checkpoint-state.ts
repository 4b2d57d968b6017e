// The file `checkpoint` of a folder: protocol buffers in text form, `python/training/checkpoint_state.proto`.

import { type ErrorMaker, errorsFor, quote } from '../errors.ts';
import { writeFileAtomicSync } from '../files/atomic.ts';
import { nodeBuiltin } from '../files/node.ts';
import { readRegularSync } from '../files/open-files.ts';
import { ESCAPES } from '../protobuf/text-strings.ts';

// Thousands of paths fit; more is no such file.
const MOST_BYTES = 16 * 2 ** 20;

/** Which checkpoints there are. Paths are as they stand in the file: relative to its folder, as a rule. */
export interface CheckpointState {
  readonly model_checkpoint_path?: string;
  /** From the oldest on. */
  readonly all_model_checkpoint_paths?: readonly string[];
  /** One for each path, in seconds since 1970. */
  readonly all_model_checkpoint_timestamps?: readonly number[];
  readonly last_preserved_timestamp?: number;
}

type Key = keyof CheckpointState;
const FIELDS: Readonly<Record<Key, { readonly many: boolean; readonly text: boolean }>> = {
  model_checkpoint_path: { many: false, text: true },
  all_model_checkpoint_paths: { many: true, text: true },
  all_model_checkpoint_timestamps: { many: true, text: false },
  last_preserved_timestamp: { many: false, text: false },
};

/**
 * Reads a state file; undefined where there is none. Node only.
 *
 * @throws FormatError when the file is something else.
 */
export function readCheckpointState(path: string): CheckpointState | undefined {
  const fs = nodeBuiltin('node:fs');
  const size = fs.statSync(path, { throwIfNoEntry: false })?.size;
  if (size === undefined) return undefined;
  if (size > MOST_BYTES)
    throw errorsFor('checkpoint state', path)('length', `at most ${MOST_BYTES} bytes`, size);
  return parseCheckpointState(readRegularSync(path, 'checkpoint state'), path);
}

/** Writes a state file atomically. Node only. */
export function writeCheckpointState(path: string, state: CheckpointState): void {
  writeFileAtomicSync(path, formatCheckpointState(state));
}

/** The text of a state. */
export function formatCheckpointState(state: CheckpointState): string {
  const lines: string[] = [];
  for (const key of Object.keys(FIELDS) as Key[]) {
    const value = state[key];
    if (value === undefined) continue;
    for (const item of Array.isArray(value) ? value : [value]) lines.push(`${key}: ${spell(item)}\n`);
  }
  return lines.join('');
}

/**
 * The state in a text.
 *
 * @throws FormatError when it is no such text.
 */
export function parseCheckpointState(bytes: Uint8Array, file?: string): CheckpointState {
  const error = errorsFor('checkpoint state', file);
  const state: Partial<Record<Key, string | number | (string | number)[]>> = {};
  const tokens = tokensOf(bytes, error);
  for (let at = 0; at < tokens.length; ) {
    const name = tokens[at++];
    const field =
      name.kind === 'word' && Object.hasOwn(FIELDS, name.text) ? FIELDS[name.text as Key] : undefined;
    if (field === undefined) throw error(`field ${quote(name.text)}`, Object.keys(FIELDS).join(', '));
    const key = name.text as Key;
    const next = (): Token | undefined => tokens[at];
    if (next()?.text === ':') at++;
    const listed = field.many && next()?.kind === 'mark' && next()?.text === '[';
    if (listed) at++;
    while (!(listed && next()?.text === ']' && next()?.kind === 'mark')) {
      let value: string | number;
      [value, at] = valueAt(tokens, at, field.text, `value of ${key}`, error);
      if (field.many) ((state[key] ??= []) as (string | number)[]).push(value);
      else if (state[key] !== undefined) throw error(`field ${key}`, 'once', 'twice');
      else state[key] = value;
      if (!listed) break;
      if (next()?.text === ',') at++;
      else if (next()?.text !== ']') throw error(`list of ${key}`, 'its end');
    }
    if (listed) at++;
    if (next()?.text === ',' || next()?.text === ';') at++;
  }
  return state as CheckpointState;
}

interface Token {
  readonly kind: 'word' | 'string' | 'mark';
  readonly text: string;
}

function valueAt(
  tokens: readonly Token[],
  start: number,
  text: boolean,
  where: string,
  error: ErrorMaker,
): [string | number, number] {
  let at = start;
  if (text) {
    let value = '';
    for (; tokens[at]?.kind === 'string'; at++) value += tokens[at].text;
    if (at === start) throw error(where, 'text in quotes', tokens[at]?.text ?? 'nothing');
    return [value, at];
  }
  const token = tokens[at];
  const number = token?.kind === 'word' ? numberOf(token.text) : undefined;
  if (number === undefined) throw error(where, 'a number', token?.text ?? 'nothing');
  return [number, at + 1];
}

function numberOf(word: string): number | undefined {
  if (/^-?inf(inity)?f?$/i.test(word)) return word.startsWith('-') ? -Infinity : Infinity;
  if (/^-?nanf?$/i.test(word)) return Number.NaN;
  return /^-?(\d+\.?\d*|\.\d+)(e[-+]?\d+)?f?$/i.test(word) ? Number.parseFloat(word) : undefined;
}

function tokensOf(bytes: Uint8Array, error: ErrorMaker): Token[] {
  // One character for each byte, so that escapes, which are bytes, can stand beside UTF-8.
  let source = '';
  for (let at = 0; at < bytes.length; at += 4096)
    source += String.fromCharCode(...bytes.subarray(at, at + 4096));
  const pattern =
    /[\s]+|#[^\n]*|(?<word>[-+.\w]+)|"(?<double>(?:[^"\\\n]|\\[^\n])*)"|'(?<single>(?:[^'\\\n]|\\[^\n])*)'|(?<mark>[:,;[\]])/y;
  const tokens: Token[] = [];
  while (pattern.lastIndex < source.length) {
    const at = pattern.lastIndex;
    const groups = pattern.exec(source)?.groups;
    if (groups === undefined) throw error(`character ${at}`, 'a field', source.slice(at, at + 20));
    const { word, double, single, mark } = groups;
    const quoted = double ?? single;
    if (quoted !== undefined) tokens.push({ kind: 'string', text: unescape(quoted, error) });
    else if (word !== undefined) tokens.push({ kind: 'word', text: word });
    else if (mark !== undefined) tokens.push({ kind: 'mark', text: mark });
  }
  return tokens;
}

/** The text that a quoted one stands for: bytes in UTF-8. */
function unescape(quoted: string, error: ErrorMaker): string {
  const out: number[] = [];
  for (let at = 0; at < quoted.length; ) {
    if (quoted[at] !== '\\') {
      out.push(quoted.charCodeAt(at++) & 255);
      continue;
    }
    const rest = quoted.slice(at + 1, at + 5);
    const code = /^(?:([0-7]{1,3})|[xX]([0-9a-fA-F]{1,2}))/.exec(rest);
    if (code !== null) {
      out.push(Number.parseInt(code[1] ?? code[2], code[1] === undefined ? 16 : 8) & 255);
      at += 1 + code[0].length;
    } else {
      const byte = ESCAPES[rest[0]];
      if (byte === undefined) throw error('escape', 'one of C', `\\${rest[0]}`);
      out.push(byte);
      at += 2;
    }
  }
  try {
    return new TextDecoder('utf-8', { fatal: true }).decode(Uint8Array.from(out));
  } catch (cause) {
    throw error('text', 'UTF-8', undefined, cause);
  }
}

const SHORT: Readonly<Record<string, string>> = { '\n': 'n', '\r': 'r', '\t': 't' };

function spell(value: string | number): string {
  if (typeof value === 'number') {
    if (Number.isInteger(value) && Math.abs(value) < 1e15) return `${Object.is(value, -0) ? '-0' : value}.0`;
    return Number.isFinite(value) ? String(value) : String(value).toLowerCase().replace('inity', '');
  }
  // Control characters and quotes as in C, everything else as it is.
  const spelled = value.replace(/[\\'"]|\p{Cc}/gu, (character) => {
    const code = character.charCodeAt(0);
    if (code > 127) return character;
    const letter = SHORT[character];
    return `\\${letter ?? (code < 32 || code === 127 ? code.toString(8).padStart(3, '0') : character)}`;
  });
  return `"${spelled}"`;
}
