import type { Tensor } from '../tensor/tensor.ts';
import type { Variable } from '../tensor/variable.ts';

/** A value of an object that is neither a variable nor inside of one, such as the position of an iterator. */
export interface TrackableAttribute {
  /** The value now. Strings hold whatever else there is, as JSON for instance. */
  save(): Tensor;
  /** Takes what `save` gave, perhaps in another process. @throws InvalidArgumentError for what does not fit. */
  restore(value: Tensor): void;
  /** Whether files may lack it: the object is complete without. */
  readonly optional?: boolean;
}

/** The slot of an optimizer for one variable: `momentum` of a kernel. */
export interface TrackableSlot {
  readonly variable: Variable;
  readonly name: string;
  readonly slot: Variable;
}

/** How checkpoints see an object. What is left out is as for any other object. */
export interface TrackableView {
  /** What is inside, by the names that checkpoints know it by, in order. Otherwise: the attributes that hold something trackable. */
  readonly children?: Iterable<readonly [name: string, child: unknown]>;
  /** By name, in order. */
  readonly attributes?: Iterable<readonly [name: string, attribute: TrackableAttribute]>;
  readonly slots?: Iterable<TrackableSlot>;
  /**
   * The same parts, slots included, as Keras 2's newer optimizers have them: as attributes and lists. A file has either these or
   * `children` and `slots`.
   */
  readonly listed?: Iterable<readonly [name: string, child: unknown]>;
  /** Variables that checkpoints leave out, since others say as much, but that functions use. */
  readonly unsaved?: Iterable<readonly [name: string, variable: Variable]>;
}

/**
 * An object that tells how checkpoints see it; variables, modules, arrays, maps and plain objects need not. It is asked at every save
 * and while something waits to be restored.
 */
export interface Trackable {
  trackableView(): TrackableView;
}
