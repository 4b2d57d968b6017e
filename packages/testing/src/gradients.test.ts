import '@eagre/backend-js';
import '@eagre/backend-native';
import { differencesSuite } from './gradient-suite.ts';

differencesSuite('native', 1);
