import { z } from 'zod';
import { Kind } from './kind.js';
import { Money } from './money';

export const Raw = z.object({ sku: z.string(), name: z.string(), price: z.number().int(), kind: z.enum(Kind), count: z.number() });
export type Raw = z.infer<typeof Raw>;

export interface Item extends Omit<Raw, 'price'> {
  price: Money;
}

export function toItem(raw: unknown): Item {
  const { price, ...rest } = Raw.parse(raw);
  return { ...rest, price: new Money(price) };
}
