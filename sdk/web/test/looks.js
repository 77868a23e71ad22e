// Commands whose output shows that a session is the same natively and in a page.

/** Shows the state of the shell and of files. */
export const LOOK = 'f x; echo ${m[k]} ${m[new]} "$n"; pwd; cd ~/d; stat -c "%n %a %s %F" *; cat link | wc -c; cd - > /dev/null';
/**
 * These show the state of the interpreters: objects that refer to each other, generators, an open
 * file at its offset, seeds.
 */
export const LOOK_PYTHON = '[x, x[1] is x[2], next(count), df.a.sum().item(), file.readline(), hash("a") == seen, random.random() == later]';
export const LOOK_JAVASCRIPT = '[a.length, [...m.keys()].join(), next.next().value, a[0]()]';
