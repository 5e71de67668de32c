import { Command } from 'commander';
import { connect } from '../../../src/kube/connection.ts';
import { type Log, realWorld } from '../../../src/kube/world.ts';
import { ObjectClient } from '../object-client.ts';
import { startMoco } from './driver.ts';
import { installMoco } from './install.ts';
import { startMocoWebhookServer } from './webhook-server.ts';

interface Flags {
  readonly kubeconfig: string;
  readonly partitionController: boolean;
}

const requestsPerSecond = 500;

/**
 * Plays moco-controller against the API server of a kubeconfig until it is interrupted: installs its definition, its
 * webhooks (answered here) and its policy, then runs.
 */
async function main(flags: Flags): Promise<void> {
  const connection = connect({ kubeconfigPath: flags.kubeconfig });
  const world = realWorld(connection.exchange);
  const client = new ObjectClient({
    world,
    qps: requestsPerSecond,
    burst: requestsPerSecond,
    userAgent: 'moco-controller',
  });
  const webhook = await startMocoWebhookServer();
  await installMoco(client, world, webhook, { statefulSetWebhook: flags.partitionController });
  const moco = await startMoco({ client, world, log, partitionController: flags.partitionController });
  log.info({ server: connection.server, webhook: webhook.url }, 'the stand-in for moco-controller runs');
  await new Promise<void>((resolve) => {
    process.once('SIGINT', resolve);
    process.once('SIGTERM', resolve);
  });
  await moco.stop();
  await webhook.stop();
  await connection.close();
}

function line(level: string): (fields: object, message: string) => void {
  return (fields, message) => process.stderr.write(`${level} ${message} ${JSON.stringify(fields)}\n`);
}

const log: Log = { debug: () => undefined, info: line('info'), warn: line('warn'), error: line('error') };

const command = new Command('moco')
  .description('A stand-in for moco-controller 0.36.0.')
  .requiredOption('--kubeconfig <path>', 'the API server to play against')
  .option('--no-partition-controller', "leave MOCO's partition controller out, and its webhook of StatefulSets")
  .action((flags: Flags) => main(flags));

await command.parseAsync().catch((error: unknown) => {
  process.stderr.write(`${error instanceof Error ? error.message : String(error)}\n`);
  process.exitCode = 1;
});
