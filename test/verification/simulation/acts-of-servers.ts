import { type Act, act, type Lasting } from './act.ts';
import type { Simulation } from './simulation.ts';
import type { Mishap, RequestKind } from './trouble.ts';
import type { WatchStream } from './watch-stream.ts';

// What the API server refuses, what befalls requests and watches on their way to it, and Kubernetes' own controllers.

type Refusals = Simulation['server']['refusals'];

/** Forbids something for a while; the StatefulSet controller retries afterwards. */
const refused = <More>(
  sentence: string,
  forbid: (refusals: Refusals, what: More) => void,
  allow: (refusals: Refusals) => void,
): Act<Lasting & More> =>
  act(sentence, ({ server, clock, controllers }, what, strikes) => {
    strikes(true);
    forbid(server.refusals, what);
    clock.after(what.forMilliseconds, () => {
      allow(server.refusals);
      controllers.checkAll();
    });
  });

interface Mishaps extends Lasting {
  readonly mishap: Mishap;
  readonly requests: RequestKind;
  readonly probability: number;
  readonly process: number | null;
  /** What becomes of the open watches when it begins. */
  readonly watches: 'stay' | 'break' | 'expire';
}

/** `null` for those of every kind. */
interface OfWatches {
  readonly plural: string | null;
}
interface OfWatchesOfProcess extends OfWatches {
  readonly process: number | null;
}

const longestConfirmationMilliseconds = 2_000;
const longMilliseconds = 10_000;

function noteSlowConfirmations({ clock, strikes, situations }: Simulation, { mishap, forMilliseconds }: Mishaps): void {
  const slow = mishap.kind === 'slow' ? mishap.thereMilliseconds + mishap.backMilliseconds : 0;
  if (slow < longestConfirmationMilliseconds || forMilliseconds < longMilliseconds) return;
  const before = strikes['slow get'] ?? 0;
  clock.after(forMilliseconds, () => {
    if ((strikes['slow get'] ?? 0) > before) situations.find('confirmationTooSlow');
  });
}

/** The API server has compacted its history. */
function forget({ network, server }: Simulation): void {
  network.oldestRevision = server.store.revision;
  server.lists.expire();
}

function eachOf(
  watches: readonly WatchStream[],
  does: (watch: WatchStream) => void,
  strikes: (struck: boolean) => void,
): void {
  strikes(watches.length > 0);
  for (const watch of watches) does(watch);
}

const onTheWay = { blinds: true, isUneventful: true } as const;

export const actsOfServers = {
  /** By missing rights, or by a policy. */
  refuseEvictions: refused<{ readonly code: 403 | 422 }>(
    'evictions are refused, by RBAC or by a policy',
    (refusals, { code }) => {
      refusals.evictions = code;
    },
    (refusals) => {
      refusals.evictions = null;
    },
  ),
  refusePods: refused<unknown>(
    'no pod can be made, as where a quota is used up',
    (refusals) => {
      refusals.pods = 403;
    },
    (refusals) => {
      refusals.pods = null;
    },
  ),
  mishaps: act<Mishaps>(
    'requests meet with trouble on their way',
    (simulation, what) => {
      const { clock, network } = simulation;
      const { mishap, requests, probability, process, watches, forMilliseconds } = what;
      const untilMilliseconds = clock.nowMilliseconds + forMilliseconds;
      network.add({ mishap, requests, probability, process, untilMilliseconds });
      if (requests === 'confirm' && mishap.kind === 'slow') noteSlowConfirmations(simulation, what);
      if (watches === 'expire') forget(simulation);
      if (watches !== 'stay') for (const watch of network.watches(process, null)) watch.break();
    },
    { ...onTheWay, impedes: true },
  ),
  watchLag: act<Lasting & { readonly plural: string; readonly milliseconds: number }>(
    'the watches of a kind are late',
    ({ network, clock }, { plural, milliseconds, forMilliseconds }, strikes) => {
      strikes(network.watches(null, plural).length > 0);
      network.lagOf.set(plural, milliseconds);
      clock.after(forMilliseconds, () => void network.lagOf.delete(plural));
    },
    { ...onTheWay, impedes: true },
  ),
  watchStalls: act<OfWatchesOfProcess & Lasting>(
    'watches say nothing for a while',
    ({ network }, { process, plural, forMilliseconds }, strikes) =>
      eachOf(network.watches(process, plural), (watch) => watch.stall(forMilliseconds), strikes),
    { ...onTheWay, impedes: true },
  ),
  watchBreaks: act<OfWatchesOfProcess>(
    'watches break off; what was on its way is lost',
    ({ network }, { process, plural }, strikes) =>
      eachOf(network.watches(process, plural), (watch) => watch.break(), strikes),
    onTheWay,
  ),
  watchExpires: act<OfWatches>(
    'watches are answered with 410, and older revisions and pages can not be had any more',
    (simulation, { plural }, strikes) => {
      forget(simulation);
      eachOf(simulation.network.watches(null, plural), (watch) => watch.expire(), strikes);
    },
    onTheWay,
  ),
  watchForgets: act<OfWatches & Lasting>(
    'watches never tell what was in between: states are missed',
    (simulation, { plural, forMilliseconds }, strikes) => {
      simulation.clock.after(forMilliseconds, () => forget(simulation));
      for (const watch of simulation.network.watches(null, plural)) {
        watch.forget(forMilliseconds, (lines) => strikes(lines > 0));
      }
    },
    { ...onTheWay, impedes: true },
  ),
  watchRepeats: act<{ readonly plural: string; readonly lines: number }>(
    'watches repeat events',
    ({ network }, { plural, lines }, strikes) => {
      for (const watch of network.watches(null, plural)) strikes(watch.repeat(lines));
    },
    onTheWay,
  ),
  slowControllers: act<Lasting & { readonly milliseconds: number }>(
    "Kubernetes' own controllers are slow",
    ({ controllers, clock }, { milliseconds, forMilliseconds }, strikes) => {
      strikes(true);
      controllers.slowByMilliseconds = milliseconds;
      clock.after(forMilliseconds, () => {
        controllers.slowByMilliseconds = 0;
      });
    },
    onTheWay,
  ),
};
