import { UnimplementedError } from '@eagre/backend';
import type { Servable } from './servable.ts';

/** Loads the SavedModel in a folder. */
export async function loadServable(path: string): Promise<Servable> {
  throw new UnimplementedError(`cannot load ${path}`, 'serving');
}
