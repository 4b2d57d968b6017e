// Where the addon is, it reads the files of checkpoints and checks all that is read and written.
import { nativeCrc32c, nativeFiles } from '@eagre/backend-native';
import { useCrc32c, useNativeFiles } from '@eagre/formats/internal';

useCrc32c(nativeCrc32c);
useNativeFiles(nativeFiles);
