/**
 * Where Chromium is, for tests of pages: `EAGRE_CHROMIUM`, or a usual place. Without one those tests are skipped, and say so.
 */
export declare const browserPath: string | undefined;
/** Has Chromium offer WebGPU on its software adapter. */
export declare const softwareGpuFlags: readonly string[];
