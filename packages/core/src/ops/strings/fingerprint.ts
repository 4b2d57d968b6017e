// Fingerprints of rows.
import { InvalidArgumentError } from '@eagre/backend';
import * as kind from '../../arguments/argument-kinds.ts';
import { defineFunction, type NamedFunction } from '../../arguments/arguments.ts';
import { checkOneOf } from '../../arguments/checks.ts';
import { defineOp, execute1, type Op } from '../../dispatch/op.ts';
import { integers, values } from '../../dispatch/samples.ts';
import { dims, toShape } from '../../shapes/dims.ts';
import { type TensorLike, toTensor } from '../../tensor/convert.ts';
import { type Tensor, viewOf } from '../../tensor/tensor.ts';
import { fingerprint64, fingerprintOfBytes } from './hashes.ts';
import { onKnown } from './known-strings.ts';

const OP = 'Fingerprint';

/** Fingerprints as bytes, the lowest first. */
function packed(hashes: readonly bigint[]): Uint8Array<ArrayBuffer> {
  const out = new Uint8Array(8 * hashes.length);
  const view = new DataView(out.buffer);
  hashes.forEach((hash, i) => view.setBigUint64(8 * i, hash, true));
  return out;
}
const rowsOf = (bytes: Uint8Array, rows: number): Uint8Array[] => {
  const width = rows === 0 ? 0 : bytes.length / rows;
  return Array.from({ length: rows }, (_, i) => bytes.subarray(i * width, (i + 1) * width));
};
const tensorOf = (hashes: readonly bigint[]): Tensor =>
  toTensor({ data: packed(hashes), shape: [hashes.length, 8] });

/** The fingerprints of the bytes of rows. */
const fingerprintOp: Op = /* @__PURE__ */ defineOp({
  name: OP,
  infer: ([data]) => ({ dtype: 'uint8', shape: toShape([dims(data)[0] as number, 8]) }),
  host: ([data]) => {
    const { buffer, byteOffset, byteLength } = viewOf(data);
    return [
      tensorOf(
        rowsOf(new Uint8Array(buffer, byteOffset, byteLength), data.shape[0] as number).map(
          fingerprintOfBytes,
        ),
      ),
    ];
  },
  notDifferentiable: 'fingerprints are bytes',
  samples: () => [{ inputs: [integers([3, 2], 0, 100)] }, { inputs: [values([1, 2, 3], [3], 'float32')] }],
});

/** The fingerprint of the strings of a row: of several, that of their fingerprints. */
function ofStrings(data: Tensor): Tensor {
  return onKnown(OP, [data], (known) => {
    const rows = known.shape[0] as number;
    const hashes = known.strings().map(fingerprint64);
    if (hashes.length === rows) return tensorOf(hashes);
    return tensorOf(rowsOf(packed(hashes), rows).map(fingerprintOfBytes));
  });
}

/**
 * A fingerprint of each row of a tensor, uint8 [rows, 8]: TensorFlow's, the same on every machine. Equal rows have equal ones.
 * @param method 'farmhash64', the only one
 */
export const fingerprint: NamedFunction<[data: TensorLike, method?: 'farmhash64'], ['data', 'method']> =
  /* @__PURE__ */ defineFunction(
    'fingerprint',
    { data: kind.tensor, method: kind.asIs },
    {},
    (data, method = 'farmhash64') => {
      checkOneOf(method, ['farmhash64'], 'method', OP);
      const t = toTensor(data);
      if (t.rank === 0) throw new InvalidArgumentError('data is a scalar, so it has no rows', OP);
      return t.dtype === 'string' ? ofStrings(t) : execute1(fingerprintOp, [t]);
    },
  );
