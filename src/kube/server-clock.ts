import { milliseconds } from '../base/json.ts';
import type { Log, World } from '../base/world.ts';

/** The header `Date` of an answer has whole seconds. */
const cutMilliseconds = 1000;
/** A smaller difference is ignored: clocks that NTP keeps differ by less, and an answer takes a while. */
const toleratedMilliseconds = 3000;

/**
 * A world like the given one, but on the API server's clock, as far as responses show it (header `Date`): the API
 * server has set most timestamps of objects. Timestamps that are written and ages of others' timestamps then agree,
 * even across processes and whatever the clock of this machine shows. The monotonic clock stays as it is.
 */
export function onServerClock(world: World, log: Pick<Log, 'warn'>): World {
  let aheadMilliseconds = 0;
  const compare = (date: string | undefined, sentMilliseconds: number): void => {
    const server = milliseconds(date ?? null);
    if (server === null) return;
    // The answer was written after the request was sent and before it arrived.
    const atLeast = server - world.wall();
    const atMost = server + cutMilliseconds - sentMilliseconds;
    const agrees =
      atLeast - toleratedMilliseconds <= aheadMilliseconds && aheadMilliseconds <= atMost + toleratedMilliseconds;
    if (agrees) return;
    const middle = (atLeast + atMost) / 2;
    aheadMilliseconds = Math.abs(middle) <= toleratedMilliseconds ? 0 : middle;
    log.warn(
      { aheadSeconds: Math.round(aheadMilliseconds / 1000) },
      aheadMilliseconds === 0
        ? "Local clock agrees with the API server's again"
        : "Local clock differs from the API server's; using the API server's",
    );
  };
  return {
    monotonic: () => world.monotonic(),
    timer: (delayMilliseconds, callback) => world.timer(delayMilliseconds, callback),
    random: () => world.random(),
    wall: () => world.wall() + aheadMilliseconds,
    exchange: async (request) => {
      const sentMilliseconds = world.wall();
      const response = await world.exchange(request);
      compare(response.headers['date'], sentMilliseconds);
      return response;
    },
  };
}
