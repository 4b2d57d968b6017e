import { nativeCrc32c, nativeFiles } from '@eagre/backend-native';
import { expect, it, vi } from 'vitest';

const used = vi.hoisted(() => ({ crc32c: vi.fn(), files: vi.fn() }));
vi.mock('@eagre/formats/internal', () => ({
  useCrc32c: used.crc32c,
  useNativeFiles: used.files,
}));

it('files are read and checked by native code where there is any', async () => {
  await import('../src/native-files.ts');
  expect(used.crc32c).toHaveBeenCalledExactlyOnceWith(nativeCrc32c);
  expect(used.files).toHaveBeenCalledExactlyOnceWith(nativeFiles);
});
