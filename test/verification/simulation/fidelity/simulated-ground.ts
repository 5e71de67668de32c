import type { ExchangeRequest, World } from '../../../../src/base/world.ts';
import { pods } from '../../../../src/kube/resource.ts';
import { ApiServer } from '../../../support/api-server/api-server.ts';
import { parse, responseOf } from '../../../support/api-server/exchange.ts';
import { ObjectClient } from '../../../support/object-client.ts';
import { Chance } from '../chance.ts';
import { VirtualClock } from '../clock.ts';
import { KubeControllers } from '../kube-controllers.ts';
import type { Ground, PodVersion, SeenPod } from './ground.ts';

const namespace = 'fidelity';
const quietMilliseconds = 5_000;
const epochMilliseconds = Date.UTC(2026, 6, 1, 12);

/** The simulation's API server and controllers, answering at once; their time passes when they are given it. */
export function simulatedGround(movesCurrentRevision: boolean): Ground {
  const clock = new VirtualClock();
  const wall = (): number => epochMilliseconds + clock.nowMilliseconds;
  const server = new ApiServer(wall);
  const versions: PodVersion[] = [];
  server.store.subscribe(({ kind, object, type }) => {
    if (kind !== pods) return;
    const { name, uid } = object.metadata;
    versions.push({ name, uid, pod: type === 'DELETED' ? null : (object as unknown as SeenPod) });
  });
  // Listens for as long as there is a server.
  void new KubeControllers({ clock, server, wall, movesCurrentRevision, chance: new Chance('fidelity') });
  const world: World = {
    monotonic: () => clock.nowMilliseconds,
    wall,
    timer: (milliseconds, callback) => clock.after(milliseconds, callback),
    random: () => 0.5,
    exchange: (request: ExchangeRequest) => Promise.resolve(responseOf(server.handle(parse(request, 'somebody')))),
  };
  return {
    client: new ObjectClient({ world, qps: 1000, burst: 1000 }),
    namespace,
    pods: () => versions,
    settle: async (look) => {
      await clock.runUntil(() => false, quietMilliseconds);
      return look();
    },
  };
}
