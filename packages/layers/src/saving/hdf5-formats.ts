// By this file alone: a bundler puts all that a package exports, or none of it, into what is loaded late.
export { encodeHdf5, Hdf5GroupBuilder, readFileBytes, readHdf5, readHdf5File } from '@eagre/formats';
