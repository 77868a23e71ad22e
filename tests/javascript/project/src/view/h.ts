export type Child = string | number | Child[];
export const Fragment = 'fragment';
export function h(tag: string | ((p: any) => string), props: Record<string, unknown> | null, ...children: Child[]): string {
  if (typeof tag === 'function') return tag({ ...props, children });
  const text = children.flat(9).join('');
  if (tag === Fragment) return text;
  const attributes = Object.entries(props ?? {}).map(([k, v]) => ` ${k}="${v}"`).join('');
  return `<${tag}${attributes}>${text}</${tag}>`;
}
