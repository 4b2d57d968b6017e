// Keras's distributions, in terms of strategies.
import { InvalidArgumentError, UnimplementedError } from '@eagre/backend';
import type { Tensor, TensorLike } from '@eagre/core';
import {
  argumentsOf,
  checkFlag,
  defineFunction,
  defineMethods,
  kind,
  type NamedFunction,
  shown,
  takesArguments,
  toTensor,
} from '@eagre/core/internal';
import { experimentalSetStrategy } from '../strategy/current.ts';
import { MirroredStrategy } from '../strategy/mirrored.ts';
import type { Strategy } from '../strategy/strategy.ts';
import { DeviceMesh, listDevices } from './device-mesh.ts';
import { TensorLayout } from './tensor-layout.ts';

interface DataParallelArguments {
  /** A mesh with one axis, along which batches are divided. Instead of `devices`. */
  readonly deviceMesh?: DeviceMesh | null;
  /** Names of the devices that get a part of each batch: `['cpu:0', 'cpu:1']`. All by default. */
  readonly devices?: readonly string[] | null;
  /** Whether `distributeDataset` divides data sets between processes; true by default. */
  readonly autoShardDataset?: boolean;
}

/** How the variables and the data of models lie on devices. */
export abstract class Distribution {
  /** A mesh with one axis, along which batches are divided. Instead of `devices`. */
  readonly deviceMesh: DeviceMesh;
  /** The axis of the mesh along which batches are divided. */
  readonly batchDimName: string | null;

  /** @internal */
  constructor(deviceMesh: DeviceMesh, batchDimName: string | null) {
    this.deviceMesh = deviceMesh;
    this.batchDimName = batchDimName;
  }

  /** @internal */
  abstract readonly strategy: Strategy;

  /** Runs code whose models are distributed in this way; `using _ = distribution.scope()` holds until the block ends. */
  scope<T>(fn: () => T): T;
  scope(): Disposable;
  scope<T>(fn?: () => T): T | Disposable {
    return fn === undefined ? this.strategy.scope() : this.strategy.scope(fn);
  }
}

/** Each device has all variables, and computes on its part of each batch: a `tf.distribute.MirroredStrategy` over the devices. */
export class DataParallel extends Distribution {
  readonly strategy: MirroredStrategy;
  /** Whether data sets are divided between processes; there is one. */
  readonly autoShardDataset: boolean;

  /**
   * @param options `deviceMesh`, of one axis, or `devices`; all devices by default
   * @throws InvalidArgumentError for a mesh of several axes
   */
  constructor(...args: [options?: DataParallelArguments | null]) {
    const op = 'DataParallel';
    const {
      deviceMesh,
      devices,
      autoShardDataset = true,
    } = argumentsOf<DataParallelArguments>(DataParallel, new.target, args);
    checkFlag(autoShardDataset, 'autoShardDataset', op);
    if (deviceMesh !== undefined && deviceMesh !== null && !(deviceMesh instanceof DeviceMesh))
      throw new InvalidArgumentError(`deviceMesh must be a DeviceMesh, got ${shown(deviceMesh)}`, op);
    if (deviceMesh && deviceMesh.shape.length !== 1)
      throw new InvalidArgumentError(
        `the mesh must have one axis, along which batches are divided, got ${deviceMesh.axisNames.join(', ')}`,
        op,
      );
    const names = devices ?? listDevices();
    const mesh = deviceMesh ?? new DeviceMesh([names.length], ['batch'], { devices: names });
    super(mesh, mesh.axisNames[0]);
    this.strategy = new MirroredStrategy([...mesh.devices]);
    this.autoShardDataset = autoShardDataset;
  }

  /** The data set that this process goes through: the whole one, as one process has all devices of the mesh. */
  distributeDataset<T extends object>(
    dataset:
      | T
      | {
          /** Any data set. */
          readonly dataset: T;
        },
  ): T;
  distributeDataset(dataset: unknown): unknown {
    if (typeof dataset !== 'object' || dataset === null)
      throw new InvalidArgumentError(
        `dataset must be a data set, got ${shown(dataset)}`,
        'distributeDataset',
      );
    return dataset;
  }

  /** The layout of a batch: divided along its first axis. */
  getDataLayout(dataShape: readonly unknown[]): TensorLayout;
  getDataLayout(options: {
    /** The shape of a batch, of rank 1 or more. */
    readonly dataShape: readonly unknown[];
  }): TensorLayout;
  getDataLayout(shape: unknown): TensorLayout {
    if (!Array.isArray(shape) || shape.length === 0)
      throw new InvalidArgumentError(
        `dataShape must be a shape of rank 1 or more, got ${shown(shape)}`,
        'getDataLayout',
      );
    const { deviceMesh, batchDimName } = this;
    return new TensorLayout(
      shape.map((_, i) => (i === 0 ? batchDimName : null)),
      { deviceMesh },
    );
  }

