import { h, Fragment } from './h';
import type { Item } from '@model/item';

declare global {
  namespace JSX {
    type Element = string;
    interface IntrinsicElements {
      [tag: string]: any;
    }
  }
}

const Row = ({ item }: { item: Item }) => <li class={item.kind}>{item.name} × {item.count}</li>;

export function List<T extends Item>(props: { items: T[] }) {
  return (
    <>
      <ul>{props.items.map((item) => <Row item={item} />)}</ul>
      <p>{props.items.length} items</p>
    </>
  );
}
