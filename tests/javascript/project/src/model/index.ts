export * from './item';
export * from './kind';
export { Money as default } from './money';
export * as money from './money';
