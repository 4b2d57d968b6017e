// Gives the page of digits its images: of the test set of MNIST, which is looked for as `tf.keras.datasets.mnist` does.
import type { Plugin } from 'vite';

/** The bytes of the files that the page fetches. */
async function files(): Promise<Readonly<Record<string, Uint8Array>>> {
  const { keras } = await import('eagre');
  const [images, labels] = await keras.datasets.mnist.loadTest();
  return { 'mnist/images': images.data, 'mnist/labels': labels.data };
}

export function mnist(): Plugin {
  let known: ReturnType<typeof files> | undefined;
  return {
    name: 'mnist',
    configureServer(server) {
      server.middlewares.use(async (request, response, next) => {
        const name = request.url?.slice(1).replace(/\?.*/, '') ?? '';
        if (!/^mnist\/(images|labels)$/.test(name)) {
          next();
          return;
        }
        try {
          response.end((await (known ??= files()))[name]);
        } catch (error) {
          known = undefined;
          response.writeHead(503, { 'content-type': 'text/plain' }).end((error as Error).message);
        }
      });
    },
    async generateBundle() {
      try {
        for (const [fileName, source] of Object.entries(await files()))
          this.emitFile({ type: 'asset', fileName, source });
      } catch (error) {
        this.warn(`the page of digits has no images: ${(error as Error).message}`);
      }
    },
  };
}
