// String tensors whose bytes are known, as files and encoders give them. Nobody asks for the text of a picture, which takes longer to make than its
// pixels; so it is made when it is asked for.
import type { ByteStrings, StringElements } from '@eagre/backend';
import { bytesOf, textOf } from '../ops/strings/bytes.ts';
import type { Shape } from '../shapes/shape.ts';
import { stringTensor, type Tensor, textsOf } from './tensor.ts';

class Bytes implements ByteStrings {
  readonly elements: StringElements;
  constructor(elements: StringElements) {
    this.elements = elements;
  }
  get length(): number {
    return this.elements.length;
  }
  texts(): readonly string[] {
    return this.elements.map((each) => (typeof each === 'string' ? each : textOf(each)));
  }
  of(elements: StringElements): Bytes {
    return new Bytes(elements);
  }
}

/** @internal A string tensor of bytes, which nobody may write to afterwards; some of the elements may be texts. */
export function byteTensor(elements: StringElements, shape: Shape): Tensor {
  return stringTensor(new Bytes(elements), shape);
}

/** @internal The bytes of each element of a string tensor, to be read only. @throws InvalidArgumentError for another dtype */
export function bytesIn(x: Tensor): readonly Uint8Array[] {
  const { strings } = x.storage;
  if (strings !== undefined && 'elements' in strings)
    return strings.elements.map((each) => (typeof each === 'string' ? bytesOf(each) : each));
  return textsOf(x).map(bytesOf);
}
