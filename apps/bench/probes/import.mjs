// How long `import 'eagre'` takes in a process that has done nothing else.
const start = performance.now();
await import('eagre');
console.log(JSON.stringify({ value: (performance.now() - start) / 1000 }));
