export namespace Text {
  const width = 8;
  export const pad = (s: string, n: number = width): string => s.padEnd(n, '.');
  export namespace Case {
    export function title<T extends string>(s: T): Capitalize<T> {
      return (s.charAt(0).toUpperCase() + s.slice(1)) as Capitalize<T>;
    }
  }
}
