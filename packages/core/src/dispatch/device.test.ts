import '@eagre/backend-js';
import '@eagre/backend-native';
import { describe, expect, it } from 'vitest';
import { constant, device, listPhysicalDevices, memory, NotFoundError, withBackend } from '../index.ts';

describe('devices', () => {
  it('lists the CPU', () => {
    expect(listPhysicalDevices('CPU')).toEqual([{ name: '/physical_device:CPU:0', deviceType: 'CPU' }]);
  });

  it.each(['/cpu:0', 'CPU:0', '/device:CPU:0', '/job:localhost/replica:0/task:0/device:CPU:0'])(
    'places ops on %s',
    (name) => {
      expect(device(name, () => constant([1]).add(1)).device).toBe('/device:CPU:0');
    },
  );

  it('says what there is where a device is missing', () => {
    expect(() => device('/gpu:0', () => 1)).toThrow(NotFoundError);
    expect(() => device('/gpu:0')).toThrow(/found: \/cpu:0/);
    expect(() => device('/cpu:1')).toThrow(NotFoundError);
    expect(() => device('cpu')).toThrow(/not a device name/);
  });

  it('copies tensors between backends', () => {
    const a = withBackend('js', () => constant([1, 2]));
    const b = withBackend('native', () => a.add(constant([1, 1])));
    expect(b.backend.name).toBe('native');
    expect(b.array()).toEqual([2, 3]);
  });

  it('tells of memory', () => {
    const t = constant(new Float32Array(1 << 20));
    expect(memory().native?.bytesAllocated).toBeGreaterThanOrEqual(4 << 20);
    t.dispose();
    expect(memory().native?.bytesPooled).toBeGreaterThanOrEqual(4 << 20);
  });
});
