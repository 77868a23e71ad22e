// Finds where an error was created, for the messages of `assert`: the line of source, and the
// column of the called name.
//
// The engine reports the position of a call's last argument, but V8 reports that of the called
// name. The name is found by the parentheses that are open at the argument.
(function (native, host) {
'use strict';

// The maximum number of lines of a call, up to the line that the engine reports.
const MOST_LINES = 20;

const acorn = () => host.require('internal/deps/acorn/acorn/dist/acorn');

function linesOf(file) {
  if (file.startsWith('<cell ')) return host.cellLines(file);
  try {
    return host.readText(file.startsWith('file:') ? host.require('internal/url').fileURLToPath(file) : file).split('\n');
  } catch {
    return undefined;
  }
}

// Returns the columns at which the names of two calls in a line begin: the innermost call whose
// parenthesis is open at `column`, and the one that was closed last.
function calls(line, column) {
  const open = [];
  let closed;
  let before;
  try {
    for (const token of acorn().tokenizer(line, { ecmaVersion: 'latest' })) {
      const { label } = token.type;
      if (token.start > column) {
        // If a method is called without computed arguments, the engine reports the position of the
        // method's name, so its parenthesis is still to come.
        if (open.some((start) => start !== undefined) || !(label === '(' || label === '.' || label === '?.' || label === 'name')) break;
        if (label === '(') {
          open.push(before);
          break;
        }
      }
      if (label === '(') open.push(before);
      else if (label === ')') closed = open.pop() ?? closed;
      // After an operator or a keyword, a parenthesis is not a call.
      before = ['name', ')', ']'].includes(label) ? token.start : undefined;
    }
  } catch {
    // The line has only a part of a string or of a comment.
  }
  return { open: open.findLast((start) => start !== undefined), closed };
}

function positions(error) {
  const found = /\n {4}at (?:.*\()?(.+?):(\d+):(\d+)\)?(?:\n|$)/.exec(String(error.stack));
  const lines = found === null ? undefined : linesOf(found[1]);
  if (lines === undefined) return undefined;
  const { 1: scriptResourceName, 2: number } = found;
  const column = Number(found[3]) - 1;
  for (let at = Number(number); at > 0 && at > number - MOST_LINES; at--) {
    const sourceLine = lines[at - 1] ?? '';
    const { open, closed } = calls(sourceLine, at === Number(number) ? column : Infinity);
    const startColumn = open ?? (at === Number(number) ? closed : undefined);
    if (startColumn !== undefined) return { sourceLine, scriptResourceName, lineNumber: at, startColumn };
  }
  return undefined;
}

// Returns the place; all fields are empty if the source is not known, and Node's library then reads
// an empty line.
host.errorPositions = (error) => positions(error) ?? { sourceLine: '', scriptResourceName: '', lineNumber: 0, startColumn: 0 };
})
