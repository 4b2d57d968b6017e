import { InvalidArgumentError } from '@eagre/backend';
import { argumentsOf, checkList, shown, takesArguments } from '@eagre/core/internal';
import { DeviceMesh } from './device-mesh.ts';

interface TensorLayoutArguments {
  /** For each axis of the tensor the axis of the mesh along which it is divided, or null for one that is whole everywhere. */
  readonly axes: readonly (string | null)[];
  /** The mesh that the names are of; none unless given. */
  readonly deviceMesh?: DeviceMesh | null;
}

/** Along which axes of a mesh a tensor is divided: a name of the mesh for each axis of the tensor, or null for one that is whole everywhere. */
export class TensorLayout {
  /** For each axis of the tensor the axis of the mesh along which it is divided, or null for one that is whole everywhere. */
  readonly axes: readonly (string | null)[];
  /** The mesh that the names are of. */
  readonly deviceMesh: DeviceMesh | null;

  /** @throws InvalidArgumentError for an axis that the mesh does not have */
  constructor(
    ...args: [
      axes: readonly (string | null)[] | TensorLayoutArguments,
      options?: {
        /** The mesh that the names are of; none unless given. */
        readonly deviceMesh?: DeviceMesh | null;
      },
    ]
  ) {
    const op = 'TensorLayout';
    const { axes, deviceMesh = null } = argumentsOf<TensorLayoutArguments>(TensorLayout, new.target, args);
    checkList(axes, 'axes', op);
    if (deviceMesh !== null && !(deviceMesh instanceof DeviceMesh))
      throw new InvalidArgumentError(`deviceMesh must be a DeviceMesh, got ${shown(deviceMesh)}`, op);
    for (const axis of axes) {
      if (axis !== null && typeof axis !== 'string')
        throw new InvalidArgumentError(`axes must be names of the mesh or null, got ${shown(axis)}`, op);
      if (axis !== null && deviceMesh !== null && !deviceMesh.axisNames.includes(axis))
        throw new InvalidArgumentError(
          `the mesh has no axis '${axis}'; it has ${deviceMesh.axisNames.join(', ')}`,
          op,
        );
    }
    this.axes = Object.freeze([...axes]);
    this.deviceMesh = deviceMesh;
  }
}
takesArguments<TensorLayoutArguments>(
  { positional: ['axes'], names: { axes: true, deviceMesh: true } },
  TensorLayout,
);
