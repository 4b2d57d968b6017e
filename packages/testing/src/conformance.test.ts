import '@eagre/backend-js';
import '@eagre/backend-native';
import { floatsSuite } from './conformance-suite.ts';

floatsSuite('native');
