import { Level } from '@model/kind';

export function level(count: number): Level {
  return count > 50 ? Level.High : count > 0 ? Level.Low : Level.None;
}
