/** What Eagre's other packages build on. No promise is made to anyone else: names here change without notice. */
export { load, loadGraphDef, save } from './functions.ts';
