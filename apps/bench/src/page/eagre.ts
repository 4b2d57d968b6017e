// Eagre in a page.
import { wasmUnavailable } from '@eagre/backend-wasm';
import * as tf from 'eagre';
import { answer, threadsSet, warmUp } from '../eagre-answers.ts';

const { location } = globalThis as unknown as { readonly location: { readonly search: string } };
const threads = Number(new URLSearchParams(location.search).get('threads'));
await threadsSet(threads);
const notes = warmUp();
if (wasmUnavailable !== undefined) notes.push(wasmUnavailable);
Object.assign(globalThis, { peer: { hello: { ready: true, version: tf.version.VERSION, notes }, answer } });
