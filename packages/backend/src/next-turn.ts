/** Lets the event loop have its turn. A timer would sleep for some milliseconds in browsers. */
export const nextTurn: () => Promise<void> =
  typeof setImmediate === 'function'
    ? () =>
        new Promise((resolve) => {
          setImmediate(resolve);
        })
    : () =>
        new Promise((resolve) => {
          const { port1, port2 } = new MessageChannel();
          port1.addEventListener('message', () => {
            port1.close();
            resolve();
          });
          port1.start();
          port2.postMessage(null);
        });
