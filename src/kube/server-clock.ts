import { milliseconds } from '../base/json.ts';
import type { Log, World } from '../base/world.ts';

/** The `Date` header has a resolution of whole seconds. */
const cutMilliseconds = 1000;
/**
 * A smaller difference is ignored, because clocks that are synchronized by NTP differ by less, and a response takes
 * some time.
 */
const toleratedMilliseconds = 3000;

/**
 * A world like the given one, but its wall clock follows the API server's clock (header `Date` of responses). The API
 * server sets most timestamps of objects. So the timestamps that this program writes agree with the timestamps that it
 * reads, in every process and whatever the local clock shows. The monotonic clock is unchanged.
 */
export function onServerClock(world: World, log: Pick<Log, 'warn'>): World {
  let aheadMilliseconds = 0;
  const compare = (date: string | undefined, sentMilliseconds: number): void => {
    const server = milliseconds(date ?? null);
    if (server === null) return;
    // The server wrote the answer after the request was sent and before the answer arrived.
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
