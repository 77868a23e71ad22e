export { logged } from './logged';
export * from './text';
export type { Maybe } from './types';
