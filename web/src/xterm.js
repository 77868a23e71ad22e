// The parts of xterm.js that pages use: the playground, and by a bundle that is kept in
// `runner/http/src/pages` the page of `runner serve`.

export { FitAddon } from '@xterm/addon-fit';
export { Terminal } from '@xterm/xterm';
