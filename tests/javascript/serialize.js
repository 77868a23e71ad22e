// Tests v8.serialize: V8's format, byte by byte.
//# values
const v8=require('v8');
const vals=[1,-1,0,-0,2**31,1.5,NaN,true,null,undefined,'abc','é','日本',123456789012345678901234567890n,-5n,0n,{a:1,b:{c:[1,2,3]},5:'x'},[1,,3],[],new Date(5),new Map([[1,{}],['a',2]]),new Set([1,'x']),/a+b/gi,new Error('boo'),new TypeError('t',{cause:5}),Buffer.from('hello'),new Uint16Array([1,2,3]),new Float64Array(2),Object('s'),Object(5),Object(true),new ArrayBuffer(5),Object.assign([1,2],{x:3}),{s:'x',long:'a'.repeat(300),two:'日'.repeat(200)}];
const o={self:null}; o.self=o; vals.push(o);
for (const v of vals) { const b=v8.serialize(v); if(!(v instanceof Error)) console.log(b.toString('hex')); console.log(v instanceof Error ? String(v8.deserialize(b)) : v8.deserialize(b)); }
for (const v of [()=>{},Symbol('x'),Promise.resolve(),new WeakMap(), new Proxy({},{})]) try { v8.serialize(v); console.log('?') } catch(e) { console.log(e.name,e.message) }
for (const b of ['', 'ff0f', 'ff10', 'ff0f5e05', 'ff0f41ffffff7f', '00ff0f']) try { console.log(v8.deserialize(Buffer.from(b,'hex'))) } catch(e) { console.log(b,e.name,e.message) }
