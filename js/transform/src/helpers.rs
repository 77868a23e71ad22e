//! Helper functions that transformed code calls. A text or a bundle declares those that it uses
//! once, at its start.
//!
//! Their behaviour is specified by TypeScript's `tslib` (decorators), by ECMA-262's draft of
//! explicit resource management (`using`), and by the order of evaluation of class fields (the
//! rest).

/// The object that has the helpers, as the transformer writes it before a helper's name.
const OBJECT: &str = "babelHelpers.";

/// The name of each helper and its code, an expression that uses no other helper.
const HELPERS: &[(&str, &str)] = &[
    (
        "toPropertyKey",
        "(v)=>typeof v==='symbol'?v:typeof v==='object'||typeof v==='function'?Reflect.ownKeys({[v]:0})[0]:String(v)",
    ),
    (
        "defineProperty",
        "(o,k,v)=>Object.defineProperty(o,k,{value:v,enumerable:true,configurable:true,writable:true})&&o",
    ),
    (
        "classPrivateFieldLooseKey",
        "(n)=>'__private_'+(globalThis[Symbol.for('private')]=(globalThis[Symbol.for('private')]??0)+1)+'_'+n",
    ),
    (
        "classPrivateFieldLooseBase",
        "(o,k)=>{if(!Object.prototype.hasOwnProperty.call(o,k))throw new TypeError('attempted to use private field on non-instance');return o}",
    ),
    (
        "checkInRHS",
        "(v)=>{if(Object(v)!==v)throw new TypeError(\"right-hand side of 'in' should be an object, got \"+(v===null?'null':typeof v));return v}",
    ),
    (
        "assertClassBrand",
        "function(b,r,v){if(typeof b==='function'?b===r:b.has(r))return arguments.length<3?r:v;throw new TypeError('Private element is not present on this object')}",
    ),
    ("readOnlyError", "(n)=>{throw new TypeError('\"'+n+'\" is read-only')}"),
    ("writeOnlyError", "(n)=>{throw new TypeError('\"'+n+'\" is write-only')}"),
    (
        "superPropGet",
        "(c,k,r,f)=>{const v=Reflect.get(Object.getPrototypeOf(f&1?c.prototype:c),k,r);return f&2&&typeof v==='function'?(a)=>v.apply(r,a):v}",
    ),
    (
        "superPropSet",
        "(c,k,v,r,s,f)=>{if(!Reflect.set(Object.getPrototypeOf(f?c.prototype:c),k,v,r)&&s)throw new TypeError('failed to set property');return v}",
    ),
    (
        "toSetter",
        "(f,a,n)=>{a||(a=[]);const l=a.length++;return Object.defineProperty({},'_',{set(v){a[l]=v;f.apply(n,a)}})}",
    ),
    ("objectDestructuringEmpty", "(o)=>{if(o==null)throw new TypeError('Cannot destructure '+o)}"),
    (
        "decorate",
        "function(d,t,k,c){const n=arguments.length,f=n<3;let r=f?t:c===null?c=Object.getOwnPropertyDescriptor(t,k):c;\
        if(typeof Reflect.decorate==='function')r=Reflect.decorate(d,t,k,c);\
        else for(let i=d.length-1;i>=0;i--)if(d[i])r=(f?d[i](r):n>3?d[i](t,k,r):d[i](t,k))||r;\
        return n>3&&r&&Object.defineProperty(t,k,r),r}",
    ),
    ("decorateParam", "(i,d)=>(t,k)=>d(t,k,i)"),
    (
        "decorateMetadata",
        "(k,v)=>typeof Reflect.metadata==='function'?Reflect.metadata(k,v):undefined",
    ),
    (
        "usingCtx",
        "()=>{const none={},stack=[];const how=(n)=>Symbol[n]??Symbol.for('Symbol.'+n);\
        const use=(wait,v)=>{if(v!=null){if(Object(v)!==v)throw new TypeError('using declarations can only be used with objects, functions, null, or undefined.');\
        let m,sync=false;if(wait)m=v[how('asyncDispose')];if(m===undefined){m=v[how('dispose')];sync=wait}\
        if(typeof m!=='function')throw new TypeError('Object is not disposable.');\
        stack.push({wait,d:sync?()=>{try{m.call(v)}catch(e){return Promise.reject(e)}}:()=>m.call(v)})}\
        else if(wait)stack.push({wait});return v};\
        return{e:none,u:(v)=>use(false,v),a:(v)=>use(true,v),d(){let error=this.e;let waited=false;\
        const next=()=>{for(let r;r=stack.pop();){try{if(!r.wait&&waited){waited=false;stack.push(r);return Promise.resolve().then(next)}\
        const v=r.d?.();if(r.wait){waited=true;return Promise.resolve(v).then(next,fail)}}catch(e){return fail(e)}}\
        if(error!==none)throw error};\
        const fail=(e)=>{if(error!==none){const s=new Error('An error was suppressed during disposal');s.name='SuppressedError';s.error=e;s.suppressed=error;\
        error=globalThis.SuppressedError?new SuppressedError(e,error):s}else error=e;return next()};return next()}}}",
    ),
];

/// Returns the declaration of an object with the helpers that `code` calls, or `None` if it calls
/// none.
pub fn helpers_object(code: &str) -> Option<String> {
    let used = |name: &str| code.contains(&format!("{OBJECT}{name}("));
    let texts: Vec<String> = HELPERS
        .iter()
        .filter(|(name, _)| used(name))
        .map(|(name, text)| format!("{name}:{}", text.replace("\n", "")))
        .collect();
    (!texts.is_empty()).then(|| format!("const babelHelpers={{{}}};", texts.join(",")))
}
