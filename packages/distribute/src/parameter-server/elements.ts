// Where the elements of iterators come from while a scheduled function is traced.
import { ambient } from '@eagre/core/internal';

export const elementsOf: { current: ((iterator: unknown) => unknown) | null } = ambient({
  current: null as ((iterator: unknown) => unknown) | null,
});
