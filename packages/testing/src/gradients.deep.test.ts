import '@eagre/backend-js';
import '@eagre/backend-native';
import './remote.ts';
import { listBackends } from '@eagre/backend';
import { differencesSuite } from './gradient-suite.ts';

for (const { name } of listBackends()) differencesSuite(name, 2);
