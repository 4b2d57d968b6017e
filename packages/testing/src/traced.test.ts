import '@eagre/backend-js';
import '@eagre/backend-native';
import { tracedSuite } from './traced-suite.ts';

tracedSuite('native');
