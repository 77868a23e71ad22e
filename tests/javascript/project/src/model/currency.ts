export type Currency = 'EUR' | 'USD';
