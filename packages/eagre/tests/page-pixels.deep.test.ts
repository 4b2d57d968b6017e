// `tf.browser` in a page of headless Chromium.
import { browserPath, hasWasmModule, openPage, type TestPage } from '@eagre/testing';
import { afterAll, beforeAll, describe, expect, test } from 'vitest';

// Red and green above, blue and white below.
const svg =
  '<svg xmlns="http://www.w3.org/2000/svg" width="2" height="2" shape-rendering="crispEdges"><rect width="1" height="1" fill="#ff0000"/><rect x="1" width="1" height="1" fill="#00ff00"/><rect y="1" width="1" height="1" fill="#0000ff"/><rect x="1" y="1" width="1" height="1" fill="#ffffff"/></svg>';
const colours = [
  [
    [255, 0, 0],
    [0, 255, 0],
  ],
  [
    [0, 0, 255],
    [255, 255, 255],
  ],
];

const program = `
import * as tf from 'eagre';
import { openWasm } from '@eagre/backend-wasm';
globalThis.tf = tf;
if (${hasWasmModule}) await openWasm({ module: '/eagre.wasm' });
globalThis.painted = (canvas, kind = '2d') => {
  [canvas.width, canvas.height] = [2, 2];
  const drawing = canvas.getContext(kind);
  for (const [x, y, fill] of [[0, 0, '#f00'], [1, 0, '#0f0'], [0, 1, '#00f'], [1, 1, '#fff']]) {
    drawing.fillStyle = fill;
    drawing.fillRect(x, y, 1, 1);
  }
  return canvas;
};
globalThis.image = (src, fields = {}) => Object.assign(new Image(), fields, { src });
globalThis.told = async (call) => {
  try {
    return ['nothing', await call()];
  } catch ({ name, message }) {
    return [name, message];
  }
};
if (globalThis.document === undefined) postMessage(tf.browser.fromPixels(painted(new OffscreenCanvas(2, 2))).array());
`;

