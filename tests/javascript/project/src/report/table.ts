import { Text } from '@util';
import type { Item } from '../model/item';

export const row = ({ name, price }: Item): string => `${Text.pad(name)}${price}`;
export default function table(items: Iterable<Item>): string {
  return Array.from(items, row).join('\n');
}
