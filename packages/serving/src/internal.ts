/** What Eagre's other packages build on. No promise is made to anyone else: names here change without notice. */
export { createServer } from './functions.ts';
