// oxlint-disable no-restricted-globals, no-restricted-properties -- the one place where the real ones come in
import type { Exchange, World } from './world.ts';

/** The longest delay that a Node timer takes; more than that fires at once. */
const longestTimerMilliseconds = 2 ** 31 - 1;

/** This process's own clocks and timers, and a real API server behind `exchange`. */
export function realWorld(exchange: Exchange): World {
  return {
    monotonic: () => performance.now(),
    wall: () => Date.now(),
    timer(delayMilliseconds, callback) {
      const timeout = setTimeout(callback, Math.min(Math.max(0, delayMilliseconds), longestTimerMilliseconds));
      return () => clearTimeout(timeout);
    },
    random: () => Math.random(),
    exchange,
  };
}
