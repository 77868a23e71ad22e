//# components of a pattern
const show = (pattern) => console.log(['protocol', 'username', 'password', 'hostname', 'port', 'pathname', 'search', 'hash', 'hasRegExpGroups'].map((name) => pattern[name]).join(' '));
for (const text of ['https://example.com/:id(\\d+)?q=*#x', 'http{s}?://{*.}?example.com/:product/:endpoint', 'http://[::1]:8080/', 'data:text*', 'https://user\\:pw@h.example:443/a/b', 'file:///a/*', 'https://café.example/ü?ü#ü']) try { show(new URLPattern(text)); } catch (error) { console.log(text, error.code); }
for (const init of [{}, { pathname: '/a/:b?' }, { pathname: 'b', baseURL: 'https://h/a/x?y' }, { hostname: '*.example.com', port: '80', protocol: 'http' }, { search: '?a=:b', hash: '#c' }, { pathname: '/{a}{b}?{c}*' }, { pathname: '{:foo}bar' }, { hostname: '[\\:\\:AB\\::num]' }, new URL('http://a/b')]) show(new URLPattern(init));
show(new URLPattern('/books/:id', 'https://example.com'));
//# matches
const show = (found) => console.log(found === null ? null : Object.fromEntries(Object.entries(found).map(([name, one]) => [name, Object.entries(one.groups ?? one).sort()])));
show(new URLPattern({ pathname: '/books/:id(\\d+)/:rest*' }).exec('https://example.com/books/12/a/b'));
show(new URLPattern({ pathname: '/books/:id(\\d+)/:rest*' }).exec('https://example.com/books/x'));
show(new URLPattern({ pathname: '/:a/*' }).exec({ pathname: '/b/c', baseURL: 'http://h/z' }));
show(new URLPattern('https://*.example.com/*').exec('/p', 'https://x.example.com/q'));
show(new URLPattern({ pathname: '/A' }, { ignoreCase: true }).exec('http://h/a'));
console.log(new URLPattern({ pathname: '/a-b\\:\\:c/d' }).test('http://h/a-b::c/d'), new URLPattern().test(), new URLPattern({ port: '80' }).test({ port: '80x' }));
//# errors and properties
const attempt = (run) => { try { console.log(run()); } catch (error) { console.log(error.name, error.code, error.message); } };
attempt(() => new URLPattern('x')); attempt(() => new URLPattern('(', 'https://a')); attempt(() => new URLPattern(1)); attempt(() => new URLPattern({}, 'http://a')); attempt(() => new URLPattern({}, 1)); attempt(() => new URLPattern('/x', 'http://a', 1)); attempt(() => URLPattern()); attempt(() => new URLPattern({ baseURL: 'zz' }));
attempt(() => new URLPattern({ hostname: '(é)' })); attempt(() => new URLPattern({ pathname: ':a/:a' })); attempt(() => new URLPattern({ pathname: '([a-z)' })); attempt(() => new URLPattern({ pathname: '(?=x)' })); attempt(() => new URLPattern({ pathname: '/[' }).pathname);
const pattern = new URLPattern({ pathname: '/a' });
attempt(() => pattern.test(1)); attempt(() => pattern.test({}, 'http://a')); attempt(() => pattern.exec('/a', 1)); attempt(() => pattern.exec('x')); attempt(() => pattern.test.call({})); attempt(() => structuredClone(pattern));
console.log(pattern, require('url').URLPattern === URLPattern, URLPattern.length, Object.keys(URLPattern.prototype), Object.getOwnPropertyDescriptor(globalThis, 'URLPattern'));
class Own extends URLPattern {}
console.log(new Own('http://a') instanceof URLPattern, new Own('http://a/b').pathname);
