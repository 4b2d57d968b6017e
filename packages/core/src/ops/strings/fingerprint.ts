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
import { hashesOf } from './buckets.ts';
import { onKnown } from './known-strings.ts';
import { eachUtf8 } from './utf8.ts';

const OP = 'Fingerprint';

/** The fingerprints of rows of bytes as bytes, the lowest first. */
function ofRows(bytes: Uint8Array, rows: number): Uint8Array<ArrayBuffer> {
  const width = rows === 0 ? 0 : bytes.length / rows;
  const starts = new Int32Array(rows + 1);
  for (let i = 1; i <= rows; i++) starts[i] = i * width;
  return new Uint8Array(hashesOf({ bytes, starts }, 0, 'farm').buffer);
}
const tensorOf = (hashes: Uint8Array<ArrayBuffer>): Tensor =>
  toTensor({ data: hashes, shape: [hashes.length / 8, 8] });

/** The fingerprints of the bytes of rows. */
const fingerprintOp: Op = /* @__PURE__ */ defineOp({
  name: OP,
  infer: ([data]) => ({ dtype: 'uint8', shape: toShape([dims(data)[0] as number, 8]) }),
  host: ([data]) => {
    const { buffer, byteOffset, byteLength } = viewOf(data);
    return [tensorOf(ofRows(new Uint8Array(buffer, byteOffset, byteLength), data.shape[0] as number))];
  },
  notDifferentiable: 'fingerprints are bytes',
  samples: () => [{ inputs: [integers([3, 2], 0, 100)] }, { inputs: [values([1, 2, 3], [3], 'float32')] }],
});

/** The fingerprint of the strings of a row: of several, that of their fingerprints. */
function ofStrings(data: Tensor): Tensor {
  return onKnown(OP, [data], (known) => {
    const rows = known.shape[0] as number;
    const all = new BigInt64Array(known.size);
    eachUtf8(known, (utf8, first) => all.set(hashesOf(utf8, 0, 'farm'), first));
    const own = new Uint8Array(all.buffer);
    return tensorOf(known.size === rows ? own : ofRows(own, rows));
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
