import type { TrackableView } from '@eagre/core';
import { type TableResource, tableView } from '@eagre/core/internal';
import type { TableHandle } from '../import/values.ts';
import { LoadedObject } from './loaded-object.ts';

/** A table of a loaded model. Functions look up in it; checkpoints have the contents of one that changes. */
export class LoadedTable extends LoadedObject {
  #handle: TableHandle | undefined;

  constructor(...args: []) {
    super(...args);
  }

  /** @internal Gives it the table that was made. */
  fill(handle: TableHandle): void {
    this.#handle = handle;
  }
  /** @internal */
  get tableResource(): TableResource | undefined {
    return this.#handle?.resource;
  }

  override trackableView(): TrackableView {
    if (this.#handle?.isMutable !== true) return { children: [] };
    return tableView(this.#handle.table, this.#handle.resource);
  }
}
