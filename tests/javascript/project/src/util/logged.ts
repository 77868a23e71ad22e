export const calls: string[] = [];

export function logged(tag: string) {
  return (target: object, key: string, descriptor: PropertyDescriptor): void => {
    const inner = descriptor.value as (...args: unknown[]) => unknown;
    descriptor.value = function (this: unknown, ...args: unknown[]) {
      calls.push(`${tag}:${target.constructor.name}.${key}(${args.join()})`);
      return inner.apply(this, args);
    };
  };
}
