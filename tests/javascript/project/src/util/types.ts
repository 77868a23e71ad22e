export type Maybe<T> = T | undefined;
