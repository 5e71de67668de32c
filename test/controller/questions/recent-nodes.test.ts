import { expect } from 'chai';
import { RecentNodes } from '../../../src/controller/questions/recent-nodes.ts';
import { type LeavingSigns, usualSigns } from '../../../src/moco/node-maintenance.ts';
import type { ClusterReader } from '../../../src/objects/cluster-reader.ts';
import type { Raw } from '../object-server.ts';

const fields = {
  spec: { unschedulable: true, taints: [{ key: 'dedicated', value: 'mysql', effect: 'NoSchedule' }] },
  status: { conditions: [{ type: 'Ready', status: 'True' }] },
};

/** A node with images, annotations and heartbeats. */
const nodeOf = (name: string): object => ({
  metadata: {
    name,
    labels: { zone: 'a' },
    annotations: { maintenance: 'soon' },
    managedFields: [{ manager: 'kubelet' }],
  },
  spec: { ...fields.spec, podCIDR: '10.0.0.0/24' },
  status: {
    conditions: [{ type: 'Ready', status: 'True', lastHeartbeatTime: '2026-07-01T12:00:00Z' }],
    images: [{ names: ['mysql:8.4.8'], sizeBytes: 1 }],
  },
});

class Nodes {
  now = 0;
  reads = 0;
  readonly recent: RecentNodes;

  constructor(signs: LeavingSigns = usualSigns) {
    this.recent = new RecentNodes({ monotonic: () => this.now }, signs);
  }

  read(name: string): Promise<unknown> {
    const read = (_kind: unknown, place: { readonly name: string }): Promise<Raw> => {
      this.reads += 1;
      return Promise.resolve(nodeOf(place.name) as Raw);
    };
    const api = { read } as unknown as ClusterReader;
    return this.recent.read({ api, mayLackNodes: false }, { node: name });
  }
}

describe('nodes that were read', () => {
  it('are read once by members of any cluster within ten seconds', async () => {
    const nodes = new Nodes();
    for (const now of [0, 5000, 9999]) {
      nodes.now = now;
      await nodes.read('n-1');
    }
    expect(nodes.reads).to.equal(1);
    nodes.now = 10_000;
    await nodes.read('n-1');
    expect(nodes.reads).to.equal(2);
  });

  it('are forgotten once they no longer count, however many names come and go', async () => {
    const nodes = new Nodes();
    for (let number = 0; number < 1000; number += 1) {
      nodes.now = number * 10_000;
      await nodes.read(`n-${number}`);
    }
    expect(nodes.recent.size).to.equal(7);
  });

  it('keep only what determines which pods they accept', async () => {
    const projected = { metadata: { name: 'n-1', labels: { zone: 'a' } }, ...fields };
    const nodes = new Nodes();
    expect(await nodes.read('n-1')).to.deep.equal(projected);
    expect(await nodes.read('n-1'), 'read before').to.deep.equal(projected);
  });

  it('count as leaving as long as an answer about a member may be based on that, and no longer', async () => {
    const nodes = new Nodes();
    await nodes.read('n-1');
    nodes.now = 69_999;
    expect(nodes.recent.leaving('n-1')).to.equal('is cordoned');
    nodes.now = 70_000;
    expect(nodes.recent.leaving('n-1')).to.equal(null);
  });

  it('count as leaving because of an annotation, although annotations are not kept', async () => {
    const nodes = new Nodes({ taints: [], annotations: ['maintenance=soon'] });
    await nodes.read('n-1');
    expect(nodes.recent.leaving('n-1')).to.equal('has the annotation maintenance=soon');
  });
});
