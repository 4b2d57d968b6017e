// Every op of Eagre is exported to ONNX and read again, and must give what it gave; every standard op of ONNX is read, or there is a reason. The
// lists stand in docs/onnx-ops.md. Write it anew with `vitest -u`.
import { mkdtempSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { execute, listOps } from '@eagre/core/internal';
import { materialize } from '@eagre/testing';
import { afterAll, describe, expect, test } from 'vitest';
import * as tf from '../src/index.ts';

const folder = mkdtempSync(join(tmpdir(), 'eagre-onnx-'));
afterAll(() => rmSync(folder, { recursive: true }));
const file = join(folder, 'op.onnx');

const golden = <T>(name: string): T =>
  JSON.parse(readFileSync(new URL(`../../onnx/golden/${name}`, import.meta.url), 'utf8')) as T;

/** By reason, the ops that cannot be exported. */
const refused = new Map<string, Set<string>>();
const written = new Set<string>();

const numbers = (x: tf.Tensor): number[] => Array.from(x.cast('float64').data() as Float64Array);

/** What the error of an op says, without names. */
function reasonOf(error: unknown): string {
  const text = (error as Error).message;
  if (/runs on the host|has no value while tf.function traces/.test(text)) return 'it runs on the host';
  if (/complex/.test(text)) return 'ONNX has no ops of complex numbers';
  if (/needs the op|is not part of it/.test(text)) return 'ONNX has no such op';
  if (/unknowns; their number/.test(text)) return 'the number of unknowns must be known';
  if (/lowers scores/.test(text)) return 'ONNX leaves boxes out, and lowers no scores';
  if (/saturating cast/.test(text)) return 'for 64 bits there are no limits to clip to';
  if (/counts places/.test(text)) return 'ONNX counts the places of maxima in another way';
  if (/a gradient uses it|uses its statistics/.test(text))
    return 'ONNX does not give what the gradient needs';
  if (/edge is repeated/.test(text)) return 'ONNX repeats edges by one element at most';
  if (/border is not smaller/.test(text)) return 'the border must be smaller than the window';
  if (/units is not known|last axis is not known/.test(text)) return 'the number of units must be known';
  return text;
}

async function roundTrip(
  name: string,
  attrs: never,
  inputs: readonly tf.Tensor[],
  known: boolean,
): Promise<void> {
  const op = listOps().get(name) as never;
  // Outputs that only a gradient uses are not asked for.
  const count = FIRST_OUTPUT.has(name) ? 1 : undefined;
  const fn = (...xs: tf.Tensor[]): tf.Tensor[] => [...execute(op, xs, attrs)].slice(0, count);
  const inputSignature = inputs.map(
    (x) => new tf.TensorSpec(known ? x.shape : x.shape.map(() => null), x.dtype),
  );
  await tf.onnx.save(fn, file, { inputSignature, opset: 21 });
  const wanted = fn(...inputs);
  const result: unknown = (await tf.onnx.load(file))(...inputs);
  const got = (Array.isArray(result) ? result : [result]) as tf.Tensor[];
  expect(got.map((y) => [y.dtype, ...y.shape])).toEqual(wanted.map((y) => [y.dtype, ...y.shape]));
  if (VARIES.test(name)) return;
  wanted.forEach((want, i) => {
    const values = numbers(got[i] as tf.Tensor);
    numbers(want).forEach((w, k) => {
      const v = values[k] as number;
      const near = Object.is(v, w) || v === w || Math.abs(v - w) <= 1e-5 + 1e-3 * Math.abs(w);
      expect(near, `output ${i} at ${k}: ${v}, expected ${w}`).toBe(true);
    });
  });
}
const VARIES = /^Random|^TruncatedNormal/;
const FIRST_OUTPUT = new Set(['MaxPoolWithArgmax', 'LSTM', 'GRU', 'LayerNorm', 'RMSNorm']);

const isPlain = (x: tf.Tensor): boolean => x.dtype !== 'string';

describe('every op of Eagre', () => {
  const names = [...listOps().keys()].filter((name) => !/Grad/.test(name)).sort();
  test.each(names)('%s', async (name) => {
    const op = listOps().get(name) as NonNullable<ReturnType<ReturnType<typeof listOps>['get']>>;
    for (const sample of op.samples()) {
      const inputs = materialize(sample, 'float32');
      if (!inputs.every(isPlain)) continue;
      // With unknown sizes where its attributes are not those of the sample's sizes.
      const attrs = (sample.attrs ?? {}) as never;
      const sized =
        Object.values(attrs as object).some(Array.isArray) ||
        SIZED.has(name) ||
        inputs.some((x) => x.shape.includes(1));
      const fn = (...xs: tf.Tensor[]): unknown => execute(op, xs, attrs);
      for (const known of sized || inputs.length === 0 ? [true] : [true, false]) {
        if (!known && !isTraced(fn, inputs)) continue;
        try {
          await roundTrip(name, attrs, inputs, known);
          written.add(name);
        } catch (error) {
          // What runs on the host cannot be traced at all.
          const refuses =
            error instanceof tf.errors.UnimplementedError ||
            (error instanceof tf.errors.FailedPreconditionError && !isTraced(fn, inputs));
          if (!refuses) throw error;
          const reason = reasonOf(error);
          refused.set(reason, (refused.get(reason) ?? new Set()).add(name));
        }
      }
    }
  });
});
/** Whether a function can be traced for inputs of any sizes. */
function isTraced(fn: (...xs: tf.Tensor[]) => unknown, inputs: readonly tf.Tensor[]): boolean {
  const specs = inputs.map(
    (x) =>
      new tf.TensorSpec(
        x.shape.map(() => null),
        x.dtype,
      ),
  );
  try {
    tf.function(fn).getConcreteFunction(...(specs as never[]));
    return true;
  } catch {
    return false;
  }
}

// Their samples fit together by sizes that no trace of unknown ones could know, or go one way or another by them.
const SIZED = new Set([
  'MatMul',
  '_FusedMatMul',
  'MatrixDiagPart',
  'MatrixSetDiag',
  'SegmentProd',
  'SegmentProdOfRows',
]);

const DOMAINS = { '': 'ONNX', 'ai.onnx.ml': 'ONNX ML' } as const;

test('the list of ops in docs/onnx-ops.md', async () => {
  const schemas = golden<Record<string, Record<string, number>>>('schemas.json');
  const read = golden<Record<string, string[]>>('ops.json');
  const sections = Object.entries(DOMAINS).map(([domain, title]) => {
    const all = Object.keys(schemas[domain] as object);
    expect(all.filter((name) => !read[domain]?.includes(name))).toEqual([]);
    return `## ${title}: read\n\nAll ${all.length} ops are read: ${all.join(', ')}.`;
  });
  const partly = (name: string): string => (written.has(name) ? `${name} (some uses)` : name);
  const lines = [...refused]
    .sort(([a], [b]) => (a < b ? -1 : 1))
    .map(([why, names]) => `- ${why}: ${[...names].sort().map(partly).join(', ')}`);
  const text = `# Ops of ONNX

What [\`tf.onnx\`](onnx.md) reads and writes. \`packages/eagre/tests/onnx-ops.test.ts\` tries all ops and writes these lists.

${sections.join('\n\n')}

## ONNX Runtime: read

${read['com.microsoft']?.join(', ')}, and SimplifiedLayerNormalization.

## Written

${written.size} ops of Eagre are exported, as ops of ONNX or as those that they are composed of: ${[...written].sort().join(', ')}.

Not exported, beside gradients:

${lines.join('\n')}
`;
  await expect(text).toMatchFileSnapshot('../../../docs/onnx-ops.md');
});
