// Arguments against what a function has promised to take.
import { InvalidArgumentError } from '@eagre/backend';
import { type PartialShape, type Tensor, type TensorLike, Variable } from '@eagre/core';
import { isCompatible, isComposite, shown, showShape, toTensor, tree } from '@eagre/core/internal';
import { type Signature, TensorSpec } from '../ir/tensor-spec.ts';

const OP = 'tf.function';

/**
 * Arguments brought to a signature: what is no tensor becomes one of the dtype that is asked for.
 * @throws InvalidArgumentError for another number of arguments, structure, dtype or shape, with both signatures.
 */
export function conform(args: readonly unknown[], signature: readonly Signature[]): unknown[] {
  const fail = (why: string): never => {
    throw new InvalidArgumentError(
      `the arguments do not match the inputSignature: ${why}.\n  signature: ${showSignature(signature)}\n  arguments: ${showArguments(args)}`,
      OP,
    );
  };
  if (args.length !== signature.length) fail(`${args.length} arguments for ${signature.length}`);
  // What specs do not tell does not count.
  const given = tree.mapLeaves(
    args,
    OP,
    (value) => (isComposite(value) ? value.general : value),
    tree.wholeComposites,
  ) as unknown[];
  const at = ([i, ...path]: tree.Path): string => `argument ${String(i)}${tree.showPath(path)}`;
  const tensors: Tensor[] = [];
  tree.forEachPair(
    signature,
    given,
    OP,
    (leaf, value, path) => {
      const spec = leaf as TensorSpec;
      let tensor: Tensor;
      try {
        tensor = toTensor(value instanceof Variable ? value.read() : (value as TensorLike), spec.dtype);
      } catch (error) {
        return fail(`${at(path)}: ${(error as Error).message}`);
      }
      if (tensor.dtype !== spec.dtype) fail(`${at(path)} is ${tensor.dtype}, expected ${spec.dtype}`);
      if (!isCompatible(tensor.shape, spec.shape))
        fail(
          `${at(path)} has shape ${showShape(tensor.shape)}, expected ${showShape(spec.shape as PartialShape)}`,
        );
      tensors.push(tensor);
    },
    (how, expected, _, path) => {
      if (how.kind === 'unknown key') fail(`${at([...path, how.key])} is not in it`);
      if (how.kind === 'missing key') fail(`${at([...path, how.key])} is missing`);
      fail(
        Array.isArray(expected)
          ? `${at(path)} must be an array of ${expected.length}`
          : `${at(path)} must be ${tree.containerName(expected)}`,
      );
    },
  );
  return tree.pack(signature, tensors, OP) as unknown[];
}

/** A signature as text. */
export function showSignature(spec: Signature): string {
  return tree.showStructure(spec, String);
}

/** What arguments are, as text. */
export function showArguments(value: unknown): string {
  return tree.showStructure(value, showArgument);
}

function showArgument(value: unknown): string {
  if (value instanceof TensorSpec) return value.toString();
  if (typeof value === 'object' && value !== null) {
    if ('dtype' in value && 'shape' in value)
      return `${String(value.dtype)} ${showShape(value.shape as PartialShape)}`;
    return value.constructor.name;
  }
  return typeof value === 'function' ? 'function' : typeof value === 'string' ? `'${value}'` : String(value);
}

/** What a structure of specs may hold beside them: `tf.mapFn` takes dtypes too. */
type IsLeaf = (value: unknown) => boolean;

/** @throws InvalidArgumentError for what is no structure of specs, with the place where something else stands. */
export function checkSignature(
  value: unknown,
  what: string,
  op: string,
  isLeaf: IsLeaf = () => false,
  isWhole: IsLeaf = () => false,
): void {
  const visit = (leaf: unknown, path: tree.Path): void => {
    if (leaf instanceof TensorSpec || isLeaf(leaf)) return;
    throw new InvalidArgumentError(
      `${what}${tree.showPath(path)} is ${shown(leaf)}, expected tf.TensorSpec in arrays and plain objects`,
      op,
    );
  };
  tree.forEachLeaf(value, op, visit, isWhole);
}
