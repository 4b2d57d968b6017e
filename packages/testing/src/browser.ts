import { existsSync } from 'node:fs';

/**
 * Where Chromium is, for tests of pages: `EAGRE_CHROMIUM`, or a usual place. Without one those tests are skipped, and say so.
 */
export const browserPath: string | undefined = [
  process.env['EAGRE_CHROMIUM'],
  '/usr/bin/chromium',
  '/usr/bin/chromium-browser',
  '/usr/bin/google-chrome',
  '/Applications/Google Chrome.app/Contents/MacOS/Google Chrome',
  'C:\\Program Files\\Google\\Chrome\\Application\\chrome.exe',
].find((path) => path !== undefined && path !== '' && existsSync(path));
if (browserPath === undefined) console.log('Pages are not tested: no Chromium; EAGRE_CHROMIUM names one.');

/** Has Chromium offer WebGPU on its software adapter. */
export const softwareGpuFlags: readonly string[] = [
  '--no-sandbox',
  '--enable-unsafe-webgpu',
  '--use-webgpu-adapter=swiftshader',
  '--enable-features=Vulkan',
  '--use-vulkan=swiftshader',
  '--use-gl=angle',
  '--use-angle=swiftshader',
  '--disable-vulkan-surface',
  '--ignore-gpu-blocklist',
];