describe.skipIf(browserPath === undefined)('tf.browser', () => {
  let open: TestPage;
  /** Has the pictures too, and is another origin. */
  let other: string;
  beforeAll(async () => {
    open = await openPage(program, {
      routes: {
        '/picture.svg': (request, response) => {
          const cors = request.url?.includes('cors') ? { 'access-control-allow-origin': '*' } : {};
          response.writeHead(200, { 'content-type': 'image/svg+xml', ...cors });
          response.end(svg);
        },
      },
    });
    other = open.address.replace('127.0.0.1', 'localhost');
  });
  afterAll(async () => {
    await open?.close();
    expect(open?.problems).toEqual([]);
  });

  const sources: Readonly<Record<string, string>> = {
    'a canvas': "painted(document.createElement('canvas'))",
    'an OffscreenCanvas': 'painted(new OffscreenCanvas(2, 2))',
    ImageData: "painted(new OffscreenCanvas(2, 2)).getContext('2d').getImageData(0, 0, 2, 2)",
    'an ImageBitmap': 'await createImageBitmap(painted(new OffscreenCanvas(2, 2)))',
    'a VideoFrame': 'new VideoFrame(painted(new OffscreenCanvas(2, 2)), { timestamp: 0 })',
    'an image': "await (async () => { const i = image('/picture.svg'); await i.decode(); return i; })()",
    'a plain object':
      "(({ data, width, height }) => ({ data, width, height }))(painted(new OffscreenCanvas(2, 2)).getContext('2d').getImageData(0, 0, 2, 2))",
    'a canvas of another frame': `await (async () => {
      const frame = document.createElement('iframe');
      document.body.append(frame);
      return painted(frame.contentDocument.createElement('canvas'));
    })()`,
  };
  test.each(Object.entries(sources))('reads %s', async (_, source) => {
    const read = await open.run<unknown>(`
      const source = ${source};
      const x = tf.browser.fromPixels(source);
      const later = await tf.browser.fromPixelsAsync(source, 4);
      return [x.dtype, x.array(), later.shape, tf.browser.fromPixels(source, 1).array(), x.backend.name];`);
    const red = [
      [[255], [0]],
      [[0], [255]],
    ];
    expect(read).toEqual(['int32', colours, [2, 2, 4], red, hasWasmModule ? 'wasm' : 'js']);
  });

  test('a canvas without a context still has none, and one with WebGL is read', async () => {
    const read = await open.run<unknown>(`
      const empty = document.createElement('canvas');
      [empty.width, empty.height] = [3, 2];
      const x = tf.browser.fromPixels(empty, 4);
      const gl = empty.getContext('webgl', { preserveDrawingBuffer: true });
      if (gl === null) return [x.shape, x.max().item(), 'no WebGL'];
      gl.clearColor(0, 1, 0, 1);
      gl.clear(gl.COLOR_BUFFER_BIT);
      return [x.shape, x.max().item(), tf.browser.fromPixels(empty).at(1, 2).array().join()];`);
    expect(read).toEqual([[2, 3, 4], 0, expect.stringMatching(/^(0,255,0|no WebGL)$/)]);
  });

  test('reads a video, once it has a picture', async () => {
    const [early, shape] = await open.run<[unknown, number[]]>(`
      const video = Object.assign(document.createElement('video'), { muted: true });
      const canvas = painted(document.createElement('canvas'));
      [canvas.width, canvas.height] = [64, 32];
      const drawing = canvas.getContext('2d');
      drawing.fillStyle = '#f00';
      video.srcObject = canvas.captureStream();
      const early = await told(() => tf.browser.fromPixels(video));
      const timer = setInterval(() => drawing.fillRect(0, 0, 64, 32), 20);
      await video.play();
      // The first pictures may be older than the colour.
      for (;;) {
        await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
        const x = tf.browser.fromPixels(video);
        const [red, green, blue] = x.at(16, 32).array();
        // A video has coarser colours.
        if (red < 240 || green > 15 || blue > 15) continue;
        clearInterval(timer);
        return [early, x.shape];
      }`);
    expect(early).toEqual(['FailedPreconditionError', expect.stringContaining("its event 'loadeddata'")]);
    expect(shape).toEqual([32, 64, 3]);
  });

  test('says what is in the way', async () => {
    const read = await open.run<unknown>(`
      const closed = await createImageBitmap(painted(new OffscreenCanvas(2, 2)));
      closed.close();
      const [tainted, allowed] = [image('${other}/picture.svg'), image('${other}/picture.svg?cors', { crossOrigin: 'anonymous' })];
      await Promise.all([tainted.decode(), allowed.decode()]);
      const spoilt = document.createElement('canvas');
      spoilt.getContext('2d').drawImage(tainted, 0, 0);
      const webgl = document.createElement('canvas');
      webgl.getContext('webgl');
      return {
        closed: await told(() => tf.browser.fromPixels(closed)),
        tainted: await told(() => tf.browser.fromPixels(tainted)),
        spoilt: await told(() => tf.browser.fromPixels(spoilt)),
        allowed: await told(() => tf.browser.fromPixels(allowed).shape),
        missing: await told(() => tf.browser.fromPixelsAsync(image('/nothing.png'))),
        early: await told(() => tf.browser.fromPixels(image('/picture.svg?late'))),
        waited: await told(async () => (await tf.browser.fromPixelsAsync(image('/picture.svg?later'))).shape),
        empty: await told(() => tf.browser.fromPixels(new OffscreenCanvas(0, 4))),
        element: await told(() => tf.browser.fromPixels(document.body)),
      };`);
    expect(read).toEqual({
      closed: ['InvalidArgumentError', expect.stringContaining('bitmap, which may be closed')],
      tainted: ['PermissionDeniedError', expect.stringContaining('another origin')],
      spoilt: ['PermissionDeniedError', expect.stringContaining('another origin')],
      allowed: ['nothing', [2, 2, 3]],
      missing: ['FailedPreconditionError', expect.stringContaining('could not be loaded')],
      early: ['FailedPreconditionError', expect.stringContaining('await image.decode()')],
      waited: ['nothing', [2, 2, 3]],
      empty: ['InvalidArgumentError', expect.stringContaining('0 × 4')],
      element: ['InvalidArgumentError', expect.stringContaining('got an object of class HTMLBodyElement')],
    });
  });

  test('draws what it reads', async () => {
    const read = await open.run<unknown>(`
      const source = painted(new OffscreenCanvas(2, 2));
      const x = tf.browser.fromPixels(source);
      const canvas = document.createElement('canvas');
      const bytes = await tf.browser.toPixels(x.cast('float32').div(255), canvas);
      const half = new OffscreenCanvas(9, 9);
      await tf.browser.draw(tf.ones([3, 2, 1]), half, { imageOptions: { alpha: 0.5 }, canvasOptions: { contextAttributes: { willReadFrequently: true } } });
      const webgl = document.createElement('canvas');
      const isThere = webgl.getContext('webgl') !== null;
      return [
        bytes.length,
        [canvas.width, canvas.height],
        tf.browser.fromPixels(canvas).array(),
        [half.width, half.height, ...half.getContext('2d').getImageData(1, 2, 1, 1).data],
        isThere ? await told(() => tf.browser.draw(x, webgl)) : ['InvalidArgumentError', 'the canvas has a context of another kind'],
      ];`);
    expect(read).toEqual([
      16,
      [2, 2],
      colours,
      [2, 3, 255, 255, 255, 128],
      ['InvalidArgumentError', expect.stringContaining('the canvas has a context of another kind')],
    ]);
  });

  test('works in a worker', async () => {
    const read = await open.run<unknown>(`
      const worker = new Worker('/page.js', { type: 'module' });
      return new Promise((resolve) => {
        worker.onmessage = ({ data }) => resolve(data);
        worker.onerror = ({ message }) => resolve(message);
      });`);
    expect(read).toEqual(colours);
  });
});
