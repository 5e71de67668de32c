import { mkdtemp, rm, writeFile } from 'node:fs/promises';
import { tmpdir } from 'node:os';
import { join } from 'node:path';
import { expect } from 'chai';
import { RequestCount } from '../../../../hack/bench/fleet/requests.ts';
import { endOfAudit, readAudit } from '../../../support/control-plane/audit-lines.ts';
import type { AuditEvent } from '../../../support/control-plane/audit-log.ts';

const controller = 'system:serviceaccount:moco-rollout-system:moco-rollout';

function event(username: string, verb: string, what: string, code = 200): AuditEvent {
  const [resource = '', subresource] = what.split('/');
  return {
    auditID: '1',
    stage: 'ResponseComplete',
    level: 'Metadata',
    verb,
    requestURI: '/',
    user: { username },
    objectRef: subresource === undefined ? { resource } : { resource, subresource },
    responseStatus: { code },
    requestReceivedTimestamp: '2026-07-01T12:00:00.000000Z',
    stageTimestamp: '2026-07-01T12:00:00.001000Z',
  };
}

describe('hack/bench/fleet: requests in the audit log', () => {
  it('are counted by user, with Events and leases apart from other writes', () => {
    const count = new RequestCount();
    for (const one of [
      event(controller, 'get', 'pods'),
      event(controller, 'create', 'pods/eviction'),
      event(controller, 'update', 'mysqlrollouts/status'),
      event(controller, 'create', 'events'),
      event(controller, 'update', 'leases'),
      event('nodes', 'patch', 'pods/status'),
      event('system:kube-controller-manager', 'update', 'poddisruptionbudgets/status'),
      event('system:serviceaccount:moco-rollout-system:plain-loop', 'create', 'pods/eviction'),
      event('system:apiserver', 'get', 'namespaces'),
    ]) {
      count.take(one);
    }
    expect(count.byAsker.controller).to.deep.equal({ reads: 1, writes: 2, events: 1, leases: 1, refused: 0 });
    expect(count.byAsker.nodes.writes).to.equal(1);
    expect(count.byAsker['controller-manager'].writes).to.equal(1);
    expect(count.byAsker['plain loop'].writes).to.equal(1);
    expect(count.byAsker.MOCO).to.deep.equal({ reads: 0, writes: 0, events: 0, leases: 0, refused: 0 });
  });

  it('are no writes if the API server refused them', () => {
    const count = new RequestCount();
    count.take(event(controller, 'update', 'mysqlclusters/status', 409));
    count.take(event(controller, 'create', 'pods/eviction', 429));
    expect(count.byAsker.controller).to.deep.equal({ reads: 0, writes: 0, events: 0, leases: 0, refused: 2 });
    expect(count.kinds).to.have.all.keys('update mysqlclusters/status refused', 'create pods/eviction refused');
  });

  it('are applied StatefulSets only where MOCO patches the object itself', () => {
    const count = new RequestCount();
    count.take(event('moco-controller', 'patch', 'statefulsets'));
    count.take(event('moco-controller', 'patch', 'pods'));
    count.take(event(controller, 'patch', 'statefulsets/status'));
    expect(count.applies).to.equal(1);
  });

  it('are neither watches nor incomplete responses', () => {
    const count = new RequestCount();
    count.take(event(controller, 'watch', 'pods'));
    count.take({ ...event(controller, 'get', 'pods'), stage: 'ResponseStarted' });
    expect(count.byAsker.controller.reads).to.equal(0);
  });

  it('are read from the previous end of the log to its current end', async () => {
    const directory = await mkdtemp(join(tmpdir(), 'moco-rollout-test-'));
    try {
      const file = join(directory, 'audit.log');
      const line = (verb: string): string => `${JSON.stringify(event(controller, verb, 'pods'))}\n`;
      await writeFile(file, line('get'));
      const from = await endOfAudit(file);
      await writeFile(file, line('list'), { flag: 'a' });
      const to = await endOfAudit(file);
      await writeFile(file, line('patch'), { flag: 'a' });
      const verbs: string[] = [];
      await readAudit(file, { from, to }, ({ verb }) => void verbs.push(verb));
      expect(verbs).to.deep.equal(['list']);
    } finally {
      await rm(directory, { recursive: true });
    }
  });
});
