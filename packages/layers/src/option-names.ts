export { checkOptionNames, type OptionNames } from '@eagre/core/internal';
