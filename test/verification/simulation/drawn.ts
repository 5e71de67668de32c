import type { Chance } from './chance.ts';
import type { ActKind, Happening, Together, WhatOf } from './happening.ts';

/** Draws something for a cluster of so many members. */
export type Draw<T = Happening> = (chance: Chance, replicas: number) => T;

type Fields<What> = What extends unknown ? { readonly [Name in keyof What]: What[Name] | Draw<What[Name]> } : never;

const valueOf = (field: unknown, chance: Chance, replicas: number): unknown =>
  typeof field === 'function' ? (field as Draw<unknown>)(chance, replicas) : field;

/** An act whose parameters are given, or drawn in the order in which they stand. */
export function drawn<Kind extends ActKind>(kind: Kind, fields: Fields<WhatOf<Kind>>): Draw {
  return (chance, replicas) => {
    const values = Object.entries(fields).map(([name, field]) => [name, valueOf(field, chance, replicas)]);
    return { kind, ...Object.fromEntries(values) } as Happening;
  };
}

/** Each so many milliseconds after the beginning. */
export const together =
  (...parts: readonly (readonly [afterMilliseconds: number | Draw<number>, what: Draw])[]): Draw<Together> =>
  (chance, replicas) => ({
    kind: 'together',
    all: parts.map(([after, what]) => ({
      afterMilliseconds: typeof after === 'function' ? after(chance, replicas) : after,
      what: what(chance, replicas),
    })),
  });

const moments = ['before', 'onItsWay', 'after'] as const;

/** It happens where one of two processes writes. */
export const whenWriting =
  (drawnFirst: Draw, to: 'pod' | 'any' | Draw<'pod' | 'any'> = 'any'): Draw =>
  (chance, replicas) => {
    const what = drawnFirst(chance, replicas);
    const target = typeof to === 'function' ? to(chance, replicas) : to;
    const when = chance.pick(moments);
    const writes = chance.whole(1, target === 'pod' ? 3 : 6);
    return { kind: 'atWrite', process: chance.whole(0, 1), writes, to: target, when, what };
  };

export const seconds =
  (from: number, to: number): Draw<number> =>
  (chance) =>
    chance.span(from, to);
export const whole =
  (from: number, to: number): Draw<number> =>
  (chance) =>
    chance.whole(from, to);
export const likely =
  (probability: number): Draw<boolean> =>
  (chance) =>
    chance.happens(probability);
export const oneOf =
  <const T>(...all: readonly T[]): Draw<T> =>
  (chance) =>
    chance.pick(all);
/** `null` else. */
export const perhaps =
  <const T>(probability: number, value: T | Draw<T>): Draw<T | null> =>
  (chance, replicas) =>
    chance.happens(probability) ? (valueOf(value, chance, replicas) as T) : null;
export const anyMember: Draw<number> = (chance, replicas) => chance.whole(0, replicas - 1);
export const highestMember: Draw<number> = (_, replicas) => replicas - 1;
