// WebGPU in Node, on whatever GPU there is; on machines without one, on the software driver that comes with Chromium.
import '@eagre/backend-js';
import '@eagre/backend-native';
import '../../backend-webgpu/src/testing/swiftshader.ts';
import { describe } from 'vitest';
import { conformanceSuite } from './conformance-suite.ts';

const { webgpuBackend, webgpuUnavailable } = await import('@eagre/backend-webgpu');
if (webgpuBackend === undefined) console.log(`WebGPU is not tested: ${webgpuUnavailable}`);

describe.skipIf(webgpuBackend === undefined)('WebGPU', () => conformanceSuite('webgpu'));
