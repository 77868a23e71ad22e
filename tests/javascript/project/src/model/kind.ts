export enum Kind {
  Part = 'part',
  Device = 'device',
}

export const enum Level {
  None,
  Low = 1 << 1,
  High = Low << 2,
}
