import { CuttingProxy } from '../../../test/support/control-plane/cutting-proxy.ts';
import type { Guard } from '../../../test/support/control-plane/guard.ts';
import type { EventLoopDelay } from './measured-process.ts';
import { bundle } from './variants.ts';
import { listed, pause } from './watching.ts';

/**
 * What happens in the event loop of the image's program when its connections break while its cache contains a fleet.
 */
export interface Reconnect {
  readonly duringReconnect: EventLoopDelay;
  /** The number of connections that were cut. */
  readonly connections: number;
}

/** The watches are open again within this time, since they need a second or two. */
const observedMilliseconds = 10_000;

/** @param flagsOn returns the flags of a program that uses this kubeconfig */
export async function measureReconnect(
  server: string,
  kubeconfig: string,
  flagsOn: (kubeconfig: string) => Promise<readonly string[]>,
  guard: Guard,
): Promise<Reconnect> {
  const proxy = await CuttingProxy.start(server);
  try {
    const flags = await flagsOn(await proxy.kubeconfig(kubeconfig));
    const { program } = await listed(bundle, flags, guard, '"starting"');
    // For each connection of the program, the proxy has a second one to the API server.
    const connections = proxy.connections.count / 2;
    await program.eventLoopDelay();
    proxy.connections.cut();
    await pause(observedMilliseconds);
    const duringReconnect = await program.eventLoopDelay();
    await program.stop();
    return { duringReconnect, connections };
  } finally {
    await proxy.close();
  }
}
