import { randomBytes } from 'node:crypto';
import { expect } from 'chai';
import { rolloutKind } from '../../src/api/rollout.ts';
import { events } from '../../src/kube/resource.ts';
import { clusterKind, mysqlPort } from '../../src/moco/names.ts';
import { error, greeting, HostileServer } from '../mysql/hostile-server.ts';
import { ownScene, useRollouts } from './rollout-fixture.ts';

/** Nobody else on this machine has pods here. */
const network = 249;
const flags = ['--feature-gates=UpdateStrategyOnDelete=true,ReplicationFacts=true'];

describe('the password with which MySQL itself is queried', () => {
  const { scenario, stage } = useRollouts(ownScene({ network }, flags, (cluster) => cluster.isTaken()));

  // Why it could not be read: test/mysql/mysql-asker.test.ts.
  scenario('is in no output of the controller, although each member reports it', {}, async (cluster) => {
    await cluster.kubectl('apply', '-k', 'config/replication-facts');
    const password = randomBytes(12).toString('hex');
    await cluster.kubectl('delete', 'secret', 'moco-x', '--ignore-not-found');
    await cluster.kubectl('create', 'secret', 'generic', 'moco-x', `--from-literal=READONLY_PASSWORD=${password}`);
    const servers: HostileServer[] = [];
    try {
      for (const ordinal of [0, 1, 2]) {
        const { status } = await cluster.pod(ordinal, 'has an address', (pod) => pod.status?.podIP !== undefined);
        const server = await HostileServer.open(
          (socket) => {
            socket.write(greeting());
            socket.once('data', () => socket.write(error(2, 1045, `Access denied, ${password}`)));
          },
          { host: status?.podIP ?? '', port: mysqlPort },
        );
        servers.push(server);
      }
      await cluster.setting({ partition: 2, replicaDelayGraceSeconds: 1 });
      await cluster.setImage('mysql:8.4.9');
      await cluster.holds('PartitionReached');
      expect(cluster.now.rollout?.status?.mysqlProblem).to.contain('mysqld refuses the account moco-readonly');
      expect(servers.flatMap(({ sockets }) => sockets)).not.to.have.length(0);
      const kinds = [events, rolloutKind, clusterKind];
      const objects = await Promise.all(kinds.map((kind) => stage().client.list(kind, {}, { priority: 'read' })));
      const log = stage()
        .controllers.map((one) => one.log)
        .join('');
      for (const [where, text] of Object.entries({ log, objects: JSON.stringify(objects) })) {
        expect(text, where).to.contain('mysqld refuses the account moco-readonly').and.not.to.contain(password);
      }
    } finally {
      for (const server of servers) await server.close();
    }
  });
});
