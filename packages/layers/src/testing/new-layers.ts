// For test files that share a process: layers are named from the beginning in each.
import { clearSession } from '@eagre/layers';

clearSession();
