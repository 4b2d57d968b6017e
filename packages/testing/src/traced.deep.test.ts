import '@eagre/backend-js';
import { tracedSuite } from './traced-suite.ts';

tracedSuite('js');