  /** The layout of a variable: whole on every device. */
  getVariableLayout(variable: {
    /** Its sizes. */
    readonly shape: readonly number[];
  }): TensorLayout {
    const { deviceMesh } = this;
    return new TensorLayout(
      variable.shape.map(() => null),
      { deviceMesh },
    );
  }
}
takesArguments<DataParallelArguments>(
  { names: { deviceMesh: true, devices: true, autoShardDataset: true } },
  DataParallel,
);
defineMethods(Distribution.prototype, 'Distribution', { scope: { positional: ['fn'], required: 0 } });
defineMethods(DataParallel.prototype, 'DataParallel', {
  distributeDataset: { positional: ['dataset'], objects: ['dataset'] },
  getDataLayout: { positional: ['dataShape'] },
  getVariableLayout: { positional: ['variable'] },
});

/** Variables that are divided between devices, which Eagre does not have. */
export class ModelParallel extends Distribution {
  readonly strategy: never;
  /** @throws UnimplementedError always */
  constructor(..._args: readonly unknown[]) {
    super(undefined as never, null);
    throw notDivided('ModelParallel');
  }
}

/** Layouts of variables by patterns of their paths, for `ModelParallel`. */
export class LayoutMap {
  /** @throws UnimplementedError always */
  constructor(..._args: readonly unknown[]) {
    throw notDivided('LayoutMap');
  }
}

takesArguments({ names: { layoutMap: true, batchDimName: true, autoShardDataset: true } }, ModelParallel);
takesArguments({ positional: ['deviceMesh'], names: { deviceMesh: true } }, LayoutMap);

function notDivided(what: string): UnimplementedError {
  return new UnimplementedError(
    'a variable cannot be divided between devices; use DataParallel, where each device has all of it',
    what,
  );
}

/** A tensor as a layout says; only where it is whole everywhere. @throws UnimplementedError for one that is to be divided */
export const distributeTensor: NamedFunction<
  [tensor: TensorLike, layout: TensorLayout],
  ['tensor', 'layout'],
  unknown,
  Tensor
> = /* @__PURE__ */ defineFunction(
  'keras.distribution.distributeTensor',
  { tensor: kind.tensor, layout: kind.asIs },
  {},
  (tensor, layout) => {
    if (!(layout instanceof TensorLayout))
      throw new InvalidArgumentError(
        `layout must be a TensorLayout, got ${shown(layout)}`,
        'distributeTensor',
      );
    if (layout.axes.some((axis) => axis !== null)) throw notDivided('distributeTensor');
    return toTensor(tensor);
  },
);

let now: Distribution | null = null;

/** What `setDistribution` set; null where nothing is. */
export const distribution: NamedFunction<[], [], unknown, Distribution | null> =
  /* @__PURE__ */ defineFunction('keras.distribution.distribution', {}, {}, () => now);

/**
 * Distributes all models that are made from now on; with null, none.
 * @throws FailedPreconditionError in the scope of a strategy
 */
export const setDistribution: NamedFunction<[value: Distribution | null], ['value'], unknown, void> =
  /* @__PURE__ */ defineFunction('keras.distribution.setDistribution', { value: kind.asIs }, {}, (value) => {
    if (value !== null && !(value instanceof Distribution))
      throw new InvalidArgumentError(
        `expected a distribution or null, got ${shown(value)}`,
        'keras.distribution.setDistribution',
      );
    experimentalSetStrategy(value?.strategy ?? null);
    now = value;
  });

/** Is refused: the processes of a cluster are set up by `tf.distribute`. @throws UnimplementedError always */
export const initialize: NamedFunction<
  [jobAddresses?: string | null, numProcesses?: number | null, processId?: number | null],
  ['jobAddresses', 'numProcesses', 'processId'],
  unknown,
  never
> = /* @__PURE__ */ defineFunction(
  'keras.distribution.initialize',
  {
    jobAddresses: kind.optional(kind.asIs),
    numProcesses: kind.optional(kind.asIs),
    processId: kind.optional(kind.asIs),
  },
  {},
  (_jobAddresses = undefined, _numProcesses = undefined, _processId = undefined) => {
    throw new UnimplementedError(
      'several processes are set up by TF_CONFIG, under a strategy of tf.distribute',
      'keras.distribution.initialize',
    );
  },
);
