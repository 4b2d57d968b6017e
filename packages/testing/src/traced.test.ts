import '@eagre/backend-js';
import '@eagre/backend-native';
import { listBackends } from '@eagre/backend';
import { tracedSuite } from './traced-suite.ts';

for (const { name } of listBackends()) tracedSuite(name);
