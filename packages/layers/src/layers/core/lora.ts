// Two small matrices that are trained beside a large weight, which is frozen (LoRA).
import {
  FailedPreconditionError,
  type Shape,
  type Tensor,
  type TensorLike,
  type Variable,
  zeros,
} from '@eagre/core';
import { inScope, type Option, type OptionNames, orNull } from '@eagre/core/internal';
import type { ConstraintFunction } from '../../constraints.ts';
import { get as getInitializer, type InitializerLike } from '../../initializers/initializers.ts';
import { freezeLater } from '../../layer/inside.ts';
import { checkBuilt, type Layer, noteChange } from '../../layer/layer.ts';
import type { RegularizerFunction } from '../../regularizers.ts';
import { fail } from '../common.ts';
import { integer, positive } from '../options.ts';

export interface LoraOptions {
  /** What the product of the small matrices is multiplied by, times the rank; the rank unless given, which makes 1. */
  readonly loraAlpha?: number | null;
  /** Of the first matrix; `heUniform` unless given. */
  readonly aInitializer?: InitializerLike;
  /** Of the second matrix; `zeros` unless given, with which nothing changes at first. */
  readonly bInitializer?: InitializerLike;
}

/** Of `enableLora`. */
export const loraOptionNames: OptionNames<LoraOptions> = {
  loraAlpha: true,
  aInitializer: true,
  bInitializer: true,
};

/** Options of layers that have LoRA from the beginning. */
export interface OwnLoraOptions {
  /** Trains two matrices of this rank instead of the large one, as `enableLora` does; none unless given. */
  readonly loraRank?: number | null;
  /** What their product is multiplied by, times the rank; the rank unless given. */
  readonly loraAlpha?: number | null;
}

/** The options of `OwnLoraOptions`. */
export const ownLoraOptions: {
  readonly loraRank: Option<number | null>;
  readonly loraAlpha: Option<number | null>;
} = {
  // Configurations leave it out where there is none, as Keras's do.
  loraRank: { ...orNull(integer()), write: (value) => value ?? undefined },
  loraAlpha: {
    read: (given, name, of) => {
      const { loraRank } = of as { readonly loraRank: number | null };
      return given === undefined || given === null ? loraRank : positive().read(given, name, of);
    },
    write: (value) => value ?? undefined,
  },
};

/** The large weight of a layer. */
export type LargeWeight = 'kernel' | 'embeddings';

export type Fields = Record<string, unknown>;
/** A field that nobody lists. */
export function hide(layer: Layer, name: string, value: unknown): void {
  Object.defineProperty(layer, name, { value, writable: true, enumerable: false, configurable: true });
}

/** The two small matrices; null without. */
export interface LoraParts {
  readonly a: Variable;
  readonly b: Variable;
  /** What their product counts. */
  readonly scale: number;
}

/** The small matrices of a layer; null without. */
export function loraOf(layer: Layer): LoraParts | null {
  return ((layer as unknown as Fields)['_lora'] as LoraParts | undefined) ?? null;
}

// Each call reads one: to make the name then takes longer than to find it.
const baseNames = { kernel: '_kernel', embeddings: '_embeddings' } as const;

/** The variable behind `kernel`, which is a sum after `enableLora`. */
export function baseOf(layer: Layer, name: LargeWeight): Variable | undefined {
  const fields = layer as unknown as Fields;
  return (fields[baseNames[name]] ?? fields[name]) as Variable | undefined;
}

/** What `enableLora` takes. @throws FailedPreconditionError before the layer is built and a second time, InvalidArgumentError for another rank. */
export function checkLora(layer: Layer, rank: unknown): number {
  checkBuilt(layer);
  if (loraOf(layer) !== null)
    throw new FailedPreconditionError('LoRA is already enabled, which can be done once', layer.name);
  return integer().read(rank, 'rank', layer);
}

/** What the small matrices stand beside. */
interface BesideLora {
  readonly name: LargeWeight;
  /** Of the floats of the large weight. */
  readonly shape: Shape;
  /** The large weight as floats. */
  readonly floats: (base: Variable) => Tensor;
}

/** Makes the small matrices, freezes the large weight, and makes its name stand for the sum. */
export function addLora(
  layer: Layer & { readonly loraRank: number | null },
  rank: number,
  options: LoraOptions,
  { name, shape, floats }: BesideLora,
): void {
  const fields = layer as unknown as Fields;
  if (((fields[`${name}Constraint`] ?? null) as ConstraintFunction | null) !== null)
    fail(layer, `cannot have LoRA beside the constraint of its ${name}; leave out ${name}Constraint`);
  const alpha =
    options.loraAlpha === undefined || options.loraAlpha === null
      ? rank
      : positive().read(options.loraAlpha, 'loraAlpha', layer);
  const base = fields[name] as Variable;
  const make = (part: 'a' | 'b', shapeOf: Shape, initializer: InitializerLike): Variable =>
    layer.addWeight({
      name: `lora_${name}_${part}`,
      shape: shapeOf,
      initializer: getInitializer(initializer),
      dtype: 'float32',
      regularizer: fields[`${name}Regularizer`] as RegularizerFunction | null,
    });
  const a = make('a', [...shape.slice(0, -1), rank], options.aInitializer ?? 'heUniform');
  const b = make('b', [rank, shape.at(-1) as number], options.bInitializer ?? 'zeros');
  const scale = alpha / rank;
  const title = `${name.charAt(0).toUpperCase()}${name.slice(1)}`;
  fields[`lora${title}A`] = a;
  fields[`lora${title}B`] = b;
  freezeLater(base);
  hide(layer, `_${name}`, base);
  hide(layer, '_lora', { a, b, scale } satisfies LoraParts);
  fields['loraRank'] = rank;
  fields['loraAlpha'] = alpha;
  Object.defineProperty(layer, name, {
    configurable: true,
    enumerable: false,
    get: () =>
      inScope(() => {
        const large = floats(baseOf(layer, name) as Variable);
        return withLora(large, { a, b, scale }).cast(layer.computeDtype);
      }),
  });
  noteChange();
}

/** A large weight and what LoRA adds to it. */
export function withLora(floats: Tensor, { a, b, scale }: LoraParts): Tensor {
  return floats.add(a.matmul(b).mul(scale).cast(floats.dtype));
}

/** What was loaded has what LoRA had added before. */
export function forgetLora(layer: Layer): void {
  const lora = loraOf(layer);
  for (const part of lora === null ? [] : [lora.a, lora.b]) part.assign(zeros(part.shape, part.dtype));
}

/** What LoRA adds becomes part of the large weight, at the first place of a file. */
export function saveWithLora(
  layer: Layer,
  name: LargeWeight,
  store: Record<string, TensorLike> | { readonly store: Record<string, TensorLike> },
): void {
  const lora = loraOf(layer);
  const base = baseOf(layer, name);
  if (lora !== null && base !== undefined)
    (store as Record<string, TensorLike>)['0'] = withLora(base.read(), lora).cast(base.dtype);
}
