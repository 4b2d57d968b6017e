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
import { fingerprint as hash, upperHalf } from './hashes.ts';
import { onKnown } from './known-strings.ts';
import { eachUtf8 } from './utf8.ts';

const OP = 'Fingerprint';

/** The fingerprints of rows of bytes as bytes, the lowest first. */
function ofRows({ buffer, byteOffset, byteLength }: Uint8Array, rows: number): Uint8Array<ArrayBuffer> {
  const s = new DataView(buffer, byteOffset, byteLength);
  const width = rows === 0 ? 0 : byteLength / rows;
  const halves = new Int32Array(2 * rows);
  for (let i = 0; i < rows; i++) {
    halves[2 * i] = hash(s, i * width, (i + 1) * width);
    halves[2 * i + 1] = upperHalf();
  }
  return new Uint8Array(halves.buffer);
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
    const halves = new Int32Array(2 * known.size);
    eachUtf8(known, ({ view, starts }, first) => {
      for (let i = 0; i + 1 < starts.length; i++) {
        halves[2 * (first + i)] = hash(view, starts[i], starts[i + 1]);
        halves[2 * (first + i) + 1] = upperHalf();
      }
    });
    const own = new Uint8Array(halves.buffer);
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
