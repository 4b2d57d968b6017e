/** The passes that make plans fast before a backend runs them, and plans as text. No promise is made to anyone but Eagre's own packages. */
export { optimizePlan } from './optimize.ts';
export { planToString } from './text.ts';
