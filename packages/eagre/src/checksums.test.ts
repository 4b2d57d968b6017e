import { nativeCrc32c } from '@eagre/backend-native';
import { expect, it, vi } from 'vitest';

const used = vi.hoisted(() => vi.fn());
vi.mock('@eagre/formats', async (original) => ({
  ...(await original<typeof import('@eagre/formats')>()),
  useCrc32c: used,
}));

it('files are checked by native code where there is any', async () => {
  await import('./backends.ts');
  expect(used).toHaveBeenCalledExactlyOnceWith(nativeCrc32c);
});
